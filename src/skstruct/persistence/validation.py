# SPDX-License-Identifier: BSD-3-Clause
"""What must hold of training outputs that were read, whatever their space."""

from __future__ import annotations

import numpy as np

from skstruct.saving import require


def check_outputs(space, outputs) -> None:
    """Raise where training outputs in canonical form are not such of the space."""
    plain = isinstance(outputs, np.ndarray) and outputs.dtype.kind in "iuf"
    require(plain, "outputs that are no array of numbers")
    require(outputs.ndim in (1, 2), "outputs of a wrong shape")
    low, high, width = space.canonical_range()
    fits = width is None or (outputs.ndim == 2 and outputs.shape[1] == width)
    require(fits, "outputs of a wrong width")
    if low is None:
        return
    inside = not outputs.size or (outputs.min() >= low and outputs.max() < high)
    require(outputs.dtype.kind != "f" and inside, "outputs with numbers that their space has not")
