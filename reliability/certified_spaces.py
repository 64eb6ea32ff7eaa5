# SPDX-License-Identifier: BSD-3-Clause
"""Rows of costs that a space decodes, held against the list of all outputs."""

import numpy as np
from drawn_costs import costs as drawn_costs

from skstruct.exceptions import InfeasibleError

ROUNDING = 1e-9  # of the terms of the most expensive output: what values and bounds may be off


class Wrong(Exception):
    """What is wrong with a row."""


def rows_of(Z):
    """Outputs as rows of numbers, one array each."""
    Z = np.asarray(Z)
    return Z.reshape(len(Z), -1)


def places(Z, listed):
    """The place of every row of Z on a list, -1 where it is not there."""
    Z, listed = rows_of(Z), rows_of(listed)
    width = max(Z.shape[1], listed.shape[1])  # sequences are padded with -1
    Z, listed = (
        np.pad(A.astype(float), [(0, 0), (0, width - A.shape[1])], constant_values=-1) + 0.0
        for A in (Z, listed)
    )
    at = {row.tobytes(): number for number, row in enumerate(listed)}
    return np.array([at.get(row.tobytes(), -1) for row in Z], dtype=int)


def dense(psi):
    return np.asarray(psi.toarray() if hasattr(psi, "toarray") else psi, dtype=float)


def check_listing(drawn):
    """Format, embedding and membership of all outputs; returns these in canonical form."""
    Z = drawn.canonical()
    if len(np.unique(places(Z, Z))) != len(Z):
        raise Wrong("two different outputs have the same canonical form")
    back = [drawn.key(output) for output in drawn.space.restore(Z)]
    if back != [drawn.key(output) for output in drawn.outputs]:
        raise Wrong("outputs are not restored as they were given")
    psi = dense(drawn.space.embed(Z))
    if psi.shape != drawn.psi.shape or not np.allclose(psi, drawn.psi, atol=1e-12):
        raise Wrong("the embedding is not that of the definition")
    if not np.asarray(drawn.space.contains(Z)).all():
        raise Wrong("an output of the definition is not in the space")
    return Z


def check_rows(drawn, Z, space, allowed, costs):
    """The minima of all rows, and the k best; ``allowed`` is a mask (1 or n, m)."""
    values = costs @ drawn.psi.T
    slack = ROUNDING * (np.abs(costs) @ np.abs(drawn.psi).T).max(axis=1) + 1e-300
    best = np.where(allowed, values, np.inf).min(axis=1)
    decoded = space.argmin(costs)
    check_decoded(decoded, places(decoded.outputs, Z), values, allowed, best, slack)
    off = decoded.values > best + slack
    if space.guarantee.kind == "exact" and off.any():
        raise Wrong(f"row {off.argmax()}: an exact space is above the optimum")
    short = space.guarantee.ratio if space.guarantee.kind == "ratio" else 0.0
    worst = np.where(allowed, values, -np.inf).max(axis=1)
    if (worst - decoded.values < short * (worst - best) - slack).any():
        raise Wrong("the ratio of the guarantee is not kept")


def check_decoded(decoded, at, values, allowed, best, slack):
    rows = np.arange(len(at))
    if (at < 0).any():
        raise Wrong(f"row {(at < 0).argmax()}: the output is not in the space")
    broken = ~np.broadcast_to(allowed, values.shape)[rows, at]
    if broken.any():
        raise Wrong(f"row {broken.argmax()}: the output breaks the constraints")
    off = ~(np.abs(decoded.values - values[rows, at]) <= slack)
    if off.any():
        raise Wrong(f"row {off.argmax()}: the value is not what the output costs")
    above = ~(decoded.bounds <= best + slack)
    if above.any():
        raise Wrong(f"row {above.argmax()}: the bound is above the optimum")


def check_kbest(drawn, Z, space, allowed, costs, k):
    """The k least values in their order, and different outputs that have them."""
    found = space.kbest(costs, k)
    values = np.where(allowed, costs @ drawn.psi.T, np.inf)
    slack = ROUNDING * (np.abs(costs) @ np.abs(drawn.psi).T).max(axis=1)[:, None] + 1e-300
    least = np.sort(values, axis=1)[:, :k]
    width = found.values.shape[1]
    if np.isfinite(least[:, width:]).any():
        raise Wrong("k-best lists are too short")
    least = least[:, :width]
    if found.values.shape != least.shape or (np.isfinite(found.values) != np.isfinite(least)).any():
        raise Wrong("k-best lists have another number of outputs than there are")
    known = np.isfinite(least)
    with np.errstate(invalid="ignore"):
        off = known & ~(np.abs(found.values - least) <= slack)
    if space.guarantee.kind == "exact" and off.any():
        raise Wrong(f"row {off.any(axis=1).argmax()}: the k best are not the k best")
    for row in range(len(costs)):
        at = places(found.outputs[row][known[row]], Z)
        if (at < 0).any() or len(set(at.tolist())) < len(at):
            raise Wrong(f"row {row}: k-best outputs repeat, or are not in the space")
        mine = values[row, at]
        if not (np.abs(mine - found.values[row][known[row]]) <= slack[row]).all():
            raise Wrong(f"row {row}: the value of a k-best output is not its cost")


def space_case(rng, families, n_rows):
    """A space, with and without constraints; how many rows were decoded, and their family."""
    drawn = families[rng.integers(len(families))](rng)
    try:
        return checked_rows(rng, drawn, n_rows), drawn.name
    except Wrong as wrong:
        raise Wrong(f"{drawn.name}: {wrong}") from None


def checked_rows(rng, drawn, n_rows):
    Z = check_listing(drawn)
    everything = np.ones((1, len(Z)), bool)
    costs = drawn_costs(rng, n_rows, drawn.psi.shape[1])
    check_rows(drawn, Z, drawn.space, everything, costs)
    done, few = n_rows, costs[: max(1, n_rows // 20)]
    ks = (int(rng.integers(1, 4)), len(Z), len(Z) + 2)
    k = int(ks[rng.choice(3, p=[0.8, 0.1, 0.1])])
    if hasattr(drawn.space, "kbest"):
        check_kbest(drawn, Z, drawn.space, everything, few, min(k, 60))
        done += len(few)
    if drawn.narrow is None:
        return done
    limits, allowed = drawn.narrow(rng, n_rows)
    if not allowed.any(axis=1).all():
        check_refused(drawn, limits, costs)
        return done + 1
    narrowed = drawn.space.restrict(**limits) if limits else drawn.space
    check_rows(drawn, Z, narrowed, allowed, costs)
    done += n_rows
    if len(allowed) == 1 and not (narrowed.contains(Z) == allowed[0]).all():
        raise Wrong("contains() differs from the definition of the constraints")
    if hasattr(narrowed, "kbest") and len(allowed) == 1:
        check_kbest(drawn, Z, narrowed, allowed, few, min(k, 60))
        done += len(few)
    return done


def check_refused(drawn, limits, costs):
    """Constraints that leave some row without any output are an error that says so."""
    try:
        drawn.space.restrict(**limits).argmin(costs)
    except (InfeasibleError, ValueError):
        return
    raise Wrong("constraints that no output meets were not refused")
