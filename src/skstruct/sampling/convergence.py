# SPDX-License-Identifier: BSD-3-Clause
"""Whether Markov chains have mixed, and how many independent draws theirs are worth."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from skstruct._arrays.blocks import row_blocks
from skstruct._arrays.memory import check_table_fits
from skstruct._arrays.optional import require
from skstruct.exceptions import MixingWarning
from skstruct.sampling import mixing, remedies

COLUMNS = ("mean", "sd", "mcse_mean", "ess_bulk", "ess_tail", "r_hat")
FEWEST = 4  # draws: halves of two
EQUAL = 1e-13  # of the largest value: a range up to here is rounding
SHOWN = 10  # coordinates in the printed table


@dataclass(frozen=True, eq=False, repr=False)
class Diagnostics:
    """What :func:`diagnostics` found: numbers of a scalar trace, arrays (d,) of a vector's.

    Attributes
    ----------
    mean, sd : of all draws
    mcse_mean : standard error of the mean, as an estimate of the law's
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
        return remedies.troubles(self)

    @property
    def ok(self) -> bool:
        """Whether several chains agree and their draws are worth enough.

        The worst coordinate counts. Those that never change do not, unless none does.
        """
        return not self.troubles

    def to_frame(self):
        """A pandas ``DataFrame`` with a row for each coordinate."""
        pandas = require("pandas", used_by="Diagnostics.to_frame", extra="test")
        return pandas.DataFrame({name: np.atleast_1d(getattr(self, name)) for name in COLUMNS})

    def __repr__(self):
        verdict = "ok" if self.ok else "not ok"
        return f"Diagnostics({verdict}: {remedies.number_of_draws(self)})"

    def __str__(self):
        table = np.array([np.atleast_1d(getattr(self, name)) for name in COLUMNS]).T
        order = np.arange(len(table))
        if len(table) > SHOWN:  # those with the fewest effective draws, NaN last
            order = np.argsort(np.fmin(table[:, 3], table[:, 4]), kind="stable")[:SHOWN]
        lines = ["".join(name.rjust(11) for name in ("", *COLUMNS))]
        lines += [f"{j:>11}" + _line(table[j]) for j in order]
        if len(table) > SHOWN:
            lines.append(f"({len(table) - SHOWN} more coordinates have larger effective sizes)")
        lines.append(remedies.number_of_draws(self))
        if self.acceptance is not None:
            low, high = np.min(self.acceptance), np.max(self.acceptance)
            lines[-1] += f", {low:.3g} to {high:.3g} of proposals accepted"
        return "\n".join([*lines, *(self.troubles or ("Nothing speaks against these draws.",))])


def diagnostics(draws, *, of="score", r_hat_limit=1.01, ess_limit=400, warn=True) -> Diagnostics:
    """R-hat, effective sample sizes and standard errors of what chains have drawn [1]_.

    Parameters
    ----------
    draws : Draws, or array of shape (n_chains, n_draws) or (n_chains, n_draws, d)
    of : "score" or "psi", default="score"
        What is looked at of Draws: their scores, or every coordinate of the embedding, which
        also tells modes of equal score apart. Where all scores are the same, as under a uniform
        law, it is psi.
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
        warnings.warn(remedies.advice(found), MixingWarning, stacklevel=2)
    return found


def checked_traces(draws) -> np.ndarray:
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


def embedded(draws) -> np.ndarray:
    """psi of all draws; shape (n_chains, n_draws, d)."""
    outputs = np.asarray(draws.outputs)
    psi = draws.space.embed(outputs.reshape(-1, *outputs.shape[2:]))
    if hasattr(psi, "toarray"):
        n, d = psi.shape
        check_table_fits(n, d, "Embedded draws have", "Take fewer of them.")
        psi = psi.toarray()
    return np.asarray(psi, dtype=np.float64).reshape(*outputs.shape[:2], -1)


def to_arviz_dict(draws) -> dict:
    """Scores and embeddings of draws in ArviZ's names.

    ``arviz.from_dict(**found)`` takes it before version 1, ``arviz.from_dict(found)`` since.
    """
    values = checked_traces(draws)
    accepted = np.broadcast_to(np.asarray(draws.acceptance)[:, None], values.shape)
    return {
        "posterior": {"score": values, "psi": embedded(draws)},
        "sample_stats": {"acceptance_rate": accepted.copy()},
    }


def _table(traces) -> np.ndarray:
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
            table[rows, 2] = table[rows, 1] / np.sqrt(mixing.ess_mean(x[moving]))
            for column, statistic in (
                (3, mixing.ess_bulk),
                (4, mixing.ess_tail),
                (5, mixing.r_hat),
            ):
                table[rows, column] = statistic(traces[rows])  # of ranks, in any unit
    return table


def _still(traces) -> np.ndarray:
    """Whether traces (..., n_chains, n_draws) never change, but for rounding."""
    axes = (-2, -1)
    return np.ptp(traces, axis=axes) <= EQUAL * np.abs(traces).max(axis=axes)


def _line(row) -> str:
    formats = (".3g", ".3g", ".2g", ".0f", ".0f", ".3f")
    return "".join(f"{value:{form}}".rjust(11) for value, form in zip(row, formats))
