# SPDX-License-Identifier: BSD-3-Clause
"""Withholding rows, or parts of outputs, so that the risk of what is kept is small."""

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from skstruct.bounds.certificate import check_delta, check_positive, largest_loss
from skstruct.conformal.calibration import ROWS, Calibrated, row_index
from skstruct.conformal.selective import PartsTest, RowsTest
from skstruct.conformal.structures import Moves, Structure, structure_of
from skstruct.saving import savable
from skstruct.tolerances import STATED_BOUND


@dataclass(frozen=True)
class Kept:
    """Predictions, and which of them are kept.

    Attributes
    ----------
    outputs : list
        Of rows: outputs in the user's format, None where withheld. Of parts: labels that are
        certain with all ancestors, symbols with None where open, pairs of a partial order.
    kept : bool array
        Rows (n,), labels (n, d), positions (n, T) or pairs of items (n, d, d).
    """

    outputs: Any
    kept: np.ndarray


@savable
class Abstention(Calibrated):
    r"""Predictions of a fitted learner, where sure; with a risk of what is kept.

    With probability 1 - delta over the calibration rows,

    .. math:: \frac{E[\mathrm{loss}(x, y)\,1[x\ \text{is kept}]]}{P(x\ \text{is kept})}
              \le \mathrm{level}.

    Thresholds are tested one by one up to the first that fails, and the laxest that passed is
    taken [1]_. All-or-nothing losses have an exact test: given how many rows are kept, the number
    of wrong ones is binomial. For others the test is one by betting on kept rows [2]_. Which
    thresholds are tested, and in which order, is taken from every fourth calibration row, so that
    those likely to pass come first; the tests are those of the others.

    Parameters
    ----------
    learner : fitted learner
    level : float
        The largest risk of what is kept: of rows in units of the loss, of parts a share.
    delta : float, default=0.1
        Probability that the promise is broken.
    of : "rows" or "parts", default="rows"
        What is withheld. Parts: labels of a set, asserted as there or as not there; of a
        hierarchy, labels that are there, which goes up to the ancestors that are sure; positions
        of a sequence; pairs of a ranking. Their risk is the expected number of wrong ones by that
        of all that are kept, each as a share of the parts of its row.
    by : "risk" or "marginals", default="risk"
        What rows are withheld by: the risk that ``predict_risk`` estimates, or the mean
        probability that parts are not what is most likely.
    loss : "learner" or "zero_one", default="learner"
        Of rows: that of the learner, or whether anything is wrong (an exact test).
    loss_bound : float, default=None
        No loss exceeds it; None where the learner's loss knows.

    Attributes
    ----------
    thresholds_ : array
        One for each group. Rows are kept up to it, parts above it.
    kept_share_ : float
        Of the calibration rows, or of their parts.
    vacuous_ : list of bool
        Per group: whether all is withheld, since no threshold passed.
    groups_ : list or None
    promise_ : str
    n_calibration_, n_left_out_ : int
        Calibration rows, and those that were left out since parts are missing.

    References
    ----------
    .. [1] A. N. Angelopoulos, S. Bates, E. J. Candès, M. I. Jordan and L. Lei, "Learn then test:
       calibrating predictive algorithms to achieve risk control", 2021.
    .. [2] I. Waudby-Smith and A. Ramdas, "Estimating means of bounded random variables by
       betting", 2024.

    Examples
    --------
    >>> from skstruct import ExponentialFamily
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(600, 1))
    >>> y = np.where(X[:, 0] + 0.5 * rng.normal(size=600) > 0, "up", "down")
    >>> learner = ExponentialFamily().fit(X[:100], y[:100])
    >>> sure = Abstention(learner, 0.05, by="marginals", loss="zero_one")
    >>> sure.calibrate(X[100:], y[100:]).predict([[2.0], [0.1]]).outputs
    ['up', None]
    """

    def __init__(
        self,
        learner: Any,
        level: float,
        *,
        delta: float = 0.1,
        of: str = "rows",
        by: str = "risk",
        loss: str = "learner",
        loss_bound: float | None = None,
    ) -> None:
        self.learner = learner
        self.level = level
        self.delta = delta
        self.of = of
        self.by = by
        self.loss = loss
        self.loss_bound = loss_bound

    def calibrate(self, X: Any, y: Any, *, groups: Any = None, sample_weight: Any = None) -> Self:
        """Choose the thresholds by rows that the learner has not seen.

        Parameters
        ----------
        X, y : inputs and outputs
            Rows of which parts are missing are left out, with a warning, even where these follow
            from other parts: a promise needs whole outputs, and holds for rows like these.
        groups : sequence of length n, default=None
            A threshold for each group, and the promise within each.
        sample_weight : None
            Refused: the tests are those of rows with equal weights.

        Returns
        -------
        self
        """
        if sample_weight is not None:
            raise ValueError("Abstention: the tests know no sample_weight; leave it out.")
        self._check_choices()
        delta = check_delta(self.delta)
        X, Z, groups = self._whole_rows(X, y, groups)
        rows = self._read_rows(len(Z), groups, None)
        test = self._rows_test(X, Z) if self.of == "rows" else self._parts_test(X, Z)
        self._keep_groups(rows, groups, None)
        found = [test.threshold(numbers, delta) for _, numbers in rows.by_group()]
        self.thresholds_ = np.array(found)
        self._warn_vacuous(rows, test.nothing, "all is withheld.")
        self.kept_share_ = test.kept_share(self.thresholds_[rows.numbers])
        self.promise_ = self._promise(delta) + self._left_out()
        return self

    def predict(self, X: Any, *, groups: Any = None) -> Kept:
        """Predictions, without what is withheld.

        Parameters
        ----------
        X : inputs
        groups : sequence of length n, default=None
            Known groups, where calibration had some.

        Returns
        -------
        Kept
        """
        self._check_calibrated()
        if self.of == "parts":
            return self._kept_parts(X, groups)
        scores = self._row_scores(X)
        kept = scores <= self._row_thresholds(len(scores), groups)
        outputs = self.learner.predict(X)
        rows = (
            outputs.iloc[i] if hasattr(outputs, "iloc") else outputs[i] for i in range(len(kept))
        )
        return Kept([_plain(row) if keep else None for row, keep in zip(rows, kept)], kept)

    def _kept_parts(self, X: Any, groups: Any) -> Kept:
        structure = structure_of(self.learner.space_, "Abstention")
        P = structure.read(self.learner.predict_marginals(X))
        thresholds = self._row_thresholds(len(P), groups)
        moves: Moves = "both" if structure.asserts_absence else "certain"
        masks = structure.masks(P, thresholds, moves)
        outputs, _ = structure.write(P, *masks, row_index(X))
        return Kept(outputs, structure.decided(P, thresholds))

    # ------------------------------------------------------------- what is tested
    def _row_scores(self, X: Any) -> np.ndarray:
        """Doubt about every row; shape (n,)."""
        if self.by == "risk":
            return np.asarray(self.learner.predict_risk(X), dtype=np.float64)
        structure = structure_of(self.learner.space_, "Abstention")
        return _doubt(structure, self.learner.predict_marginals(X))

    def _rows_test(self, X: Any, Z: Any) -> RowsTest:
        predicted = self.learner.space_.validate(self.learner.predict(X))
        if self.loss == "zero_one":
            losses = _differ(predicted, Z).astype(np.float64)
            return RowsTest(self._row_scores(X), losses, self._share(1.0), exact=True)
        loss = self.learner.loss_
        if hasattr(loss, "bind"):  # which of a hierarchy reads arcs off the space
            loss = loss.bind(self.learner.space_)
        largest = self._largest(loss)
        losses = np.asarray(loss(predicted, Z), dtype=np.float64) / largest
        beyond = np.flatnonzero((losses < 0) | (losses > 1 + STATED_BOUND))
        if len(beyond):
            raise ValueError(
                f"Abstention: the loss of row {beyond[0]} is {losses[beyond[0]] * largest:g}; "
                f"losses are from 0 to {largest:g}. Give loss_bound."
            )
        return RowsTest(self._row_scores(X), losses.clip(max=1.0), self._share(largest))

    def _largest(self, loss: Any) -> float:
        if self.loss_bound is not None:
            return check_positive(self.loss_bound, "loss_bound", "Abstention")
        known = largest_loss(loss, self.learner.space_)
        if known is None or not 0 < known < math.inf:
            raise ValueError("Abstention: the largest loss is not known; give loss_bound.")
        return float(known)

    def _share(self, largest: float) -> float:
        return min(float(self.level) / largest, 1.0)

    def _parts_test(self, X: Any, Z: Any) -> PartsTest:
        structure = structure_of(self.learner.space_, "Abstention")
        P = structure.read(self.learner.predict_marginals(X))
        claims = structure.claims(P, Z, None, both=structure.asserts_absence)
        return PartsTest(claims, self._share(1.0))

    def _check_choices(self) -> None:
        allowed = {"of": ("rows", "parts"), "by": ("risk", "marginals")}
        allowed["loss"] = ("learner", "zero_one")
        for name, choices in allowed.items():
            if getattr(self, name) not in choices:
                raise ValueError(
                    f"Abstention: {name} is {choices[0]!r} or {choices[1]!r}; got "
                    f"{getattr(self, name)!r}."
                )
        if self.of == "parts" or self.loss == "zero_one":
            self._check_level()
        elif not float(self.level) >= 0:
            raise ValueError(f"Abstention: level is at least 0; got {self.level!r}.")

    def _promise(self, delta: float) -> str:
        what = {"rows": "the expected loss of a new row, given that it is kept,"}
        what["parts"] = (
            "the expected number of parts that are kept and wrong, divided by the expected number "
            "of parts that are kept,"
        )
        within = "" if self.groups_ is None else " within each group"
        return (
            f"With probability {1 - delta:g} over the draw of calibration rows, {what[self.of]} is "
            f"at most {self.level:g}{within}{self._each()}. {ROWS}; nothing is said of rows and "
            "parts that are withheld, nor of how many are."
        )


def _doubt(structure: Structure, marginals: Any) -> np.ndarray:
    """The mean over parts of the probability that they are not as asserted; shape (n,)."""
    P = structure.read(marginals)
    scores = structure.confidence(P)
    known = scores > -np.inf
    sums = np.where(known, 1.0 - scores, 0.0).sum(axis=1)
    return np.asarray(sums / np.maximum(known.sum(axis=1), 1))


def _differ(predicted: Any, truth: Any) -> np.ndarray:
    """Whether two canonical outputs differ anywhere; shape (n,)."""
    a, b = np.asarray(predicted), np.asarray(truth)
    if a.ndim > 1 and a.shape[1] != b.shape[1]:  # sequences, padded to other widths
        width = max(a.shape[1], b.shape[1])
        a, b = (
            np.pad(rows, ((0, 0), (0, width - rows.shape[1])), constant_values=-1)
            for rows in (a, b)
        )
    different = (a != b) & ~((a != a) & (b != b))
    return np.asarray(different.reshape(len(a), -1).any(axis=1))


def _plain(row: Any) -> Any:
    """A name rather than an array without axes."""
    return row.item() if isinstance(row, np.generic) else row
