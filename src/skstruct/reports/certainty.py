# SPDX-License-Identifier: BSD-3-Clause
"""How much of outputs could be asserted at a small error, by thresholds from left-out rows."""

from typing import Any

import numpy as np

from skstruct.conformal.structures import STRUCTURES, structure_of
from skstruct.fitted import Fitted
from skstruct.inspection.marginals import happened_and_predicted, known_pairs, of_pairs
from skstruct.reports.pages import Section, Share, Table, Text, left_out
from skstruct.reports.probabilities import CALIBRATE
from skstruct.spaces import Description, Marginals
from skstruct.spaces.solvers.marginals import nearest_on_simplex

TITLE, ANCHOR = "What it can say for certain", "certain"
ERRORS = (0.02, 0.05, 0.10)
# Of each kind of outputs its parts, and what is asserted of them.
PARTS = {
    "labels": ("labels", "that a label is there, or that it is not,"),
    "hierarchy": ("labels", "that a label is there, or that it is not,"),
    "classes": ("rows", "the most likely class"),
    "ordinal": ("rows", "the most likely level"),
    "sequence": ("positions", "the most likely symbol"),
    "ranking": ("pairs of items", "which of two items comes first"),
}
GUARANTEE = "skstruct.conformal.RiskControl, with rows kept apart, gives a guarantee"


def certain_section(subject: Any) -> Section:
    """Shares of parts that could be asserted, and how many of these assertions are wrong here."""
    learner = subject.learner
    why = _why_unknown(learner, subject.kind)
    if subject.has_gaps:
        why = "parts of the truth are not known."
    if why:
        return left_out(TITLE, ANCHOR, why)
    try:
        left = assertions(subject.space, *left_out_marginals(learner))
        here = assertions(subject.space, *happened_and_predicted(learner, subject.inner, subject.y))
    except (ValueError, NotImplementedError) as error:
        return left_out(TITLE, ANCHOR, str(error))
    parts, what = PARTS[subject.kind]
    rows = [_row(error, left, here) for error in ERRORS]
    header = ["error allowed", "threshold", "asserted, left-out rows", "asserted, these rows",
              f"wrong, of all {parts}", "wrong, of those asserted"]  # fmt: skip
    text = (
        f"A model may say only what it is sure of: {what} is asserted where its probability is "
        f"above a threshold, and all else stays open. Thresholds are such that, of all {parts} of "
        f"the {learner.calibration_.n_rows} rows left out for calibration, no larger share than "
        "the error allowed is asserted wrongly; the rows of this report chose nothing. This is an "
        f'estimate and no promise: {GUARANTEE} for the same error (risk="wrong").'
    )
    return Section(TITLE, ANCHOR, [Text(text), Table(header, rows, narrow=True)])


def _why_unknown(learner: Any, kind: str) -> str:
    """Why there is nothing to say; nothing where there is."""
    fitted = Fitted.of(learner)
    if kind not in STRUCTURES or not fitted.can("predict_marginals"):
        return "there are no parts with probabilities that could be asserted."
    if not fitted.estimates_risks:
        return f"{fitted.name} keeps no probabilities of rows that were left out; {GUARANTEE}."
    known = fitted.calibration
    if known is None or known.left is None:
        return f"no rows are known that were left out: {CALIBRATE} {GUARANTEE}."
    return ""


def left_out_marginals(learner: Any) -> tuple[np.ndarray, np.ndarray]:
    """What happened in rows that were left out, and their calibrated marginals; (m, ...) each."""
    known, problem = learner.calibration_, learner.problem_
    left, truth = (np.asarray(part, dtype=np.float64) for part in (known.left, known.truth))
    move, space = known.of_marginals("auto"), problem.space
    if learner.tokens_ is not None:  # a row for every position
        return truth[:, None], nearest_on_simplex(move(left))[:, None]
    shape = (len(left), *_shape(learner.space_, left.shape[1]))
    read = Marginals.of(space)
    parts = read.parts()[0]
    means = read.means_of(left.reshape(shape), parts)
    return truth.reshape(shape), read.marginals(means, parts, recalibrate=move)


def _shape(space: Any, width: int) -> tuple[int, ...]:
    """Axes of the marginals of one row."""
    kind = Description.of(space).output_kind
    if kind == "ranking":
        d = len(space.items_)
        return (d, d)
    if kind == "sequence":
        q = len(space.symbols_)
        return (width // q, q)
    return (width,)


def assertions(space: Any, happened: Any, predicted: Any) -> tuple[np.ndarray, np.ndarray]:
    """How probable what would be asserted of each part is, and whether it is right; (m,) each.

    Of a label, that it is there or that it is not; of a position, or a row, its most likely
    symbol or class; of a pair of items, which of them comes first. Parts whose truth is not known
    are left out.

    Examples
    --------
    >>> from skstruct.spaces import LabelSets
    >>> space = LabelSets(["sun", "wind"])
    >>> assertions(space, np.array([[1.0, 1.0]]), np.array([[0.75, 0.25]]))
    (array([0.75, 0.75]), array([ True, False]))
    """
    kind = Description.of(space).output_kind
    if kind in ("labels", "hierarchy"):
        P = structure_of(space, TITLE).read(predicted)
        confidence = np.where(P >= 0.5, P, 1.0 - P)
        return confidence.ravel(), ((P >= 0.5) == (happened == 1)).ravel()
    if kind == "ranking":
        if not of_pairs(happened):
            raise ValueError("probabilities are those of positions, not of pairs of items.")
        structure = structure_of(space, TITLE)
        P = structure.read(predicted)
        i, j = np.triu_indices(P.shape[1], 1)
        known, first = happened[:, i, j] != 0.5, P[:, i, j] > P[:, j, i]
        right = first == (happened[:, i, j] == 1)
        return structure.confidence(P)[known], right[known]
    truth, P = known_pairs(space, happened, predicted)
    best = P.argmax(axis=1)
    return P.max(axis=1), truth[np.arange(len(P)), best] == 1


def threshold_at(confidence: np.ndarray, right: np.ndarray, error: float) -> float:
    """The least t such that assertions above it are wrong in at most a share ``error`` of parts.

    >>> confidence = np.array([0.9, 0.8, 0.7, 0.6])
    >>> right = np.array([True, False, True, False])
    >>> threshold_at(confidence, right, 0.25), threshold_at(confidence, right, 0.5)
    (0.6, -inf)
    """
    wrong = np.sort(confidence[~right])[::-1]
    allowed = int(round(error * len(confidence), 6))  # 0.29 * 100 is 28.999...
    return float(wrong[allowed]) if allowed < len(wrong) else -np.inf


def _row(error: float, left: Any, here: Any) -> list[Any]:
    """A row of the table, from assertions in left-out rows and in those of the report."""
    (confidence_left, right_left), (confidence, right) = left, here
    t = threshold_at(confidence_left, right_left, error)
    asserted, wrong = confidence > t, (confidence > t) & ~right
    among = wrong.sum() / asserted.sum() if asserted.any() else np.nan
    shares = (confidence_left > t).mean(), asserted.mean(), wrong.mean(), among
    return [f"{error:.0%}", Share(t) if np.isfinite(t) else "none", *map(Share, shares)]
