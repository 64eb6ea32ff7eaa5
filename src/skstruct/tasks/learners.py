# SPDX-License-Identifier: BSD-3-Clause
"""The learner of a task: by name, or which one to take when nobody says."""

import difflib
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

from skstruct.datasets import Table
from skstruct.kernels import KernelSum, resolve_kernel
from skstruct.kernels.inputs import kernel_name
from skstruct.losses import resolve_loss
from skstruct.model_selection.evaluation import loss_name

# Learners by short names, and which one to take when nobody says.


# Beyond, landmarks: an exact system has n^2 numbers, which are in the model file as well, and 3.2
# GB for 20,000 rows.
EXACT_ROWS = 5_000
RIDGE = (  # parameters of ConditionalRiskMinimizer that serve kernel ridge regression alone
    "kernel", "alpha", "fit_intercept", "solver", "n_landmarks", "cv",
)  # fmt: skip
EXACT = ("cholesky", "packed", "spectral")


@dataclass(frozen=True)
class NamedLearner:
    """A learner of the command line."""

    name: str
    home: str  # module and class
    about: str
    parameters: dict[str, Any] = field(default_factory=dict)
    smoother: str | None = None  # module and class of a smoother


_CRM = "skstruct.learners.conditional_risk.learner:ConditionalRiskMinimizer"
_ALL = (
    NamedLearner("stack", _CRM, "conditional risk, several smoothers weighed on left-out rows"),
    NamedLearner(
        "kernel", _CRM, "conditional risk, kernel ridge regression, any number of rows",
        {"smoother": "kernel_ridge"},
    ),
    NamedLearner("linear", _CRM, "the same with a linear kernel", {"kernel": "linear"}),
    NamedLearner(
        "forest", _CRM, "conditional risk, randomized trees", {"random_state": 0},
        "skstruct.smoothing:Forest",
    ),
    NamedLearner(
        "neighbors", _CRM, "conditional risk, nearest rows", {}, "skstruct.smoothing:Neighbors"
    ),
    NamedLearner(
        "exponential", "skstruct.learners:ExponentialFamily",
        "log-linear probabilities; on sequences a conditional random field",
        {"random_state": 0},
    ),
    NamedLearner(
        "svm", "skstruct.learners:StructuredSVM", "structured support vector machine",
        {"random_state": 0},
    ),
    NamedLearner(
        "tree", "skstruct.learners:MaxMarginTree", "max-margin labels with a learned tree",
        {"random_state": 0},
    ),
    NamedLearner(
        "perceptron", "skstruct.learners:StructuredPerceptron", "averaged perceptron",
        {"random_state": 0},
    ),
    NamedLearner("counting", "skstruct.learners:CountingRidge", "ridge on counted moments"),
    NamedLearner(
        "output-kernel", "skstruct.learners:OutputKernelRegressor", "regression between kernels"
    ),
)  # fmt: skip
LEARNERS = {learner.name: learner for learner in _ALL}


def default_learner(data: Any) -> tuple[str, str]:
    """The name of a learner that suits a data set, and why.

    Parameters
    ----------
    data : Dataset or TrainingBlocks
    """
    if data.task == "sequence" and not isinstance(data.inputs, Table):
        return "exponential", "features for every position: a conditional random field"
    return "stack", "several smoothers, weighed on left-out rows"


def make_learner(
    name: str, space: Any, loss: Any = None, verbose: int = 0, **parameters: Any
) -> Any:
    """A learner by its short name, not yet fitted.

    Parameters
    ----------
    name : str
        One of ``LEARNERS``.
    loss : str or loss, default=None
    **parameters
        Of the learner; those of a smoother as ``smoother__name``.

    Examples
    --------
    >>> from skstruct.spaces import LabelSets
    >>> make_learner("linear", LabelSets(), "f1", alpha=2.0)
    ConditionalRiskMinimizer(alpha=2.0, kernel='linear', loss='f1', space=LabelSets())
    """
    if name not in LEARNERS:
        close = difflib.get_close_matches(name, LEARNERS, 1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"There is no learner {name!r}; known are {', '.join(LEARNERS)}.{hint}")
    named = LEARNERS[name]
    learner = _found(named.home)()
    known = learner.get_params(deep=False)
    given = {"space": space, "verbose": verbose, **named.parameters}
    if named.smoother is not None:
        given["smoother"] = _found(named.smoother)()
    if loss is not None:
        given["loss"] = loss
    if "space" not in known and type(space).__name__ != "LabelSets":
        raise ValueError(f"The learner {name!r} is for plain label sets (--task labels).")
    learner.set_params(**{key: value for key, value in given.items() if key in known})
    parameters = _with_kernel_object(learner, parameters)
    _check_nested(learner, parameters)
    learner.set_params(**parameters)
    if named.home == _CRM:
        _check_values(learner)
        _check_parts(learner, parameters, f"The learner {name!r}")
    return learner


def _with_kernel_object(learner: Any, parameters: dict[str, Any]) -> dict[str, Any]:
    """The kernel as an object, where parameters of it are given, as in kernel__gamma."""
    known = learner.get_params(deep=False)
    if "kernel" not in known or not any(key.startswith("kernel__") for key in parameters):
        return parameters
    kernel = parameters.get("kernel", known["kernel"])
    kernel = "rbf" if isinstance(kernel, str) and kernel == "auto" else kernel
    return {**parameters, "kernel": resolve_kernel(kernel)}


