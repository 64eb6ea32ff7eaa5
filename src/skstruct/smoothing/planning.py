# SPDX-License-Identifier: BSD-3-Clause
"""What a kernel regression will take, before anything is allocated."""

from dataclasses import dataclass
from functools import cache
from time import perf_counter
from typing import Any

import numpy as np

from skstruct._arrays import memory as machine
from skstruct._arrays.checks import is_count
from skstruct._arrays.memory import parse_memory
from skstruct.backends import backend_for

SOLVERS = ("auto", "cholesky", "packed", "spectral", "nystroem", "fourier", "primal")
PRECISIONS = ("double", "mixed")
EXACT_ROWS = 20_000  # "auto" factors so many rows, for one alpha
LINEAR_FEATURES = 4_000  # "primal" sums products of so many features; more, it iterates
STEPS = 60  # of conjugate gradients, then
PATH_ROWS = 1_000  # penalties are compared on so many rows, of more on a sample of them
SPECTRAL_ROWS = 5_000  # "auto" decomposes so many rows, for several: 10 to 13 factorizations' work
FACTORIZATIONS = 12
PASSES = 5  # over the kernel, to refine a factor in single precision
SLOWER = 1.1  # than a product of as many operations, factor and kernel together


@dataclass(frozen=True)
class Plan:
    """How (K + alpha I) A = B will be solved, and what that takes.

    Attributes
    ----------
    solver : "cholesky", "packed", "spectral", "nystroem", "fourier" or "primal"
    precision : "double" or "mixed"
    rows : int
    bytes : int
        Most memory at one time, beside inputs.
    flops : float
        Operations, in those of double precision.
    free : int or None
        Memory that there is, in bytes; None if not known.
    device : Any
        Where it will be computed; None for numpy.
    why : str
        The reason for this solver.
    decisions : float
        Seconds of the decisions by which penalties are compared, nominally.
    """

    solver: str
    precision: str
    rows: int
    bytes: int
    flops: float
    free: int | None
    device: Any
    why: str
    decisions: float = 0.0

    @property
    def seconds(self) -> float:
        """How long it will take, by the speed of a small matrix product; decisions too."""
        return SLOWER * self.flops / product_rate(self.device) + self.decisions

    def __str__(self) -> str:
        return (
            f"{self.solver}: {_size(self.bytes)}, about {_time(self.seconds)} for "
            f"{self.rows:,} rows ({self.why})"
        )

    @property
    def fits(self) -> bool:
        """Whether there is enough memory, as far as is known."""
        return self.free is None or self.bytes <= self.free


