# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstruct._arrays.checks import snap
from skstruct._arrays.imports import require
from skstruct._arrays.memory import parse_memory, row_blocks


@pytest.mark.parametrize(
    ("text", "size"), [("1GB", 10**9), ("2 mb", 2 * 10**6), (512, 512), ("1.5k", 1500)]
)
def test_memory(text, size):
    assert parse_memory(text) == size


@pytest.mark.parametrize("text", ["much", "", "-1GB", 0, "1.2.3GB", None])
def test_bad_memory(text):
    with pytest.raises(ValueError, match="memory"):
        parse_memory(text)


@pytest.mark.slow
@given(st.integers(0, 100), st.integers(1, 50), st.integers(1, 500))
def test_blocks_cover_all_rows(n, per_row, memory):
    blocks = list(row_blocks(n, per_row, memory))
    assert np.concatenate([np.arange(n)[b] for b in blocks] or [[]]).tolist() == list(range(n))
    assert all((b.stop - b.start) * per_row <= max(memory, per_row) for b in blocks)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=6), st.floats(-4, 4))
def test_snapping_forgets_the_last_bits(row, noise):
    costs = np.array([row])
    scale = np.abs(costs).max(axis=1)
    snapped, moved = snap(costs.copy(), scale), snap(costs * (1 + noise * 1e-16), scale)
    assert (np.abs(snapped - costs) <= 2.0**-30 * scale).all()
    # Only a cost that lies on the border of two steps may move, and by one step only.
    assert (np.abs(moved - snapped) <= 2.0**-29 * scale).all()


def test_snapping_restores_ties_and_zeros():
    costs = np.array([[0.1 + 0.2, 0.3, 0.3 - 0.1 * 3, 1.0]])
    snapped = snap(costs, np.ones(1))[0]
    assert snapped[0] == snapped[1]
    assert snapped[2] == 0.0
    noise = np.array([[1e-17, -1e-17]])  # what is left where terms of size one cancel
    assert snap(noise, np.ones(1)).tolist() == [[0.0, 0.0]]
    assert snap(np.zeros((2, 3)), np.zeros(2)).tolist() == [[0, 0, 0]] * 2
    assert snap(np.zeros((0, 3)), np.zeros(0)).shape == (0, 3)


def test_missing_packages_say_how_to_get_them():
    with pytest.raises(
        ImportError, match=r'Plot needs nothing_here: pip install "skstruct\[plot\]"'
    ):
        require("nothing_here", used_by="Plot", extra="plot")


def test_compiling_is_announced_to_terminals_only(monkeypatch, capsys):
    from types import SimpleNamespace

    from skstruct._arrays._numba_notice import MESSAGE, CompileNotice

    def ours():
        """Stands for a kernel."""

    ours.__module__ = "skstruct.spaces.solvers.somewhere"
    started = SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=ours)})
    notice = CompileNotice()
    notice.on_start(started)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    notice.on_start(started)
    notice.on_start(started)
    assert capsys.readouterr().err == MESSAGE + "\n"
    ours.__module__ = "elsewhere"
    CompileNotice().on_start(started)
    assert capsys.readouterr().err == ""
