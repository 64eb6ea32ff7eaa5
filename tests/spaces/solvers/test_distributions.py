# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import softmax

from set_cases import EXTREME, SCORES, rows_of
from skstruct.exceptions import InfeasibleError
from skstruct.spaces import Candidates, Classes, Embeddings, GraphNodes, Inference, Ordinal, Poset
from skstruct.spaces.solvers.distributions import ChoiceDistribution
from skstruct.testing import check_distribution, check_proposals
from work import n_calls, peak_bytes


@st.composite
def orders(draw):
    d = draw(st.integers(1, 6))
    pairs = [(i, j) for j in range(d) for i in range(j) if draw(st.booleans())]
    return Poset(pairs, labels=range(d), leaves_only=draw(st.booleans()))


@pytest.mark.slow
@given(orders(), st.sampled_from([SCORES, EXTREME]), st.data())
def test_posets(space, entries, data):
    d = len(space.labels_)
    exclude = data.draw(st.sets(st.integers(0, d - 1), max_size=2))
    space = space.restrict(exclude=exclude)
    scores = data.draw(rows_of(2, d, entries))
    if not space.size():
        for ask in (
            lambda: Inference.of(space).distribution(scores),
            Inference.of(space).proposals,
        ):
            with pytest.raises(InfeasibleError):
                ask()
        return
    check_distribution(space, scores, n_draws=300)
    check_proposals(space, np.clip(scores, -2, 2), n_chains=300)


@pytest.mark.slow
@given(orders(), st.sampled_from(["sized indicators", "indicators and parents"]), st.data())
def test_posets_under_other_embeddings(space, name, data):
    outputs, view = space.enumerate(), Embeddings.of(space).view(name)
    scores = data.draw(rows_of(2, view.embed(outputs).shape[1]))
    check_distribution(view, scores, outputs=outputs, n_draws=100)


@pytest.mark.slow
@given(st.integers(1, 6), st.sampled_from([SCORES, EXTREME]), st.data())
def test_ordinal(d, entries, data):
    space = Ordinal(range(d))
    low = data.draw(st.integers(0, d - 1))
    space = space.restrict(min_level=low, max_level=data.draw(st.integers(low, d - 1)))
    scores = data.draw(rows_of(2, d, entries))
    check_distribution(space, scores, n_draws=300)
    check_proposals(space, np.clip(scores, -2, 2), n_chains=300)


def test_levels_of_each_row():
    space = Ordinal(range(4)).restrict(min_level=[0, 2, 3])
    scores = np.random.default_rng(0).normal(size=(3, 4))
    distribution = Inference.of(space).distribution(scores)
    for i in range(3):
        alone = Inference.of(space.rows([i])).distribution(scores[i])
        assert_allclose(distribution.log_partition[i], alone.log_partition[0], rtol=1e-13)
        assert_allclose(distribution.marginals()[i], alone.marginals()[0], rtol=1e-13)
        assert space.rows([i]).contains(distribution.sample(50, np.random.default_rng(0))[i]).all()
    assert Inference.of(space).proposals() is None
    with pytest.raises(ValueError, match="row by row"):
        Inference.of(space).distribution(np.zeros((2, 4)))


@pytest.mark.slow
@given(st.integers(1, 6), st.data())
def test_classes(k, data):
    space = Classes().fit(range(k))
    scores = data.draw(rows_of(3, k))
    check_distribution(space, scores)
    check_proposals(space, scores / 2, n_chains=500)
    assert_allclose(
        Inference.of(space).distribution(scores).marginals(), softmax(scores, axis=1), rtol=1e-13
    )


def test_some_classes_are_not_predicted():
    space = Embeddings.of(Classes().fit(range(4))).view("outputs", candidates=np.array([1, 3]))
    scores = np.random.default_rng(0).normal(size=(2, 4))
    check_distribution(space, scores, outputs=np.array([1, 3]))
    check_proposals(space, scores, outputs=np.array([1, 3]))


def test_candidates_that_are_known_but_never_predicted():
    space = Candidates(["cat", "cart", "dog"]).fit(["cat", "horse", "mouse"])
    scores = np.random.default_rng(0).normal(size=(2, 5))
    check_distribution(space, scores)
    check_proposals(space, scores)
    assert_allclose(Inference.of(space).distribution(scores).marginals()[:, 3:], 0.0)
    narrow = Embeddings.of(space).view("outputs", candidates=np.array([0, 2]))
    check_distribution(narrow, scores, outputs=np.array([0, 2]))


def test_nodes_of_a_graph():
    path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    space = GraphNodes(path).fit([0])
    scores = np.random.default_rng(0).normal(size=(2, 3))
    check_distribution(space, scores)
    check_proposals(space, scores)


def test_choices_that_are_not_allowed_are_never_drawn():
    """Also at the end of the list, and in rows far down."""
    values = np.full((5000, 3), -np.inf)
    values[:, 1] = 0.0
    assert (ChoiceDistribution(values).sample(200, np.random.default_rng(0)) == 1).all()


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Classes, Ordinal])
def test_thousands_of_classes_take_no_time(kind):
    """As many steps as for a few, and a few copies of the scores."""
    calls = []
    for shape in ((10, 30), (1000, 3000)):
        scores = np.random.default_rng(0).normal(size=shape)
        space = kind().fit(range(shape[1])) if kind is Classes else kind(range(shape[1]))

        def marginals(space=space, scores=scores):
            assert Inference.of(space).distribution(scores).marginals().shape == scores.shape

        marginals()
        calls.append(n_calls(marginals))
        assert peak_bytes(marginals) < 8 * scores.nbytes
    assert calls[0] == calls[1]


def test_rows_must_fit():
    for space in (Classes().fit(range(3)), Ordinal(range(3)), Poset([(0, 1)], labels=range(3))):
        with pytest.raises(ValueError, match="expects scores"):
            Inference.of(space).distribution(np.zeros((1, 4)))
        with pytest.raises(ValueError, match="finite"):
            Inference.of(space).distribution(np.array([[0.0, np.nan, 1.0]]))
