# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn's own checks, nothing skipped; each failure that is expected has its reason."""

import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from reliability.estimator_cases import ESTIMATORS, EXPECTED_FAILURES, IN_ANOTHER_PROCESS
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from skstruct import ConditionalRiskMinimizer
from skstruct.spaces import Hierarchy
from work import n_calls, peak_bytes


@pytest.mark.slow
@pytest.mark.parametrize("name", ESTIMATORS)
def test_check_estimator(name):
    expected = EXPECTED_FAILURES.get(name, {})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(
            clone(ESTIMATORS[name]), on_fail=None, expected_failed_checks=expected
        )
    wrong = {
        result["check_name"]: str(result["exception"])
        for result in results
        if result["status"] != "passed" and "does not have a" not in str(result["exception"])
    }
    assert "SCIPY_ARRAY_API" in wrong.pop(IN_ANOTHER_PROCESS)
    assert {check: said for check, said in wrong.items() if check not in expected} == {}
    assert wrong.keys() == expected.keys()
    assert len(results) >= 35


@pytest.mark.subprocess
def test_check_array_api_input():
    """Of all estimators, in one process."""
    code = (
        "import warnings; warnings.simplefilter('ignore');"
        "from reliability.estimator_cases import ESTIMATORS, IN_ANOTHER_PROCESS;"
        "from sklearn.utils.estimator_checks import estimator_checks_generator as checks;"
        "[print(name, check.func.__name__, check(model)) for name in ESTIMATORS"
        " for model, check in checks(ESTIMATORS[name])"
        " if check.func.__name__ == IN_ANOTHER_PROCESS]"
    )
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    folder = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True, text=True, env=environment, cwd=folder, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    passed = [f"{name} {IN_ANOTHER_PROCESS} None" for name in ESTIMATORS]
    assert done.stdout.splitlines() == passed


def test_large_hierarchies_are_cheap_to_copy_and_show():
    """Hardly more steps than for small ones."""
    small, large = (
        ConditionalRiskMinimizer(
            Hierarchy([((j - 1) // 4, j) for j in range(1, n)]),
            "hierarchical",
            smoother="kernel_ridge",
        )
        for n in (230, 23_000)
    )
    assert clone(large).space.edges is large.space.edges
    for action in (clone, repr, lambda m: m._repr_html_()):
        action(small)
        few, many = (n_calls(lambda m=m: action(m)) for m in (small, large))  # noqa: B023
        assert many < 1.1 * few
        assert peak_bytes(lambda: action(large)) < 1_000_000  # noqa: B023
    assert len(repr(large)) < 200
