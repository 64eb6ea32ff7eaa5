# SPDX-License-Identifier: BSD-3-Clause
import pickle
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.signal import lfilter

from skstruct.exceptions import MixingWarning
from skstruct.sampling import convergence as mixing
from skstruct.sampling.convergence import Diagnostics, diagnostics, to_arviz_dict


def autoregressive(rho, shape, seed=0):
    """Chains x(t) = rho x(t-1) + noise along the last axis, stationary from the beginning."""
    noise = np.random.default_rng(seed).standard_normal(shape)
    noise[..., 0] /= np.sqrt(1 - rho**2)
    return lfilter([1.0], [1.0, -rho], noise)


def naive_size(chains):
    """The effective size written out: products for every lag, pair after pair."""
    m, n = chains.shape
    centred = chains - chains.mean(axis=1, keepdims=True)
    covariances = [
        np.mean([(x[: n - t] * x[t:]).sum() / n for x in centred]) for t in range(n)
    ]  # fmt: skip
    within = covariances[0] * n / (n - 1)
    total = covariances[0] + (np.var(chains.mean(axis=1), ddof=1) if m > 1 else 0.0)
    rho = [1.0] + [1 - (within - c) / total for c in covariances[1:]]
    time, least, k = -1.0, np.inf, 0
    while 2 * k + 1 <= n - 4 and rho[2 * k] + rho[2 * k + 1] > 1e-12:
        least = min(least, rho[2 * k] + rho[2 * k + 1])
        time, k = time + 2 * least, k + 1
    time += max(rho[2 * k], 0.0)
    return m * n / max(time, 1 / np.log10(m * n))


def naive_r_hat(chains):
    n = chains.shape[1]
    within = np.mean([np.var(chain, ddof=1) for chain in chains])
    between = n * np.var([np.mean(chain) for chain in chains], ddof=1)
    return np.sqrt(((n - 1) / n * within + between / n) / within)


@given(st.integers(1, 4), st.integers(2, 30), st.floats(-0.9, 0.95), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_formulas_written_out(m, n, rho, seed):
    chains = autoregressive(rho, (3, m, n), seed)
    assert_allclose(mixing.effective_size(chains), [naive_size(x) for x in chains], rtol=1e-8)
    if m > 1:
        assert_allclose(mixing._r_hat(chains), [naive_r_hat(x) for x in chains], rtol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("rho", [-0.5, 0.0, 0.3, 0.6, 0.9])
def test_autoregressive_chains(rho):
    """n (1 - rho) / (1 + rho) within 10 % in the mean of 20 traces: measured within 5 %."""
    chains = np.moveaxis(autoregressive(rho, (20, 4, 5000)), 0, -1)
    found = diagnostics(chains, warn=False)
    expected = 20_000 * (1 - rho) / (1 + rho)
    assert_allclose(found.ess_bulk.mean(), expected, rtol=0.1)
    assert_allclose(np.mean(found.sd**2 / found.mcse_mean**2), expected, rtol=0.1)
    assert found.r_hat.shape == (20,)
    assert (found.r_hat < 1.01).all()
    # Means of independent traces of variance 1 / (1 - rho^2) spread by the standard error; four
    # times the spread of a standard deviation of 20 numbers is 64 %.
    assert_allclose(found.mean.std(), found.mcse_mean.mean(), rtol=0.64)


@pytest.mark.parametrize("kind", ["normal", "slow", "apart", "swinging", "rounded", "rare"])
@pytest.mark.parametrize("shape", [(4, 1000), (2, 251), (3, 40)])
def test_agrees_with_arviz(kind, shape):
    arviz = pytest.importorskip("arviz")
    rho = {"slow": 0.95, "swinging": -0.7}.get(kind, 0.4)
    trace = autoregressive(rho, shape, seed=3)
    if kind == "apart":
        trace = trace + np.arange(shape[0])[:, None]
    if kind == "rounded":
        trace = np.round(4 * trace)
    if kind == "rare":
        trace = (trace > 1.3).astype(float)
    found = diagnostics(trace, warn=False)
    assert_allclose(found.r_hat, arviz.rhat(trace), rtol=1e-10)
    assert_allclose(found.ess_bulk, arviz.ess(trace, method="bulk"), rtol=1e-10)
    assert_allclose(found.mcse_mean, arviz.mcse(trace), rtol=1e-10)
    assert_allclose(found.ess_tail, arviz.ess(trace, method="tail"), rtol=1e-10)


def test_tails_of_ties():
    """Where most draws are the largest value, what is below it is a tail all the same."""
    trace = np.ones((4, 500))
    trace[:, 100:105] = 0.0
    assert_allclose(mixing.ess_tail(trace), mixing.ess_tail(1 - trace))
    assert mixing.ess_tail(trace) < 500


def test_coordinates_alone_and_together(monkeypatch):
    rng = np.random.default_rng(0)
    traces = rng.standard_normal((3, 60, 7)).cumsum(axis=1)
    traces[:, :, 3] = 5.0
    blocks = [slice(0, 2), slice(2, 4), slice(4, 7)]
    with monkeypatch.context() as patch:
        patch.setattr("skstruct.sampling.convergence.row_blocks", lambda *_: blocks)
        together = diagnostics(traces, warn=False)
    for j in range(7):
        alone = diagnostics(traces[:, :, j], warn=False)
        for name in ("mean", "sd", "mcse_mean", "ess_bulk", "ess_tail", "r_hat"):
            assert_allclose(getattr(together, name)[j], getattr(alone, name), rtol=1e-9)
    assert np.isnan(together.r_hat[3])
    assert np.isnan(together.ess_bulk[3])


@pytest.mark.slow
@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e150))
@settings(max_examples=30, deadline=None)
def test_origin_and_unit_do_not_matter(origin, unit):
    trace = np.round(autoregressive(0.5, (4, 100)), 2)
    at = origin * unit if unit < 1e100 else 0.0
    one, other = diagnostics(trace, warn=False), diagnostics(at + unit * trace, warn=False)
    assert_allclose(other.mcse_mean, unit * one.mcse_mean, rtol=1e-6)
    assert_allclose(other.mean, at + unit * one.mean, rtol=1e-6, atol=1e-9 * unit)


