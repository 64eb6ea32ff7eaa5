# SPDX-License-Identifier: BSD-3-Clause
"""Whether Markov chains have mixed, how many independent draws theirs are worth, and what helps.

Traces have shape (..., n_chains, n_draws), chains of the same length, at least four draws. All
but the autocorrelations are NaN for a trace that never changes.

References
----------
.. [1] A. Vehtari, A. Gelman, D. Simpson, B. Carpenter, P.-C. Bürkner, Rank-normalization,
   folding, and localization: an improved R-hat for assessing convergence of MCMC. Bayesian
   Analysis 16 (2021) 667-718.
"""

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import ndtri
from scipy.stats import rankdata

from skstruct._arrays.imports import require
from skstruct._arrays.memory import check_table_fits, row_blocks
from skstruct.exceptions import MixingWarning
from skstruct.tolerances import CONSTANT_RANGE, CORRELATION_ROUNDING, SAME_MEAN

TAILS = (0.05, 0.95)
STILL = 1e-20  # variance of ranks turned normal, of scale one, that is rounding and no variance


def r_hat(traces: np.ndarray) -> np.ndarray:
    """The larger R-hat of ranks and of ranks of distances from the median; shape (...).

    Chains are split, so that one which drifts disagrees with itself. Infinite where no half
    of a chain moves, but they stand at different outputs.
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
    n_pairs = np.logical_and.accumulate(pairs > CORRELATION_ROUNDING, axis=-1).sum(
        axis=-1, keepdims=True
    )
    K = np.minimum(n_pairs, last)
    counted = np.arange(last + 1) < K
    time = -1 + 2 * np.where(counted, np.minimum.accumulate(pairs, axis=-1), 0).sum(axis=-1)
    time += np.maximum(np.take_along_axis(rho, 2 * K, axis=-1)[..., 0], 0)
    return np.where(still, np.nan, m * n / np.maximum(time, 1 / np.log10(m * n)))


def _r_hat(chains: np.ndarray) -> Any:
    """sqrt(1 - 1/n + variance of chains' means / mean variance in chains), of normal ranks."""
    n = chains.shape[-1]
    within = chains.var(axis=-1, ddof=1).mean(axis=-1)
    between = chains.mean(axis=-1).var(axis=-1, ddof=1)
    apart = np.where(between > STILL, np.inf, np.nan)
    ratio = np.divide(between, within, out=apart, where=within > STILL)
    return np.sqrt(1 - 1 / n + ratio)


# What is wrong with draws of Markov chains, and what helps, in words.


LOW_ACCEPTANCE = 0.02  # of proposals: chains that stand still most of the time
FAR_APART = 1.1  # R-hat above which longer chains seldom help
MOST_DRAWS_NAMED = 10**7  # draws that nobody will wait for
MOVED = 6.0  # standard errors by which the mean of chains that have arrived does not change


def troubles(found: "Diagnostics") -> tuple[str, ...]:
    """Sentences on what speaks against draws, by their :class:`~.convergence.Diagnostics`."""
    if found.n_draws < 4:
        return (f"{number_of_draws(found)}: nothing can be concluded from fewer than 4.",)
    if np.isnan(found.r_hat).all():
        return ("All draws have the same value, which tells nothing of mixing.",)
    said = []
    if found.n_chains == 1:
        said.append("There is one chain only, and no other to agree with.")
    r_hat, size = np.nanmax(found.r_hat), smallest_size(found)
    if r_hat > found.r_hat_limit:
        said.append(f"R-hat is {r_hat:.3f}, more than {found.r_hat_limit:g}.")
    if size < found.ess_limit:
        said.append(f"All draws are worth {size:.0f} independent ones, not {found.ess_limit:g}.")
    return tuple(said)


def advice(found: "Diagnostics") -> str:
    """The troubles, and what to try."""
    said = [*troubles(found), "Try"]
    if found.n_chains == 1:
        said.append("four chains;")
    n = draws_needed(found)
    said.append(
        "a longer warm-up and more draws;"
        if n is None
        else f"a longer warm-up and about {n:,} draws of every chain;"
    )
    if wants_tempering(found):
        said.append("ParallelTempering, which leads chains across what parts them;")
    known = "Inference.of(space).distribution(scores)"
    said.append(f"or exact draws, without chains, where {known} is not None.")
    return " ".join(said)


def draws_needed(found: "Diagnostics") -> int | None:
    r"""Draws of every chain that would meet both limits, in two digits; None if none is known.

    The effective size grows with the draws, and :math:`\hat R^2 - 1` falls with them.
    """
    if found.n_draws < 4 or np.isnan(found.r_hat).all():
        return None
    by_size = found.ess_limit / smallest_size(found)
    by_r_hat = (np.nanmax(found.r_hat) ** 2 - 1) / (found.r_hat_limit**2 - 1)
    n = found.n_draws * max(by_size, by_r_hat, 1.0)
    if not n < MOST_DRAWS_NAMED:
        return None
    digit = 10 ** max(math.floor(math.log10(n)) - 1, 0)
    return int(math.ceil(n / digit) * digit)


def wants_tempering(found: "Diagnostics") -> bool:
    """Whether chains seem to be parted by something that waiting does not cure."""
    accepted = found.acceptance
    stuck = accepted is not None and len(accepted) and np.min(accepted) < LOW_ACCEPTANCE
    return bool(stuck) or bool(np.any(np.asarray(found.r_hat) > FAR_APART))


def smallest_size(found: "Diagnostics") -> float:
    """The smaller effective size, of the worst coordinate."""
    sizes = np.append(found.ess_bulk, found.ess_tail)
    return float(np.min(sizes[~np.isnan(sizes)]))


def number_of_draws(found: "Diagnostics") -> str:
    """How many there are."""
    chains = "1 chain" if found.n_chains == 1 else f"{found.n_chains} chains"
    draws = "1 draw" if found.n_draws == 1 else f"{found.n_draws} draws"
    return f"{chains} of {draws}"


def warn_if_moved(before: np.ndarray, after: np.ndarray) -> None:
    """Warn where the scores of chains (rows, chains) have another mean than some sweeps ago."""
    spread = np.sqrt((before.var(axis=1) + after.var(axis=1)) / before.shape[1])
    moved = np.abs(after.mean(axis=1) - before.mean(axis=1)) > MOVED * spread + SAME_MEAN
    if moved.any():
        warnings.warn(
            f"Chains were still on their way in row {np.flatnonzero(moved)[0]} ({moved.sum()} such "
            "rows): raise n_warmup or n_draws, or use ParallelTempering.",
            MixingWarning,
            stacklevel=4,
        )


# Whether Markov chains have mixed, and how many independent draws theirs are worth.


COLUMNS = ("mean", "sd", "mcse_mean", "ess_bulk", "ess_tail", "r_hat")
FEWEST = 4  # draws: halves of two
SHOWN = 10  # coordinates in the printed table


@dataclass(frozen=True, eq=False, repr=False)
class Diagnostics:
    """What :func:`diagnostics` found: numbers of a scalar trace, arrays (d,) of a vector's.

    Attributes
    ----------
    mean, sd : of all draws
    mcse_mean : standard error of the mean, as an estimate of the distribution's
    ess_bulk, ess_tail : effective sample sizes
    r_hat : rank-normalised split R-hat
    acceptance : shares of accepted proposals, shape (n_chains,), or None
    n_chains, n_draws : int
    r_hat_limit, ess_limit : what is demanded
    """

    mean: np.ndarray
    sd: np.ndarray
    mcse_mean: np.ndarray
    ess_bulk: np.ndarray
    ess_tail: np.ndarray
    r_hat: np.ndarray
    acceptance: np.ndarray | None
    n_chains: int
    n_draws: int
    r_hat_limit: float = 1.01
    ess_limit: float = 400

    @property
    def troubles(self) -> tuple[str, ...]:
        """What speaks against these draws; empty where nothing does."""
        return troubles(self)

    @property
    def ok(self) -> bool:
        """Whether several chains agree and their draws are worth enough.

        The worst coordinate counts. Those that never change do not, unless none does.
        """
        return not self.troubles

    def to_frame(self) -> Any:
        """A pandas ``DataFrame`` with a row for each coordinate."""
        pandas = require("pandas", used_by="Diagnostics.to_frame", extra="test")
        return pandas.DataFrame({name: np.atleast_1d(getattr(self, name)) for name in COLUMNS})

    def __repr__(self) -> str:
        verdict = "ok" if self.ok else "not ok"
        return f"Diagnostics({verdict}: {number_of_draws(self)})"

    def __str__(self) -> str:
        table = np.array([np.atleast_1d(getattr(self, name)) for name in COLUMNS]).T
        order = np.arange(len(table))
        if len(table) > SHOWN:  # those with the fewest effective draws, NaN last
            order = np.argsort(np.fmin(table[:, 3], table[:, 4]), kind="stable")[:SHOWN]
        lines = ["".join(name.rjust(11) for name in ("", *COLUMNS))]
        lines += [f"{j:>11}" + _line(table[j]) for j in order]
        if len(table) > SHOWN:
            lines.append(f"({len(table) - SHOWN} more coordinates have larger effective sizes)")
        lines.append(number_of_draws(self))
        if self.acceptance is not None:
            low, high = np.min(self.acceptance), np.max(self.acceptance)
            lines[-1] += f", {low:.3g} to {high:.3g} of proposals accepted"
        return "\n".join([*lines, *(self.troubles or ("Nothing speaks against these draws.",))])


def diagnostics(
    draws: Any,
    *,
    of: str = "score",
    r_hat_limit: float = 1.01,
    ess_limit: float = 400,
    warn: bool = True,
) -> Diagnostics:
    """R-hat, effective sample sizes and standard errors of what chains have drawn [1]_.

    Parameters
    ----------
    draws : Draws, or array of shape (n_chains, n_draws) or (n_chains, n_draws, d)
    of : "score" or "psi", default="score"
        What is looked at of Draws: their scores, or every coordinate of the embedding, which
        also tells modes of equal score apart. Where all scores are the same, as under a uniform
        distribution, it is psi.
    r_hat_limit : float, default=1.01
    ess_limit : float, default=400
        Effective draws of all chains together.
    warn : bool, default=True
        Whether a :class:`~skstruct.exceptions.MixingWarning` names what is wrong and what helps.

    Returns
    -------
    found : Diagnostics
        R-hat and sizes are NaN of fewer than 4 draws, and of coordinates that never change.
        R-hat of one chain compares its halves.

    References
    ----------
    .. [1] A. Vehtari, A. Gelman, D. Simpson, B. Carpenter, P.-C. Bürkner, Rank-normalization,
       folding, and localization: an improved R-hat for assessing convergence of MCMC. Bayesian
       Analysis 16 (2021) 667-718.

    Examples
    --------
    >>> trace = np.random.default_rng(0).standard_normal((4, 1000))
    >>> found = diagnostics(trace)
    >>> found.ok, round(float(found.r_hat), 2)
    (True, 1.0)
    >>> print(diagnostics(trace[:, :100], warn=False))
                      mean         sd  mcse_mean   ess_bulk   ess_tail      r_hat
              0       0.04       1.04      0.055        363        375      0.994
    4 chains of 100 draws
    All draws are worth 363 independent ones, not 400.
    """
    if of not in ("score", "psi"):
        raise ValueError(f'of is "score" or "psi"; got {of!r}.')
    for name, limit, least in (("r_hat_limit", r_hat_limit, 1), ("ess_limit", ess_limit, 0)):
        if not limit > least:
            raise ValueError(f"{name} is larger than {least}; got {limit!r}.")
    traces, acceptance = checked_traces(draws), getattr(draws, "acceptance", None)
    if hasattr(draws, "outputs") and (of == "psi" or _still(traces)):
        traces = embedded(draws)
    n_chains, n_draws = traces.shape[:2]
    table = _table(np.moveaxis(np.atleast_3d(traces), -1, 0))
    columns = table[0] if traces.ndim == 2 else table.T
    numbers = dict(zip(COLUMNS, columns))
    found = Diagnostics(
        **numbers, acceptance=acceptance, n_chains=n_chains, n_draws=n_draws,
        r_hat_limit=r_hat_limit, ess_limit=ess_limit,
    )  # fmt: skip
    if warn and not found.ok:
        warnings.warn(advice(found), MixingWarning, stacklevel=2)
    return found


def checked_traces(draws: Any) -> np.ndarray:
    """Finite traces (n_chains, n_draws) or (n_chains, n_draws, d) of draws or of an array."""
    is_draws = hasattr(draws, "values") and hasattr(draws, "acceptance")
    traces = np.asarray(draws.values if is_draws else draws, dtype=np.float64)
    if traces.ndim not in (2, 3):
        hint = " Write trace[None] for one chain." if traces.ndim == 1 else ""
        raise ValueError(
            "diagnostics expects Draws, or traces of shape (n_chains, n_draws) or (n_chains, "
            f"n_draws, d); got shape {traces.shape}.{hint}"
        )
    if 0 in traces.shape:
        names = ("chains", "draws", "coordinates")
        missing = names[traces.shape.index(0)]
        raise ValueError(f"There are no {missing} to look at: got traces of shape {traces.shape}.")
    bad = np.argwhere(~np.isfinite(traces))
    if len(bad):
        where = ", ".join(map(str, bad[0]))
        raise ValueError(f"Traces are finite; traces[{where}] is {traces[tuple(bad[0])]}.")
    return traces


def embedded(draws: Any) -> np.ndarray:
    """psi of all draws; shape (n_chains, n_draws, d)."""
    outputs = np.asarray(draws.outputs)
    psi = draws.space.embed(outputs.reshape(-1, *outputs.shape[2:]))
    if hasattr(psi, "toarray"):
        n, d = psi.shape
        check_table_fits(n, d, "Embedded draws have", "Take fewer of them.")
        psi = psi.toarray()
    return np.asarray(psi, dtype=np.float64).reshape(*outputs.shape[:2], -1)


def to_arviz_dict(draws: Any) -> dict[Any, Any]:
    """Scores and embeddings of draws in ArviZ's names.

    ``arviz.from_dict(**found)`` takes it before version 1, ``arviz.from_dict(found)`` since.
    """
    values = checked_traces(draws)
    accepted = np.broadcast_to(np.asarray(draws.acceptance)[:, None], values.shape)
    return {
        "posterior": {"score": values, "psi": embedded(draws)},
        "sample_stats": {"acceptance_rate": accepted.copy()},
    }


def _table(traces: np.ndarray) -> np.ndarray:
    """All columns for traces (d, n_chains, n_draws); shape (d, len(COLUMNS))."""
    d, m, n = traces.shape
    table = np.full((d, len(COLUMNS)), np.nan)
    for part in row_blocks(d, 200 * m * n, "200MB"):
        origin = traces[part, :1, :1]
        x = traces[part] - origin
        size = np.abs(x).max(axis=(1, 2))
        x /= np.where(size > 0, size, 1.0)[:, None, None]  # squares neither overflow nor vanish
        table[part, 0] = origin[:, 0, 0] + size * x.mean(axis=(1, 2))
        table[part, 1] = size * x.std(axis=(1, 2), ddof=1) if m * n > 1 else np.nan
        moving = np.flatnonzero(~_still(traces[part]))
        if n >= FEWEST and len(moving):
            rows = part.start + moving
            table[rows, 2] = table[rows, 1] / np.sqrt(ess_mean(x[moving]))
            for column, statistic in (
                (3, ess_bulk),
                (4, ess_tail),
                (5, r_hat),
            ):
                table[rows, column] = statistic(traces[rows])  # of ranks, in any unit
    return table


def _still(traces: np.ndarray) -> Any:
    """Whether traces (..., n_chains, n_draws) never change, but for rounding."""
    axes = (-2, -1)
    return np.ptp(traces, axis=axes) <= CONSTANT_RANGE * np.abs(traces).max(axis=axes)


def _line(row: np.ndarray) -> str:
    formats = (".3g", ".3g", ".2g", ".0f", ".0f", ".3f")
    return "".join(f"{value:{form}}".rjust(11) for value, form in zip(row, formats))
