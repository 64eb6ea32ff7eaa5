# SPDX-License-Identifier: BSD-3-Clause
"""Which sums give the law of label sets and closed sets."""

from __future__ import annotations

import numpy as np

from skstruct.exceptions import InfeasibleError, UndecidableError
from skstruct.spaces.base import check_feasible
from skstruct.spaces.forest_paths import path_steps
from skstruct.spaces.listed_laws import FEW, listed_law
from skstruct.summing.base import Law
from skstruct.summing.choices import ChoiceLaw
from skstruct.summing.forests import ForestLaw
from skstruct.summing.listed import ListedLaw
from skstruct.summing.sized import SizedLaw
from skstruct.summing.sizes import SizesLaw
from skstruct.summing.subsets import SubsetsLaw


def set_law(space, scores) -> Law | None:
    """The law over an indicator space: exact on forests with sibling groups, and for paths.

    Other acyclic graphs and other exclusive groups are listed where there are few sets; else
    None.
    """
    limits, dag = space.limits_, space.dag_
    law: Law
    if limits.one_path:
        law = _path_law(space, scores)
    elif not dag.is_forest or not space._sibling_groups(limits):
        return _listed_law(space, scores, space)
    else:
        low, high = space._close_masks(limits)
        if limits.is_sized:
            steps = path_steps(dag, limits.groups)
            law = SizedLaw(scores, low, high, steps, limits.smallest, limits.largest)
        elif limits.groups or len(dag.parents):
            law = ForestLaw(scores, dag, low, high, limits.groups)
        else:
            law = SubsetsLaw(scores, low, high)
    check_feasible(np.isfinite(law.log_partition), space)
    return law


def view_law(view, scores) -> Law | None:
    """The same under another embedding: one of sets with sizes, or from a list."""
    space, limits = view.space, view.limits_
    law: Law
    if limits.one_path:
        law = _path_law(space, scores, view.embed)
    elif view.embedding != "sized indicators" or not (
        space.dag_.is_forest and space._sibling_groups(limits)
    ):
        return _listed_law(space, scores, view)
    else:
        low, high = space._close_masks(limits)
        steps = path_steps(space.dag_, limits.groups)
        law = SizesLaw(scores, low, high, steps, limits.smallest, limits.largest)
    check_feasible(np.isfinite(law.log_partition), space)
    return law


def _listed_law(space, scores, view) -> Law | None:
    """As for other spaces, but sets are not counted before they are listed, which may take long."""
    if space.limits_.n_rows is not None:
        return listed_law(view, scores)
    try:
        outputs = space.enumerate(FEW)
    except UndecidableError:
        return None
    if not len(outputs):
        raise InfeasibleError(f"{type(space).__name__}: no output meets the constraints.")
    return ListedLaw(outputs, view.embed(outputs), scores)


def _path_law(space, scores, embed=None) -> ChoiceLaw:
    """One leaf with all above it: a softmax over the leaves, whatever they are embedded by."""
    paths, allowed = space._allowed_paths(space.limits_)
    psi = paths if embed is None else embed(paths.toarray().astype(np.int8))
    values = np.where(allowed, (psi @ scores.T).T, -np.inf)
    return ChoiceLaw(values, lambda chances: chances @ psi, paths_of(paths))


def paths_of(paths):
    """The function from numbers of leaves to rows of 0 and 1."""

    def outputs(numbers):
        rows = paths[np.ravel(numbers)].toarray().astype(np.int8)
        return rows.reshape(*np.shape(numbers), paths.shape[1])

    return outputs
