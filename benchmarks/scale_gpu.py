# SPDX-License-Identifier: BSD-3-Clause
"""How close do fits on a GPU come to its fastest matrix product?

    PYTHONPATH=src python3 benchmarks/scale_gpu.py rates exact million ten-million stream decode

needs torch for CUDA, NumPy, SciPy and scikit-learn. ``--small --device cpu`` tries the script out.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time

import numpy as np
import torch

from skstruct import config_context
from skstruct.backends import backend_for, split_products, torch_backend
from skstruct.backends.split_products import SplitTriangle
from skstruct.backends.torch_backend import BlockTriangle, TorchBackend
from skstruct.kernels import RBF
from skstruct.kernels.on_device import device_kernel, kernel_product
from skstruct.smoothing.systems.on_device import DeviceSystem, half_gram
from skstruct.streaming import ArraySource, Block, Partition, Source

FIGURES: list[dict] = []
P, Q = 80, 512  # features and targets


class Machine:
    """A device, its clock and its memory."""

    def __init__(self, device, small=False):
        self.backend, self.rounds = backend_for(device), 1 if small else 3
        self.device, self.cuda = self.backend.device, self.backend.device.type == "cuda"

    def wait(self):
        if self.cuda:
            torch.cuda.synchronize(self.device)

    def seconds(self, call, prepare=None):
        """The best of some calls, after one that warms up; ``prepare`` is not timed."""
        times = []
        for _ in range(self.rounds + 1):
            argument = () if prepare is None else (prepare(),)
            self.wait()
            start = time.perf_counter()
            result = call(*argument)
            self.wait()
            times.append(time.perf_counter() - start)
            del result, argument
        return min(times[1:])

    def once(self, call):
        """Seconds of one call, its result, and the memory that it took at most, in bytes."""
        self.wait()
        held = self.start_memory()
        start = time.perf_counter()
        result = call()
        self.wait()
        spent = time.perf_counter() - start
        return spent, result, (torch.cuda.max_memory_allocated(self.device) - held if held else 0)

    def start_memory(self):
        if not self.cuda:
            return 0
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats(self.device)
        return max(1, torch.cuda.memory_allocated(self.device))

    def normal(self, *shape, dtype=torch.float64, seed=0):
        generator = torch.Generator(self.device).manual_seed(seed)
        return torch.randn(*shape, dtype=dtype, device=self.device, generator=generator)

    def peak(self, dtype, size):
        """Operations per second of a large product."""
        A, B = self.normal(size, size, dtype=dtype), self.normal(size, size, dtype=dtype, seed=1)
        return 2.0 * size**3 / self.seconds(lambda: A @ B)


def line(name, seconds, operations=None, peak=None, **more):
    """One figure: seconds, 10^12 operations per second, share of the fastest product."""
    rate = None if operations is None else operations / seconds / 1e12
    share = None if rate is None or peak is None else rate * 1e12 / peak
    text = f"{name:<46}{seconds:>10.4f} s"
    text += " " * 20 if rate is None else f"{rate:>9.2f} Tflop/s"
    text += " " * 7 if share is None else f"{share:>7.1%}"
    text += "".join(f"  {key.replace('_', ' ')} {value:.3g}" for key, value in more.items())
    print(text, flush=True)
    FIGURES.append(
        {"name": name, "seconds": seconds, "tera_per_second": rate, "share": share, **more}
    )


def title(text):
    print(f"\n{text}\n{'-' * len(text)}", flush=True)


# ---------------------------------------------------------------------- rates
def rates(machine, small):
    """What the single steps reach."""
    size, m, n, large = (256, 512, 700, 600) if small else (12_288, 20_000, 25_000, 50_000)
    print("single precision products:", torch.get_float32_matmul_precision())
    for dtype in (torch.float64, torch.float32):
        title(f"Rates, {dtype}, blocks of {n:,} rows, {m:,} landmarks")
        peak = machine.peak(dtype, size)
        line(f"product {size:,}", 2.0 * size**3 / peak, 2.0 * size**3, peak)
        L, K = factor_and_values(machine, n, m, dtype)
        whitening(machine, L, K, peak)
        squares(machine, K, peak)
        if dtype == torch.float32:
            by_halves(machine, L, K, peak)
        del L, K
        for rows in (m, large):
            factoring(machine, rows, dtype, peak)


def factor_and_values(machine, n, m, dtype):
    """A factor R of a kernel between landmarks, columns together, and values of some rows."""
    X = machine.normal(m, P, dtype=torch.float64)
    function = device_kernel(RBF(0.5 / P).fit(np.zeros((1, P))), machine.backend)
    half, _ = half_gram(function, X, torch.ones(m, dtype=torch.float64, device=machine.device))
    L, _ = machine.backend.cholesky(machine.backend.add_diagonal(half, 1e-10 * m))
    A, X = machine.normal(n, P, dtype=dtype, seed=1), X.to(dtype)
    line(f"kernel values {n:,} x {m:,}", machine.seconds(lambda: function(A, X)), 2.0 * n * m * P)
    return L.to(dtype), function(A, X)


def whitening(machine, L, K, peak):
    n, m = K.shape
    operations, room = float(n) * m * m, torch.empty_like(K)
    ways = {"whiten by substitution": lambda K: machine.backend.whiten(L, K)}
    for blocks in (8, 16, 32, 64):
        ways[f"whiten by {blocks} blocks"] = BlockTriangle(L, blocks).whiten
    one = torch.eye(m, dtype=L.dtype, device=L.device)
    inverse = torch.linalg.solve_triangular(L, one, upper=False)
    del one
    ways["whiten by the inverse"] = lambda K: by_inverse(inverse, K)
    for name, way in ways.items():
        spent = machine.seconds(way, prepare=lambda: room.copy_(K))
        Z = way(room.copy_(K))[:500]
        error = torch.linalg.norm(Z @ L.tril().T - K[:500]) / torch.linalg.norm(K[:500])
        line(name, spent, operations, peak, residual=float(error))
    spent = machine.seconds(lambda: BlockTriangle(L))
    line("inverting 16 diagonal blocks, once", spent)


def by_inverse(inverse, K, panels=16):
    """K R'^-1 from R^-1, the last columns first: each needs those before it as they were."""
    m = K.shape[1]
    step = -(-m // panels)
    for start in reversed(range(0, m, step)):
        stop = min(start + step, m)
        K[:, start:stop] = K[:, :stop] @ inverse[start:stop, :stop].T
    return K


def squares(machine, Z, peak):
    n, m = Z.shape
    G, before = machine.backend.zeros((m, m), Z.dtype), torch_backend.PANELS
    backend = TorchBackend(machine.device, split=False)
    for panels in (1, 4, 8, 16, 32):
        torch_backend.PANELS = panels
        spent = machine.seconds(lambda: backend.add_square(G, Z))
        line(f"Z'Z by {panels} panels", spent, float(n) * m * m, peak)
    torch_backend.PANELS = before
    C, T = machine.backend.zeros((m, Q), Z.dtype), machine.normal(n, Q, dtype=Z.dtype)
    spent = machine.seconds(lambda: machine.backend.add_product(C, Z, T))
    line(f"Z'T, {Q} targets", spent, 2.0 * n * m * Q, peak)


def by_halves(machine, L, K, peak):
    """The same by three products of halves, with the residuals that are measured."""
    n, m = K.shape
    operations, room, G = float(n) * m * m, torch.empty_like(K), torch.zeros_like(L)
    before = {name: getattr(split_products, name) for name in ("CHUNK", "BLOCKS", "PANELS")}
    for chunk, blocks, panels in ((512, 8, 4), (1024, 8, 4), (1024, 4, 8), (1024, 16, 2)):
        split_products.CHUNK, split_products.BLOCKS, split_products.PANELS = chunk, blocks, panels
        triangle = SplitTriangle(BlockTriangle(L, blocks, split_products.ALIGNED))
        spent = machine.seconds(triangle.whiten, prepare=lambda: room.copy_(K))
        name = f"{blocks} blocks of {triangle.ways[0]}, {chunk} terms"
        line(f"whiten by {name}", spent, operations, peak, residual=triangle.residual)
        measured = split_products.add_square(G, room)
        spent = machine.seconds(lambda: split_products.add_square(G, room))
        name = f"Z'Z by {panels} panels of halves, {chunk} terms"
        line(name, spent, operations, peak, residual=measured)
    for name, number in before.items():
        setattr(split_products, name, number)


def halves(machine, small):
    """Squares and triangular systems by halves alone."""
    size, m, n = (256, 512, 700) if small else (12_288, 20_000, 25_000)
    title(f"Halves, blocks of {n:,} rows, {m:,} landmarks; shares of a product in float32")
    peak = machine.peak(torch.float32, size)
    by_halves(machine, *factor_and_values(machine, n, m, torch.float32), peak)


def factoring(machine, n, dtype, peak):
    X = machine.normal(n, P, dtype=dtype)
    one = torch.ones(n, dtype=dtype, device=machine.device)
    function = device_kernel(RBF(0.5 / P).fit(np.zeros((1, P))), machine.backend)
    spent, (half, _), memory = machine.once(lambda: half_gram(function, X, one))
    matrix = n * n * X.itemsize
    line(f"half of the kernel of {n:,} rows", spent, float(n) * n * P, matrices=memory / matrix)
    machine.backend.add_diagonal(half, 1.0)
    spent, (L, failed), memory = machine.once(lambda: machine.backend.cholesky(half))
    assert failed == 0, failed
    line(f"Cholesky {n:,}, once", spent, n**3 / 3.0, peak, extra_matrices=memory / matrix)
    for name, B in (
        ("columns", machine.backend.zeros((n, Q), dtype)),
        ("rows", torch.zeros((n, Q), dtype=dtype, device=machine.device)),
    ):
        B[:] = machine.normal(n, Q, dtype=dtype)
        for way in (False, True):
            spent, _, memory = machine.once(
                lambda B=B, way=way: machine.backend.solve_lower(L, B, transposed=way)
            )
            side = "L'^-1 B" if way else "L^-1 B"
            share = memory / (n * Q * B.itemsize)
            line(f"{side}, {name} together", spent, float(n) * n * Q, peak, extra_blocks=share)
    triangle, B = BlockTriangle(L), machine.normal(Q, n, dtype=dtype)
    line("L^-1 B by blocks", machine.seconds(lambda: triangle.whiten(B)), float(n) * n * Q, peak)


# ---------------------------------------------------------------------- exact
def exact(machine, small):
    """Exact kernel ridge regression: from arrays on the host to coefficients on the host."""
    n = 600 if small else 50_000
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, P))
    T = np.tanh(X @ rng.standard_normal((P, Q)) / np.sqrt(P))
    kernel, one = RBF().fit(X), np.ones(n)
    operations = n**3 / 3 + 2.0 * n * n * Q + float(n) * n * P
    for dtype in ("float64", "float32"):
        title(f"Exact, {dtype}: {n:,} rows, {P} features, {Q} targets")
        peak = machine.peak(getattr(torch, dtype), 256 if small else 12_288)
        for turn in ("first", "second"):
            system = DeviceSystem(machine.device, dtype)
            fit, _, memory = machine.once(
                lambda s=system: s.fit_rows(kernel, X, one, 1.0, border=one)
            )
            solve, A, _ = machine.once(lambda s=system: s.solve(T))
            size = n * n * np.dtype(dtype).itemsize
            line(f"kernel and factor, {turn}", fit, matrices=memory / size)
            line(f"solve, {turn}", solve)
            line(f"together, {turn} (target 1.5 s)", fit + solve, operations, peak)
            if turn == "second":
                spent, shares, _ = machine.once(system.residual_shares)
                line("shares of all rows (leave-one-out)", spent, n**3 / 3.0, peak)
                assert 0 < shares.min() <= shares.max() < 1
            del system
        check_solution(kernel, X, T, A, machine.device)
        estimator(machine, X, T, dtype)


