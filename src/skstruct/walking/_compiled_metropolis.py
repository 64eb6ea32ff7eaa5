# SPDX-License-Identifier: BSD-3-Clause
"""The test of Metropolis, compiled."""

from __future__ import annotations

import numba as nb
import numpy as np

from skstruct.walking._compiled_random import fraction


@nb.njit(cache=True, nogil=True, inline="always")
def accepts(log_ratio, streams, c):
    """True with chance min(1, exp(log_ratio)); a sure step asks for no random number."""
    return log_ratio >= 0.0 or fraction(streams, c) < np.exp(log_ratio)
