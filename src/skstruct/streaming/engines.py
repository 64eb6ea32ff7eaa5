# SPDX-License-Identifier: BSD-3-Clause
"""The two methods of an engine, by Dask. Nothing of it is imported before a client exists."""

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from joblib import cpu_count

from skstruct._arrays.imports import require
from skstruct.config import carried, config_context, get_config
from skstruct.exceptions import EngineError


class DaskEngine:
    """Tasks on the workers of a client, a ``distributed.Client``.

    A task whose worker is lost runs again elsewhere, so that its function must not change its
    arguments. Results are bitwise those of :class:`~skstruct.streaming.SerialEngine` if workers
    and client have the same BLAS with the same number of threads. Rows of arrays in memory are
    scattered over the workers once for a fit, whatever the number of kernels; what is lost with a
    worker is sent again. Large arrays are better in files, mapped or Parquet.
    """

    def __init__(self, client: Any) -> None:
        if client.asynchronous:
            raise ValueError("The client is asynchronous, and fit waits: give another client.")
        self.client = client
        self._held: dict[Any, tuple[Any, Any]] = {}  # by identity: the value, and where it is

    def hold(self, value: Any, identity: Any) -> Any:
        """A value on some worker, for tasks; one of the same identity is not sent again."""
        if identity not in self._held:
            try:
                self._held[identity] = value, self.client.scatter(value, hash=False)
            except (OSError, RuntimeError) as error:  # the worker or the scheduler is gone
                self.forget()
                self._check_running()
                raise LostRowsError("Rows could not be sent to a worker.") from error
        return self._held[identity][1]

    def forget(self) -> None:
        """Workers need not keep what was sent to them."""
        self._held = {}

    @property
    def n_workers(self) -> int:
        """Tasks that run at a time."""
        with self._asking():
            return max(1, int(sum(self.client.nthreads().values())))

    @property
    def task_memory(self) -> int | None:
        """Bytes that a task of the smallest worker may take; None where there is no limit."""
        with self._asking():
            workers = self.client.scheduler_info()["workers"].values()
        limits = [worker["memory_limit"] // max(1, worker["nthreads"]) for worker in workers]
        return min((limit for limit in limits if limit), default=None)

    def submit(self, f: Any, *args: Any) -> Any:
        """Start ``f(*args)``; arguments may be what ``submit`` gave, also in a list."""
        self._check_running()
        return self.client.submit(f, *args, pure=False)

    def _check_running(self) -> None:
        if self.client.status != "running":
            raise EngineError(
                f"The Dask client is {self.client.status}, not running: it was closed, or its "
                "scheduler is gone."
            )

    @contextlib.contextmanager
    def _asking(self) -> Iterator[None]:
        """A scheduler that does not answer is said to be gone."""
        try:
            yield
        except (OSError, RuntimeError) as error:
            self._check_running()
            raise EngineError(
                f"The scheduler of Dask does not answer ({type(error).__name__}: {error})."
            ) from error

    def result(self, x: Any) -> Any:
        """The value, when it is there. An error of ``f`` is raised as it was there."""
        from dask.utils import key_split
        from distributed import KilledWorker

        try:
            return x.result()
        except KilledWorker as error:
            last = getattr(error.last_worker, "address", error.last_worker)
            raise EngineError(_died(key_split(error.task), f", the last one at {last}")) from error
        except BaseException as error:
            if x.status == "error" or isinstance(error, (KeyboardInterrupt, SystemExit)):
                raise  # an error of the task itself
            if self._held and self.client.status == "running":
                self.forget()
                name = key_split(x.key)
                raise LostRowsError(_died(name, ", and rows that it was sent with it")) from error
            raise EngineError(
                f"The scheduler of Dask is gone, or has lost the task {key_split(x.key)!r} "
                f"({type(error).__name__}); the result is lost."
            ) from error


def _died(name: str, where: str) -> str:
    return (
        f"Every worker that ran the task {name!r} died{where}. Most often its memory was not "
        "enough: ask for smaller blocks (memory) or for more partitions, or give the workers more."
    )


# Who does the work: this process, or workers elsewhere; in either case with the same bits.


# With None, both would listen on all interfaces of the machine, the scheduler at a fixed port.
_LOCAL = {"dashboard_address": "127.0.0.1:0", "worker_dashboard_address": "127.0.0.1:0"}


TRIALS = 4  # times at most that rows are sent


class Engine(Protocol):
    """All that is asked of an engine. What ``submit`` gives may be an argument of another."""

    def submit(self, f: Any, *args: Any) -> Any: ...
    def result(self, x: Any) -> Any: ...


class LostRowsError(EngineError):
    """Rows that were sent to a worker are lost with it: they have to be sent again."""


def placed(engine: Engine, part: Any) -> Any:
    """A part of a source for the tasks of an engine: rows in memory are sent once."""
    identity = getattr(part, "identity", None)
    if identity is None or not hasattr(engine, "hold"):
        return part
    return engine.hold(part, identity)


class SerialEngine:
    """Everything in this process, one task after another.

    >>> engine = SerialEngine()
    >>> engine.result(engine.submit(max, 2, 3))
    3
    """

    def submit(self, f: Any, *args: Any) -> Any:
        """``f(*args)``, at once."""
        return f(*args)

    def result(self, x: Any) -> Any:
        """``x``, which is there already."""
        return x


def itself(value: Any) -> Any:
    """What came: a task that puts a value where the others will find it."""
    return value


def merge_tree(
    parts: Sequence[Any],
    engine: Engine,
    accumulate: Callable[..., Any],
    merge: Callable[..., Any],
    fan_in: int = 4,
    *,
    args: tuple[Any, ...] = (),
) -> Any:
    """Accumulate every part and merge the results in a tree that depends on their number only.

    Sums of floats depend on their order, which is fixed here: every engine gives the same bits.
    Parts are taken depth first. Of p parts, an engine that computes at once holds no more than
    fan_in results for each of the log(p) levels, and none that has been merged.

    Parameters
    ----------
    parts : sequence of at least one
    accumulate : callable (part and ``args``) -> result
    merge : callable (list of results) -> result
        It must not change its arguments: where a worker is lost, it is called again with them.
    fan_in : int, default=4
        How many results are merged at a time.
    args : tuple, default=()
        Further arguments of ``accumulate``; they may be what ``engine.submit`` gave.

    Examples
    --------
    >>> merge_tree(["ab", "c", "de"], SerialEngine(), str.upper, "+".join, fan_in=2)
    'AB+C+DE'
    """
    if fan_in < 2:
        raise ValueError(f"A tree merges at least two results at a time; got fan_in={fan_in}.")
    if not len(parts):
        raise ValueError("There is no part to accumulate.")

    accumulate, merge = carried(accumulate), carried(merge)

    def node(first: int, width: int) -> Any:
        """What the parts from ``first`` on give, ``width`` of them or what is left."""
        if width == 1:
            return engine.submit(accumulate, placed(engine, parts[first]), *args)
        step = width // fan_in
        last = min(first + width, len(parts))
        below = [node(begin, step) for begin in range(first, last, step)]
        return engine.submit(merge, below) if len(below) > 1 else below[0]

    width = 1
    while width < len(parts):
        width *= fan_in
    lost: list[LostRowsError] = []
    while len(lost) < TRIALS:
        try:
            return engine.result(node(0, width))
        except LostRowsError as error:  # with a worker: they are sent to another
            lost.append(error)
            if hasattr(engine, "again"):
                engine.again()
    raise lost[0]


@contextlib.contextmanager
def opened(engine: Any = None) -> Iterator[Engine]:
    """An engine for the time of a block.

    Parameters
    ----------
    engine : None, "serial", "dask", distributed.Client or an engine
        ``"dask"`` takes the client that there is; without one it starts a process for every CPU
        of this machine and ends them afterwards. A script that does so must guard its beginning
        by ``if __name__ == "__main__":``, as with every use of processes.

    Examples
    --------
    >>> with opened("serial") as engine:
    ...     engine.result(engine.submit(sum, [1, 2]))
    3
    """
    if engine is None or (isinstance(engine, str) and engine == "serial"):
        yield SerialEngine()
    elif isinstance(engine, str) and engine == "dask":
        with _dask_client() as client:
            yield DaskEngine(client)
    elif _is_client(engine):
        yield DaskEngine(engine)
    elif hasattr(engine, "submit") and hasattr(engine, "result"):
        yield engine
    else:
        raise ValueError(
            'engine is None, "serial", "dask", a distributed.Client or an object with the methods '
            f"submit and result; got {engine!r}."
        )


@contextlib.contextmanager
def kept_open() -> Iterator[None]:
    """One engine for all sums of a fit, where workers are there: rows are sent to them once."""
    engine, distributed = get_config()["engine"], sys.modules.get("distributed")
    if isinstance(engine, str) and engine == "dask" and distributed is not None:
        with contextlib.suppress(ValueError):  # without a client, workers are started when needed
            engine = distributed.get_client()
    if not _is_client(engine):
        yield
        return
    workers = DaskEngine(engine)
    try:
        with config_context(engine=workers):
            yield
    finally:
        workers.forget()


def _is_client(engine: Any) -> bool:
    distributed = sys.modules.get("distributed")
    return distributed is not None and isinstance(engine, distributed.Client)


@contextlib.contextmanager
def _dask_client() -> Iterator[Any]:
    """The present client: inside of a task, that of its worker, which makes room meanwhile."""
    distributed = require("distributed", used_by='engine="dask"', extra="dask")
    with contextlib.ExitStack() as stack:
        try:
            distributed.get_worker()
            client = stack.enter_context(distributed.worker_client())
        except ValueError:
            try:
                client = distributed.get_client()
            except ValueError:
                size = {"n_workers": cpu_count(), "threads_per_worker": 1, "processes": True}
                cluster = distributed.LocalCluster(**size, **_LOCAL)
                stack.enter_context(cluster)
                client = stack.enter_context(distributed.Client(cluster))
        yield client
