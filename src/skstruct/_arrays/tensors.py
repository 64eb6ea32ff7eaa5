# SPDX-License-Identifier: BSD-3-Clause
"""Tensors of torch where arrays are read."""

import sys
from typing import Any


def is_tensor(value: Any) -> bool:
    """Whether ``value`` is a tensor of torch, without importing it."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def on_host(value: Any) -> Any:
    """A tensor, or each of a list of tensors, as an array; anything else as it is."""
    if is_tensor(value):
        return _array(value)
    if type(value) in (list, tuple) and len(value) and is_tensor(value[0]):
        return [on_host(row)[()] for row in value]  # numbers, where they have no axes
    return value


def _array(tensor: Any) -> Any:
    """The numbers of a tensor, wherever they are."""
    if tensor.is_meta:
        raise ValueError(
            f"A tensor of shape {tuple(tensor.shape)} is on the device meta, which holds no "
            "numbers: give one with data."
        )
    tensor = tensor.detach().cpu()
    if str(tensor.dtype) == "torch.bfloat16":  # which NumPy has not, and single precision holds
        tensor = tensor.float()
    return tensor.numpy()
