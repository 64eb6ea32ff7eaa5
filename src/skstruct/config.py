# SPDX-License-Identifier: BSD-3-Clause
"""What a machine may spend: device, engine, memory and precision, for all learners at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, replace
from typing import Any

from skstruct._arrays.memory import parse_memory

PRECISIONS = ("double", "mixed")


@dataclass(frozen=True)
class Settings:
    """The settings of one moment; see :func:`set_config`."""

    device: Any = None
    engine: Any = None
    memory: str | int = "1GB"
    precision: str = "double"


class _Unset:
    def __repr__(self) -> str:
        return "unchanged"


UNSET: Any = _Unset()
_of_all = [Settings()]  # of every thread, in a place that can be written to
_here: ContextVar[Settings | None] = ContextVar("skstruct settings", default=None)


def _current() -> Settings:
    return _here.get() or _of_all[0]


def _changed(settings: Settings, **given: Any) -> Settings:
    given = {name: value for name, value in given.items() if value is not UNSET}
    if "memory" in given:
        parse_memory(given["memory"])
    if given.get("precision", "double") not in PRECISIONS:
        raise ValueError(f'precision is "double" or "mixed"; got {given["precision"]!r}.')
    return replace(settings, **given)


def get_config() -> dict[str, Any]:
    """The settings that hold here.

    >>> get_config()["memory"]
    '1GB'
    """
    settings = _current()
    return {name: getattr(settings, name) for name in asdict(Settings())}


def set_config(
    *,
    device: Any = UNSET,
    engine: Any = UNSET,
    memory: str | int = UNSET,
    precision: str = UNSET,
) -> None:
    """Change settings for all threads from now on; within :func:`config_context`, up to its end.

    Parameters
    ----------
    device : None, "cpu", "cuda", "cuda:1" or torch.device
        Where torch computes kernels and solves; None is numpy. A model stays on the device it was
        fitted on.
    engine : None, "dask", client or engine
        Who sums over partitions of the rows; see :mod:`skstruct.streaming`.
    memory : str or int, such as "500MB"
        Budget of one block of rows: of kernels, of outputs that are kept in training, of
        predictions.
    precision : "double" or "mixed"
        ``"mixed"`` factors in float32 and refines in float64; with landmarks, features are
        computed in float32 and summed in float64.

    Examples
    --------
    >>> set_config(memory="2GB")
    >>> get_config()["memory"]
    '2GB'
    >>> set_config(memory="1GB")
    """
    settings = _changed(
        _current(), device=device, engine=engine, memory=memory, precision=precision
    )
    if _here.get() is None:
        _of_all[0] = settings
    else:
        _here.set(settings)


@contextmanager
def config_context(
    *,
    device: Any = UNSET,
    engine: Any = UNSET,
    memory: str | int = UNSET,
    precision: str = UNSET,
) -> Iterator[None]:
    """Settings within a ``with`` block; parameters as in :func:`set_config`.

    They hold in the threads and the workers that a learner starts within the block, and in no
    other thread of the program.

    Examples
    --------
    >>> with config_context(memory="200MB"):
    ...     get_config()["memory"]
    '200MB'
    >>> get_config()["memory"]
    '1GB'
    """
    settings = _changed(
        _current(), device=device, engine=engine, memory=memory, precision=precision
    )
    token = _here.set(settings)
    try:
        yield
    finally:
        _here.reset(token)


class carried:
    """A function that takes the settings of now along, into another thread or process.

    The engine stays: a worker has no workers, and a client of a cluster is not copied.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.settings = function, replace(_current(), engine=None)
        self.__name__ = getattr(function, "__name__", type(function).__name__)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        token = _here.set(self.settings)
        try:
            return self.function(*args, **kwargs)
        finally:
            _here.reset(token)


class Configured:
    """An estimator that asks the settings, wherever it needs one."""

    @property
    def device(self) -> Any:
        return _current().device

    @property
    def engine(self) -> Any:
        return _current().engine

    @property
    def memory(self) -> str | int:
        return _current().memory

    @property
    def precision(self) -> str:
        return _current().precision
