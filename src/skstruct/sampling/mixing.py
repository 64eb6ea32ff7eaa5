# SPDX-License-Identifier: BSD-3-Clause
"""R-hat and effective sample sizes of chains, for many traces at once [1]_.

Traces have shape (..., n_chains, n_draws), chains of the same length, at least four draws. All
but the autocorrelations are NaN for a trace that never changes.

References
----------
.. [1] A. Vehtari, A. Gelman, D. Simpson, B. Carpenter, P.-C. Bürkner, Rank-normalization,
   folding, and localization: an improved R-hat for assessing convergence of MCMC. Bayesian
   Analysis 16 (2021) 667-718.
"""

from __future__ import annotations

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import ndtri
from scipy.stats import rankdata

TAILS = (0.05, 0.95)
STILL = 1e-20  # variance of ranks turned normal, of scale one, that is rounding and no variance
NOTHING = 1e-12  # correlations up to here are rounding of the Fourier transform


def r_hat(traces: np.ndarray) -> np.ndarray:
    """The larger R-hat of ranks and of ranks of distances from the median; shape (...).

    Chains are split, so that one which drifts disagrees with itself. Infinite where no half
    of a chain moves, but they stand at different places.
    """
    halves = split(traces)
    folded = np.abs(halves - np.median(halves, axis=(-2, -1), keepdims=True))
    # Folding can leave nothing that varies, as of a fair coin: its NaN does not count.
    return np.fmax(_r_hat(normal_ranks(halves)), _r_hat(normal_ranks(folded)))


def ess_bulk(traces: np.ndarray) -> np.ndarray:
    """Independent draws that would tell as much of where the middle is; shape (...)."""
    return effective_size(normal_ranks(split(traces)))


def ess_tail(traces: np.ndarray) -> np.ndarray:
    """Independent draws that would tell as much of both 5 % tails; shape (...).

    The smaller effective size of "at most the 5 % quantile" and "at most the 95 % quantile".
    Where all draws are at most the latter, being its ties, "at least" takes its place.
    """
    low, high = np.quantile(traces, TAILS, axis=(-2, -1), keepdims=True)
    all_below = traces.max(axis=(-2, -1), keepdims=True) <= high
    below = effective_size(split((traces <= low).astype(float)))
    above = np.where(all_below, traces >= high, traces <= high)
    return np.fmin(below, effective_size(split(above.astype(float))))


def ess_mean(traces: np.ndarray) -> np.ndarray:
    """Independent draws whose mean would be as good; shape (...)."""
    return effective_size(split(traces))


def split(traces: np.ndarray) -> np.ndarray:
    """Halves of chains as chains; a middle draw is left out.

    >>> split(np.arange(5.0)[None])
    array([[0., 1.], [3., 4.]])
    """
    half = traces.shape[-1] // 2
    return np.concatenate([traces[..., :half], traces[..., -half:]], axis=-2)


def normal_ranks(traces: np.ndarray) -> np.ndarray:
    """Normal quantiles of the ranks among all chains' draws, ties sharing their mean rank."""
    pooled = traces.reshape(*traces.shape[:-2], -1)
    ranks = rankdata(pooled, axis=-1)
    # (rank - 3/8) / (S + 1/4) is Blom's estimate of where the draw lies in the distribution.
    return ndtri((ranks - 3 / 8) / (pooled.shape[-1] + 1 / 4)).reshape(traces.shape)


def autocovariances(chains: np.ndarray) -> np.ndarray:
    """(1 / n) sum over s of x(s) x(s + t), x centred within its chain; shape as chains'."""
    n = chains.shape[-1]
    length = next_fast_len(2 * n, real=True)  # padded: no draw meets another round the end
    spectrum = rfft(chains - chains.mean(axis=-1, keepdims=True), length)
    return irfft(np.abs(spectrum) ** 2, length)[..., :n] / n


def effective_size(chains: np.ndarray) -> np.ndarray:
    r"""Number of draws over the autocorrelation time of chains (..., m, n); shape (...).

    .. math:: \hat\tau = -1 + 2 \sum_{k < K} P_k + \max(0, \hat\rho_{2K}), \qquad
              P_k = \min_{j \le k} \hat\rho_{2j} + \hat\rho_{2j+1},

    up to Geyer's first K at which a pair is not positive. At most :math:`mn \log_{10} mn`, so
    that chains which swing to and fro are not credited with any number.
    """
    *_, m, n = chains.shape
    covariances = autocovariances(chains).mean(axis=-2)
    within = covariances[..., :1] * n / (n - 1)
    between = chains.mean(axis=-1).var(axis=-1, ddof=1)[..., None] if m > 1 else 0.0
    still = np.ptp(chains, axis=(-2, -1)) == 0
    total = np.where(still[..., None], 1.0, covariances[..., :1] + between)
    rho = 1 - (within - covariances) / total
    rho[..., 0] = 1.0
    last = max((n - 3) // 2, 0)  # autocovariances at the far end are of too few products
    pairs = rho[..., 0 : 2 * last + 1 : 2] + rho[..., 1 : 2 * last + 2 : 2]
    n_pairs = np.logical_and.accumulate(pairs > NOTHING, axis=-1).sum(axis=-1, keepdims=True)
    K = np.minimum(n_pairs, last)
    counted = np.arange(last + 1) < K
    time = -1 + 2 * np.where(counted, np.minimum.accumulate(pairs, axis=-1), 0).sum(axis=-1)
    time += np.maximum(np.take_along_axis(rho, 2 * K, axis=-1)[..., 0], 0)
    return np.where(still, np.nan, m * n / np.maximum(time, 1 / np.log10(m * n)))


def _r_hat(chains: np.ndarray) -> np.ndarray:
    """sqrt(1 - 1/n + variance of chains' means / mean variance in chains), of normal ranks."""
    n = chains.shape[-1]
    within = chains.var(axis=-1, ddof=1).mean(axis=-1)
    between = chains.mean(axis=-1).var(axis=-1, ddof=1)
    apart = np.where(between > STILL, np.inf, np.nan)
    ratio = np.divide(between, within, out=apart, where=within > STILL)
    return np.sqrt(1 - 1 / n + ratio)
