# SPDX-License-Identifier: BSD-3-Clause
"""What layers are given: costs, the sense they are meant in, true outputs; and sums of losses."""

from typing import Any

import numpy as np
import torch

from skstruct._arrays.rows import dense
from skstruct.spaces.constraints import check_n_rows, differs_by_row

SENSES = {"min": -1.0, "max": 1.0}  # scores are the costs times this
REDUCTIONS = ("mean", "sum", "none")


def one_of(value: Any, choices: Any, name: str) -> Any:
    """``value``, which is one of the choices, or an error that names them."""
    if value not in choices:
        listed = ", ".join(f'"{choice}"' for choice in choices)
        raise ValueError(f"{name} is one of {listed}; got {value!r}.")
    return value


def check_rows(costs: Any, name: str, space: Any) -> torch.Tensor:
    """A finite tensor of floats of shape (n, d), for as many rows as the space has."""
    if not isinstance(costs, torch.Tensor) or not costs.is_floating_point():
        kind = costs.dtype if isinstance(costs, torch.Tensor) else type(costs).__name__
        raise TypeError(f"{name} is a tensor of floats of shape (n, d); got {kind}.")
    if costs.ndim != 2:
        raise ValueError(
            f"{name} has one row of numbers for every example, shape (n, d); got shape "
            f"{tuple(costs.shape)}."
        )
    if differs_by_row(space):
        check_n_rows(space.constraints_, len(costs), type(space).__name__)
    finite = torch.isfinite(costs)
    if not bool(finite.all()):
        row, column = (~finite).nonzero()[0].tolist()
        raise ValueError(
            f"{name} is finite; {name}[{row}, {column}] is {float(costs[row, column])}."
        )
    return costs


def check_same_shape(given: torch.Tensor, costs: torch.Tensor, name: str) -> None:
    """Raise unless there is one number for every cost."""
    if given.shape != costs.shape:
        raise ValueError(
            f"{name} has the shape of costs, {tuple(costs.shape)}; got {tuple(given.shape)}."
        )


def target_embeddings(space: Any, targets: Any, costs: torch.Tensor, name: str) -> torch.Tensor:
    """psi of true outputs, float64 (n, d) on the device of costs; no gradient flows to them.

    A tensor of floats holds embeddings. All else are outputs in the user's format.
    """
    if isinstance(targets, torch.Tensor) and targets.is_floating_point():
        psi = targets.detach()
    elif len(targets) == 0:
        psi = costs.new_zeros((0, costs.shape[1]))
    else:
        outputs = targets.cpu().numpy() if isinstance(targets, torch.Tensor) else targets
        psi = to_tensor(space.embed(space.validate(outputs)), costs.device)
    if psi.shape != costs.shape:
        raise ValueError(
            f"{name}: one output for every row of costs, whose shape is {tuple(costs.shape)}; got "
            f"embeddings of shape {tuple(psi.shape)}. A tensor of floats holds embeddings; give "
            "outputs as a list, an array or a tensor of whole numbers."
        )
    return psi.to(costs.device, torch.float64)


def to_tensor(rows: Any, device: Any) -> torch.Tensor:
    """Rows of an array, which may be sparse, as a tensor of float64 on a device."""
    array = np.ascontiguousarray(dense(rows), dtype=np.float64)
    # A tensor could be written to: what must not be, is copied.
    return torch.from_numpy(array if array.flags.writeable else array.copy()).to(device)


def to_host(rows: torch.Tensor) -> np.ndarray:
    """A tensor as an array of float64."""
    return rows.detach().to("cpu", torch.float64).numpy()


def reduced(losses: torch.Tensor, reduction: str, dtype: Any) -> torch.Tensor:
    """Losses (n,) together or one by one. The mean of none is 0, so that nothing becomes NaN."""
    if reduction == "none":
        return losses.to(dtype)
    total = losses.sum()
    return (total / max(len(losses), 1) if reduction == "mean" else total).to(dtype)
