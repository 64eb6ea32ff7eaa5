# SPDX-License-Identifier: BSD-3-Clause
"""What output kernel regression cannot do, it says."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from output_kernel_cases import WORDS, inputs
from skstruct import OutputKernelRegressor
from skstruct.exceptions import InfeasibleError
from skstruct.kernels import (
    SpectrumKernel,
)
from skstruct.spaces import Candidates, Sequences


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "magic"}, 'method is "ridge" or "sample_compression"'),
        ({"C": 0.0}, "C must be positive"),
        ({"C": "large"}, 'C is a positive number, several, or "auto"'),
        ({"radius": 1.0}, "radius goes with"),
        ({"candidates": []}, "candidates is empty"),
        ({"output_kernel": "nonsense"}, "Unknown kernel between outputs 'nonsense'"),
        ({"method": "sample_compression", "radius": -1.0}, "radius is a number of at least 0"),
        ({"method": "sample_compression", "cv": 1}, "cv is a whole number of folds"),
        ({"output_kernel": lambda y, z: -float(y == z)}, "not positive semidefinite.*-1"),
        ({"memory": "much"}, "memory is a size"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        OutputKernelRegressor(**settings).fit(inputs(4), ["a", "b", "a", "b"])


def test_a_failed_fit_leaves_the_model_as_it_was():
    X = inputs(4)
    model = OutputKernelRegressor(alpha=1.0).fit(X, ["a", "b", "a", "b"])
    before = model.predict(X).tolist()
    with pytest.raises(ValueError, match="inconsistent"):
        model.fit(X, ["a", "b"])
    assert model.predict(X).tolist() == before


def test_predicting_needs_a_fit():
    with pytest.raises(NotFittedError):
        OutputKernelRegressor().predict([[0.0]])
    with pytest.raises(ValueError, match="one input per output"):
        OutputKernelRegressor().fit([np.zeros((2, 3)), np.zeros((1, 3))], ["ab", "a"])


@pytest.mark.parametrize(
    ("settings", "X", "message"),
    [
        ({"candidates": "cat"}, None, "candidates is a list; got 'cat'"),
        ({"candidates": 3}, None, "candidates is a list; got 3"),
        ({}, ["ab", "cd", "ef", "gh"], r"X\[0\] is the text 'ab'. Give a kernel between strings"),
        ({"input_kernel": [SpectrumKernel(1), SpectrumKernel(2)]}, ["ab"] * 4, "one at a time"),
        ({"input_kernel": SpectrumKernel(3)}, ["ab", "c", "", "a"], "long enough"),
        ({"input_kernel": "precomputed", "C": 1.0}, -3.0 * np.eye(4), "alpha is 1 / C"),
        ({"C": [1.0, 2.0], "leave_out": 1}, None, "at least 2 blocks"),
    ],
)
def test_bad_inputs_are_named(settings, X, message):
    X = inputs(4) if X is None else X
    with pytest.raises(ValueError, match=message):
        OutputKernelRegressor(**settings).fit(X, ["a", "b", "a", "b"])


def test_lists_cannot_be_restricted():
    model = OutputKernelRegressor(output_kernel="hamming", alpha=1.0).fit(inputs(9), WORDS)
    with pytest.raises(ValueError, match="Classes cannot be restricted"):
        model.predict(inputs(9), restrict={"length": 3})


def test_candidates_outside_the_space_are_named():
    X, y = inputs(4), ["cat", "cot", "dot", "cat"]
    model = OutputKernelRegressor(space=Candidates(["cat", "cot"]), output_kernel="hamming")
    with pytest.raises(ValueError, match=r"candidates\[1\] is 'cot', which Candidates does not"):
        model.fit(X, y)


def test_a_row_that_no_candidate_meets_is_named_block_by_block():
    X, y = inputs(12), ["ab", "ba", "bb", "cc"] * 3
    for memory in (400, "1GB"):
        model = OutputKernelRegressor(space=Sequences("abc", 2), alpha=1.0).fit(X, y)
        with pytest.raises(InfeasibleError, match="row 0"):
            model.predict(X, restrict={"known": {0: "a", 1: "c"}})
