# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from skstruct.losses.piecewise import Absolute, EpsilonInsensitive, Hinge, Huber, Pinball
from skstruct.losses.smooth import L2L1, Cauchy, Fair, GemanMcClure, Logistic
from skstruct.spaces.contracts import Decoded
from skstruct.spaces.solvers.curves.base import Curves

RESIDUALS = [Absolute(), Pinball(0.3), EpsilonInsensitive(0.4), Huber(0.8), Cauchy(0.7),
             GemanMcClure(), Fair(1.3), L2L1()]  # fmt: skip
SCORES = [Hinge(), Logistic()]
ALL = [*RESIDUALS, *SCORES]

# What the docstrings say of rho' and rho'': least and largest.
SLOPES = {Absolute: (-1, 1), Pinball: (-0.3, 0.7), EpsilonInsensitive: (-1, 1), Huber: (-0.8, 0.8),
          Cauchy: (-0.35, 0.35), GemanMcClure: (-3 * 3**0.5 / 16, 3 * 3**0.5 / 16),
          Fair: (-1.3, 1.3), L2L1: (-(2**0.5), 2**0.5)}  # fmt: skip
BENDS = {Cauchy: (-1 / 8, 1), GemanMcClure: (-1 / 4, 1), Fair: (0, 1), L2L1: (0, 1)}


def named(losses):
    return [pytest.param(loss, id=type(loss).__name__) for loss in losses]


def by_hand(loss, t, y):
    """The formulas once more, in plain Python."""
    from math import exp, log, sqrt

    r, kind = t - y, type(loss)
    if kind is Huber:
        return r * r / 2 if abs(r) <= loss.c else loss.c * (abs(r) - loss.c / 2)
    if kind is Pinball:
        return loss.tau * (y - t) if y > t else (1 - loss.tau) * (t - y)
    return {
        Absolute: lambda: abs(r),
        EpsilonInsensitive: lambda: max(0.0, abs(r) - loss.eps),
        Hinge: lambda: max(0.0, 1 - t * y),
        Cauchy: lambda: loss.c**2 / 2 * log(1 + (r / loss.c) ** 2),
        GemanMcClure: lambda: (r * r / 2) / (1 + r * r),
        Fair: lambda: loss.c**2 * (abs(r) / loss.c - log(1 + abs(r) / loss.c)),
        L2L1: lambda: 2 * (sqrt(1 + r * r / 2) - 1),
        Logistic: lambda: log(1 + exp(-t * y)),
    }[kind]()


@pytest.mark.parametrize("loss", named(ALL))
def test_the_definition(loss):
    rng = np.random.default_rng(0)
    P, T, c = rng.standard_normal((9, 3)), rng.standard_normal((9, 3)), np.array([1.0, 0.0, 2.5])
    P[0], T[1] = T[0], 0.0
    weighted = clone(loss).set_params(weights=c)
    expected = [sum(c[j] * by_hand(loss, p[j], t[j]) for j in range(3)) for p, t in zip(P, T)]
    np.testing.assert_allclose(weighted(P, T), expected, atol=1e-14)
    pairs = weighted.pairwise(P, T[:5])
    np.testing.assert_allclose(np.diag(pairs), expected[:5], atol=1e-14)
    np.testing.assert_allclose(pairs[7, 2], weighted(P[[7]], T[[2]])[0])
    assert (loss(P, T) >= 0).all()


@pytest.mark.parametrize("loss", named(ALL))
def test_slopes_are_derivatives(loss):
    rng = np.random.default_rng(1)
    t, y = rng.standard_normal((2, 400)) * 3
    step = 1e-6
    central = (loss.rho(t + step, y) - loss.rho(t - step, y)) / (2 * step)
    np.testing.assert_allclose(loss.slope(t, y), central, atol=1e-6)


@pytest.mark.parametrize("loss", named(RESIDUALS))
def test_ranges_of_the_docstrings(loss):
    r = np.concatenate([np.linspace(-6, 6, 240001), [-1e9, 1e9]])
    low, high = SLOPES[type(loss)]
    slope = loss.slope(r, 0.0)
    assert slope.min() >= low - 1e-12
    assert slope.max() <= high + 1e-12
    np.testing.assert_allclose((slope.min(), slope.max()), (low, high), atol=1e-6)  # attained
    if type(loss) in BENDS:
        bend = loss.curvature_range(r, r, 0.0)[0]
        np.testing.assert_allclose((bend.min(), bend.max()), BENDS[type(loss)], atol=1e-6)


