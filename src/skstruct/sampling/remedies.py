# SPDX-License-Identifier: BSD-3-Clause
"""What is wrong with draws of Markov chains, and what helps, in words."""

from __future__ import annotations

import math
import warnings

import numpy as np

from skstruct.exceptions import MixingWarning

LOW_ACCEPTANCE = 0.02  # of proposals: chains that stand still most of the time
FAR_APART = 1.1  # R-hat above which longer chains seldom help
HOPELESS = 10**7  # draws that nobody will wait for
MOVED = 6.0  # standard errors by which the mean of chains that have arrived does not change


def troubles(found) -> tuple[str, ...]:
    """Sentences on what speaks against draws, by their :class:`~.convergence.Diagnostics`."""
    if found.n_draws < 4:
        return (f"{number_of_draws(found)}: nothing can be told from fewer than 4.",)
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


def advice(found) -> str:
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
    said.append("or exact draws, without chains, where space.law(scores) is not None.")
    return " ".join(said)


def draws_needed(found) -> int | None:
    r"""Draws of every chain that would meet both limits, in two digits; None if none is known.

    The effective size grows with the draws, and :math:`\hat R^2 - 1` falls with them.
    """
    if found.n_draws < 4 or np.isnan(found.r_hat).all():
        return None
    by_size = found.ess_limit / smallest_size(found)
    by_r_hat = (np.nanmax(found.r_hat) ** 2 - 1) / (found.r_hat_limit**2 - 1)
    n = found.n_draws * max(by_size, by_r_hat, 1.0)
    if not n < HOPELESS:
        return None
    digit = 10 ** max(math.floor(math.log10(n)) - 1, 0)
    return math.ceil(n / digit) * digit


def wants_tempering(found) -> bool:
    """Whether chains seem to be parted by something that waiting does not cure."""
    accepted = found.acceptance
    stuck = accepted is not None and len(accepted) and np.min(accepted) < LOW_ACCEPTANCE
    return bool(stuck) or bool(np.any(np.asarray(found.r_hat) > FAR_APART))


def smallest_size(found) -> float:
    """The smaller effective size, of the worst coordinate."""
    sizes = np.append(found.ess_bulk, found.ess_tail)
    return float(np.min(sizes[~np.isnan(sizes)]))


def number_of_draws(found) -> str:
    """How many there are."""
    chains = "1 chain" if found.n_chains == 1 else f"{found.n_chains} chains"
    draws = "1 draw" if found.n_draws == 1 else f"{found.n_draws} draws"
    return f"{chains} of {draws}"


def warn_if_moved(before, after) -> None:
    """Warn where the scores of chains (rows, chains) have another mean than some sweeps ago."""
    spread = np.sqrt((before.var(axis=1) + after.var(axis=1)) / before.shape[1])
    moved = np.abs(after.mean(axis=1) - before.mean(axis=1)) > MOVED * spread + 1e-9
    if moved.any():
        warnings.warn(
            f"Chains were still on their way in row {np.flatnonzero(moved)[0]} ({moved.sum()} such "
            "rows): raise n_warmup or n_draws, or use ParallelTempering.",
            MixingWarning,
            stacklevel=4,
        )
