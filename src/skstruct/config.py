# SPDX-License-Identifier: BSD-3-Clause
"""What a machine may spend: device, engine, memory, precision, time; for all learners at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from numbers import Integral, Real
from typing import Any

from skstruct._arrays.memory import parse_memory
from skstruct._arrays.settings import Settings, current, here, of_all

PRECISIONS = ("double", "mixed")


class _Unset:
    def __repr__(self) -> str:
        return "unchanged"


UNSET: Any = _Unset()


def _changed(settings: Settings, **given: Any) -> Settings:
    given = {name: value for name, value in given.items() if value is not UNSET}
    if "memory" in given:
        parse_memory(given["memory"])
    if given.get("precision", "double") not in PRECISIONS:
        raise ValueError(f'precision is "double" or "mixed"; got {given["precision"]!r}.')
    _check_limits(given.get("time_limit"), given.get("node_limit"))
    if given.get("cancel") is not None and not hasattr(given["cancel"], "is_set"):
        raise TypeError(f"cancel is a threading.Event, or None; got {given['cancel']!r}.")
    return replace(settings, **given)


def _check_limits(seconds: Any, nodes: Any) -> None:
    is_number = isinstance(seconds, Real) and not isinstance(seconds, bool)
    if seconds is not None and not (is_number and seconds > 0):
        raise ValueError(f"time_limit is a number of seconds above 0, or None; got {seconds!r}.")
    is_whole = isinstance(nodes, Integral) and not isinstance(nodes, bool)
    if nodes is not None and not (is_whole and nodes >= 0):
        raise ValueError(f"node_limit is a whole number of at least 0, or None; got {nodes!r}.")


def get_config() -> dict[str, Any]:
    """The settings that hold here.

    >>> get_config()["memory"]
    '1GB'
    """
    settings = current()
    return {name: getattr(settings, name) for name in asdict(Settings())}


def set_config(
    *,
    device: Any = UNSET,
    engine: Any = UNSET,
    memory: str | int = UNSET,
    precision: str = UNSET,
    time_limit: float | None = UNSET,
    node_limit: int | None = UNSET,
    cancel: Any = UNSET,
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
    time_limit : float, default=None
        Seconds that the search for the output of one row may take, where that may need
        exponential time: branch and bound and integer programs. It then ends with the best output
        found, and a bound on the best there is. None for the limits of each space. Compiled
        searches have no clock, and take so many nodes as usually fit in.
    node_limit : int, default=None
        The same, counted in nodes of branch and bound: the same outputs on every machine.
    cancel : threading.Event, default=None
        Work within ends soon after another thread sets it, by
        :class:`~skstruct.exceptions.Cancelled`: see :func:`config_context`.

    Examples
    --------
    >>> set_config(memory="2GB")
    >>> get_config()["memory"]
    '2GB'
    >>> set_config(memory="1GB")
    """
    given = {"device": device, "engine": engine, "memory": memory, "precision": precision}
    limits = {"time_limit": time_limit, "node_limit": node_limit, "cancel": cancel}
    settings = _changed(current(), **given, **limits)
    if here.get() is None:
        of_all[0] = settings
    else:
        here.set(settings)


@contextmanager
def config_context(
    *,
    device: Any = UNSET,
    engine: Any = UNSET,
    memory: str | int = UNSET,
    precision: str = UNSET,
    time_limit: float | None = UNSET,
    node_limit: int | None = UNSET,
    cancel: Any = UNSET,
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

    What another thread can stop, here before it begins:

    >>> from threading import Event
    >>> from skstruct import ConditionalRiskMinimizer
    >>> stop = Event()
    >>> stop.set()
    >>> with config_context(cancel=stop):
    ...     ConditionalRiskMinimizer().fit([[0.0], [1.0]], ["no", "yes"])
    Traceback (most recent call last):
        ...
    skstruct.exceptions.Cancelled: The work was cancelled by another thread.
    """
    given = {"device": device, "engine": engine, "memory": memory, "precision": precision}
    limits = {"time_limit": time_limit, "node_limit": node_limit, "cancel": cancel}
    settings = _changed(current(), **given, **limits)
    token = here.set(settings)
    try:
        yield
    finally:
        here.reset(token)


class carried:
    """A function that takes the settings of now along, into another thread or process.

    The engine stays: a worker has no workers, and a client of a cluster is not copied.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.settings = function, replace(current(), engine=None)
        self.__name__ = getattr(function, "__name__", type(function).__name__)

    def __getstate__(self) -> dict[str, Any]:
        """Another process cannot see the event; what comes later is not sent to it any more."""
        return {**self.__dict__, "settings": replace(self.settings, cancel=None)}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        token = here.set(self.settings)
        try:
            return self.function(*args, **kwargs)
        finally:
            here.reset(token)


class Configured:
    """An estimator that asks the settings, wherever it needs one."""

    @property
    def device(self) -> Any:
        return current().device

    @property
    def engine(self) -> Any:
        return current().engine

    @property
    def memory(self) -> str | int:
        return current().memory

    @property
    def precision(self) -> str:
        return current().precision
