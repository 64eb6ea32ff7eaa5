# SPDX-License-Identifier: BSD-3-Clause
"""Decisions where the means are: on a device of torch, if that device can decode them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from scipy import sparse

from skstruct._arrays.checks import LARGEST_SUM
from skstruct._arrays.memory import row_blocks
from skstruct.kernels.on_device import KernelExpansion
from skstruct.learners.problem import RiskProblem
from skstruct.losses.hamming import Hamming
from skstruct.losses.hierarchical import HierarchicalLoss
from skstruct.losses.rankings import Spearman
from skstruct.losses.zero_one import Listed, ZeroOne
from skstruct.solvers.on_device import Forest, cheapest, snap, sorted_ranks, threshold
from skstruct.spaces.base import Decoded, ListedOutputs
from skstruct.spaces.classes import Classes
from skstruct.spaces.hierarchies import Hierarchy
from skstruct.spaces.label_sets import LabelSets
from skstruct.spaces.rankings.positions import Ranks
from skstruct.spaces.rankings.space import Rankings


def decide_on_device(problem, smoother, X, backend, memory="1GB") -> Decoded | None:
    """Outputs of least estimated risk for the rows of X; None where the host must decide.

    The answers are those of ``problem.decode(problem.smooth(smoother, X))``.

    Parameters
    ----------
    problem : RiskProblem
    smoother : fitted smoother
        With ``predict_tensor(X, backend)``, or one whose mean is a kernel expansion.
    X : array or tensor of shape (n, p)
    backend : TorchBackend
    memory : str or int, default="1GB"
        Budget of a block of rows, on the device.
    """
    decide = device_decider(problem, backend)
    means = None if decide is None else device_means(smoother, backend, memory)
    if decide is None or means is None or sparse.issparse(X):
        return None
    n_fitted = len(getattr(smoother, "dual_coef_", ()))
    bytes_per_row = 8 * (n_fitted + 6 * problem.width + X.shape[1])
    blocks = row_blocks(X.shape[0], bytes_per_row, memory)
    parts = [decide(means(X[rows])) for rows in blocks]
    arrays = ([getattr(part, name) for part in parts] for name in ("outputs", "values", "bounds"))
    return Decoded(*map(np.concatenate, arrays))


def device_means(smoother, backend, memory="1GB") -> Callable | None:
    """A function of rows to the smoother's means, float64 (n, q), which stay on the device."""
    if hasattr(smoother, "predict_tensor"):
        return lambda X: smoother.predict_tensor(X, backend).to(torch.float64)
    names = ("kernel_", "X_fit_", "dual_coef_")
    kernel, X_fit, coef = (getattr(smoother, name, None) for name in names)
    if kernel is None or X_fit is None or coef is None or sparse.issparse(X_fit):
        return None
    if not isinstance(kernel.kernel, str):
        return None  # a callable is for arrays of numpy
    expansion = KernelExpansion(kernel, X_fit, coef, backend, memory=memory)
    shift = backend.asarray(np.atleast_1d(smoother.intercept_), "float64")
    return lambda X: expansion(X).add_(shift)


def device_decider(problem, backend) -> Callable | None:
    """A function of means (n, q), a tensor on the device, to :class:`Decoded` on the host.

    None for problems that the device does not decode: other spaces and losses than those whose
    decoder is a minimum, a threshold, a sort or a forest, and limits that differ between rows.
    """
    plain = type(problem) is RiskProblem and not problem.by_weights and not problem.joint
    form = loss_form(problem.loss, problem.width) if plain and problem.width else None
    argmin = None if form is None else device_argmin(problem.space, backend)
    if form is None or argmin is None:
        return None
    costs = DeviceCosts(problem, form, backend)

    def decide(means) -> Decoded:
        prices, offset = costs(means)
        outputs, values = argmin(prices)
        values = backend.to_host(values + offset)
        return Decoded(outputs, values, values)

    return decide


# ---------------------------------------------------------------------- costs
def loss_form(loss, width: int):
    """V, u, v and c with cost(g, total) = V g + total u and offset = <v, g> + total c, or None."""
    one, zero = sparse.eye_array(width), np.zeros(width)
    if type(loss) is ZeroOne:
        return -one, zero, zero, 1.0
    if type(loss) is Listed:
        return loss.matrix_, zero, zero, 0.0
    if type(loss) is Hamming:
        weights = loss._weights(width)
        return sparse.diags_array(-2.0 * weights), weights, weights, 0.0
    if type(loss) is HierarchicalLoss and loss.form_[0].shape == (width, width):
        return *loss.form_, 0.0
    if type(loss) is Spearman and loss._is_plain():
        return -2.0 * one, zero, zero, float(loss.offset(zero[None], np.ones((1, 1)))[0])
    return None


