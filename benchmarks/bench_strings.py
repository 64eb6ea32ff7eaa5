# SPDX-License-Identifier: BSD-3-Clause
"""N-gram features and kernels of a million characters."""

from __future__ import annotations

from collections import Counter
from functools import partial

import numpy as np
from harness import Table, at_least, compare, median, ratio
from sklearn.feature_extraction.text import HashingVectorizer

from skstruct.kernels import BlendedSpectrumKernel, SpectrumKernel, WeightedDegreeKernel

PROTEIN = "ACDEFGHIKLMNPQRSTVWY"
FEW = 40  # strings that plain Python compares, pair by pair


def proteins(n, length, rng):
    """Letters alike and independent: the most n-grams, the fewest repeats."""
    return ["".join(row) for row in rng.choice(list(PROTEIN), (n, length))]


def texts(n, length, rng):
    """Words drawn by Zipf's distribution from 2,000 invented ones."""
    words = [
        "".join(rng.choice(list("etaoinshrdlucmfwyp"), size)) for size in rng.integers(1, 10, 2000)
    ]
    probabilities = 1 / np.arange(1, 2001)
    drawn = rng.choice(words, (n, length), p=probabilities / probabilities.sum())
    return [" ".join(row)[:length] for row in drawn]


def count(strings, n):
    return [Counter(x[i : i + n] for i in range(len(x) - n + 1)) for x in strings]


def compare_counts(strings, n):
    """Kernel matrix by dictionaries; the shorter one is looped over."""
    counts = count(strings, n)
    K = np.zeros((len(counts), len(counts)))
    for i, a in enumerate(counts):
        for j, b in enumerate(counts[: i + 1]):
            small, large = (a, b) if len(a) < len(b) else (b, a)
            K[i, j] = K[j, i] = sum(c * large[u] for u, c in small.items() if u in large)
    return K


def hashed(n):
    """Counts in 2^20 columns, in which n-grams may collide."""
    return HashingVectorizer(
        analyzer="char", ngram_range=(n, n), lowercase=False, alternate_sign=False, norm=None
    )


def bench_features(samples):
    table = Table("Features of a million characters", "peer / ours; floor: ours / np.sort")
    numbers = np.random.default_rng(0).integers(0, 2**62, 10**6)
    for kind, X in samples.items():
        for n in (2, 4, 6, 12):
            kernel = SpectrumKernel(n, normalize=False)
            assert kernel.fit_transform(X).sum() == sum(len(x) - n + 1 for x in X)
            peers = {
                "HashingVectorizer": partial(hashed(n).transform, X),
                "collections.Counter, no matrix": partial(count, X, n),
            }
            calls = {"ours": partial(kernel.fit_transform, X), "sort": partial(np.sort, numbers)}
            times = compare({**calls, **peers}, rounds=3, budget=8.0)
            name = f"{kind}, n = {n}"
            table.add(f"{name}: fit_transform", median(times, "ours"))
            for peer in peers:
                factor = ratio(times, peer, "ours")
                table.add(f"{name}: {peer}", median(times, peer), factor, at_least(1))
            table.add(f"{name}: floor, one np.sort of as many integers",
                      median(times, "sort"), ratio(times, "ours", "sort"))  # fmt: skip


def bench_kernels(samples):
    table = Table("Kernel matrix of a million characters", "peer / ours")
    for kind, X in samples.items():
        pairs = len(X) * (len(X) + 1) / 2
        for n in (2, 4, 6):
            kernel = SpectrumKernel(n, normalize=False)
            np.testing.assert_array_equal(kernel(X)[:FEW, :FEW], compare_counts(X[:FEW], n))
            calls = {
                "ours": partial(kernel, X),
                "hashed": partial(kernel_of_hashed, X, n),
                "counter": partial(compare_counts, X[:FEW], n),
            }
            rows = {"counter": FEW * (FEW + 1) / 2 / pairs}  # seconds for all pairs
            times = compare(calls, rows, rounds=3, budget=10.0)
            name = f"{kind}, n = {n}"
            table.add(f"{name}: SpectrumKernel", median(times, "ours"))
            what = {"hashed": "HashingVectorizer, F @ F.T",
                    "counter": f"collections.Counter (from {FEW} strings)"}  # fmt: skip
            for peer in what:
                factor = ratio(times, peer, "ours")
                table.add(f"{name}: {what[peer]}", median(times, peer), factor, at_least(1))


def kernel_of_hashed(X, n):
    F = hashed(n).transform(X)
    return (F @ F.T).toarray()


def bench_others(X):
    table = Table("Other kernels, matrix of a million characters", "kernel / SpectrumKernel(3)")
    kernels = [BlendedSpectrumKernel(3), WeightedDegreeKernel(3), WeightedDegreeKernel(3, shift=3)]
    calls = {repr(kernel): partial(kernel, X) for kernel in kernels}
    times = compare({"spectrum": partial(SpectrumKernel(3), X), **calls}, rounds=2, budget=10.0)
    for name in calls:
        table.add(name, median(times, name), ratio(times, name, "spectrum"))


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    samples = {"proteins": proteins(1000, 1000, rng), "text": texts(1000, 1000, rng)}
    bench_features(samples)
    bench_kernels(samples)
    bench_others(samples["proteins"])
