# SPDX-License-Identifier: BSD-3-Clause
"""What output kernel regression cannot do, it says."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from output_kernel_cases import WORDS, inputs
from skstruct import OutputKernelRegressor, config_context, get_config
from skstruct.exceptions import InfeasibleError
from skstruct.kernels import RBF, SpectrumKernel
from skstruct.smoothing import SampleCompression
from skstruct.spaces import Candidates, Rankings, Sequences


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "magic"}, "method is .* PrincipalComponents; got 'magic'"),
        ({"method": 3}, "method is .* PrincipalComponents; got 3"),
        ({"alpha": 0.0}, "alpha must be positive; got 0.0"),
        ({"alpha": "large"}, "alpha is a positive number, .*; got 'large'"),
        ({"space": Candidates([])}, "list of candidates is empty"),
        ({"method": SampleCompression("linear")}, "kernel of OutputKernelRegressor; got 'linear'"),
        ({"output_kernel": "nonsense"}, "Unknown kernel between outputs 'nonsense'"),
        ({"method": SampleCompression(radius=-1.0)}, "radius is .* at least 0; got -1.0"),
        ({"method": SampleCompression(radius=[1, -1.0])}, r"radius is .*; got \[1, -1.0\]"),
        ({"method": SampleCompression(radius="wide")}, "radius is .*; got 'wide'"),
        (
            {"method": SampleCompression(radius="wide"), "kernel": RBF("auto")},
            "radius is .*; got 'wide'",
        ),
        ({"method": "sample_compression", "cv": 1}, "cv is a whole number of folds"),
        ({"output_kernel": lambda y, z: -float(y == z)}, "not positive semidefinite.*-1"),
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
        ({"space": Candidates("cat")}, None, "candidates is a list; got 'cat'"),
        ({"space": Candidates(3)}, None, "candidates is a list; got 3"),
        ({}, ["ab", "cd", "ef", "gh"], r"X\[0\] is the text 'ab'. Give a kernel between strings"),
        ({"kernel": [SpectrumKernel(1), SpectrumKernel(2)]}, ["ab"] * 4, "one at a time"),
        ({"kernel": SpectrumKernel(3)}, ["ab", "c", "", "a"], "long enough"),
        ({"kernel": "precomputed", "alpha": 1.0}, -3.0 * np.eye(4), "not positive definite"),
        ({"alpha": [1.0, 0.5], "cv": 1}, None, "cv needs at least 2 blocks; got 1"),
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
    X, K = inputs(4), np.eye(4)
    numbers = OutputKernelRegressor(space=Candidates([0, 9]), output_kernel="precomputed")
    with pytest.raises(ValueError, match=r"Y\[1\] is the label 9"):
        numbers.fit(X, K)
    sets = OutputKernelRegressor(space=Candidates([[0, 1], [2, 0]]), output_kernel="linear")
    with pytest.raises(ValueError, match=r"Y\[1\] holds the label 2"):
        sets.fit(X, np.array([[0, 1], [1, 0], [1, 1], [0, 0]]))


def test_a_size_of_memory_that_is_none_changes_nothing():
    with pytest.raises(ValueError, match="memory is a size"), config_context(memory="much"):
        pass
    assert get_config()["memory"] == "1GB"


def test_a_row_that_no_candidate_meets_is_named_block_by_block():
    X, y = inputs(12), ["ab", "ba", "bb", "cc"] * 3
    for memory in (400, "1GB"):
        with config_context(memory=memory):
            model = OutputKernelRegressor(space=Sequences("abc", 2), alpha=1.0).fit(X, y)
            with pytest.raises(InfeasibleError, match="row 0"):
                model.predict(X, restrict={"known": {0: "a", 1: "c"}})


@pytest.mark.parametrize("memory", ["1GB", 8])
def test_outputs_that_all_leave_something_open_are_no_candidates(memory):
    """No constraint is to blame, and a kernel by which the whole space is searched needs none."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)), [list(rng.permutation(list("abcd"))[:2]) for _ in range(20)]
    model = OutputKernelRegressor(Rankings("abcd"))
    told = 'may be predicted in row 0: .* leaves something open; .*output_kernel="linear"'
    with config_context(memory=memory):
        with pytest.raises(InfeasibleError, match=told):
            model.fit(X, y)
        fixed = model.set_params(alpha=1.0).fit(X, y)
        with pytest.raises(InfeasibleError, match=told):
            fixed.predict(X)
    whole = model.set_params(output_kernel="linear").fit(X, y).predict(X)
    assert (np.sort(list(whole), axis=1) == list("abcd")).all()
