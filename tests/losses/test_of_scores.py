# SPDX-License-Identifier: BSD-3-Clause
"""Losses of scores of all outputs, against loops over these."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chi2, norm

from skstruct import ExponentialFamily
from skstruct.losses import auc_loss, exponential_loss, of_scores
from skstruct.spaces import Classes, Cycles, Hierarchy, LabelSets, Rankings, SpanningTrees

SPACES = {
    "classes": Classes(["x", "y", "z"]),
    "sets": LabelSets(range(4), max_size=3),
    "closed sets": Hierarchy([(0, 1), (0, 2), (2, 3)]),
    "rankings": Rankings(range(3), "pairs"),
    "cycles": Cycles(range(4)),
    "trees": SpanningTrees(range(4)),
}
ALARM = 1e-3  # how often a right estimate would fail a test of chance below


def problem(name, several, integers=False):
    """Scores, outputs as a user has them, and the numbers of these in the list of all."""
    space, rng = SPACES[name], np.random.default_rng(0)
    listed = space.enumerate()
    width = space.embed(listed[:1]).shape[1]
    u = rng.integers(-1, 2, (5, width)) * 1.0 if integers else rng.standard_normal((5, width))
    counts = [1 + i % 2 if several else 1 for i in range(5)]
    numbers = [rng.choice(len(listed), n, replace=False) for n in counts]
    y = [list(space.restore(listed[at])) for at in numbers]
    return space, u, (y if several else [row[0] for row in y]), numbers


def pairs(space, u, numbers):
    """Differences f(z) - f(y) of all pairs of a row, by the definition."""
    psi = space.embed(space.enumerate())
    psi = psi.toarray() if hasattr(psi, "toarray") else np.asarray(psi, float)
    for scores, correct in zip(u, numbers):
        f = psi @ scores
        yield np.array(
            [f[z] - f[y] for y in correct for z in range(len(f)) if z not in correct] or [-np.inf]
        )


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("name", SPACES)
def test_exponential_losses_are_sums_over_all_pairs(name, several, monkeypatch):
    space, u, y, numbers = problem(name, several)
    expected = [np.exp(1.0 + gaps).sum() for gaps in pairs(space, u, numbers)]
    options = {"several_outputs": several}
    assert_allclose(exponential_loss(space, u, y, **options), expected, rtol=1e-12)
    # From partition functions, without a list: few digits are lost.
    monkeypatch.setattr(type(space), "all_outputs", lambda self, most: None)
    assert_allclose(exponential_loss(space, u, y, **options), expected, rtol=1e-10)
    logs = exponential_loss(space, u, y, log=True, **options)
    assert_allclose(logs, np.log(expected), rtol=1e-10)


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("integers", [False, True])
@pytest.mark.parametrize("name", SPACES)
def test_auc_losses_are_counts_of_all_pairs(name, integers, several):
    space, u, y, numbers = problem(name, several, integers)
    expected = [(gaps > 1e-9).sum() + 0.5 * (abs(gaps) <= 1e-9).sum()
                for gaps in pairs(space, u, numbers)]  # fmt: skip
    found = auc_loss(space, u, y, several_outputs=several, normalize=False)
    assert_allclose(found, expected, atol=1e-9)
    shares, errors = auc_loss(space, u, y, several_outputs=several, return_errors=True)
    n_pairs = [len(correct) * (space.size() - len(correct)) for correct in numbers]
    assert_allclose(shares, np.array(expected) / n_pairs)
    assert_array_equal(errors, 0.0)
    # The exponential loss bounds it, and still does when divided by e.
    bound = exponential_loss(space, u, y, several_outputs=several) / np.e
    assert (found <= bound + 1e-9).all()


def test_blocks_and_repeated_outputs_change_nothing(monkeypatch):
    space, u, y, _ = problem("sets", True)
    found = auc_loss(space, u, y, several_outputs=True)
    twice = [row + row[:1] for row in y]
    assert_array_equal(auc_loss(space, u, twice, several_outputs=True), found)
    monkeypatch.setattr(of_scores, "AT_ONCE", 1)
    assert_array_equal(auc_loss(space, u, y, several_outputs=True), found)


def test_shares_from_draws_are_unbiased_and_as_far_off_as_they_say():
    space, u, y, _ = problem("rankings", True)
    exact = auc_loss(space, u, y, several_outputs=True)
    off = []
    for seed in range(200):
        drawn, errors = auc_loss(
            space, u, y, several_outputs=True, n_samples=300, random_state=seed, return_errors=True
        )
        off.append((drawn - exact)[exact > 0] / errors[exact > 0])
    off = np.array(off)
    assert off.shape[1] >= 3
    assert (np.abs(off.mean(axis=0)) < norm.isf(ALARM / 2) / 200**0.5).all()
    squares = (off**2).sum(axis=0)
    assert (chi2.ppf(ALARM / 2, 200) < squares).all()
    assert (squares < chi2.isf(ALARM / 2, 200)).all()


def test_large_spaces_are_summed_or_drawn_from():
    space, rng = LabelSets(range(40)), np.random.default_rng(0)
    u, y = rng.standard_normal((3, 40)), rng.integers(0, 2, (3, 40))
    logs = exponential_loss(space, u, y, log=True)
    by_label = np.logaddexp(0.0, u).sum(axis=1) - (u * y).sum(axis=1)  # ln Z - f(y)
    assert_allclose(logs, by_label + 1.0, rtol=1e-9)
    with pytest.raises(ValueError, match="give n_samples"):
        auc_loss(space, u, y)
    shares = auc_loss(space, u, y, n_samples=4000, random_state=0)
    # By the central limit theorem, scores of random sets are nearly normal.
    z = ((u * y).sum(axis=1) - u.sum(axis=1) / 2) / np.sqrt((u**2).sum(axis=1) / 4)
    assert_allclose(shares, norm.sf(z), atol=0.04)
    assert_allclose(
        auc_loss(space, u, y, n_samples=4000, random_state=0, normalize=False),
        shares * (2.0**40 - 1),
    )
    far = exponential_loss(space, 1e4 * u, y, log=True)
    assert np.isfinite(far).all()


def test_the_logarithm_is_the_logistic_loss_of_an_exponential_family():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((30, 2)), rng.integers(0, 2, (30, 3))
    model = ExponentialFamily(LabelSets(range(3)), alpha=0.1).fit(X, Y)
    # Section 2.1 sums over all outputs, the truth included: one over its probability.
    others = exponential_loss(model.space_, model.decision_function(X), Y) / np.e
    assert_allclose(np.log1p(others), -model.log_proba(X, Y), atol=1e-9)
    assert_allclose(auc_loss(Classes(["a", "b"]), [0.5, -1.0], ["a", "a"]), [1.0, 0.0])


def test_what_cannot_be_measured_is_said():
    space = LabelSets(range(3), max_size=1)
    u = np.zeros((2, 3))
    with pytest.raises(ValueError, match=r"y\[1\] is no output of LabelSets"):
        auc_loss(space, u, [[0, 0, 1], [0, 1, 1]])
    with pytest.raises(ValueError, match="scores have 2 columns for 3 coordinates"):
        exponential_loss(space, u[:, :2], np.zeros((2, 3), int))
    with pytest.raises(ValueError, match="scores of 2 rows, and outputs of 1"):
        exponential_loss(space, u, np.zeros((1, 3), int))
    with pytest.raises(ValueError, match="n_samples is a whole number from 1"):
        auc_loss(space, u, np.zeros((2, 3), int), n_samples=0)
    large = LabelSets(range(40))
    with pytest.raises(ValueError, match="is a list of correct outputs"):
        exponential_loss(large, np.zeros((1, 40)), [3], several_outputs=True)
    hard = Cycles(range(20))
    with pytest.raises(ValueError, match="are not known exactly"):
        exponential_loss(hard, np.zeros((1, 190)), [list(range(20))])


@pytest.mark.parametrize("measure", [auc_loss, exponential_loss])
def test_scores_that_are_no_numbers_are_named(measure):
    with pytest.raises(ValueError, match=r"scores\[1, 2\] is nan: outputs cannot be ranked"):
        measure(Classes(list("abc")), [[1.0, 2.0, 3.0], [0.0, 1.0, np.nan]], ["a", "b"])