def check_solution(kernel, X, T, A, device):
    """Residual of (K + I) A + 1 b' = T at some rows; b cancels in differences."""
    rows = np.random.default_rng(1).choice(len(X), size=min(500, len(X)), replace=False)
    left = kernel_product(kernel, X[rows], X, A, device) + A[rows] - T[rows]
    left -= left.mean(axis=0)
    print(f"relative residual {np.linalg.norm(left) / np.linalg.norm(T[rows]):.1e}")


def estimator(machine, X, T, dtype):
    """The same through the estimator."""
    from skstruct.smoothing import KernelRidge

    if dtype != "float64":
        return
    model = KernelRidge(alpha=1.0)
    with config_context(device=str(machine.device), memory="8GB"):
        line("KernelRidge.fit", machine.once(lambda: model.fit(X, T))[0])
        spent, found, _ = machine.once(lambda: model.predict(X[:10_000]))
    line(f"KernelRidge.predict, {len(found):,} rows", spent, 2.0 * len(found) * len(X) * Q)


# ---------------------------------------------------------------------- one pass
class MadeRows(Source, Partition):
    """Rows that are made on the device when they are asked for: t = tanh(W'x) and noise."""

    start = 0

    def __init__(self, machine, n_rows, dtype, noise=0.1):
        self.machine, self.n_rows, self.dtype, self.noise = machine, n_rows, dtype, noise
        self.W = machine.normal(P, Q, dtype=dtype, seed=10**6) / P**0.5

    def made(self, n, seed, noise):
        X = self.machine.normal(n, P, dtype=self.dtype, seed=seed)
        X[:, 8:] *= 0.1  # few directions matter: landmarks can explain the kernel
        T = torch.tanh(X @ self.W)
        return X, T.add_(self.machine.normal(n, Q, dtype=self.dtype, seed=seed + 1), alpha=noise)

    def partitions(self, count=None):
        return [self]

    def sample(self, n, random_state=None):
        return Block(*self.made(min(n, self.n_rows), 2, self.noise))

    def blocks(self, rows):
        for start in range(0, self.n_rows, rows):
            n = min(rows, self.n_rows - start)
            yield Block(*self.made(n, 3 + 2 * start, self.noise), None, start)


