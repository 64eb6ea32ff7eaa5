# SPDX-License-Identifier: BSD-3-Clause
from types import SimpleNamespace

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skstruct.inspection import TraceDisplay
from skstruct.inspection.traces import chain_ranks
from skstruct.sampling.convergence import diagnostics

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def _no_figures_left():
    yield
    plt.close("all")


def normal(*shape):
    return np.random.default_rng(0).standard_normal(shape)


def test_what_is_drawn():
    trace = normal(3, 200)
    display = TraceDisplay.from_draws(trace)
    lines, ranks, correlations = display.axes_
    for line, chain in zip(lines.lines, trace, strict=True):
        assert_array_equal(line.get_ydata(), chain)
    found = diagnostics(trace, warn=False)
    assert f"R-hat {found.r_hat:.3f}" in lines.get_title()
    assert f"{found.ess_bulk:,.0f} bulk, {found.ess_tail:,.0f} tail of 600" in lines.get_title()
    heights = np.reshape([bar.get_height() for bar in ranks.patches], (3, 20))
    counts = [np.bincount(one // 30, minlength=20) for one in chain_ranks(trace)]
    assert_allclose(heights, 0.4 * np.minimum(np.array(counts) / 10, 2.2))
    centred = trace - trace.mean(axis=1, keepdims=True)
    for line, x in zip(correlations.lines[:3], centred, strict=True):
        assert_allclose(line.get_ydata()[7], x[:-7] @ x[7:] / (x @ x))
    assert display.figure_ is lines.figure


def test_ranks():
    trace = np.array([[3.0, 1.0], [2.0, 0.0]])
    assert_array_equal(chain_ranks(trace), [[3, 1], [2, 0]])
    tied = chain_ranks(np.zeros((4, 500)))
    assert_array_equal(np.sort(tied, axis=None), np.arange(2000))
    # Means of 500 of 2000 ranks have standard deviation 22.4; four of them within 5 of these.
    assert (abs(tied.mean(axis=1) - 999.5) < 112).all()


@pytest.mark.slow
def test_coordinates_of_draws():
    outputs = np.random.default_rng(0).integers(2, size=(2, 50, 3))
    space = SimpleNamespace(embed=lambda outputs: outputs)
    draws = SimpleNamespace(
        outputs=outputs, values=outputs.sum(axis=2), acceptance=np.ones(2), space=space
    )
    score, one = TraceDisplay.from_draws(draws), TraceDisplay.from_draws(draws, coordinate=1)
    assert_array_equal(score.trace, draws.values)
    assert_array_equal(one.trace, outputs[:, :, 1])
    assert (score.name, one.name) == ("score", "coordinate 1")
    given = TraceDisplay.from_draws(outputs.astype(float), coordinate=2, name="rain")
    assert_array_equal(given.trace, outputs[:, :, 2])
    assert given.axes_[0].get_ylabel() == "rain"
    with pytest.raises(ValueError, match="say which coordinate"):
        TraceDisplay.from_draws(outputs)
    with pytest.raises(ValueError, match="coordinate is from 0 to 2; got 3"):
        TraceDisplay.from_draws(draws, coordinate=3)


@pytest.mark.parametrize("trace", [np.zeros((2, 30)), np.ones((1, 1)), np.arange(3.0)[None]])
def test_nothing_to_tell(trace):
    title = TraceDisplay.from_draws(trace).axes_[0].get_title()
    assert "nothing" in title
    assert "nan" not in title


def test_axes_that_are_given():
    figure, axes = plt.subplots(3)
    display = TraceDisplay.from_draws(normal(12, 40), axes=axes)
    assert display.figure_ is figure
    assert len(axes[0].lines) == 12
    with pytest.raises(ValueError, match="three axes; got 2"):
        TraceDisplay(normal(2, 9)).plot(axes[:2])