def _check_values(learner: Any) -> None:
    """Refuse what a fit would refuse, before data are read in passes."""
    from skstruct.learners.regression import check_settings
    from skstruct.smoothing.penalties import alpha_grid

    check_settings(learner)
    try:
        alpha_grid(learner.alpha, lambda: None)
    except (TypeError, ValueError):
        raise ValueError(
            f'alpha is a positive number, several, or "auto"; got {learner.alpha!r}.'
        ) from None


def _check_nested(learner: Any, parameters: dict[str, Any]) -> None:
    """Parameters of a part, as in smoother__n_estimators, need such a part."""
    for key in parameters:
        outer, nested, inner = key.partition("__")
        part = parameters.get(outer, learner.get_params(deep=False).get(outer))
        if nested and not hasattr(part, "set_params"):
            raise ValueError(
                f"{key} sets {inner} of the {outer}, and this learner has none that takes "
                f"parameters: {outer} is {part!r}."
            )
    if isinstance(parameters.get("smoother"), str) and parameters["smoother"] not in (
        "auto",
        "kernel_ridge",
    ):
        raise ValueError(
            f"smoother is a regressor, got the text {parameters['smoother']!r}; the learners "
            "'forest' and 'neighbors' (--learner forest) have smoothers of these names."
        )


def _check_parts(learner: Any, given: dict[str, Any], who: str) -> None:
    """Refuse parameters that would have no part in the fit, and say why."""
    from skstruct.learners.regression import smoothing_by

    why: dict[str, str] = {}
    if smoothing_by(learner) == "given":
        kind = type(learner.smoother).__name__
        why |= dict.fromkeys(RIDGE, f"it smooths by {kind}, not by kernel ridge regression")
    if learner.solver in EXACT:
        why["n_landmarks"] = f"solver={learner.solver} takes all rows, not landmarks"
    if isinstance(learner.alpha, (int, float)) and not _is_open(learner.kernel):
        why.setdefault("cv", f"alpha={learner.alpha} is given, so that nothing is chosen")
    for key in given:
        part = key.partition("__")[0]
        if part in why:
            raise ValueError(f"{who} makes no use of {key}: {why[part]}.")


def _is_open(kernel: Any) -> bool:
    """Whether there are several kernels or widths to choose from."""
    if isinstance(kernel, (list, tuple)):
        return True
    if isinstance(kernel, KernelSum):
        return any(map(_is_open, kernel.kernels))
    gamma: Any = getattr(kernel, "gamma", None)
    return isinstance(gamma, str) or np.ndim(gamma) > 0


def takes_landmarks(name: str, learner: Any, loss: Any, n_rows: int) -> bool:
    """Whether a learner that was not given a way to solve its system takes landmarks here.

    Where "auto" would keep a matrix of all rows, which a model file would hold. With more rows than
    that it takes landmarks by itself, and a linear kernel has no need of them.
    """
    from skstruct.learners.regression import smoothing_by
    from skstruct.smoothing.planning import EXACT_ROWS as FACTORED

    if not reads_blocks(name) or smoothing_by(learner) != "kernel_ridge":
        return False
    able = needs_all_rows(name, learner, loss) is None
    between = EXACT_ROWS < n_rows <= FACTORED and kernel_name(learner.kernel) != "linear"
    return able and learner.solver == "auto" and between


def reads_blocks(name: str) -> bool:
    """Whether a learner of this name may be fitted to blocks of rows, by its other parameters."""
    return LEARNERS[name].home == _CRM and LEARNERS[name].smoother is None


def needs_all_rows(name: str, learner: Any, loss: Any) -> str | None:
    """What of a learner cannot be fitted to blocks of rows; None if all can.

    Parameters
    ----------
    name : str
        One of ``LEARNERS``.
    learner : not yet fitted
    loss : the loss that it will have
    """
    from skstruct.learners.regression import smoothing_by

    if not reads_blocks(name) or smoothing_by(learner) == "given":
        return f"the learner {name}"
    if learner.solver not in ("auto", "nystroem", "fourier"):
        return f"solver={learner.solver}"
    if kernel_name(learner.kernel) == "precomputed":
        return "a precomputed kernel"
    return f"the loss {loss_name(loss)}" if loss.embedding == "weights" else None


def _found(home: str) -> Any:
    module, _, name = home.partition(":")
    return getattr(import_module(module), name)


# What a fit will do, in words, before it begins.


def loss_of(learner: Any, space: Any) -> Any:
    """The loss that a learner will have: its own, or the usual one of the space."""
    asked = learner.get_params(deep=False).get("loss")
    return resolve_loss(space.default_loss if asked is None else asked)


def choice_in_words(
    name: str, why: str, learner: Any, space: Any, data: Any, encoder: Any
) -> list[str]:
    """Learner, task, space, loss and encoding, a sentence each.

    Parameters
    ----------
    name, why : str
        Short name of the learner, and the reason for it.
    learner, space : not yet fitted
    data : Dataset or TrainingBlocks
    encoder : fitted to the data
    """
    usual = learner.get_params(deep=False).get("loss") is None
    loss = loss_name(loss_of(learner, space)) + (" (the usual one)" if usual else "")
    return [
        f"learner {name} ({type(learner).__name__}): {why}.",
        f"task {data.task}, space {type(space).__name__}, loss {loss}; {len(data):,} rows.",
        _encoding(data.inputs, encoder),
    ]


def _encoding(inputs: Any, encoder: Any) -> str:
    if not isinstance(inputs, Table):
        first = next((x for x in inputs if len(x)), ())
        if isinstance(first, np.ndarray):
            return "inputs are sequences: every position has numbers of its own."
        return "inputs are sequences: every position has features of its word and of those around."
    return f"inputs are {encoder.describe()}."
