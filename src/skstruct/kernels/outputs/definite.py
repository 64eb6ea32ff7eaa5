# SPDX-License-Identifier: BSD-3-Clause
"""Whether a matrix can be one of a kernel."""

from __future__ import annotations

import numpy as np

LARGEST_BLOCK = 1000  # rows: a second's work for the eigenvalues, and an error shows in fewer


def check_definite(
    K: np.ndarray, used_by: str = "The kernel between outputs", block: int = LARGEST_BLOCK
) -> np.ndarray:
    """``K`` itself, if it is finite and no eigenvalue is below zero by more than rounding.

    Of a matrix with more than ``block`` rows only the leading block of so many is looked at: a
    negative eigenvalue of a block is one of the matrix, but what a block does not show
    may still be there. Eigenvalues down to -1e-8 of the largest count as zero.

    Parameters
    ----------
    K : symmetric array of shape (n, n)
    used_by : str
        What the error calls the matrix.
    block : int, default=1000
        Largest number of rows.

    Examples
    --------
    >>> import numpy as np
    >>> check_definite(np.array([[1.0, 2.0], [2.0, 1.0]]))
    Traceback (most recent call last):
        ...
    ValueError: The kernel between outputs is not positive semidefinite: its lowest eigenvalue
    is -1 (the highest is 3). A distance is no kernel: exp(-distance) may be one. Adding 1 to
    the diagonal makes it semidefinite.
    """
    finite = np.isfinite(K)
    if not finite.all():
        i, j = np.argwhere(~finite)[0]
        raise ValueError(f"{used_by} is not finite: the value of outputs {i} and {j} is {K[i, j]}.")
    if len(K) == 0:
        return K
    lowest, highest = np.linalg.eigvalsh(K[:block, :block])[[0, -1]]
    if lowest < -1e-8 * max(highest, -lowest):
        of = f" on the first {block} outputs" if len(K) > block else ""
        raise ValueError(
            f"{used_by} is not positive semidefinite{of}: its lowest eigenvalue is {lowest:.3g} "
            f"(the highest is {highest:.3g}). A distance is no kernel: exp(-distance) may be "
            f"one. Adding {-lowest:.3g} to the diagonal makes it semidefinite."
        )
    return K
