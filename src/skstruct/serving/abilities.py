# SPDX-License-Identifier: BSD-3-Clause
"""What a model can tell beside its predictions; where it cannot, the reason in a sentence."""

from inspect import signature
from typing import Any

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
    learner, name = served.learner, type(served.learner).__name__
    if ability == "predict":
        return None
    if ability == "threshold":
        return _no_threshold(served)
    if ability == "level":
        if getattr(served.model, "control_", None) is not None:
            return None
        return f"level: the model was not calibrated; run `{CALIBRATE}` with rows it has not seen."
    if ability not in METHODS:
        known = ", ".join([*METHODS, "threshold", "level"])
        raise ValueError(f"An ability is one of {known}; got {ability!r}.")
    if ability == "marginals" and (reason := no_marginals(learner)) is not None:
        return f"marginals: {reason}"
    if not hasattr(learner, METHODS[ability]):
        return f"{name} has no {METHODS[ability]}: {_INSTEAD[ability]}"
    return _no_weights(learner) if ability == "explain" else None


_INSTEAD = {
    "decode": "ask for predictions alone.",
    "marginals": "it has no probabilities of the parts of outputs.",
    "kbest": "it gives one prediction for each row.",
    "explain": "it cannot tell the weights of training rows.",
    "risk": "its scores are no risks.",
}


def no_marginals(learner: Any) -> str | None:
    """Why a learner tells no probabilities of parts, or None if it does."""
    name, space = type(learner).__name__, learner.space_
    if Description.of(space).output_kind in QUANTITIES:
        return (
            "the model predicts quantities, whose means are the predictions themselves; "
            "probabilities are of labels, classes, levels, rankings and sequences."
        )
    if hasattr(learner, "calibrate") and not hasattr(learner, "predict_risk"):
        by_margins = hasattr(type(learner), "temperature_") or "temperature_" in _notes(learner)
        if by_margins and not hasattr(learner, "temperature_"):
            return (
                f"{name} learns by margins, and its scores are no probabilities; fit with "
                "--learner kernel or --learner exponential."
            )
    if not hasattr(learner, "predict_marginals"):
        return f"{name} has no probabilities of the parts of outputs."
    if not Marginals.of(learner.observation_space_).losses:
        return f"outputs of {type(space).__name__} have no parts with probabilities."
    return None


def _notes(learner: Any) -> set[str]:
    """Attributes that the classes of a learner announce."""
    return {
        name for kind in type(learner).__mro__ for name in vars(kind).get("__annotations__", {})
    }


def _no_threshold(served: Any) -> str | None:
    known = "threshold" in signature(served.learner.predict).parameters
    if served.kind in ("labels", "hierarchy") and known:
        return None
    return (
        "threshold is for label sets and hierarchies that are learned from labels; the model "
        f"predicts {served.task or served.kind} by {type(served.learner).__name__}."
    )


def _no_weights(learner: Any) -> str | None:
    """Why a learner that explains cannot do so as it was fitted."""
    from skstruct.learners.conditional_risk.prediction import weighing_of

    if getattr(learner, "starts_", None) is not None:
        return "Weights are of positions, not of sequences: training rows are not told."
    if hasattr(learner, "smoother_") and weighing_of(learner) is None:
        name = type(getattr(learner.smoother_, "classifier", learner.smoother_)).__name__
        return (
            f"{name} has no weights of training examples; use KernelRidge, Neighbors, "
            "NadarayaWatson or Forest."
        )
    return None
