# SPDX-License-Identifier: BSD-3-Clause
"""What a model can tell beside its predictions; where it cannot, the reason in a sentence."""

from typing import Any

from skstruct.fitted import Fitted
from skstruct.spaces import Description, Marginals

QUANTITIES = ("quantities", "flow")
METHODS = {
    "decode": "decode",
    "marginals": "predict_marginals",
    "kbest": "kbest",
    "explain": "explain",
    "risk": "predict_risk",
}
CALIBRATE = "skstruct calibrate MODEL DATA -o MODEL2"


def why_not(served: Any, ability: str) -> str | None:
    """Why a model has not an ability, or None if it has.

    Parameters
    ----------
    served : Served
    ability : {"predict", "decode", "marginals", "kbest", "explain", "risk", "threshold", "level"}
    """
    if ability == "predict":
        return None
    if ability == "threshold":
        return _no_threshold(served)
    if ability == "level":
        if served.fitted.control is not None:
            return None
        return f"level: the model was not calibrated; run `{CALIBRATE}` with rows it has not seen."
    if ability not in METHODS:
        known = ", ".join([*METHODS, "threshold", "level"])
        raise ValueError(f"An ability is one of {known}; got {ability!r}.")
    if ability == "marginals" and (reason := no_marginals(served.learner)) is not None:
        return f"marginals: {reason}"
    if not served.fitted.can(METHODS[ability]):
        return f"{served.fitted.name} has no {METHODS[ability]}: {_INSTEAD[ability]}"
    return _no_weights(served.fitted) if ability == "explain" else None


_INSTEAD = {
    "decode": "ask for predictions alone.",
    "marginals": "it has no probabilities of the parts of outputs.",
    "kbest": "it gives one prediction for each row.",
    "explain": "it cannot tell the weights of training rows.",
    "risk": "its scores are no risks.",
}


def no_marginals(learner: Any) -> str | None:
    """Why a learner tells no probabilities of parts, or None if it does."""
    fitted = Fitted.of(learner)
    name, space = fitted.name, fitted.space
    if Description.of(space).output_kind in QUANTITIES:
        return (
            "the model predicts quantities, whose means are the predictions themselves; "
            "probabilities are of labels, classes, levels, rankings and sequences."
        )
    if fitted.scores_alone:
        return (
            f"{name} learns by margins, and its scores are no probabilities; fit with "
            "--learner kernel or --learner exponential."
        )
    if not fitted.can("predict_marginals"):
        return f"{name} has no probabilities of the parts of outputs."
    if not Marginals.of(learner.observation_space_).losses:
        return f"outputs of {type(space).__name__} have no parts with probabilities."
    return None


def _no_threshold(served: Any) -> str | None:
    if served.kind in ("labels", "hierarchy") and served.fitted.takes("threshold"):
        return None
    return (
        "threshold is for label sets and hierarchies that are learned from labels; the model "
        f"predicts {served.task or served.kind} by {served.fitted.name}."
    )


def _no_weights(fitted: Fitted) -> str | None:
    """Why a learner that explains cannot do so as it was fitted."""
    from skstruct.learners.conditional_risk.prediction import weighing_of

    if fitted.starts is not None:
        return "Weights are of positions, not of sequences: training rows are not told."
    if fitted.smoother is not None and weighing_of(fitted.learner) is None:
        name = type(getattr(fitted.smoother, "classifier", fitted.smoother)).__name__
        return (
            f"{name} has no weights of training examples; use KernelRidge, Neighbors, "
            "NadarayaWatson or Forest."
        )
    return None
