# SPDX-License-Identifier: BSD-3-Clause
"""Decisions where the means are: on a device of torch, if that device can decode them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from scipy import sparse

from skstruct._arrays.checks import LARGEST_SUM
from skstruct._arrays.memory import row_blocks
from skstruct.learners.problem import RiskProblem
from skstruct.losses import Form
from skstruct.smoothing import Learning
from skstruct.spaces import Decoded, Solving
from skstruct.spaces.constraints import differs_by_row
from skstruct.spaces.solvers.on_device import snap


def decide_on_device(
    problem: RiskProblem, smoother: Any, X: Any, backend: Any, memory: Any = "1GB"
) -> Decoded | None:
    """Outputs of least estimated risk for the rows of X; None where the host must decide.

    The answers are those of ``problem.decode(problem.smooth(smoother, X))``.

    Parameters
    ----------
    problem : RiskProblem
    smoother : fitted smoother
        Whose facet ``Learning`` has an answer to ``on_device``.
    X : array or tensor of shape (n, p)
    backend : TorchBackend
    memory : str or int, default="1GB"
        Budget of a block of rows, on the device.
    """
    decide = device_decider(problem, backend)
    found = None if decide is None else Learning.of(smoother).on_device(backend, memory)
    if decide is None or found is None or sparse.issparse(X):
        return None
    means, n_terms = found
    bytes_per_row = 8 * (n_terms + 6 * problem.width + X.shape[1])
    blocks = row_blocks(X.shape[0], bytes_per_row, memory)
    parts = [decide(means(X[rows])) for rows in blocks]
    arrays = ([getattr(part, name) for part in parts] for name in ("outputs", "values", "bounds"))
    return Decoded(*map(np.concatenate, arrays))


def device_decider(problem: RiskProblem, backend: Any) -> Callable[..., Any] | None:
    """A function of means (n, q), a tensor on the device, to :class:`Decoded` on the host.

    None for problems that the device does not decode: those whose loss has no numbers (``Form``) or
    whose space no ``tensor_argmin``, and constraints that differ between rows.
    """
    space, loss = problem.space, problem.loss
    plain = type(problem) is RiskProblem and not problem.by_weights and not problem.joint
    if not (plain and problem.width) or differs_by_row(space):
        return None
    form = Form.of(loss).numbers(problem.width)
    argmin = Solving.of(space).tensor_argmin(backend)
    if form is None or argmin is None:
        return None
    costs = DeviceCosts(problem, form, backend)

    def decide(means: Any) -> Decoded:
        rows, offset = costs(means)
        outputs, values = argmin(rows)
        values = backend.to_host(values + offset)
        return Decoded(outputs, values, values)

    return decide


# ---------------------------------------------------------------------- costs
class DeviceCosts:
    """Costs and offsets of :class:`RiskProblem`, on a device: see ``RiskProblem.costs``."""

    def __init__(self, problem: RiskProblem, form: Any, backend: Any) -> None:
        self.problem, (V, u, v, self.constant) = problem, form
        self.u, self.v = (backend.asarray(part, "float64") for part in (u, v))
        self.used = None if problem.used is None else torch.tensor(problem.used)
        self.used = None if self.used is None else self.used.to(backend.device)
        self.arcs = None
        if hasattr(V, "tensor_product"):
            self.product = V.tensor_product(backend)  # type: ignore[method-assign]
            return
        if not sparse.issparse(V):
            self.matrix = backend.asarray(V, "float64")
            return
        V = V.tocoo()
        self.diagonal = backend.asarray(V.diagonal(), "float64")
        apart = V.row != V.col
        if apart.any():
            self.arcs = [torch.tensor(ends[apart], device=backend.device, dtype=torch.int64)
                         for ends in (V.row, V.col)]  # fmt: skip
            self.off_diagonal = backend.asarray(V.data[apart], "float64")

    def __call__(self, means: Any) -> tuple[Any, Any]:
        g, total = self.embedding(means)
        costs = self.product(g).add_(total * self.u)
        largest = costs.abs().amax(1)
        if not bool((largest <= LARGEST_SUM / costs.shape[1]).all()):  # NaN, too
            raise ValueError("The smoother's means are not finite, or too large to add up.")
        weight = torch.maximum(g.abs().amax(1) / self.problem.size, total.abs()[:, 0])
        terms = torch.maximum(weight * self.problem.unit, largest)
        costs = snap(costs, terms) if Solving.of(self.problem.space).discrete else costs
        return costs, g @ self.v + self.constant * total[:, 0]

    def embedding(self, means: Any) -> tuple[Any, Any]:
        """Mean embedding (n, d) and total weight (n, 1)."""
        g, total = means[:, :-1], means[:, -1:]
        if self.used is None:
            return g, total
        full = means.new_zeros((len(means), self.problem.width))
        full[:, self.used] = g
        return full, total

    def product(self, g: Any) -> Any:
        """V g, of shape (n, d)."""
        if hasattr(self, "matrix"):
            return g @ self.matrix.T
        costs = g * self.diagonal
        if self.arcs is not None:
            costs.index_add_(1, self.arcs[0], g[:, self.arcs[1]] * self.off_diagonal)
        return costs
