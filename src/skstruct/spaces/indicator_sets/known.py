# SPDX-License-Identifier: BSD-3-Clause
"""Label sets of which some labels are known: tables with gaps, rows of names with some left out."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from skstruct._arrays.imports import is_pandas
from skstruct.spaces.common.formats import is_missing_name, of_one_column
from skstruct.spaces.common.narrowing import within
from skstruct.spaces.common.reading_choices import has_choices, read_choices
from skstruct.spaces.constraints import Constraints, label_mask
from skstruct.spaces.embeddings import whole_of
from skstruct.spaces.indicator_sets.missing_labels import conditional_means
from skstruct.spaces.known import Known, KnownOfViews
from skstruct.spaces.partial import PartialOutputs, known_cells, split_table
from skstruct.spaces.targets import Targets

SAID = frozenset(("include", "exclude"))  # what a dictionary says of labels, one by one


class KnownOfSets(Known):
    """Label sets of which some labels are known, with what follows from these."""

    __slots__ = ()

    def read(self, Y: Any, known: Any = None) -> PartialOutputs:
        """What is known of label sets, with what follows from it; the space learns its labels.

        Ancestors of labels that are in are known, too, and descendants of those that are out.

        Parameters
        ----------
        Y : table of 0, 1 and gaps, or rows of names
            A row of names lists all labels of a set; None says nothing; a dictionary with "include"
            and "exclude" says of these labels only that they are in, or out. Other arguments of
            ``restrict``, and ``OneOf``, are read too.
        known : bool array, default=None
            Cells that are known; with rows of names a column for each label, in order.
        """
        space, Y = self.space, of_one_column(Y)
        if has_choices(Y, SAID):
            return read_choices(space, Y, self.read, known, _named, SAID)
        if _is_table(Y):
            name = type(space).__name__
            filled, seen = split_table(Y, known, 0, name, lambda d: _names(space, d))
            Z = space._fit(filled)
            seen = _in_order(space, Y, seen)
        else:
            Z, seen = _read_rows(space, Y)
            seen &= known_cells(known, Z.shape, type(space).__name__, lambda _: space.labels_)
        seen &= ~self.open_labels(Z)
        return completed(space, Z, seen)

    def open_labels(self, Z: np.ndarray) -> np.ndarray:
        """Labels that a set leaves open though it does not hold them; bool of shape (n, d)."""
        return np.zeros(Z.shape, bool)

    def agreeing(self, partial: PartialOutputs) -> Any:
        low = np.asarray(partial.outputs) > 0
        narrowed = self.space.constraints_.narrow(
            low=low, high=low | ~partial.known, min_size=None, max_size=None, groups=(),
            one_path=False,
        )  # fmt: skip
        return within(self.space, narrowed)

    def targets(self, known: np.ndarray) -> np.ndarray | None:
        return known if self.space.embedding == "indicators" else None

    def filled(self, means: np.ndarray, partial: PartialOutputs) -> np.ndarray | None:
        """Probabilities of labels, given those that are known and that sets hold all parents."""
        dag = self.space.dag_
        return conditional_means(dag, means, partial) if len(dag.parents) else None

    @property
    def estimates_targets(self) -> bool:
        """Where labels are overlooked, which targets make up for."""
        return Targets.of(self.space).propensities() is not None


class KnownAsWhole(KnownOfSets):
    """Sets in which a member tells of others, such as edges of a graph: known as a whole, or by
    what they obey.
    """

    __slots__ = ()
    read = Known.read


class KnownOfIndependentLabels(KnownOfViews):
    """Labels alone, which are known one by one."""

    __slots__ = ()

    def targets(self, known: np.ndarray) -> np.ndarray | None:
        return known

    def filled(self, means: np.ndarray, partial: PartialOutputs) -> np.ndarray | None:
        return Known.of(whole_of(self.space)).filled(means, partial)


class KnownOfProducts(KnownOfViews):
    """Labels, and products over their parents."""

    __slots__ = ()

    def targets(self, known: np.ndarray) -> np.ndarray | None:
        """A product is known where all parents are."""
        return self.space.embed(np.asarray(known, dtype=np.float64)) >= 1.0

    def filled(self, means: np.ndarray, partial: PartialOutputs) -> np.ndarray | None:
        """A product is taken for as probable as the least probable parent."""
        means = means[:, : len(self.space.labels_)]
        labels = Known.of(whole_of(self.space)).filled(means, partial)
        return None if labels is None else self.space.embed(labels)


def completed(space: Any, Z: np.ndarray, observed: np.ndarray) -> PartialOutputs:
    """Known labels with what follows: ancestors of those in, descendants of those out."""
    marked = (Z > 0) & observed
    wanted = Constraints.none(Z.shape[1]).within(marked, (Z > 0) | ~observed)
    low, high = (np.broadcast_to(mask, Z.shape) for mask in space._close_masks(wanted))
    clash = np.argwhere(low & ~high)
    if len(clash):
        row, label = clash[0]
        out = np.flatnonzero(observed[row] & ~marked[row])
        above, below = space.dag_.ancestors[[label]], space.dag_.ancestors.tocsc()[:, [label]]
        parent = np.intersect1d(above.indices, out)[0]
        child = np.intersect1d(below.indices, np.flatnonzero(marked[row]))[0]
        raise ValueError(
            f"{type(space).__name__}: Y[{row}] says that {space.labels_[parent]!r} is out, and "
            f"that {space.labels_[child]!r} below it is in."
        )
    allowed = within(space, Constraints.none(Z.shape[1]).within(low, high))
    return PartialOutputs(low.astype(np.int8), low | ~high, observed, allowed)


def _names(space: Any, d: int) -> Any:
    """Names of the columns of an array: those given, else numbers."""
    return Targets.of(space).fit_costs(np.zeros((1, d))).labels_


def _is_table(Y: Any) -> bool:
    """Whether rows hold a cell for each label, rather than names."""
    if is_pandas(Y, "DataFrame") or sparse.issparse(Y):
        return True
    if isinstance(Y, np.ndarray) and Y.ndim == 2:
        return True
    if is_pandas(Y, "Series"):
        return False
    rows = [row for row in Y if row is not None]
    if not rows or not all(isinstance(row, (list, tuple, np.ndarray)) for row in rows):
        return False
    width = len(rows[0])
    return (
        len(rows) == len(Y)
        and width > 0
        and all(len(row) == width and all(map(_is_cell, row)) for row in rows)
    )


def _is_cell(value: Any) -> bool:
    if isinstance(value, (int, float, np.number, np.bool_)):
        return value != value or value in (0, 1)
    return is_missing_name(value)


def _in_order(space: Any, Y: Any, seen: np.ndarray) -> np.ndarray:
    """A mask by the labels of a space; the columns of a frame may come in another order."""
    if not is_pandas(Y, "DataFrame"):
        return seen
    position = {name: j for j, name in enumerate(Y.columns)}
    return seen[:, [position[name] for name in space.labels_]]


def _read_rows(space: Any, Y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Indicators of labels that are in, and which labels the rows say anything of."""
    rows = list(Y)
    sets = [_included(row) for row in rows]
    out = [_excluded(row) for row in rows]
    # Labels that are only ever known to be out are labels, too.
    extra = [{name for names in out for name in names}]
    given: Any = [*sets, *extra]
    if is_pandas(Y, "Series"):
        import pandas

        given = pandas.Series(given, name=Y.name)
    Z = space._fit(given)[:-1]
    used_by, labels = type(space).__name__, space.labels_
    excluded = label_mask([list(names) for names in out], labels, "exclude", used_by)
    clash = np.argwhere((Z > 0) & excluded)
    if len(clash):
        row, label = clash[0]
        raise ValueError(f"{used_by}: Y[{row}] has {labels[label]!r} both in and out.")
    whole = np.array([not isinstance(row, Mapping) and not _is_nothing(row) for row in rows])
    return Z, whole[:, None] | (Z > 0) | excluded


def _is_nothing(row: Any) -> bool:
    return not hasattr(row, "__iter__") and is_missing_name(row)


def _included(row: Any) -> Any:
    if isinstance(row, Mapping):
        return set(row.get("include", ()))
    return set() if _is_nothing(row) else row


def _excluded(row: Any) -> Any:
    return set(row.get("exclude", ())) if isinstance(row, Mapping) else set()


def _named(row: Mapping[str, Any]) -> set[Any]:
    """The labels that a dictionary mentions."""
    return {*_included(row), *_excluded(row)}