def one_pass(machine, n, m, dtype, memory, small, source=None):
    from skstruct.smoothing.nystroem.ridge import NystroemRidge

    spent: dict[str, float] = {}

    class Timed(NystroemRidge):
        """Tells what its three steps take."""

    for name in ("_new_map", "_summed", "_solve"):
        setattr(Timed, name, timed(machine, spent, name, getattr(NystroemRidge, name)))
    name, dtype = dtype, dtype.split()[0]
    title(f"One pass, {name}: {n:,} rows, {m:,} landmarks, {Q} targets")
    peak = machine.peak(getattr(torch, dtype), 256 if small else 12_288)
    made = MadeRows(machine, n, getattr(torch, dtype))
    source = made if source is None else source
    model = Timed(alpha=1e-6 * n, n_landmarks=m, dtype=dtype)
    with config_context(device=machine.device, memory=memory):
        total, _, used = machine.once(lambda: model.fit_source(source))
    line("landmarks", spent["_new_map"], residual=model.residual_)
    operations = n * (2.0 * m * m + 2.0 * m * Q + 2.0 * m * P)
    line("sums over all rows", spent["_summed"], operations, peak)
    line("solve", spent["_solve"], m**3 / 3.0 + 2.0 * m * m * Q)
    line("together", total, operations, peak, peak_GB=used / 1e9, rows_per_second=n / total)
    X, T = made.made(5000, 1, 0.0)
    with config_context(memory=memory):
        spent_there, found, _ = machine.once(lambda: model.predict(X))
    error = np.linalg.norm(found - T.cpu().numpy()) / float(torch.linalg.norm(T))
    line("predict 5,000 rows", spent_there, 2.0 * 5000 * m * (P + Q), relative_error=error)


