# SPDX-License-Identifier: BSD-3-Clause
"""The few functions that solvers are made of, for arrays of numpy and of torch."""

from skstruct._arrays.foreign import is_tensor, on_host
from skstruct.backends.choice import Backend, backend_for, device_of
from skstruct.backends.numpy_backend import NumpyBackend

__all__ = ["Backend", "NumpyBackend", "backend_for", "device_of", "is_tensor", "on_host"]