class DeviceCosts:
    """Costs and offsets of :class:`RiskProblem`, on a device: see ``RiskProblem.costs``."""

    def __init__(self, problem, form, backend):
        self.problem, (V, u, v, self.constant) = problem, form
        self.u, self.v = (backend.asarray(part, "float64") for part in (u, v))
        self.used = None if problem.used is None else torch.tensor(problem.used)
        self.used = None if self.used is None else self.used.to(backend.device)
        self.arcs = None
        if not sparse.issparse(V):
            self.matrix = backend.asarray(V, "float64")
            return
        V = V.tocoo()
        self.diagonal = backend.asarray(V.diagonal(), "float64")
        apart = V.row != V.col
        if apart.any():
            self.arcs = [torch.tensor(ends[apart], device=backend.device, dtype=torch.int64)
                         for ends in (V.row, V.col)]  # fmt: skip
            self.shares = backend.asarray(V.data[apart], "float64")

    def __call__(self, means):
        g, total = self.embedding(means)
        costs = self.priced(g).add_(total * self.u)
        largest = costs.abs().amax(1)
        if not bool((largest <= LARGEST_SUM / costs.shape[1]).all()):  # NaN, too
            raise ValueError("The smoother's means are not finite, or too large to add up.")
        weight = torch.maximum(g.abs().amax(1) / self.problem.size, total.abs()[:, 0])
        terms = torch.maximum(weight * self.problem.unit, largest)
        return snap(costs, terms), g @ self.v + self.constant * total[:, 0]

    def embedding(self, means):
        """Mean embedding (n, d) and total weight (n, 1)."""
        g, total = means[:, :-1], means[:, -1:]
        if self.used is None:
            return g, total
        full = means.new_zeros((len(means), self.problem.width))
        full[:, self.used] = g
        return full, total

    def priced(self, g):
        """V g, of shape (n, d)."""
        if hasattr(self, "matrix"):
            return g @ self.matrix.T
        costs = g * self.diagonal
        if self.arcs is not None:
            costs.index_add_(1, self.arcs[0], g[:, self.arcs[1]] * self.shares)
        return costs


# ---------------------------------------------------------------------- spaces
def device_argmin(space, backend) -> Callable | None:
    """costs -> outputs on the host and values on the device, as the space's ``argmin``."""
    limits: Any = getattr(space, "limits_", None)
    if getattr(limits, "n_rows", None) is not None:
        return None
    if type(space) is Classes:
        return _argmin_listed(space.listed_, getattr(space, "allowed_", None), backend)
    if type(space) is ListedOutputs:
        return _argmin_listed(space.listed_, space.allowed()[0], backend)
    if type(space) is LabelSets and not (limits.is_sized or limits.groups):
        masks = _masks(limits.low, limits.high, limits, backend)
        return _argmin_sets(threshold, masks, backend)
    if type(space) is Hierarchy and space.dag_.is_forest:
        return _argmin_forest(space, limits, backend)
    sortable = type(space) is Rankings and isinstance(space._scheme, Ranks)
    if sortable and not (limits.has_before or limits.has_fixed):
        return _argmin_ranks(len(space.items_), limits.top, backend)
    return None


def _argmin_listed(listed, allowed, backend):
    if allowed is not None and not allowed.any():
        return None  # the host says what is wrong
    mask = None if allowed is None or allowed.all() else torch.tensor(allowed).to(backend.device)

    def argmin(costs):
        best, values = cheapest(costs, mask)
        return listed[backend.to_host(best)], values

    return argmin


def _masks(low, high, limits, backend):
    """Labels that must and may be in, (d,) each, or None twice where there are no such limits."""
    if not limits.is_masked:
        return None, None
    return tuple(torch.tensor(mask[0]).to(backend.device) for mask in (low, high))


def _argmin_sets(solve, masks, backend):
    low, high = masks
    if low is not None and bool((low & ~high).any()):
        return None  # infeasible: the host says so

    def argmin(costs):
        outputs, values = solve(costs, low, high)
        return backend.to_host(outputs), values

    return argmin


def _argmin_forest(space, limits, backend):
    if limits.is_sized or limits.groups or limits.one_path:
        return None
    forest = Forest(space.dag_, backend.device)

    def solve(costs, low, high):
        if low is None:
            return forest.closed_sets(costs)
        # What is in for certain is free of charge; what is out brings nothing but its price.
        edited = torch.where(low, 0.0, torch.where(high, costs, 1.0))
        outputs = forest.closed_sets(edited)[0] | low
        return outputs, (costs * outputs).sum(1)

    masks = _masks(*space._close_masks(limits), limits, backend)
    return _argmin_sets(solve, masks, backend)


def _argmin_ranks(d, top, backend):
    def argmin(costs):
        outputs, values = sorted_ranks(costs[:, :d], top)
        return backend.to_host(outputs), values

    return argmin
