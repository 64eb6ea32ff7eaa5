# SPDX-License-Identifier: BSD-3-Clause
"""What is promised holds: simulations at fixed seeds.

A promise in expectation is tested by the mean over 1,000 calibrations of the exact expected loss
at the threshold (that of a large population), one of probability by how many of 1,000 broke the
level. Each test would fail with probability 0.001 for a procedure that is just within its promise.
"""

import contextlib
import warnings

import numpy as np
import pytest
from scipy.stats import binom, t

from conformal.toys import PARTS, classes, labels, quantities
from skstruct.conformal import Abstention, PredictionSets, RiskControl, jackknife_plus
from skstruct.conformal.levels import risk_curve
from skstruct.conformal.risks import RISKS
from skstruct.conformal.structures import structure_of

REPEATS, POPULATION, FAILS = 1000, 20_000, 0.001
pytestmark = pytest.mark.filterwarnings("ignore:.*cannot be met")
REALISED = {}  # what comes out; printed with -s


@pytest.fixture(autouse=True, scope="module")
def realised():
    yield
    for case, numbers in REALISED.items():
        print(case, np.round(numbers, 4))


def thresholds(predictor, toy, n):
    """Those of many calibrations on fresh rows, n each: as groups, which are calibrated alone."""
    X = np.arange(REPEATS * n)
    toy.plain()
    return predictor.calibrate(X, toy.y(X), groups=np.repeat(np.arange(REPEATS), n)).thresholds_


def until_refused(predictor, toy, n):
    """Thresholds of those calibrations that are no error; one that is breaks no promise."""
    toy.plain()
    found = []
    for r in range(REPEATS):
        X = np.arange(r * n, (r + 1) * n)
        with contextlib.suppress(ValueError):
            found.append(predictor.calibrate(X, toy.y(X)).thresholds_[0])
    return np.array(found)


def expected_within(values, level):
    """Whether a mean is not above the level, by a t test; the population is a sample too."""
    values = np.asarray(values)
    error = np.sqrt(values.var(ddof=1) / len(values) + level * (1 - level) / POPULATION)
    return values.mean() <= level + t.ppf(1 - FAILS, len(values) - 1) * error


def seldom(broken, delta):
    """Whether so many of all calibrations may break a promise of probability 1 - delta."""
    return np.sum(broken) <= binom.ppf(1 - FAILS, len(broken), delta)


def population_risk(toy, risk, P=None, weights=None):
    """Of thresholds: the mean loss of a population."""
    structure, kind = structure_of(toy.space_, "test"), RISKS[risk]
    claims = kind.claims(structure, structure.read(toy.P), toy.Z, weights)
    if kind.on_grid is None:
        return np.vectorize(risk_curve(claims.scores, claims.losses).mean)

    def risk_at(cuts):
        values, at = np.unique(cuts, return_inverse=True)
        losses = [kind.on_grid(claims, np.array([c]), 0.0).mean() for c in values]
        if risk == "precision":  # a ratio of two means
            asserted = [(claims.costs * (claims.scores > c)).sum(axis=1).mean() for c in values]
            losses = [a / b if b else 0.0 for a, b in zip(losses, asserted)]
        return np.array(losses)[at]

    return risk_at


EXPECTED = [(name, risk) for name in PARTS for risk in ("missed", "wrong") if name != "rankings"]
EXPECTED += [("rankings", "wrong")]  # the same as missed there
EXPECTED += [(name, "false_labels") for name in ("labels", "tree", "dag")]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "risk"), EXPECTED)
def test_risk_control_in_expectation(name, risk):
    n, level = 25, 0.15
    toy = PARTS[name](REPEATS * n, seed=1)
    control = RiskControl(toy, level, risk=risk)
    cuts = thresholds(control, toy, n)
    realised = population_risk(PARTS[name](POPULATION, seed=2), risk)(cuts)
    REALISED[name, risk] = realised.mean()
    assert expected_within(realised, level)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tree", "dag"])
def test_risk_control_where_labels_are_missing(name):
    """Rows that are known only by what follows from their values are not like the others."""
    n, level, rng = 400, 0.15, np.random.default_rng(15)
    toy = PARTS[name](REPEATS * n, seed=15).plain()
    gaps = np.where(rng.random(toy.Z.shape) < 0.4, np.nan, toy.Z)
    control = RiskControl(toy, level)
    with pytest.warns(UserWarning, match="of which parts are missing were left out"):
        control.calibrate(np.arange(len(gaps)), gaps, groups=np.repeat(np.arange(REPEATS), n))
    realised = population_risk(PARTS[name](POPULATION, seed=16), "missed")(control.thresholds_)
    REALISED["gaps", name] = realised.mean()
    assert expected_within(realised, level)


