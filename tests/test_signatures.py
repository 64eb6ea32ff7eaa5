# SPDX-License-Identifier: BSD-3-Clause
"""One word for one thing in every signature, and few of them."""

import inspect

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from skstruct import kernels, learners, smoothing

MOST = 12
OLD = {
    "lam", "C", "n_components", "leave_out", "system", "partition", "input_kernel", "n_epochs",
    "gamma", "degree", "coef0", "device", "engine", "memory", "precision", "warm_start",
}  # fmt: skip
LEARNERS = [
    kind
    for name in learners.__all__
    if inspect.isclass(kind := getattr(learners, name))
    and issubclass(kind, BaseEstimator)
    and hasattr(kind, "fit")
]
SMOOTHERS = [
    kind
    for name in smoothing.__all__
    if inspect.isclass(kind := getattr(smoothing, name)) and issubclass(kind, BaseEstimator)
]


def parameters(kind):
    return inspect.signature(kind).parameters


def test_there_are_learners():
    assert len(LEARNERS) >= 14


@pytest.mark.parametrize("kind", [*LEARNERS, *SMOOTHERS])
def test_few_parameters_and_no_second_word(kind):
    assert len(parameters(kind)) <= MOST
    assert not OLD & set(parameters(kind))


@pytest.mark.parametrize("kind", SMOOTHERS)
def test_smoothers_have_the_same_defaults(kind):
    given = parameters(kind)
    for name, default in (("random_state", None), ("fit_intercept", True)):
        assert name not in given or given[name].default is default


@pytest.mark.parametrize("kind", LEARNERS)
def test_order_and_defaults(kind):
    given = parameters(kind)
    names = list(given)
    if "space" in given:
        assert names[0] == "space"
        assert given["space"].default is None
    if "loss" in given:
        assert names.index("loss") == ("space" in given)
    for name, default in (("random_state", None), ("fit_intercept", True), ("alpha", "auto")):
        if name in given:
            assert given[name].default == default or given[name].default is default
    first = ("space", "loss")
    kinds = {name: given[name].kind for name in names if name not in first}
    assert set(kinds.values()) <= {inspect.Parameter.KEYWORD_ONLY}


def test_a_name_stands_for_a_kernel_with_its_defaults():
    X = np.random.default_rng(0).random((5, 3))
    for name, kind in kernels.inputs.KERNELS.items():
        if name != "precomputed":
            np.testing.assert_array_equal(
                kernels.resolve_kernel(name).fit(X)(X, X), kind().fit(X)(X, X)
            )
