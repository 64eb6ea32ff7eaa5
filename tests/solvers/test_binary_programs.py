# SPDX-License-Identifier: BSD-3-Clause
"""What a solver says is checked, not believed."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.optimize
from scipy import sparse

from skstruct.exceptions import UnverifiedAnswerError
from skstruct.solvers.binary_programs import BinaryProgram

PROGRAM = BinaryProgram(
    sparse.csr_array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0]]),
    np.ones(3),
    sparse.csr_array((0, 3)),
    np.zeros(0),
)


def test_an_infeasible_answer_is_caught(monkeypatch):
    lie = SimpleNamespace(status=0, x=np.ones(3), mip_dual_bound=-3.0, message="Optimal")
    monkeypatch.setattr(scipy.optimize, "milp", lambda *args, **kwargs: lie)
    with pytest.raises(UnverifiedAnswerError, match="breaks a constraint by 1"):
        PROGRAM.solve(-np.ones(3))


def test_a_poor_answer_cannot_hide_behind_a_claimed_bound(monkeypatch):
    true = scipy.optimize.linprog

    def lie(*args, **kwargs):
        answer = true(*args, **kwargs)
        answer.x = np.array([0.0, 0.0, 0.0])  # feasible and integral, not optimal
        return answer

    monkeypatch.setattr(scipy.optimize, "linprog", lie)
    point, bound = PROGRAM.solve(-np.ones(3))
    assert point.sum() == 0
    assert bound <= -1.0  # rebuilt from dual variables: the gap shows


def test_a_silent_solver_is_an_error(monkeypatch):
    gone = SimpleNamespace(status=4, x=None, message="numerical difficulties")
    monkeypatch.setattr(scipy.optimize, "linprog", lambda *args, **kwargs: gone)
    with pytest.raises(UnverifiedAnswerError, match="numerical difficulties"):
        PROGRAM.solve(-np.ones(3))
