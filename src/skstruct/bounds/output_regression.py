# SPDX-License-Identifier: BSD-3-Clause
"""What the bounds of output kernel regression read off a fitted model."""

from collections.abc import Callable
from typing import Any

import numpy as np

from skstruct.bounds.certificate import WIDTH, check_not_encoded, check_positive
from skstruct.fitted import Fitted
from skstruct.kernels.inputs import follows_scale
from skstruct.spaces import Solving
from skstruct.tolerances import STATED_BOUND

# sup k(y, y), where the kind of kernel tells
LARGEST_VALUES: dict[str, Callable[[Any], float]] = {
    "Dirac": lambda kernel: 1.0,
    "GaussianKernel": lambda kernel: 1.0,
    "HammingKernel": lambda kernel: kernel.largest_loss(),
}


def training_matrices(
    model: Any, X: Any, y: Any, used_by: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A, K_X and K_Y of W = sum_ij Y(y_i) A_ij X(x_j)', each of shape (m, m)."""
    for name in ("coef_", "gram_inputs", "gram_outputs", "output_kernel_"):
        if not hasattr(model, name):
            raise ValueError(
                f"{used_by} needs a fitted OutputKernelRegressor; {type(model).__name__} has no "
                f"{name}."
            )
    check_not_encoded(model, used_by)
    A = np.asarray(model.coef_, dtype=np.float64)
    m = len(A)
    counts = [_n_rows(rows) for rows in (X, y)]
    if counts != [m, m]:
        raise ValueError(
            f"{used_by} needs the very rows that the model was fitted to: {m}; got {counts[0]} "
            f"inputs and {counts[1]} outputs."
        )
    _check_same_outputs(model, y, used_by)
    _check_predictable(model, used_by)
    return A, np.asarray(model.gram_inputs(X)), np.asarray(model.gram_outputs())


def _n_rows(rows: Any) -> int:
    return 0 if rows is None else rows.shape[0] if hasattr(rows, "shape") else len(rows)


def _check_same_outputs(model: Any, y: Any, used_by: str) -> None:
    """The outputs are those of training; a precomputed kernel matrix cannot tell."""
    space = Fitted.of(model).space
    if space is None or model.output_kernel == "precomputed":
        return
    if not np.array_equal(space.validate(y), model.outputs_):
        raise ValueError(
            f"{used_by} needs the very rows that the model was fitted to; y has other outputs."
        )


def _check_predictable(model: Any, used_by: str) -> None:
    """The theorems rest on the true output being one of those that are compared."""
    problem = Fitted.of(model).problem
    if problem is None:
        return
    never = np.flatnonzero(~problem.predictable())
    if len(never):
        raise ValueError(
            f"{used_by}: the output of training row {never[0]} is not among those that may be "
            "predicted, so that its loss has no bound; give candidates that hold it."
        )


def squared_error_and_norm(A: np.ndarray, K_X: np.ndarray, K_Y: np.ndarray) -> tuple[float, float]:
    """Sum_i |Y(y_i) - W X(x_i)|² and |W|², by products of (m, m) matrices.

    The first is tr[(I - A K_X)' K_Y (I - A K_X)], the second tr(A' K_Y A K_X).
    """
    fitted = A @ K_X
    squared_norm = float(np.sum((K_Y @ A) * fitted))
    residual = -fitted
    residual.flat[:: len(A) + 1] += 1.0
    squared_error = float(np.sum((K_Y @ residual) * residual))
    return max(squared_error, 0.0), max(squared_norm, 0.0)


def kernel_trials(model: Any) -> int:
    """How many input kernels were tried on the training rows; penalties do not count."""
    search = Fitted.of(model).search
    if search is None:
        return 1
    return len({(str(trial.get("kernel")), trial.get("gamma")) for trial in search.trials})


def output_dimension_of(model: Any) -> Any:
    """Dimension of the span of all output features, or a bound on it; None if unknown.

    A kernel that is bilinear in an embedding psi, up to terms of one output alone, has
    features in the span of psi and the constant; a list of outputs has no more than its length.
    """
    problem = Fitted.of(model).problem
    if problem is None:
        return None
    if problem.by_embedding:
        return problem.width + (problem.space.embedding != "outputs")
    return len(problem.space.listed_) if _is_list(problem) else None


def largest_output_loss(model: Any, given: float | None, used_by: str) -> float:
    """The largest loss of the output kernel: given, known, or that of all listed outputs."""
    if given is not None:
        given = check_positive(given, "loss_bound", used_by)
        seen = _largest_loss_of(np.asarray(model.gram_outputs()))
        if seen > given * (1 + STATED_BOUND):
            raise ValueError(
                f"{used_by}: loss_bound is {given:g}, but two training outputs are {seen:g} apart."
            )
        return given
    known = model.output_kernel_.largest_loss()
    K = _kernel_of_list(model) if known is None else None
    if K is not None:
        known = _largest_loss_of(K)
    if known is None or not known > 0:
        raise ValueError(
            f"{used_by}: the largest loss of {type(model.output_kernel_).__name__} is not known; "
            "give loss_bound."
        )
    return float(known)


def _largest_loss_of(K: np.ndarray) -> float:
    """Of any two outputs of a kernel matrix, row by row: no second matrix."""
    half = 0.5 * np.diagonal(K)
    return max(float((half - row).max() + own) for own, row in zip(half, K))


def _kernel_of_list(model: Any) -> np.ndarray | None:
    """Kernel matrix of all outputs, where the model chooses from a list; else None."""
    problem = Fitted.of(model).problem
    if problem is None or problem.by_embedding or not _is_list(problem):
        return None
    return np.asarray(model.output_kernel_(model.space_.restore(problem.space.listed_)))


def _is_list(problem: Any) -> bool:
    """Whether outputs are from a list: of numbers, those of training are only some."""
    return Solving.of(problem.space.space).discrete


def input_bound_of(model: Any, given: float | None, K_X: np.ndarray) -> float:
    """sup |k(x, x')| over inputs; what is given must hold on the training rows."""
    if given is not None:
        given = check_positive(given, "input_bound", "compression_bound")
        seen = float(np.diagonal(K_X).max())
        if seen > given * (1 + STATED_BOUND):
            raise ValueError(
                f"input_bound is {given:g}, but k(x, x) = {seen:g} for a training row."
            )
        return given
    if Fitted.of(model).unit_inputs:
        return 1.0
    raise ValueError(
        "compression_bound: the largest k(x, x) is not known for this input kernel; give "
        "input_bound, for all inputs that may come."
    )


def output_bound_of(model: Any, given: float | None, K_Y: np.ndarray) -> float:
    """sup k(y, y) over outputs; what is given must hold on the training rows."""
    kernel = model.output_kernel_
    largest = LARGEST_VALUES.get(type(kernel).__name__)
    known = None if largest is None else largest(kernel)
    known = known if given is None else given
    if known is None:
        K = _kernel_of_list(model)
        known = None if K is None else float(np.diagonal(K).max())
    if known is None:
        raise ValueError(
            f"compression_bound: the largest k(y, y) of {type(kernel).__name__} is not known; "
            "give output_bound."
        )
    known = check_positive(known, "output_bound", "compression_bound")
    seen = float(np.diagonal(K_Y).max())
    if seen > known * (1 + STATED_BOUND):
        raise ValueError(f"output_bound is {known:g}, but k(y, y) = {seen:g} for a training row.")
    return known


def output_assumptions(model: Any, *extra: str) -> tuple[str, ...]:
    """What the theorems need and no computation can see."""
    lines = [
        "training rows and new rows are independent draws from one distribution",
        "both kernels were fixed before seeing the rows; the penalty or radius may have been "
        "chosen on them",
        "every output that may come is one that may be predicted, and predictions are exact "
        "pre-images (to rounding): no output is nearer to W X(x)",
        "the loss that matters is at most that of the output kernel",
    ]
    if kernel_trials(model) > 1:
        lines.append("the input kernels tried were listed without looking at the rows")
    if follows_scale(model):
        lines.append(WIDTH)
    return (*lines, *extra)
