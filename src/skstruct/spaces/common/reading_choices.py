# SPDX-License-Identifier: BSD-3-Clause
"""Outputs among which some are ``OneOf(...)`` or a dictionary of what a space is restricted to."""

import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from skstruct._arrays.imports import is_pandas
from skstruct.exceptions import InfeasibleError
from skstruct.spaces.common.choices import ListedChoices, OneOf, RowChoices, joined
from skstruct.spaces.common.formats import is_missing_name
from skstruct.spaces.common.row_limits import restricted_to, stacked
from skstruct.spaces.description import Description
from skstruct.spaces.partial import PartialOutputs
from skstruct.spaces.uniform import Uniform

PLAIN, NOTHING, LISTED, LIMITED = range(4)


def has_choices(Y: Any, own: frozenset[str] = frozenset()) -> bool:
    """Whether some rows are ``OneOf`` or dictionaries; those of keys ``own`` do not count.

    >>> has_choices([{"a"}, None]), has_choices([{"a"}, {"max_size": 1}])
    (False, True)
    """
    if isinstance(Y, np.ndarray) and Y.dtype != object:
        return False
    if is_pandas(Y, "DataFrame") or hasattr(Y, "toarray") or not hasattr(Y, "__iter__"):
        return False
    return any(
        isinstance(row, OneOf) or (isinstance(row, Mapping) and not own.issuperset(row))
        for row in Y
    )


def read_choices(
    space: Any,
    Y: Any,
    read: Callable[[Any], PartialOutputs],
    known: Any = None,
    names: Callable[[Mapping[str, Any]], Any] | None = None,
    own: frozenset[str] = frozenset(),
) -> PartialOutputs:
    """What is known of rows of all kinds; the space learns from all outputs that are written out.

    Parameters
    ----------
    space : space
    Y : sequence
        Outputs, None where nothing is known, ``OneOf`` several outputs, and dictionaries with
        arguments of ``space.restrict``.
    read : callable
        Reads plain outputs, of which parts may be missing, and fits the space.
    known : must be None
    names : callable, default=None
        An output that has the names of a dictionary, for the space to know them.
    own : keys of dictionaries that ``read`` reads itself
    """
    used_by, rows = type(space).__name__, list(Y)
    if known is not None:
        raise ValueError(
            f"{used_by}: known says which cells of a table are known; rows of Y that are OneOf or "
            "dictionaries say that themselves. Give one or the other."
        )
    kinds = np.array([_kind(row, own) for row in rows])
    written, owners, starts = _written_out(rows, kinds, names)
    if not written and not _is_ready(space):
        raise ValueError(
            f"{used_by}: no row of Y is written out, so its names are not known. Give them to the "
            "space, or some outputs in full."
        )
    found = _read_written(read, _like(Y, written), owners) if written else None
    return _together(_parts(space, rows, kinds, found, starts, used_by), len(rows))


def _read_written(read: Any, written: Any, owners: list[int]) -> PartialOutputs:
    """Outputs that are written out; an error names the row of Y in which one stands."""
    try:
        found: PartialOutputs = read(written)
    except ValueError as error:
        text = re.sub(r"(?<=Y\[)\d+", lambda at: str(owners[int(at[0])]), str(error))
        raise type(error)(text) from None
    return found


def _kind(row: Any, own: frozenset[str]) -> int:
    if isinstance(row, OneOf):
        return LISTED
    if isinstance(row, Mapping):
        return PLAIN if own.issuperset(row) else LIMITED
    nothing = not hasattr(row, "__iter__") and is_missing_name(row)
    return NOTHING if nothing else PLAIN


def _written_out(
    rows: list[Any], kinds: np.ndarray, names: Any
) -> tuple[list[Any], list[int], np.ndarray]:
    """All outputs that are written out (plain rows, then lists, then outputs of further names),
    the row of each, and where the lists begin among all listed ones.
    """
    at = [np.flatnonzero(kinds == kind).tolist() for kind in (PLAIN, LISTED, LIMITED)]
    written, owners = [rows[i] for i in at[0]], list(at[0])
    starts = np.append(0, np.cumsum([len(rows[i]) for i in at[1]], dtype=np.int64))
    for i in at[1]:
        written += rows[i].outputs
        owners += [i] * len(rows[i])
    for i in at[2] if names is not None else ():
        mentioned = names(rows[i])
        if len(mentioned):
            written.append(mentioned)
            owners.append(i)
    return written, owners, starts.astype(np.int64)


def _is_ready(space: Any) -> bool:
    """Whether a space has learned, or was given, all that is left open."""
    from sklearn.exceptions import NotFittedError

    try:
        Description.of(space).part_names()
    except (NotFittedError, AttributeError):
        return False
    return True


def _like(Y: Any, rows: list[Any]) -> Any:
    """Rows in the container of Y."""
    if is_pandas(Y, "Series"):
        import pandas

        return pandas.Series(rows, name=Y.name)
    return rows


