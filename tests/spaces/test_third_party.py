# SPDX-License-Identifier: BSD-3-Clause
"""A space written outside the library gets every loss that fits its embedding."""

import numpy as np
import pytest

from skstruct import ConditionalRiskMinimizer, CountingRidge, ExponentialFamily
from skstruct.exceptions import NoFacetError
from skstruct.losses import Hamming, Listed, ZeroOne
from skstruct.spaces import BaseSpace, Decoded, Uniform, check_costs
from skstruct.testing import check_loss, check_space


class Thermometer(BaseSpace):
    """Rows of ones followed by zeros: how high the mercury stands."""

    default_loss = "hamming"

    def __init__(self, d):
        self.d = d

    @property
    def labels_(self):
        return tuple(range(self.d))

    def validate(self, Y):
        return np.asarray(Y, dtype=np.int8)

    def restore(self, Z, index=None):
        return np.asarray(Z)

    def embed(self, Z):
        return np.asarray(Z, dtype=float)

    def contains(self, Z):
        return (np.diff(np.asarray(Z), axis=1) <= 0).all(axis=1)

    def argmin(self, costs):
        costs = check_costs(costs, self.d, used_by="Thermometer")
        heights = np.hstack([np.zeros((len(costs), 1)), np.cumsum(costs, axis=1)])
        best = heights.argmin(axis=1)
        outputs = (np.arange(self.d) < best[:, None]).astype(np.int8)
        values = heights[np.arange(len(costs)), best]
        return Decoded(outputs, values, values)


def test_checks_and_learner():
    space = Thermometer(4)
    outputs = np.array([[int(j < h) for j in range(4)] for h in range(5)], dtype=np.int8)
    check_space(space, outputs)
    for loss in (Hamming(), ZeroOne()):
        check_loss(loss, space, outputs)
    X = np.linspace(0, 1, 40)[:, None]
    Y = outputs[np.rint(4 * X[:, 0]).astype(int)]
    model = ConditionalRiskMinimizer(space, alpha=0.01).fit(X, Y)
    assert space.contains(model.predict(X)).all()
    assert model.score(X, Y) > -0.2
    assert space.contains(model.predict(X, loss="zero_one")).all()
    assert space.contains(model.predict(X, loss=lambda z, y: float(abs(z.sum() - y.sum())))).all()
    said = r"Thermometer needs a method kbest\(costs, k\).* loss=Listed\(Hamming\(\)\)"
    with pytest.raises(ValueError, match=said):
        model.kbest(X, 2)
    values = model.kbest(X, 2, loss=Listed(Hamming())).values  # as the message says
    assert (values[:, 0] <= values[:, 1]).all()


def test_what_cannot_be_counted_says_so():
    X, Y = np.zeros((2, 1)), np.array([[1, 0], [1, 1]], dtype=np.int8)
    space = Thermometer(2)
    for ask in (
        space.size,
        space.enumerate,
        Uniform.of(space).mean_embedding,
        lambda: space.sample(1, 0),
        lambda: ExponentialFamily(space).fit(X, Y).sample(X, 1),
        lambda: CountingRidge(space).fit(X, Y),
    ):
        with pytest.raises(NoFacetError, match=r"Thermometer|the moments of the space"):
            ask()
    assert Uniform.of(space).all_outputs(10) is None


class Counted(Thermometer):
    """The same, which lists itself."""


class UniformOfCounted(Uniform):
    """Size, moments and draws follow from the list."""

    def enumerate(self, limit=10**6):
        return np.tri(self.space.d + 1, self.space.d, -1, dtype=np.int8)


class Miscounted(Counted):
    """The same, which says that it is twice as large."""


class UniformOfMiscounted(UniformOfCounted):
    """One answer is wrong."""

    def size(self):
        return 2 * super().size()


Uniform.at(Counted, UniformOfCounted)
Uniform.at(Miscounted, UniformOfMiscounted)


def test_a_facet_of_ones_own_is_checked_and_used():
    outputs = np.tri(5, 4, -1, dtype=np.int8)
    check_space(Counted(4), outputs)
    with pytest.raises(AssertionError, match=r"size\(\) is 10, not 5"):
        check_space(Miscounted(4), outputs)
    X = np.linspace(0, 1, 20)[:, None]
    Y = outputs[np.rint(4 * X[:, 0]).astype(int)]
    for learner in (CountingRidge, ExponentialFamily):
        model = learner(Counted(4)).fit(X, Y)
        assert model.space_.contains(model.predict(X)).all()