LEVEL = {"f1": 0.6, "precision": 0.45}
CONFIDENT = [("labels", "missed"), ("rankings", "wrong"), ("sequences", "wrong")]
CONFIDENT += [("dag", "false_labels"), ("classes", "missed")]
CONFIDENT += [(name, risk) for name in ("labels", "dag") for risk in ("false", "precision", "f1")]
CONFIDENT += [("sequences", "false")]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "risk"), CONFIDENT)
def test_risk_control_with_confidence(name, risk):
    n, level, delta = 60, LEVEL.get(risk, 0.35), 0.2
    toy = PARTS[name](REPEATS * n, seed=3)
    control = RiskControl(toy, level, risk=risk, delta=delta)
    cuts = until_refused(control, toy, n) if risk == "f1" else thresholds(control, toy, n)
    assert len(cuts) > 100
    realised = population_risk(PARTS[name](POPULATION, seed=4), risk)(cuts)
    REALISED[name, risk, delta] = (realised > level).mean(), np.mean(np.isfinite(cuts))
    assert np.mean(np.isfinite(cuts)) > 0.1  # something is asserted
    assert np.sum(realised > level) <= binom.ppf(1 - FAILS, REPEATS, delta)


@pytest.mark.slow
def test_costs_by_depth_are_controlled():
    n, level = 25, 0.15
    toy = PARTS["tree"](REPEATS * n, seed=5)
    control = RiskControl(toy, level, risk="missed", weights="depth")
    cuts = thresholds(control, toy, n)
    risk = population_risk(PARTS["tree"](POPULATION, seed=6), "missed", weights="depth")
    assert expected_within(risk(cuts), level)


# ------------------------------------------------------------------- what is kept
@pytest.mark.slow
@pytest.mark.parametrize("loss", ["learner", "zero_one"])
def test_rows_that_are_kept(loss):
    n, level, delta = 120, 0.4, 0.2
    toy, population = classes(REPEATS * n, seed=7), classes(POPULATION, seed=8)
    sure = Abstention(toy, level, delta=delta, loss=loss, loss_bound=1.0)
    cuts = thresholds(sure, toy, n)
    curve = risk_curve(-population.risks, population.predictions != population.Z)
    kept = risk_curve(-population.risks, np.ones(POPULATION))
    # Rows are kept up to a threshold: -score >= -cut, just above the next lower number.
    at = np.nextafter(-cuts, -np.inf)
    share = np.vectorize(kept.mean)(at)
    wrong = np.vectorize(curve.mean)(at)
    realised = np.divide(wrong, share, out=np.zeros_like(wrong), where=share > 0)
    REALISED["kept rows", loss] = (realised > level).mean(), share.mean()
    assert seldom(realised > level, delta)
    assert share.mean() > 0.03  # and that is not because nothing is kept


@pytest.mark.slow
@pytest.mark.parametrize("name", ["labels", "tree", "rankings", "sequences"])
def test_parts_that_are_kept(name):
    n, level, delta = 80, 0.4, 0.2
    toy = PARTS[name](REPEATS * n, seed=9)
    sure = Abstention(toy, level, delta=delta, of="parts")
    cuts = thresholds(sure, toy, n)
    population = PARTS[name](POPULATION, seed=10)
    structure = structure_of(population.space_, "test")
    claims = structure.claims(
        structure.read(population.P), population.Z, None, structure.asserts_absence
    )
    wrong = np.vectorize(risk_curve(claims.scores, claims.losses).mean)(cuts)
    share = np.vectorize(risk_curve(claims.scores, claims.costs).mean)(cuts)
    realised = np.divide(wrong, share, out=np.zeros_like(wrong), where=share > 0)
    REALISED["kept parts", name] = (realised > level).mean(), share.mean()
    assert seldom(realised > level, delta)
    assert share.mean() > 0.02


# ------------------------------------------------------------------- coverage
def coverage(make, n, level, **choices):
    toy, population = make(REPEATS * n, seed=11), make(POPULATION, seed=12)
    sets = PredictionSets(toy, level, **choices)
    found = thresholds(sets, toy, n)
    rule = PredictionSets(population, level, **choices)._rule()
    scores = np.sort(rule.scores(rule.read(np.arange(POPULATION)), population.Z))
    return np.searchsorted(scores, found, side="right") / POPULATION


CHOICES = [("classes", {"score": "lac"}), ("classes", {"score": "aps"}), ("levels", {})]
CHOICES += [("classes", {"nonempty": True}), ("levels", {"score": "aps"}), ("labels", {})]
CHOICES += [("tree", {}), ("dag", {}), ("sequences", {}), ("rankings", {})]
CHOICES += [("tree", {"nonempty": True})]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "choices"), CHOICES)
def test_sets_hold_the_output(name, choices):
    covered = coverage(PARTS[name], 19, 0.2, **choices)
    REALISED[(name, "coverage", *choices.values())] = covered.mean()
    assert expected_within(1 - covered, 0.2)


@pytest.mark.slow
@pytest.mark.parametrize("score", ["absolute", "normalized", "interval"])
def test_intervals_hold_the_number(score):
    """Scores of continuous numbers do not tie, so that coverage is exact: k / (n + 1)."""
    covered = coverage(quantities, 19, 0.2, score=score)
    REALISED["quantities", "coverage", score] = covered.mean()
    assert expected_within(1 - covered, 0.2)
    assert expected_within(covered, 0.8)


