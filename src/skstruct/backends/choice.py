# SPDX-License-Identifier: BSD-3-Clause
"""Which backend computes: by the device asked for, or by where the arrays are."""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from skstruct._arrays.foreign import is_tensor
from skstruct._arrays.imports import require
from skstruct.backends.numpy_backend import NumpyBackend

Array = Any


class Backend(Protocol):
    """What a solver needs of an array library. Matrices that are factored lie by columns.

    All but ``asarray``, ``to_host``, ``zeros``, ``multiply``, ``copied`` and ``eigh`` work in place
    where they can, and return what they made: what they were given may be gone. Only what is on
    and below the diagonal of a symmetric matrix counts.
    """

    name: str
    device: Any

    def asarray(
        self, A: Any, dtype: Any = None
    ) -> Array: ...  # where it is computed; rows together
    def to_host(self, A: Any) -> np.ndarray: ...
    def zeros(self, shape: Any, dtype: Any = None) -> Array: ...  # columns together
    def exp(self, A: Any) -> Array: ...
    def multiply(self, A: Any, B: Any) -> Array: ...  # A @ B
    def add_product(self, C: Any, A: Any, B: Any) -> Array: ...  # C += A' B
    def rows_at_a_time(
        self, width: int
    ) -> int | None: ...  # that are summed, by their width alone: so are the bits; None for all
    def add_square(
        self, G: Any, Z: np.ndarray
    ) -> Array: ...  # G += Z' Z, on and below the diagonal
    def cholesky(self, A: Any) -> tuple[Array, int]: ...  # lower factor; row that failed, or 0
    def solve_lower(
        self, L: Any, B: Any, transposed: bool = False
    ) -> Array: ...  # L^-1 B or L'^-1 B
    def whiten(self, L: Any, K: Any) -> Array: ...  # K L'^-1, rows of K by rows
    def whitener(self, L: Any) -> Callable[[Array], Array]: ...  # the same for many K
    def whiten_square(self, L: Any, G: Any) -> Array: ...  # L^-1 G L'^-1, a new matrix
    def condition(
        self, L: Any
    ) -> float: ...  # of L L', about; infinite where rows are whitened one by one in any case
    def add_diagonal(self, A: Any, value: Any) -> Array: ...
    def copied(self, A: Any) -> Array: ...  # columns together
    def eigh(self, A: Any) -> tuple[Array, Array]: ...
    def uploads(self) -> Any: ...  # see Uploads; None where arrays need not travel
    def free_memory(self) -> int | None: ...  # bytes; None where nobody knows


def backend_for(device: Any = None, *arrays: Any) -> Backend:
    """The backend of a device, or of the device on which tensors are.

    Parameters
    ----------
    device : None, "cpu", "cuda", "cuda:1" or torch.device, default=None
        None computes with numpy, unless an array is a tensor of torch. ``"numpy"`` is numpy.
    *arrays
        What will be computed with. Tensors must be on one device, and on ``device`` if given.
    """
    devices = {str(array.device) for array in arrays if is_tensor(array)}
    if len(devices) > 1:
        raise ValueError(
            f"Tensors are on different devices: {', '.join(sorted(devices))}; move them to one."
        )
    if (device is None and not devices) or (isinstance(device, str) and device == "numpy"):
        return NumpyBackend()
    torch = require("torch", used_by=f"device={device!r}", extra="torch")
    from skstruct.backends.torch_backend import TorchBackend

    found = torch.device(devices.pop()) if devices else None
    asked: Any = found if device is None else _known(torch, device)
    if found is not None and found.type != "cpu" and found != asked:
        raise ValueError(f"X is a tensor on {found}, and device is {str(device)!r}: move one.")
    if asked.type == "cuda" and not torch.cuda.is_available():
        raise ValueError(
            f"device={str(asked)!r} was asked for, and torch {torch.__version__} sees no CUDA "
            'device; install torch for CUDA, or give device="cpu".'
        )
    return TorchBackend(asked)


def device_of(asked: Any, X: Any) -> Any:
    """The device that was asked for, or the one that a tensor is on; None for numpy."""
    backend = backend_for(asked, X)
    if is_tensor(X):
        return str(backend.device)
    return None if backend.device is None else asked


def _known(torch: Any, device: Any) -> Any:
    if device is None:
        return None
    try:
        found = torch.device(device)
        if isinstance(device, bool) or found.type not in ("cpu", "cuda"):
            raise TypeError
    except (RuntimeError, TypeError):
        raise ValueError(f'device is "cpu", "cuda" or "cuda:0"; got {device!r}.') from None
    if found.type == "cuda" and found.index is None:
        found = torch.device("cuda", 0)
    return found
