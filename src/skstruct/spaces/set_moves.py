# SPDX-License-Identifier: BSD-3-Clause
"""Which moves lead through all label sets and closed sets."""

from __future__ import annotations

import numpy as np

from skstruct.exceptions import InfeasibleError
from skstruct.spaces.set_laws import paths_of
from skstruct.walking.base import Moves
from skstruct.walking.choices import ChoiceMoves
from skstruct.walking.sets import ClosedMoves, GroupMoves, reaches_all


def set_moves(space) -> Moves | None:
    """Moves among the outputs of an indicator space; None where they may not reach all."""
    limits, dag = space.limits_, space.dag_
    if limits.n_rows is not None:
        return None
    if limits.one_path:
        return _path_moves(space)
    low, high = (mask[0] for mask in space._close_masks(limits))
    if (low & ~high).any():
        raise InfeasibleError(f"{type(space).__name__}: no output meets the constraints.", 0)
    sizes = limits.smallest, limits.largest
    moves: GroupMoves | ClosedMoves
    if not len(dag.parents) and space._sibling_groups(limits):
        moves = GroupMoves(low, _all_groups(limits.groups, high & ~low), *sizes)
    elif reaches_all(low, limits.groups, limits.smallest):
        moves = ClosedMoves(dag, low, high, limits.groups, *sizes)
    else:
        return None
    if moves.sizes[0] > moves.sizes[1]:
        raise InfeasibleError(f"{type(space).__name__}: no output meets the constraints.", 0)
    return moves


def _all_groups(groups, open_) -> list[np.ndarray]:
    """What is open of the groups, and every other open label by itself."""
    left = open_.copy()
    for group in groups:
        left[group] = False
    shared = [group[open_[group]] for group in groups]
    return [group for group in shared if len(group)] + list(np.flatnonzero(left)[:, None])


def _path_moves(space) -> ChoiceMoves:
    """Any path follows any other."""
    paths, allowed = space._allowed_paths(space.limits_)
    if not allowed[0].any():
        raise InfeasibleError(f"{type(space).__name__}: no output meets the constraints.", 0)

    def numbers_of(outputs):
        leaves = np.asarray(outputs)[:, space.dag_.leaves]
        return leaves.argmax(axis=1)

    numbers = np.flatnonzero(allowed[0])
    return ChoiceMoves(numbers, lambda scores: (paths @ scores.T).T, numbers_of, paths_of(paths))