@pytest.mark.slow
def test_groups_have_their_own_promise():
    """One group is five times as noisy: one threshold for both breaks its promise, two do not."""
    rng, n, level = np.random.default_rng(13), 60, 0.2
    toy = quantities(REPEATS * n, seed=13).plain()
    noisy = rng.random(REPEATS * n) < 0.3
    toy.Z[noisy] = toy.predictions[noisy] + 5 * (toy.Z[noisy] - toy.predictions[noisy])
    toy.Z = toy.Z.clip(-50, 50)
    residuals = np.abs(toy.Z - toy.predictions)[:, 0]
    sorted_by_group = [np.sort(residuals[noisy == g]) for g in (False, True)]
    missed = {False: [], True: [], "one": []}
    sets = PredictionSets(toy, level)
    for r in range(REPEATS):
        X = np.arange(r * n, (r + 1) * n)
        sets.calibrate(X, toy.y(X), groups=noisy[X])
        for g, cut in zip(sets.groups_, sets.thresholds_):
            among = sorted_by_group[int(g)]
            missed[g].append(1 - np.searchsorted(among, cut, side="right") / len(among))
        cut = sets.calibrate(X, toy.y(X)).thresholds_[0]
        missed["one"].append(1 - np.searchsorted(sorted_by_group[1], cut) / len(sorted_by_group[1]))
    assert expected_within(missed[False], level)
    assert expected_within(missed[True], level)
    assert not expected_within(missed["one"], level)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sets", "risk"])
def test_weights_undo_a_known_shift(kind):
    """New rows come from where the learner is worse: weights keep the promise, none break it."""
    rng, n, level, new = np.random.default_rng(14), 60, 0.2, 50
    broken = {True: [], False: []}
    make = quantities if kind == "sets" else labels
    toy = make(REPEATS * n + POPULATION, seed=14)
    toy.plain()
    x = np.sqrt(toy.risks) - 0.1 if kind == "sets" else 1.0 - toy.P.mean(axis=1)
    ratio = 0.05 + x**3
    pool = np.arange(REPEATS * n, len(x))
    shares = ratio[pool].cumsum() / ratio[pool].sum()
    for r in range(REPEATS):
        X = np.arange(r * n, (r + 1) * n)
        drawn = pool[np.searchsorted(shares, rng.random(new))]
        for weighted in (True, False):
            w = {"sample_weight": ratio[X]} if weighted else {}
            v = {"weights": ratio[drawn]} if weighted else {}
            if kind == "sets":
                sets = PredictionSets(toy, level).calibrate(X, toy.y(X), **w)
                lost = ~sets.includes(drawn, toy.y(drawn), **v)
            else:
                control = RiskControl(toy, level).calibrate(X, toy.y(X), **w)
                possible, true = control.predict(drawn, **v).possible, toy.Z[drawn]
                lost = (true > possible).sum(axis=1) / np.maximum(true.sum(axis=1), 1)
            broken[weighted].append(lost.mean())
    REALISED["shift", kind] = np.mean(broken[True]), np.mean(broken[False])
    assert expected_within(broken[True], level)
    assert not expected_within(broken[False], level)


# ------------------------------------------------------------------- jackknife+
@pytest.mark.slow
def test_jackknife_plus_covers():
    """A line through ten noisy points, left out one by one: 1 - 2 level is what is promised."""
    rng, n, level = np.random.default_rng(15), 10, 0.2
    covered = []
    for _ in range(REPEATS):
        A = np.column_stack([np.ones(n + 1), rng.normal(size=n + 1)])
        y = A @ [1.0, 2.0] + rng.standard_t(3, n + 1)
        without = [np.delete(np.arange(n), i) for i in range(n)]
        lines = np.array([np.linalg.lstsq(A[w], y[w], rcond=None)[0] for w in without])
        fitted, new = (A[:n] * lines).sum(axis=1), lines @ A[n:].T
        found = jackknife_plus(fitted, y[:n], new, level)
        covered.append(bool((found.lower <= y[n]) & (y[n] <= found.upper)))
    REALISED["jackknife+"] = np.mean(covered)
    assert seldom(~np.array(covered), 2 * level)


def test_tests_can_fail():
    """A threshold that is no promise is caught: that of the mean, without the added row."""
    n, level = 9, 0.15
    toy = PARTS["labels"](REPEATS * n, seed=16)
    structure = structure_of(toy.space_, "test")
    claims = structure.misses(structure.read(toy.P), toy.Z, None)
    cuts = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for r in range(REPEATS):
            rows = slice(r * n, (r + 1) * n)
            curve = risk_curve(claims.scores[rows], claims.losses[rows])
            cuts.append(curve.threshold(level, 0.0))
    realised = population_risk(PARTS["labels"](POPULATION, seed=17), "missed")(cuts)
    assert not expected_within(realised, level)