def plan(
    n: int,
    p: int,
    d: int,
    *,
    solver: str = "auto",
    precision: str = "double",
    n_alphas: int = 1,
    memory: Any = None,
    device: Any = None,
    linear: bool = False,
    filled: float = 1.0,
    decisions: float = 0.0,
    target_bytes: int = 0,
) -> Plan:
    """How to solve kernel ridge regression with so many rows, features and targets.

    ``"auto"`` is exact for up to 20,000 rows. Several penalties or kernels are compared by one
    eigendecomposition of up to 1,000 rows, and of more on a sample of them, as it takes the time of
    some twenty factorizations. Beyond 20,000, it takes landmarks, "nystroem"; a linear kernel is
    solved in the primal beyond 5,000 rows, exactly, unless that has to be iterated and a factor of
    up to 20,000 rows takes less, as it does for thousands of targets. Rows and settings decide,
    never the memory that happens to be free: the same data give the same model on every machine,
    or an error.

    Parameters
    ----------
    n, p, d : int
        Numbers of rows, of features (0 for a precomputed kernel) and of targets.
    solver : str, default="auto"
        What was asked for.
    precision : "double" or "mixed", default="double"
    n_alphas : int, default=1
        Number of penalties times number of kernels that will be compared.
    memory : int or str, default=None
        Bytes that may be used; None asks the system.
    device : None, str or torch.device, default=None
    linear : bool, default=False
        Whether the kernel is the linear one.
    filled : float, default=1.0
        Share of the entries of X that are not zero.
    decisions : float, default=0.0
        Seconds that penalties are compared for, apart from the regression.
    target_bytes : int, default=0
        Memory of the targets.

    Returns
    -------
    Plan

    Examples
    --------
    >>> plan(1_000, 10, 5).solver
    'cholesky'
    >>> plan(20_000, 10, 5, memory="2GB").solver, plan(20_000, 10, 5, memory="2GB").fits
    ('cholesky', False)
    >>> plan(1_000_000, 10, 5).solver
    'nystroem'
    """
    check_solver(solver)
    check_precision(precision)
    free = free_memory(device) if memory is None else parse_memory(memory)

    def made(solver: str, why: str) -> Plan:
        size, flops = costs(solver, n, p, d, precision=precision, n_alphas=n_alphas, filled=filled)
        size += target_bytes
        return Plan(solver, precision, n, size, flops, free, device, why, decisions)

    if solver != "auto":
        return made(solver, f'solver="{solver}" was asked for')
    primal = linear and n > SPECTRAL_ROWS
    if primal and p > LINEAR_FEATURES and n <= EXACT_ROWS:
        # Iterations cost so much for every target, where a factor serves all.
        primal = made("primal", "").flops < made("cholesky", "").flops
    if primal:
        return made("primal", "a linear kernel, and many rows")
    if n > EXACT_ROWS:
        return made("nystroem", f"{n:,} rows are more than the {EXACT_ROWS:,} solved exactly")
    if n_alphas > 1 and n <= PATH_ROWS:
        return made("spectral", "one decomposition serves every penalty")
    if n_alphas > 1:
        return made("cholesky", "penalties are compared on a sample of the rows")
    return made("cholesky", "one penalty, and few enough rows for an exact solution")


def check_fits(plan: Plan) -> None:
    """Raise ``MemoryError`` unless there is memory for a plan: what it takes, and what else to do.

    Examples
    --------
    >>> check_fits(plan(50_000, 10, 1, solver="cholesky", memory="100GB"))
    >>> check_fits(plan(50_000, 10, 1, solver="cholesky", memory="2GB"))
    Traceback (most recent call last):
        ...
    MemoryError: 50,000 rows with solver="cholesky" need 20.2 GB ...; 2.0 GB are free. ...
    """
    if plan.fits:
        return
    raise MemoryError(
        f'{plan.rows:,} rows with solver="{plan.solver}" need {_size(plan.bytes)} (and would take '
        f"about {_time(plan.seconds)}); {_size(plan.free or 0)} are free. {_advice(plan)}"
    )


def _advice(plan: Plan) -> str:
    """What would need less memory."""
    n, ways = plan.rows, []
    if plan.device is None:
        for solver, precision in (("packed", "double"), ("cholesky", "mixed"), ("packed", "mixed")):
            size, _ = costs(solver, n, 0, 1, precision=precision)
            if (
                size < plan.bytes
                and size <= (plan.free or 0)
                and (solver != "packed" or n <= 23_000)
            ):
                mixed = ' with set_config(precision="mixed")' if precision == "mixed" else ""
                ways.append(f'solver="{solver}"{mixed} ({_size(size)})')
    ways.append('solver="nystroem", which is approximate')
    return "Use " + ", or ".join(ways) + "."