def test_chains_that_stand_apart():
    found = diagnostics(np.repeat(np.arange(4.0)[:, None], 100, axis=1), warn=False)
    assert np.isinf(found.r_hat)
    assert found.ess_bulk < 10
    assert not found.ok
    drift = np.linspace(0, 9, 400) + np.random.default_rng(0).standard_normal((4, 400))
    assert diagnostics(drift, warn=False).r_hat > 1.5  # all chains alike, their halves not
    wide = np.random.default_rng(0).standard_normal((4, 400)) * np.array([1, 1, 1, 5])[:, None]
    assert diagnostics(wide, warn=False).r_hat > 1.1  # same middle, other spread


def test_what_is_said():
    good = np.random.default_rng(0).standard_normal((4, 1000))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = diagnostics(good)
    assert found.ok
    assert found.troubles == ()
    assert "Nothing speaks" in str(found)
    assert repr(found) == "Diagnostics(ok: 4 chains of 1000 draws)"
    with pytest.warns(MixingWarning, match=r"independent ones, not 400.* about 1[0-9]0 draws"):
        short = diagnostics(good[:, :100])
    assert not short.ok
    assert diagnostics(good[:, :100], ess_limit=200).ok
    with pytest.warns(MixingWarning, match="R-hat is .* ParallelTempering.* exact draws"):
        diagnostics(good + np.arange(4)[:, None])
    with pytest.warns(MixingWarning, match="one chain only.*four chains"):
        assert 0.99 < diagnostics(good[:1]).r_hat < 1.01


def test_many_coordinates_are_printed_worst_first():
    traces = autoregressive(0.5, (4, 1000))[..., None] * np.ones(14)
    traces[:, :, 11] = np.random.default_rng(0).standard_normal((4, 1000)).cumsum(axis=1)
    lines = str(diagnostics(traces, warn=False)).splitlines()
    assert lines[1].split()[0] == "11"
    assert len(lines) == 15
    assert lines[11] == "(4 more coordinates have larger effective sizes)"


