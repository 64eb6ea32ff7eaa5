# SPDX-License-Identifier: BSD-3-Clause
"""Embeddings of the minimum-cost outputs of all rows, on the device of the costs."""

from typing import Any

import numpy as np
import torch

from skstruct.backends import backend_for
from skstruct.spaces import Solving
from skstruct.spaces.constraints import differs_by_row
from skstruct.spaces.solvers.on_device import snap
from skstruct.torch.inputs import to_host, to_tensor


def best_embeddings(space: Any, costs: torch.Tensor) -> torch.Tensor:
    r""":math:`\psi(\arg\min_z \langle c, \psi(z) \rangle)` of every row, without a gradient.

    All rows are decoded by one call: on a CUDA device where the space can
    (``Solving.tensor_argmin``), on the host otherwise.

    Parameters
    ----------
    space : fitted space
    costs : tensor of shape (..., n, d)
        Where rows of the space are restricted differently, row i is restricted as row i of the
        space, whatever stands in the axes before.

    Returns
    -------
    psi : float64 tensor of the same shape, on the same device
    """
    rows = costs.detach().to(torch.float64).reshape(-1, costs.shape[-1])
    if not len(rows):
        return rows.reshape(costs.shape)
    repeated = space
    if differs_by_row(space):
        n = costs.shape[-2]
        repeated = space.rows(np.tile(np.arange(n), len(rows) // n))
    outputs = on_device(space, rows) if rows.device.type == "cuda" else None
    outputs = repeated.argmin(to_host(rows)).outputs if outputs is None else outputs
    psi = to_tensor(repeated.embed(outputs), costs.device)
    if psi.shape != rows.shape:
        raise ValueError(
            f"{type(space).__name__} embeds its outputs in {psi.shape[1]} coordinates; got costs "
            f"of shape {tuple(costs.shape)}."
        )
    return psi.reshape(costs.shape)


def on_device(space: Any, rows: torch.Tensor) -> np.ndarray | None:
    """Minimum-cost outputs, decoded where the costs are; None where the host must.

    Costs (N, d) of float64 are rounded to 2^-30 of the largest of their row, on which decoders of
    devices rest: outputs whose costs differ by less are equal.
    """
    backend = backend_for(rows.device)
    argmin = None if differs_by_row(space) else Solving.of(space).tensor_argmin(backend)
    if argmin is None:
        return None
    space.argmin(np.zeros((1, rows.shape[1])))  # costs of another width are an error on the host
    rounded = snap(rows.clone(), rows.abs().amax(1)) if Solving.of(space).discrete else rows
    return argmin(rounded)[0]