def timed(machine, spent, name, method):
    def call(self, *args, **kwargs):
        machine.wait()
        start = time.perf_counter()
        result = method(self, *args, **kwargs)
        machine.wait()
        spent[name] = spent.get(name, 0.0) + time.perf_counter() - start
        return result

    return call


def ways():
    """Precisions, and whether float32 is computed by halves."""
    by_default = split_products.has_half_units
    for name in ("float64", "float32 without halves", "float32"):
        split_products.has_half_units = (lambda device: False) if " " in name else by_default
        yield name
    split_products.has_half_units = by_default


def million(machine, small):
    """A million rows, 20,000 landmarks."""
    for dtype in ways():
        n, m = (1000, 100) if small else (10**6, 20_000)
        one_pass(machine, n, m, dtype, "1MB" if small else "24GB", small)


def ten_million(machine, small):
    """Ten million rows, 10,000 landmarks."""
    for dtype in ways():
        n, m = (1500, 100) if small else (10**7, 10_000)
        one_pass(machine, n, m, dtype, "1MB" if small else "24GB", small)


def stream(machine, small):
    """Rows in files on the host: read, sent and summed one after another, or all at once."""
    n, m = (1000, 100) if small else (10**6, 5000)
    made, memory = MadeRows(machine, n, torch.float32), "1MB" if small else "4GB"
    with tempfile.TemporaryDirectory() as folder:
        X, T = (
            np.lib.format.open_memmap(f"{folder}/{name}.npy", "w+", np.float32, (n, width))
            for name, width in (("X", P), ("T", Q))
        )
        for block in made.blocks(50_000):
            rows = slice(block.start, block.start + len(block.X))
            X[rows], T[rows] = block.X.cpu().numpy(), block.y.cpu().numpy()
        X.flush(), T.flush()
        whole, before = X.nbytes + T.nbytes, TorchBackend.uploads
        print(f"\nfiles of {whole / 1e9:.1f} GB")
        for name in ("one after another", "all at once", "one after another", "all at once"):
            TorchBackend.uploads = before if name == "all at once" else lambda backend: None
            one_pass(machine, n, m, f"float32 ({name})", memory, small, ArraySource(X, T))
        TorchBackend.uploads = before