@pytest.mark.parametrize("loss", named(SCORES))
@pytest.mark.parametrize("y", [-2.0, -1.0, 0.0, 0.5, 1.0])
def test_ranges_of_scores(loss, y):
    t = np.linspace(-60, 60, 100001)
    assert np.abs(loss.slope(t, y)).max() <= abs(y)
    np.testing.assert_allclose(np.abs(loss.slope(t, y)).max(), abs(y), atol=1e-6)
    if isinstance(loss, Logistic):
        np.testing.assert_allclose(loss.curvature_range(-60.0, 60.0, y)[1], y * y / 4)


@pytest.mark.parametrize(
    "loss", named([Cauchy(0.7), GemanMcClure(), Fair(1.3), L2L1(), Logistic()])
)
def test_ranges_of_the_second_derivative(loss):
    """On random intervals: nothing outside the range, and both ends of it are met."""
    rng = np.random.default_rng(2)
    step = 1e-5
    for _ in range(200):
        low, high = np.sort(rng.normal(0, 2, 2))
        y = rng.normal(0, 1.5)
        t = np.linspace(low, high, 2001)
        bend = (loss.slope(t + step, y) - loss.slope(t - step, y)) / (2 * step)
        least, most = loss.curvature_range(low, high, y)
        # A cusp of rho'' (Fair) is seen through a window of 1e-5.
        np.testing.assert_allclose((least, most), (bend.min(), bend.max()), atol=3e-3)
        assert least <= bend.min() + 1e-5
        assert most >= bend.max() - 1e-5


@pytest.mark.parametrize("loss", named(ALL))
def test_convexity_is_declared(loss):
    t = np.linspace(-5, 5, 2001)
    second = np.diff(loss.rho(t, 0.7), 2)
    assert (second.min() >= -1e-12) == loss._convex


class Named:
    labels_ = ("width", "height")

    def minimize(self, curves):
        points, values, bounds = curves.minimize(-1.0, 1.0)
        return Decoded(points, values.sum(axis=1), bounds.sum(axis=1))


@pytest.mark.parametrize("loss", named(ALL))
def test_weights_by_name_and_minimize(loss):
    by_name = clone(loss).set_params(weights={"height": 3.0, "width": 0.5})
    with pytest.raises(ValueError, match="bind"):
        by_name([[1.0, 2.0]], [[0.0, 0.0]])
    bound = by_name.bind(Named())
    in_order = clone(loss).set_params(weights=[0.5, 3.0])
    np.testing.assert_array_equal(
        bound([[1.0, 2.0]], [[0.0, 0.5]]), in_order([[1.0, 2.0]], [[0.0, 0.5]])
    )
    rng = np.random.default_rng(3)
    W, Y = rng.standard_normal((5, 8)), rng.standard_normal((8, 2))
    decoded = bound.minimize(W, Y, Named())
    risks = (W * bound.pairwise(decoded.outputs, Y)).sum(axis=1)
    np.testing.assert_allclose(decoded.values, risks, atol=1e-12)
    others = rng.uniform(-1, 1, (200, 2))
    assert (decoded.bounds[:, None] <= W @ bound.pairwise(others, Y).T + 1e-12).all()
    same = bound.minimize(sparse.csr_array(W), Y, Named())
    np.testing.assert_array_equal(same.outputs, decoded.outputs)


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (Pinball(0.0), "Pinball: tau"),
        (Pinball(1.5), "Pinball: tau"),
        (EpsilonInsensitive(-0.1), "EpsilonInsensitive: eps"),
        (Huber(0), "Huber: c is a positive number; got 0"),
        (Cauchy(-1.0), "Cauchy: c"),
        (Fair("wide"), "Fair: c"),
        (Absolute(weights=[1.0]), "Absolute expects 2 weights"),
        (Absolute(weights=[1.0, -2.0]), "weight of label 1 is -2"),
    ],
)
def test_bad_parameters_are_named_when_used(loss, message):
    Y = np.zeros((3, 2))
    for use in (lambda: loss(Y, Y), lambda: loss.pairwise(Y, Y),
                lambda: loss.curves(np.ones((1, 3)), Y)):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            use()


def test_shapes():
    np.testing.assert_array_equal(Absolute()([1.0, 2.0], [0.0, 0.0]), [1.0, 2.0])
    with pytest.raises(ValueError, match=r"shapes \(1, 2\) and \(1, 3\)"):
        Absolute()([[1.0, 2.0]], [[1.0, 2.0, 3.0]])
    assert Huber().pairwise(np.zeros((0, 2)), np.zeros((3, 2))).shape == (0, 3)


def test_curves_keep_the_contract():
    for loss in ALL:
        curves = loss.curves(np.ones((2, 3)), np.ones((3, 2)))
        for name in ("at", "slopes", "minimize", "sample", "rows"):
            assert hasattr(Curves, name)
            assert callable(getattr(curves, name))
