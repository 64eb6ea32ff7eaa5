# SPDX-License-Identifier: BSD-3-Clause
"""Which training outputs look wrong, by models that did not see them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from skstruct._arrays.imports import is_pandas, require
from skstruct.inspection.left_out_rows import left_out_rows
from skstruct.inspection.suspicious_display import SuspiciousOutputsDisplay
from skstruct.inspection.suspicious_parts import PartTable, averaged, parts_of_rows
from skstruct.losses import Observed, resolve_loss

ROW_FIELDS = [("row", np.int64), ("loss", np.float64), ("margin", np.float64),
              ("score", np.float64)]  # fmt: skip


@dataclass(frozen=True, eq=False)
class SuspiciousOutputs:
    """Rows and parts of given outputs, the most suspicious first.

    Attributes
    ----------
    rows : structured array of shape (n,)
        Fields ``row`` (its number), ``loss``, ``margin`` and ``score``, sorted by score.
    parts : structured array of shape (m,), or None
        Fields ``row``, ``part``, ``given``, ``suggested`` (numbers of names, or quantities) and
        ``score``, sorted by score: one minus the probability of what is given, or the distance
        from the mean in standard deviations.
    scores : array of shape (n,)
        Of rows in the order in which they were given.
    """

    rows: np.ndarray
    table: PartTable | None
    index: Any = None  # of a DataFrame or Series that was given

    @property
    def parts(self) -> np.ndarray | None:
        return None if self.table is None else self.table.records

    @property
    def scores(self) -> np.ndarray:
        found = np.empty(len(self.rows))
        found[self.rows["row"]] = self.rows["score"]
        return found

    def to_frame(self, of: str = "rows", k: int | None = None) -> Any:
        """A DataFrame of the first k rows or parts, all when None, in the user's names.

        Rows have the index of the data that were given, parts a column ``row`` with it.

        Parameters
        ----------
        of : "rows" or "parts"
        """
        pandas = require("pandas", used_by="to_frame", extra="pandas")
        if of == "rows":
            some = self.rows[:k]
            columns = {name: some[name] for name in ("loss", "margin", "score")}
            return pandas.DataFrame(columns, index=pandas.Index(self.names_of(some), name="row"))
        columns = dict(zip(("row", "part", "given", "suggested", "score"), self.part_columns(k)))
        return pandas.DataFrame(columns)

    def part_columns(self, k: int | None = None) -> list[Any]:
        """Rows, parts, what is given, what is suggested, and scores of the first k parts."""
        if self.table is None:
            raise ValueError("There are no parts: suspicious_outputs was told parts=False.")
        some = self.table.records[:k]
        return [self.names_of(some), *self.table.named(some), some["score"]]

    def names_of(self, records: np.ndarray) -> Any:
        """Names of the rows of some records: their index, or their numbers."""
        return records["row"] if self.index is None else self.index[records["row"]]

    def without(self, most: float) -> np.ndarray:
        """Which rows are kept when the most suspicious are left out; bool array of shape (n,).

        Rows with which the left-out decision agrees, so that it has no loss, are kept always.

        Parameters
        ----------
        most : int or float
            So many rows at most, or such a share of all, below 1.
        """
        n = len(self.rows)
        whole = isinstance(most, (int, np.integer)) and not isinstance(most, bool)
        if not (whole and 0 <= most <= n) and not (isinstance(most, float) and 0 <= most < 1):
            raise ValueError(
                f"without: leave out a number of rows from 0 to {n}, or a share of them such as "
                f"0.05; got {most!r}."
            )
        first = self.rows[: int(most) if whole else int(np.floor(most * n))]
        kept = np.ones(n, dtype=bool)
        kept[first["row"][first["loss"] > 0]] = False
        return kept

    def refit(self, model: Any, X: Any, y: Any, most: float = 0.05) -> Any:
        """A clone of the model, fitted to the rows that :meth:`without` keeps.

        Labels that look wrong and are right go with them, so that what is rare becomes rarer: look
        at what is left out, and at the loss on rows that somebody has checked.

        Parameters
        ----------
        model : learner
        X, y : the rows that were looked at
        most : int or float, default=0.05
            As in :meth:`without`.
        """
        kept = np.flatnonzero(self.without(most))
        if len(kept) == 0:
            raise ValueError("refit: no row is kept; leave out fewer.")
        return clone(model).fit(_safe_indexing(X, kept), _safe_indexing(y, kept))

    def plot(self, k: int = 20, ax: Any = None) -> SuspiciousOutputsDisplay:
        """Draw the k most suspicious parts, or rows where there are no parts."""
        return SuspiciousOutputsDisplay.from_suspicious(self, k, ax=ax)


def suspicious_outputs(
    model: Any,
    X: Any,
    y: Any,
    *,
    parts: bool = True,
    by: str = "margin",
    cv: Any = 5,
    groups: Any = None,
    loss: Any = None,
    verbose: int = 0,
) -> SuspiciousOutputs:
    r"""Given outputs in the order in which they look wrong, row by row and part by part.

    Every row is judged by a model that did not see it. With :math:`\hat r^{-i}` the risk that it
    estimates at :math:`x_i`, :math:`\hat z_i` its decision and :math:`\hat p^{-i}` its marginals,

    .. math::
        \mathrm{margin}_i = \hat r^{-i}(y_i) - \hat r^{-i}(\hat z_i), \qquad
        \mathrm{score}_{ij} = 1 - \hat p^{-i}(y_{ij} \mid x_i):

    how much riskier the given output is than the decision, and how improbable the given value of
    part j is, its *self-confidence* [1]_ from one downwards. Parts are labels of a set, the class
    of a row, symbols of a sequence, pairs (or places) of a ranking. For quantities the score is
    :math:`|y_{ij} - \hat\mu^{-i}_j(x_i)|` in standard deviations of all rows, by the median.

    Parameters
    ----------
    model : learner of this library, or pipeline that ends in one
        Fitted or not; it is not changed.
    X, y : inputs and outputs, n rows
    parts : bool, default=True
        Whether to look at parts; learners without ``predict_marginals`` cannot.
    by : "margin", "loss" or "parts", default="margin"
        What rows are ordered by: the margin, or the loss of the decision where no risks are
        estimated; that loss; or an exponential moving average of the scores of their parts, the
        highest counting most [2]_.
    cv : int, splitter or None, default=5
        Clones are fitted to all folds but one; a number gives shuffled folds, in which copies of a
        row in an array stay together. None takes rows out of one fit in closed form
        (:class:`~skstruct.ConditionalRiskMinimizer`; a model that was fitted to these rows is not
        fitted again). That takes a fifth of the time and uses all other rows, but penalties and
        weights of a stack were chosen with the row in sight.
    groups : array of shape (n,), default=None
        Rows of the same group are left out together.
    loss : str or loss, default=None
        By which rows are judged; the model's own when None.
    verbose : int, default=0
        Progress of what takes longer than two seconds.

    Returns
    -------
    SuspiciousOutputs
        ``rows`` and ``parts``, the most suspicious first; ``to_frame()``, ``plot()``,
        ``without(0.05)`` and ``refit(model, X, y)``.

    References
    ----------
    .. [1] C. G. Northcutt, L. Jiang and I. L. Chuang, "Confident learning: estimating uncertainty
       in dataset labels", 2021.
    .. [2] A. Thyagarajan, E. Snorrason, C. Northcutt and J. Mueller, "Identifying incorrect
       annotations in multi-label classification data", 2022.

    Examples
    --------
    >>> from skstruct import ConditionalRiskMinimizer
    >>> X = np.arange(12.0)[:, None]
    >>> y = np.where(X[:, 0] < 6, "low", "high")
    >>> y[2] = "high"  # a slip
    >>> found = suspicious_outputs(ConditionalRiskMinimizer(alpha=0.1), X, y)
    >>> int(found.rows["row"][0]), float(found.rows["loss"][0])
    (2, 1.0)
    >>> found.to_frame("parts", 1)[["row", "given", "suggested"]].values.tolist()
    [[2, 'high', 'low']]
    >>> model = found.refit(ConditionalRiskMinimizer(alpha=0.1), X, y, most=1)
    >>> model.predict([[2.0]])
    array(['low'], dtype='<U4')
    """
    if by not in ("margin", "loss") and not (by == "parts" and parts):
        raise ValueError(
            'suspicious_outputs: by is "margin", "loss", or "parts" where these are looked at; '
            f"got {by!r} and parts={parts!r}."
        )
    own = model.get_params(deep=False).get("loss")
    if own is not None and Observed.of(resolve_loss(own)).what != "outputs":
        raise ValueError(
            "suspicious_outputs looks for outputs that are wrong, and the model learns from "
            f"{Observed.of(resolve_loss(own)).what} under {own!r}."
        )
    left = list(left_out_rows(model, X, y, cv, groups, loss, parts, verbose))
    number, losses, margins = (
        np.concatenate([getattr(one, name) for one in left])
        for name in ("rows", "losses", "margins")
    )
    table = parts_of_rows(left) if parts else None
    if by == "parts" and table is not None:
        scores = averaged(table.records, len(number))[number]
    else:
        scores = np.where(np.isnan(margins) | (by == "loss"), losses, margins)
    rows = np.empty(len(number), dtype=ROW_FIELDS)
    for name, column in zip(("row", "loss", "margin", "score"), (number, losses, margins, scores)):
        rows[name] = column
    rows = rows[np.lexsort((number, -losses, -scores))]
    named = next((one for one in (X, y) if is_pandas(one, "DataFrame", "Series")), None)
    index = None if named is None else named.index
    return SuspiciousOutputs(rows, table, index)