# ---------------------------------------------------------------------- decoding
def decode(machine, small):
    """Means to outputs: on the device, and on one thread of the host where Numba is there."""
    from skstruct.learners.on_device import device_decider
    from skstruct.learners.problem import risk_problem
    from skstruct.losses import (
        F1,
        Footrule,
        Hamming,
        HierarchicalLoss,
        SequenceHamming,
        Spearman,
        ZeroOne,
    )
    from skstruct.spaces import Classes, Hierarchy, LabelSets, Rankings, Sequences

    n, rng = (5 if small else 100_000), np.random.default_rng(0)
    few, many = (5, 8) if small else (20, 50)
    tree = Hierarchy([((j - 1) // 4, j) for j in range(1, 500)], labels=range(500))
    sets = (rng.random((400, 500)) < 0.02).astype(np.int8)
    words = rng.integers(0, 20, (400, 20))

    def orders(d):
        return rng.permuted(np.ones((400, 1)) * np.arange(1.0, d + 1), axis=1)

    cases = {
        "1,000 classes": (Classes(), ZeroOne(), np.arange(1000)),
        "sets of 500 labels": (LabelSets(range(500)), Hamming(), sets),
        "tree of 500 labels": (tree, HierarchicalLoss(), (sets @ tree.dag_.ancestors > 0) * 1),
        f"rankings of {many} items": (Rankings(), Spearman(), orders(many)),
        f"rankings of {few} items by assignment": (Rankings(), Footrule(), orders(few)),
        f"rankings of {many} items by assignment": (Rankings(), Footrule(), orders(many)),
        "chains of 20 symbols of 20": (Sequences(), SequenceHamming(1.0), words),
        "sets of 50 labels by F1": (LabelSets(range(50)), F1(), sets[:, :50]),
    }  # fmt: skip
    title(f"Decoding {n:,} rows")
    for name, (space, loss, outputs) in cases.items():
        space = space.fit(outputs)
        problem = risk_problem(space, loss, space.validate(outputs))
        problem = cover_all(problem)
        rows = min(n, int(4e9 / (8 * problem.width)))  # that are on the device at a time
        means = machine.normal(rows, problem.width + 1)
        decide = device_decider(problem, machine.backend)
        spent = machine.seconds(lambda d=decide, m=means: d(m)) * n / rows
        line(name, spent, rows_per_second=n / spent)
        try:
            first = machine.backend.to_host(means[:2000])
            expected = problem.decode(first)
        except ImportError:
            continue
        start = time.perf_counter()
        problem.decode(first)
        there = (time.perf_counter() - start) * n / len(first)
        same = np.mean(expected.outputs == decide(means[:2000]).outputs)
        line("    on the host", there, times_the_device=there / spent, share_equal=same)


def cover_all(problem):
    """The problem as if every column had occurred in training."""
    problem.used = None
    return problem


SECTIONS = {
    "rates": rates, "halves": halves, "exact": exact, "million": million,
    "ten-million": ten_million, "stream": stream, "decode": decode,
}  # fmt: skip


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="+", choices=SECTIONS)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--json", help="file for all figures")
    options = parser.parse_args(arguments)
    machine = Machine(options.device, options.small)
    name = torch.cuda.get_device_name(machine.device) if machine.cuda else "CPU"
    print(f"{name}, torch {torch.__version__}")
    for section in options.sections:
        start = time.perf_counter()
        SECTIONS[section](machine, options.small)
        if machine.cuda:
            torch.cuda.empty_cache()
        print(f"\n{section}: {time.perf_counter() - start:.0f} s", flush=True)
        if options.json:
            with open(options.json, "w") as file:
                json.dump(FIGURES, file, indent=1)


if __name__ == "__main__":
    main()
