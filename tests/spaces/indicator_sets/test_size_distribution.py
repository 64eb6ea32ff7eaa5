# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from set_cases import EXTREME, SCORES, limited, rows_of, sibling_groups
from skstruct.exceptions import InfeasibleError
from skstruct.spaces import Coordinates, Embeddings, Hierarchy, Inference, LabelSets
from skstruct.spaces.indicator_sets.distribution import SizesDistribution
from skstruct.testing import check_distribution
from strategies import dags, forests


def check_view(space, name, scores, n_draws):
    """The distribution under another embedding against the list of outputs, if there are any."""
    view, outputs = Embeddings.of(space).view(name), space.enumerate()
    if len(outputs):
        check_distribution(view, scores, outputs=outputs, n_draws=n_draws)
        return
    with pytest.raises(InfeasibleError):
        Inference.of(view).distribution(scores)


@given(st.integers(1, 4), st.sampled_from([SCORES, EXTREME]), st.data())
def test_label_sets(d, entries, data):
    space = LabelSets(range(d))
    space = data.draw(limited(space, sibling_groups(space)))
    scores = data.draw(rows_of(2, d * d + 1, entries))
    check_view(space, "sized indicators", scores, 300)


@given(st.one_of(forests(max_nodes=4), dags(max_nodes=4)), st.booleans(), st.data())
def test_hierarchies(space, one_path, data):
    d = len(space.labels_)
    groups = None if one_path or not space.dag_.is_forest else sibling_groups(space)
    space = data.draw(limited(space.restrict(one_path=one_path), groups))
    check_view(space, "sized indicators", data.draw(rows_of(2, d * d + 1)), 300)


@given(dags(max_nodes=5), st.booleans(), st.data())
def test_labels_and_parents(space, one_path, data):
    space = data.draw(limited(space.restrict(one_path=one_path)))
    width = (
        Embeddings.of(space).view("indicators and parents").embed(np.zeros((1, len(space.labels_))))
    )
    check_view(space, "indicators and parents", data.draw(rows_of(2, width.shape[1])), 300)


def test_scores_of_labels_lifted():
    """The same distribution as that of the labels, with marginals that tell sizes apart."""
    d, scores = 30, np.random.default_rng(0).normal(size=(3, 30))
    space = LabelSets(range(d), max_size=20)
    view = Embeddings.of(space).view("sized indicators")
    distribution, plain = (
        Inference.of(view).distribution(Coordinates.of(view).lift(scores, "indicators")),
        Inference.of(space).distribution(scores),
    )
    assert isinstance(distribution, SizesDistribution)
    assert_allclose(distribution.log_partition, plain.log_partition, rtol=1e-12)
    marginals = distribution.marginals()
    assert_allclose(marginals[:, :-1].reshape(3, d, d).sum(axis=2), plain.marginals(), rtol=1e-9)
    by_size = marginals[:, :-1].reshape(3, d, d).sum(axis=1) / np.arange(1, d + 1)
    assert_allclose(by_size.sum(axis=1) + marginals[:, -1], 1.0, rtol=1e-10)


def test_constraints_of_each_row():
    space = Hierarchy([(0, 1), (0, 2)]).restrict(include=[[0], [1], []])
    scores = np.random.default_rng(0).normal(size=(3, 10))
    distribution = Inference.of(Embeddings.of(space).view("sized indicators")).distribution(scores)
    for i in range(3):
        alone = Inference.of(Embeddings.of(space.rows([i])).view("sized indicators")).distribution(
            scores[i]
        )
        assert_allclose(distribution.log_partition[i], alone.log_partition[0], rtol=1e-12)
        assert_allclose(distribution.marginals()[i], alone.marginals()[0], atol=1e-12)
