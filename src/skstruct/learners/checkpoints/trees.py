# SPDX-License-Identifier: BSD-3-Clause
"""Where a fit is, as JSON and arrays: nothing that can run, and every bit of every number."""

from __future__ import annotations

from typing import Any

import numpy as np


def plain(value, copied: bool = False) -> Any:
    """Dictionaries, lists, numbers and arrays alone: objects give their ``state()``.

    Random generators say where they are.

    With ``copied``, arrays are those of this moment, whatever happens to the originals.
    """
    if isinstance(value, (np.random.Generator, np.random.RandomState)):
        return plain(_stream_state(value), copied)
    if hasattr(value, "state"):
        return plain(value.state(), copied)
    if isinstance(value, np.ndarray):
        return value.copy(order="K") if copied else value
    if isinstance(value, dict):
        return {name: plain(held, copied) for name, held in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(held, copied) for held in value]
    return value


def packed(value, arrays: dict[str, np.ndarray]) -> Any:
    """JSON for a plain value; arrays are put aside under names of their own.

    >>> packed({"weights": np.zeros(3), "gap": 0.5, "n": 7}, arrays := {})
    {'dict': {'weights': {'array': 'a0'}, 'gap': {'float': '0x1.0000000000000p-1'}, 'n': 7}}
    >>> arrays
    {'a0': array([0., 0., 0.])}
    """
    if isinstance(value, np.ndarray):
        name = f"a{len(arrays)}"
        arrays[name] = value
        return {"array": name}
    if isinstance(value, float):  # infinite ones too
        return {"float": float(value).hex()}
    if isinstance(value, dict):
        return {"dict": {name: packed(held, arrays) for name, held in value.items()}}
    if isinstance(value, list):
        return [packed(held, arrays) for held in value]
    if isinstance(value, np.generic):
        return packed(value.item(), arrays)
    if value is None or isinstance(value, (bool, int, str)):
        return value
    raise TypeError(f"{type(value).__name__} cannot be saved.")


def unpacked(value, arrays) -> Any:
    """The plain value that was packed."""
    if isinstance(value, list):
        return [unpacked(held, arrays) for held in value]
    if not isinstance(value, dict):
        return value
    ((kind, held),) = value.items()
    if kind == "array":
        return arrays[held]
    if kind == "float":
        return float.fromhex(held)
    return {name: unpacked(inner, arrays) for name, inner in held.items()}


def _stream_state(rng) -> dict:
    if isinstance(rng, np.random.RandomState):
        return rng.get_state(legacy=False)
    return rng.bit_generator.state


def set_stream(rng, state) -> None:
    """Put a random generator where another one was."""
    if isinstance(rng, np.random.RandomState):
        rng.set_state(state)
    else:
        rng.bit_generator.state = state