# ---------------------------------------------------------------------- costs
def costs(
    solver: str,
    n: int,
    p: int,
    d: int,
    *,
    precision: str = "double",
    n_alphas: int = 1,
    filled: float = 1.0,
) -> tuple[int, float]:
    """Bytes and operations of one fit; parameters as of :func:`plan`."""
    if solver in ("nystroem", "fourier"):
        from skstruct.smoothing.nystroem.landmarks import most_landmarks

        return feature_costs(n, p * filled, d, min(n, most_landmarks("auto", n)), n_alphas)
    if solver == "primal":
        if p <= LINEAR_FEATURES:
            return feature_costs(n, 0, d, p, n_alphas)
        step = (4.0 * n * filled + 10.0) * p * d  # products, and sums of vectors
        return 32 * p * d, (1 + n_alphas / 4) * STEPS * step
    columns = 10 if precision == "mixed" and solver != "spectral" else 3  # beside the targets
    rest = 8 * n * (p + 3 * min(n, 128, max(64, n // 24)) + columns * (d + 1))
    kernel, solve = float(n) * n * p * filled, 2.0 * n * n * d
    if solver == "spectral":
        return 16 * n * n + rest, FACTORIZATIONS * n**3 / 3 + kernel + 2 * n_alphas * solve
    width = 4 if precision == "mixed" else 8
    matrix = width * (n * n if solver == "cholesky" else n * (n + 1) // 2)
    if precision == "double":
        return matrix + rest, n**3 / 3 + kernel + solve
    return matrix + rest, n**3 / 6 + PASSES * (kernel + 2 * solve)


def feature_costs(n: int, p: float, d: int, m: int, n_alphas: int = 1) -> tuple[int, float]:
    """Bytes and operations of sums over n rows with m features, and of solving them."""
    size = 8 * (5 * m * m + 2 * m * d + min(n, 5_000) * (m + d))
    path = 9.0 * m**3 if n_alphas > 1 else m**3 / 3  # an eigendecomposition serves all
    return size, 2.0 * n * m * (m + d + p) + path + 2.0 * n_alphas * m * m * d


def free_memory(device: Any = None) -> int | None:
    """Bytes free on a device, or of this machine for None and processors; None if not known."""
    if device is None or str(device) in ("numpy", "cpu"):
        return machine.available_memory()
    import torch

    chosen = torch.device(device)
    if chosen.type != "cuda" or not torch.cuda.is_available():
        return None
    return int(torch.cuda.mem_get_info(chosen)[0])


def product_rate(device: Any = None) -> float:
    """Operations per second of a small matrix product, measured once: some milliseconds."""
    return _measured_rate(None if device is None else str(device))


@cache
def _measured_rate(device: Any) -> float:
    backend = backend_for(device)
    size = 384 if device in (None, "numpy", "cpu") else 4096
    A = backend.asarray(np.random.default_rng(0).standard_normal((size, size)))
    times = []
    for _ in range(3):
        start = perf_counter()
        backend.to_host(backend.multiply(A, A)[:1, :1])  # to the host: devices compute on their own
        times.append(perf_counter() - start)
    return 2.0 * size**3 / max(min(times), 1e-9)


# ---------------------------------------------------------------------- words
def check_solver(solver: str) -> None:
    """One of the names of solvers."""
    if solver not in SOLVERS:
        names = ", ".join(f'"{name}"' for name in SOLVERS[:-1])
        raise ValueError(f'solver is {names} or "{SOLVERS[-1]}"; got {solver!r}.')


def check_n_landmarks(n_landmarks: str | int) -> None:
    """A whole number from 1, or "auto"."""
    if n_landmarks != "auto" and not is_count(n_landmarks):
        raise ValueError(f'n_landmarks is a whole number from 1, or "auto"; got {n_landmarks!r}.')


def check_precision(precision: str) -> None:
    """One of the names of precisions."""
    if precision not in PRECISIONS:
        raise ValueError(f'precision is "double" or "mixed"; got {precision!r}.')


def _size(n_bytes: int) -> str:
    for unit, name in ((1e9, "GB"), (1e6, "MB")):
        if n_bytes >= unit:
            return f"{n_bytes / unit:,.1f} {name}"
    return f"{n_bytes / 1e3:,.1f} KB"


def _time(seconds: float) -> str:
    for unit, name in ((86_400, "days"), (3_600, "hours"), (60, "minutes")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:,.0f} {name}"
    return f"{seconds:,.0f} seconds" if seconds >= 2 else "a second"