Part = tuple[np.ndarray, PartialOutputs]  # rows, and what is known of them


def _parts(
    space: Any, rows: list[Any], kinds: np.ndarray, own: Any, starts: np.ndarray, used_by: str
) -> list[Part]:
    """Rows of each kind with what they allow, a placeholder for each, and what is known of it."""
    found: list[Part] = []
    at = np.flatnonzero(kinds == PLAIN)
    if len(at):
        here = own.rows(np.arange(len(at)))
        if here.allowed is None:
            here = _complete_only(space, here, at, used_by)
        found.append((at, here))
    n_plain, at = len(at), np.flatnonzero(kinds == LISTED)
    if len(at):
        listed = own.rows(n_plain + np.arange(starts[-1]))
        found.append(_listed_part(space, listed, starts, at, used_by))
    limited = np.flatnonzero(kinds == LIMITED).tolist()
    narrowed = {i: restricted_to(space, rows[i], i, used_by) for i in limited}
    narrowed |= dict.fromkeys(np.flatnonzero(kinds == NOTHING).tolist(), space)
    if not narrowed:
        return found
    example = Uniform.of(space).sample(1, 0) if own is None else own.outputs[:1]
    for at, part in stacked(narrowed):
        free = _decided(part, at, space.embed(example).shape[1], used_by)
        width = _width(free) if own is None else own.known.shape[1]
        nothing = np.zeros((len(at), width), bool)
        found.append((at, PartialOutputs(free, nothing, nothing, part)))
    return found


def _listed_part(
    space: Any, listed: PartialOutputs, starts: np.ndarray, at: np.ndarray, used_by: str
) -> Part:
    """Rows that are one of several outputs each."""
    unclear = np.flatnonzero(~listed.complete)
    if len(unclear):
        row = at[np.searchsorted(starts, unclear[0], side="right") - 1]
        raise ValueError(
            f"{used_by}: an output in Y[{row}] = OneOf(...) has missing parts; write out all "
            "outputs that may be true, or give what is known of them as a dictionary."
        )
    choices = ListedChoices(space, *_distinct(listed.outputs, starts))
    single = np.diff(choices.starts) == 1
    known = np.repeat(single[:, None], listed.known.shape[1], axis=1)
    return at, PartialOutputs(choices.listed[choices.starts[:-1]], known, known, choices)


def _complete_only(space: Any, here: PartialOutputs, at: np.ndarray, used_by: str) -> Any:
    """Plain rows of a space that is not narrowed to parts: each is known as a whole, or not."""
    if not here.complete.all():
        row = at[np.flatnonzero(~here.complete)[0]]
        raise ValueError(
            f"{used_by}: parts of Y[{row}] are missing, and what is left cannot be told; give a "
            "dictionary with arguments of restrict(), or OneOf([...])."
        )
    lists = ListedChoices(space, here.outputs, np.arange(len(here.outputs) + 1))
    return PartialOutputs(here.outputs, here.known, here.observed, lists)


def _distinct(listed: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lists in which no output occurs twice."""
    kept, sizes = [], []
    for low, high in pairwise(starts):
        some = listed[low:high]
        first = np.sort(np.unique(some, axis=0, return_index=True)[1])
        kept.append(low + first)
        sizes.append(len(first))
    return listed[np.concatenate(kept)], np.append(0, np.cumsum(sizes))


def _decided(part: Any, at: np.ndarray, width: int, used_by: str) -> np.ndarray:
    """Some output that each row allows, whatever the other rows are: that of no costs."""
    try:
        outputs: np.ndarray = part.argmin(np.zeros((len(at), width))).outputs
    except InfeasibleError as error:
        row = int(at[error.row or 0])
        raise InfeasibleError(
            f"{used_by}: no output agrees with the dictionary in Y[{row}].", row
        ) from None
    return outputs


def _width(Z: np.ndarray) -> int:
    return int(np.prod(Z.shape[1:])) if Z.ndim > 1 else 1


def _together(parts: list[Part], n: int) -> PartialOutputs:
    outputs = joined([(at, part.outputs) for at, part in parts], n)
    known = _mask_of([(at, part.known) for at, part in parts], n)
    observed = _mask_of([(at, part.observed) for at, part in parts], n)
    allowed = parts[0][1].allowed if len(parts) == 1 else None
    if allowed is None:
        allowed = RowChoices([part.allowed for _, part in parts], [at for at, _ in parts])
    return PartialOutputs(outputs, known, observed, allowed, False)


def _mask_of(parts: list[tuple[np.ndarray, np.ndarray]], n: int) -> np.ndarray:
    """Masks of rows of all kinds as one; whole rows, where some kinds have no columns."""
    found = np.zeros((n, max(mask.shape[1] for _, mask in parts)), bool)
    for at, mask in parts:
        found[at] = mask if mask.shape[1] == found.shape[1] else mask.all(axis=1, keepdims=True)
    return found