def test_too_few_or_constant():
    for trace in (np.zeros((4, 3)), np.arange(3.0)[None], np.ones((1, 1))):
        with pytest.warns(MixingWarning, match="fewer than 4"):
            found = diagnostics(trace)
        assert np.isnan(found.r_hat)
        assert np.isnan(found.ess_bulk)
        assert not found.ok
    same = np.full((4, 50), 0.3)
    same[:, ::2] = 0.1 + 0.2  # rounding is no movement
    with pytest.warns(MixingWarning, match="the same value"):
        assert np.isnan(diagnostics(same).r_hat)
    for n in (4, 5):  # the fewest, of which a middle draw may be all that differs
        trace = np.zeros((2, n))
        trace[:, 2] = [-1.0, 1.0]
        diagnostics(trace, warn=False).ok  # noqa: B018


@pytest.mark.parametrize(
    ("trace", "message"),
    [
        (np.zeros(9), r"got shape \(9,\). Write trace\[None\]"),
        (np.zeros((2, 2, 2, 2)), r"got shape \(2, 2, 2, 2\)"),
        (np.zeros((0, 9)), r"no chains .* \(0, 9\)"),
        (np.zeros((3, 0)), r"no draws .* \(3, 0\)"),
        (np.zeros((3, 9, 0)), r"no coordinates .* \(3, 9, 0\)"),
        ([[0.0, np.nan]], r"traces\[0, 1\] is nan"),
        (np.full((2, 9, 2), np.inf), r"traces\[0, 0, 0\] is inf"),
    ],
)
def test_bad_traces(trace, message):
    with pytest.raises(ValueError, match=message):
        diagnostics(trace)


def test_bad_limits():
    for limits in ({"r_hat_limit": 1.0}, {"ess_limit": 0}, {"r_hat_limit": float("nan")}):
        with pytest.raises(ValueError, match=f"{next(iter(limits))} is larger than"):
            diagnostics(np.zeros((2, 9)), **limits)


class Bits:
    """A space of zeros and ones, embedded as they are."""

    def embed(self, outputs):
        return outputs


def drawn(values=None, acceptance=0.3):
    outputs = (np.random.default_rng(0).random((4, 600, 3)) < [0.2, 0.5, 1.0]).astype(int)
    values = outputs @ [1.0, 2.0, 3.0] if values is None else np.full((4, 600), values)
    share = np.full(4, acceptance)
    return SimpleNamespace(outputs=outputs, values=values, acceptance=share, space=Bits())


def test_draws_are_taken():
    draws = drawn()
    found = diagnostics(draws)
    assert found.ok
    assert found.acceptance is draws.acceptance
    assert "0.3 to 0.3 of proposals accepted" in str(found)
    assert_allclose(found.mean, draws.values.mean())
    uniform = diagnostics(drawn(values=0.0))  # the same score everywhere: psi is looked at
    assert uniform.ok
    assert_array_equal(np.isnan(uniform.r_hat), [False, False, True])
    with pytest.warns(MixingWarning, match="ParallelTempering"):
        diagnostics(drawn(acceptance=0.001), ess_limit=10**5)


def test_frames_and_pickles():
    pandas = pytest.importorskip("pandas")
    found = diagnostics(np.random.default_rng(0).standard_normal((4, 1000, 3)))
    frame = found.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert frame.shape == (3, 6)
    assert_array_equal(frame["r_hat"], found.r_hat)
    again = pickle.loads(pickle.dumps(found))
    assert isinstance(again, Diagnostics)
    assert str(again) == str(found)


def test_arviz_takes_the_dictionary():
    found = to_arviz_dict(drawn())
    assert found["posterior"]["psi"].shape == (4, 600, 3)
    arviz = pytest.importorskip("arviz")
    old = arviz.__version__.startswith("0.")
    data = arviz.from_dict(**found) if old else arviz.from_dict(found)
    assert_array_equal(data["posterior"]["score"].values, drawn().values)
    assert_array_equal(data["sample_stats"]["acceptance_rate"].values, np.full((4, 600), 0.3))
