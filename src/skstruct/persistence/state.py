# SPDX-License-Identifier: BSD-3-Clause
"""What is kept of an object, and how it is made again.

Most objects are their attributes. What can be computed again is not kept, and what compiled code
follows without looking (graphs, trees, search indices) is made again by constructors that check.
A class of this library, or of yours, says so itself: see :func:`skstruct.saving.savable`.
"""

from functools import cache, cached_property, lru_cache
from inspect import getattr_static, signature
from types import FunctionType
from typing import Any

import numpy as np

from skstruct.exceptions import ModelFileError
from skstruct.facets import KEPT
from skstruct.persistence.names import class_named
from skstruct.persistence.scikit_learn import BUILDERS, CHECKS, PREFIX, STATES, check_jobs
from skstruct.saving import require
from skstruct.spaces import Description
from skstruct.spaces.truth import seen_by

LARGEST_SIZE = 10**8
# Attributes that say how large something is, and that arrays are made of.
SIZES = {
    "d", "dimension", "length", "length_", "learned_lengths_", "longest", "n", "n_candidates_",
    "n_constants", "n_features", "n_features_", "n_features_in_", "n_seeing", "n_states_",
    "n_symbols_", "q", "top", "width",
}  # fmt: skip


# ---------------------------------------------------------------------- writing
def state_of(name: str, value: Any) -> dict[Any, Any]:
    """What is kept of an object of a known class, by attribute."""
    if name in STATES:
        return STATES[name](value)
    ours = not name.startswith(PREFIX)
    if ours and value._saved_arguments:
        return {key: getattr(value, key) for key in value._saved_arguments}
    state = value.__getstate__()
    state = {} if state is None else dict(state)
    dropped = {KEPT, *_cached(type(value)), *(value._not_saved() if ours else ["_sklearn_version"])}
    state = {key: _portable(key, part) for key, part in state.items() if key not in dropped}
    for key, part in state.items():
        _check_attribute(type(value), key, part)
    return state


def _portable(key: str, part: Any) -> Any:
    """Without what belongs to one machine: devices, clients of a cluster."""
    if hasattr(part, "on_host"):
        return part.on_host()
    if key in ("device", "device_") or (key == "engine" and not isinstance(part, str)):
        return None
    return part


def _cached(kind: type) -> frozenset[str]:
    """Properties that are computed once, and can be computed again."""
    return frozenset(
        key
        for parent in kind.__mro__
        for key, part in vars(parent).items()
        if isinstance(part, cached_property)
    )


# ---------------------------------------------------------------------- reading
def build(name: str, state: dict[Any, Any]) -> Any:
    """The object of a known class with this state, checked."""
    if name in BUILDERS:
        return BUILDERS[name](**state)
    kind: Any = class_named(name)
    if name.startswith(PREFIX):
        made = _filled(kind, _defaults(kind), state)
        if name in CHECKS:
            CHECKS[name](made)
        return made
    if kind._saved_arguments:
        made = kind._from_saved(**state)
    else:
        made = _filled(kind, _parameters(kind), state)
        _check_together(kind, state)
    if {"space_", "outputs_"} <= state.keys():
        check_outputs(seen_by(made), made.outputs_)
    made._check_saved()
    return made


def _filled(kind: type[Any], before: dict[Any, Any], state: dict[Any, Any]) -> Any:
    """An object with these attributes, after those that were not there when it was written."""
    for key, part in state.items():
        _check_attribute(kind, key, part)
    made: Any = object.__new__(kind)
    vars(made).update(before)
    vars(made).update(state)
    return made


def _check_together(kind: Any, state: dict[Any, Any]) -> None:
    """Raise where a part of what a fit sets is missing: a default of the class would stand in."""
    together = [key for key in kind._saved_together if key in state]
    missing = [key for key in kind._saved_together if key not in state]
    if together and missing:
        raise ModelFileError(
            f"{kind.__name__} without {missing[0]}, which it predicts with; got "
            f"{sorted(state)!r:.200}: fit and save the model again with this version"
        )


def check_outputs(space: Any, outputs: np.ndarray) -> None:
    """Raise where training outputs in canonical form are not such of the space."""
    plain = isinstance(outputs, np.ndarray) and outputs.dtype.kind in "iuf"
    require(plain, "outputs that are no array of numbers")
    require(outputs.ndim in (1, 2), "outputs of a wrong shape")
    low, high, width = Description.of(space).canonical_range()
    fits = width is None or (outputs.ndim == 2 and outputs.shape[1] == width)
    require(fits, "outputs of a wrong width")
    if low is None:
        return
    inside = not outputs.size or (outputs.min() >= low and outputs.max() < high)
    require(outputs.dtype.kind != "f" and inside, "outputs with numbers that their space has not")


def _check_attribute(kind: Any, key: str, part: Any) -> None:
    """An attribute is data: it does not stand in for a method or something computed."""
    if not key.isidentifier() or key.startswith("__") or _is_computed(kind, key):
        raise ModelFileError(f"an attribute {key!r:.40} of {kind.__name__}, which it has not")
    if key == "n_jobs":
        check_jobs(kind.__name__, part)
    if key in SIZES and any(
        type(size) is int and abs(size) > LARGEST_SIZE
        for size in (part if isinstance(part, (list, tuple)) else [part])
    ):
        raise ModelFileError(f"{kind.__name__}.{key} is {part!r:.40}, which is too large")
    if key == "memory" and kind.__name__ == "Pipeline" and part is not None:
        raise ModelFileError("Pipeline.memory is a cache in a folder: set memory=None")


@lru_cache(maxsize=4096)  # the trees of a forest have the same attributes
def _is_computed(kind: Any, key: str) -> bool:
    computed = (FunctionType, classmethod, staticmethod, property, cached_property)
    return isinstance(getattr_static(kind, key, None), computed)


@cache
def _defaults(kind: type[Any]) -> dict[Any, Any]:
    try:
        return dict(vars(kind()))
    except TypeError:  # some parameters have no default
        return {}


@cache
def _parameters(kind: type[Any]) -> dict[Any, Any]:
    """Defaults of the parameters of a learner."""
    init = kind.__init__
    if not hasattr(kind, "get_params") or not isinstance(init, FunctionType):
        return {}
    known = signature(init).parameters.values()
    return {p.name: p.default for p in known if p.default is not p.empty}
