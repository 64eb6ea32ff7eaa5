# SPDX-License-Identifier: BSD-3-Clause
"""Predictions by thresholds of marginals, given or chosen on rows that were left out."""

from typing import Any

import numpy as np

from skstruct._arrays.by_name import by_position
from skstruct._arrays.checks import is_number
from skstruct.learners.best_thresholds import best_thresholds

# Names of measures, with what best_thresholds makes of them.
CHOSEN: dict[str, dict[str, Any]] = {
    "micro_f1": {"measure": "micro_f1"},
    "macro_f1": {"measure": "macro_f1", "by": "label"},
}
AT_LEAST = {"recall": "precision_at_recall", "precision": "recall_at_precision"}


def read_threshold(learner: Any, threshold: Any) -> np.ndarray:
    """Thresholds of all labels, as given or as chosen for a measure; shape (d,).

    Parameters
    ----------
    threshold : float, array of shape (d,), {label: float}, Series by label, or str
        ``"micro_f1"``, ``"macro_f1"``, ``"recall=0.9"`` or ``"precision=0.9"``.
    """
    labels = list(learner.space_.labels_)
    if isinstance(threshold, str):
        return _chosen(learner, threshold)
    used_by = type(learner).__name__
    threshold = by_position(threshold, labels, what="threshold", used_by=used_by, default=0.5)
    found = np.asarray(threshold, dtype=np.float64)
    if found.ndim == 0:
        found = np.full(len(labels), float(found))
    if found.shape != (len(labels),) or np.isnan(found).any():
        raise ValueError(
            f"threshold is a number, one for each of the {len(labels)} labels, {{label: number}} "
            f"or the name of a measure; got shape {found.shape}."
        )
    return found


def _chosen(learner: Any, name: str) -> np.ndarray:
    """Thresholds that are best for a measure on rows that were left out."""
    options = _options(name)
    known = learner.calibration_
    if known is None or known.left is None:
        raise ValueError(
            f"threshold={name!r} is chosen on rows that were left out in fit, of which this model "
            "keeps none: give rows that it was not fitted to, calibrate(X, y)."
        )
    kept = learner.__dict__.setdefault("_thresholds", {})
    if kept.get("of") is not known:
        kept.clear()
        kept["of"] = known
    if name not in kept:
        marginals = known.of_marginals("auto")(known.left)
        weight = known.weight if len(known.weight) == len(known.left) else None
        seen = ~np.isnan(known.truth)
        kept[name] = best_thresholds(
            marginals, known.truth, sample_weight=weight, known=seen, **options
        )[0]
    return kept[name]


def _options(name: str) -> dict[str, Any]:
    if name in CHOSEN:
        return CHOSEN[name]
    measure, _, target = name.partition("=")
    try:
        level = float(target)
    except ValueError:
        level = np.nan
    if measure not in AT_LEAST or not (is_number(level) and 0 < level <= 1):
        raise ValueError(
            "threshold is a number, one for each label, {label: number}, 'micro_f1', 'macro_f1', "
            f"'recall=0.9' or 'precision=0.9'; got {name!r}."
        )
    return {"measure": AT_LEAST[measure], "target": level}


def decide_by_threshold(space: Any, marginals: np.ndarray, thresholds: np.ndarray) -> Any:
    r"""Outputs :math:`\arg\max_z \sum_j (p_j - t_j) z_j`: labels above their thresholds, within the
    space.

    One threshold for all keeps {p >= t}, which is closed in a hierarchy since marginals fall; with
    several, a label comes in together with its parents where that gains more than it costs.
    """
    # A finite number stands for thresholds that everything, or nothing, passes.
    reached = np.nextafter(np.clip(thresholds, -2.0, 2.0), -np.inf)  # by who is equal, too
    costs = reached - marginals
    return space.argmin(np.ascontiguousarray(costs))
