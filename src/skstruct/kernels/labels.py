# SPDX-License-Identifier: BSD-3-Clause
"""Positive semidefinite kernels between the labels of a hierarchy."""

from typing import Any

import numpy as np
from scipy import linalg

from skstruct.tolerances import TABLE_DEFINITENESS, TABLE_SYMMETRY

NAMES = ("adjacency", "laplacian", "diffusion")


def label_kernel_matrix(label_kernel: Any, dag: Any) -> np.ndarray:
    r"""The matrix S of a label kernel, shape (d, d).

    With A the undirected adjacency of the hierarchy and L its graph Laplacian:
    ``"adjacency"`` is :math:`I + A / \rho(A)` (neighbours only, unit diagonal),
    ``"laplacian"`` :math:`(I + L)^{-1}`, ``"diffusion"`` :math:`e^{-L}`. The plain
    :math:`A + I` is not positive semidefinite for any tree with three labels or more.

    Parameters
    ----------
    label_kernel : str or array of shape (d, d)
    dag : Dag or None
        Needed for names only.
    """
    if not isinstance(label_kernel, str):
        return check_semidefinite(np.asarray(label_kernel, dtype=np.float64))
    if label_kernel not in NAMES:
        raise ValueError(f"Unknown label kernel {label_kernel!r}; known are {', '.join(NAMES)}.")
    if dag is None:
        raise ValueError(f"The label kernel {label_kernel!r} needs a hierarchy of labels.")
    A = np.zeros((dag.n_nodes, dag.n_nodes))
    A[dag.parents, dag.children] = A[dag.children, dag.parents] = 1.0
    if label_kernel == "adjacency":
        radius = np.abs(np.linalg.eigvalsh(A)).max()
        return np.eye(len(A)) + A / max(radius, 1.0)
    L = np.diag(A.sum(axis=1)) - A
    return np.linalg.inv(np.eye(len(A)) + L) if label_kernel == "laplacian" else linalg.expm(-L)


def check_semidefinite(S: np.ndarray) -> np.ndarray:
    """``S`` itself, if it is square, finite, symmetric and has no negative eigenvalue."""
    if S.ndim != 2 or S.shape[0] != S.shape[1] or not np.isfinite(S).all():
        raise ValueError(f"A label kernel is a finite square matrix; got shape {S.shape}.")
    if not np.allclose(S, S.T, atol=TABLE_SYMMETRY * max(np.abs(S).max(initial=0.0), 1e-300)):
        raise ValueError("The label kernel is not symmetric.")
    lowest, highest = np.linalg.eigvalsh(S)[[0, -1]]
    if lowest < -TABLE_DEFINITENESS * max(highest, 0.0):
        raise ValueError(
            f"The label kernel is not positive semidefinite: its lowest eigenvalue is {lowest:.3g}."
        )
    return S
