# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import expit

from set_cases import EXTREME, check_distribution_or_empty, limited, rows_of, sibling_groups
from skstruct.exceptions import InfeasibleError
from skstruct.spaces import Inference, LabelSets
from skstruct.spaces.indicator_sets.distribution import SizedDistribution, SubsetsDistribution
from skstruct.testing import check_distribution
from work import n_calls, peak_bytes


@given(st.integers(1, 5), st.data())
def test_label_sets_within_constraints(d, data):
    space = LabelSets(range(d))
    space = data.draw(limited(space, sibling_groups(space)))
    check_distribution_or_empty(space, data.draw(rows_of(2, d)), n_draws=500)


@given(st.integers(3, 5), st.data())
def test_groups_with_labels_in_common_are_listed(d, data):
    group = st.lists(st.integers(0, d - 1), min_size=2, max_size=3, unique=True)
    space = data.draw(limited(LabelSets(range(d)), st.lists(group, max_size=2)))
    check_distribution_or_empty(space, data.draw(rows_of(2, d)), n_draws=200)


@given(st.integers(1, 5), st.data())
def test_extreme_scores(d, data):
    space = LabelSets(range(d))
    space = data.draw(limited(space, sibling_groups(space)))
    scores = data.draw(rows_of(3, d, EXTREME))
    check_distribution_or_empty(space, scores, n_draws=50)


@pytest.mark.slow
@given(st.integers(1, 4), st.data())
def test_constraints_of_each_row(d, data):
    """Each row's distribution is that of a space with its constraints alone."""
    mask = st.lists(st.lists(st.booleans(), min_size=d, max_size=d), min_size=3, max_size=3)
    include = np.array(data.draw(mask))
    exclude = np.array(data.draw(mask)) & ~include
    sizes = data.draw(st.sampled_from([{}, {"max_size": d - 1}, {"min_size": 1}]))
    groups = data.draw(st.sampled_from([None, [[0, d - 1]], [[0, 1], [1, 2]]])) if d > 2 else None
    space = LabelSets(range(d)).restrict(include=include, exclude=exclude)
    space = space.restrict(exclusive=groups, **sizes)
    scores = data.draw(rows_of(3, d))
    empty = [not len(space.rows([i]).enumerate()) for i in range(3)]
    if any(empty):
        with pytest.raises(InfeasibleError):
            Inference.of(space).distribution(scores)
        return
    distribution = Inference.of(space).distribution(scores)
    marginals, drawn = distribution.marginals(), distribution.sample(20, np.random.default_rng(0))
    for i in range(3):
        row = space.rows([i])
        check_distribution(row, scores[i], n_draws=0)
        alone = Inference.of(row).distribution(scores[i])
        assert_allclose(
            distribution.log_partition[i : i + 1], alone.log_partition, rtol=1e-12, atol=1e-12
        )
        assert_allclose(marginals[i : i + 1], alone.marginals(), rtol=1e-9, atol=1e-12)
        assert row.contains(drawn[i]).all()


def test_free_labels_are_logistic():
    scores = np.random.default_rng(0).normal(size=(4, 300)) * 20
    distribution = Inference.of(LabelSets(range(300))).distribution(scores)
    assert isinstance(distribution, SubsetsDistribution)
    assert_allclose(distribution.log_partition, np.logaddexp(0, scores).sum(axis=1), rtol=1e-13)
    assert_allclose(distribution.marginals(), expit(scores), rtol=1e-13)


@pytest.mark.parametrize(("d", "k"), [(300, 3), (300, 150), (1200, 20)])
def test_many_labels_of_one_size_are_a_polynomial(d, k):
    """ln Z against the coefficient of a product of polynomials in extended precision."""
    scores = np.random.default_rng(d).normal(size=(1, d))
    space = LabelSets(range(d), min_size=k, max_size=k)
    distribution = Inference.of(space).distribution(scores)
    assert isinstance(distribution, SizedDistribution)
    coefficients = np.zeros(k + 1, np.longdouble)
    coefficients[0] = 1
    for weight in np.exp(scores[0].astype(np.longdouble)):
        coefficients[1:] += weight * coefficients[:-1]
    assert_allclose(distribution.log_partition[0], float(np.log(coefficients[k])), rtol=1e-12)
    assert_allclose(distribution.marginals().sum(), k, rtol=1e-10)
    assert (distribution.sample(5, np.random.default_rng(0)).sum(axis=2) == k).all()


@pytest.mark.parametrize("constraints", [{"min_size": 2, "max_size": 3}, {"min_size": 3},
                                    {"exclusive": [[0, 1, 2], [3, 4]]}])  # fmt: skip
def test_marginals_are_the_gradient(constraints):
    """By central differences, whose error is of order step^2."""
    space = LabelSets(range(6)).restrict(**constraints)
    scores, step = np.random.default_rng(1).normal(size=6), 1e-4
    nearby = scores + step * np.vstack([np.eye(6), -np.eye(6)])
    upper, lower = np.split(Inference.of(space).distribution(nearby).log_partition, 2)
    assert_allclose(
        Inference.of(space).distribution(scores).marginals()[0],
        (upper - lower) / (2 * step),
        atol=1e-7,
    )


def test_the_same_seed_draws_the_same():
    distribution = Inference.of(LabelSets(range(5), min_size=2, max_size=3)).distribution(
        np.zeros((2, 5))
    )
    first, again = (distribution.sample(7, np.random.default_rng(3)) for _ in range(2))
    assert (first == again).all()
    assert first.dtype == np.int8


def test_marginals_are_the_callers_own():
    distribution = Inference.of(LabelSets(range(3), max_size=1)).distribution(np.zeros((1, 3)))
    distribution.marginals()[:] = 7.0
    assert_allclose(distribution.marginals(), 0.25)


def test_bad_scores():
    space = LabelSets(range(3))
    for scores in ([[0.0, np.nan, 0.0]], [[0.0, np.inf, 0.0]], np.zeros((2, 4))):
        with pytest.raises(ValueError, match="scores"):
            Inference.of(space).distribution(np.array(scores))
    with pytest.raises(ValueError, match="row by row"):
        Inference.of(space.restrict(include=[[0], [1]])).distribution(np.zeros((3, 3)))


def test_thousands_of_rows_take_no_time():
    """2,000 rows of 100 labels, at most ten of them: as many steps as for two rows."""
    space = LabelSets(range(100), max_size=10)
    scores = np.random.default_rng(0).normal(size=(2000, 100))
    Inference.of(space).distribution(scores[:2]).marginals()
    few, many = (
        n_calls(lambda n=n: Inference.of(space).distribution(scores[:n]).marginals())
        for n in (2, 2000)
    )
    assert few == many < 1000
    assert (
        peak_bytes(lambda: Inference.of(space).distribution(scores).marginals())
        < 10 * scores.nbytes
    )
