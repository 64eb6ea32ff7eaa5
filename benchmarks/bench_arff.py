# SPDX-License-Identifier: BSD-3-Clause
"""Reading ARFF and LIBSVM files: liac-arff, SciPy and scikit-learn against ours.

liac-arff does not know a hierarchical class, so that it gets the same file with a string there.
SciPy knows neither that nor strings, and gets a file of numbers and nominal values. All files are
unpacked beforehand. Peak memory is that of a fresh process, less what it needs before it reads.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
from harness import Table, at_least, compare, in_fresh_process, median, peak_bytes, ratio
from scipy import sparse
from scipy.io import arff as scipy_arff
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from skstruct.datasets.files import data_file, open_text
from skstruct.datasets.formats.arff.reading import read_arff
from skstruct.datasets.formats.libsvm import read_svm
from skstruct.exceptions import MissingDataError

QUICK = "--quick" in sys.argv
SOURCE = "the collection that the loaders of skstruct.datasets name"


def unpacked(folder, *parts):
    path = Path(folder) / parts[-1]
    with open_text(data_file(*parts, source=SOURCE)) as file:
        path.write_text(file.read())
    return path


def without_hierarchy(path):
    text = path.read_text()
    other = path.with_name("plain_" + path.name)
    other.write_text(re.sub(r"(?im)^(@attribute \S+) hierarchical .*$", r"\1 string", text))
    return other


def by_liac(path):
    import arff  # liac-arff

    with open(path) as file:
        return arff.load(file)


def made_numbers(folder, n_rows, decimals):
    """Numbers and a nominal class; ``decimals`` None writes all 17 digits."""
    rng = np.random.default_rng(0)
    lines = ["@relation made", *(f"@attribute x{j} numeric" for j in range(20))]
    lines += ["@attribute class {small,large}", "@data"]
    for row in rng.standard_normal((n_rows, 20)):
        cells = [repr(v) if decimals is None else f"{v:.{decimals}f}" for v in row.tolist()]
        lines.append(",".join([*cells, "large" if row.sum() > 0 else "small"]))
    path = Path(folder) / f"made_{decimals}.arff"
    path.write_text("\n".join(lines) + "\n")
    return path


def bench_arff(table, folder, name, path, peers):
    n_bytes = path.stat().st_size
    table.note(f"{name}: {n_bytes / 1e6:.1f} MB")
    times = compare({"ours": partial(read_arff, path), **peers}, budget=3.0 if QUICK else 20.0)
    table.add(f"{name}: read_arff", median(times, "ours"))
    for peer in peers:
        factor = ratio(times, peer, "ours")
        table.add(f"{name}: {peer} / ours", median(times, peer), factor, at_least(5))


def bench_memory(table, path):
    """Bytes above the process that has imported the reader and read one small file."""
    peaks = {way: in_fresh_process(__file__, "memory", way, path) for way in ("ours", "liac-arff")}
    table.add("peak memory in MB: read_arff", None, peaks["ours"] / 1e6)
    table.add("peak memory in MB: liac-arff", None, peaks["liac-arff"] / 1e6)


def memory(way, path):
    small = path.with_name("small.arff")
    small.write_text("@relation r\n@attribute x numeric\n@data\n" + "1.5\n" * 30_000)
    read = {"ours": read_arff, "liac-arff": by_liac}[way]
    read(small)
    before = peak_bytes()
    kept = read(path)
    return peak_bytes() - before + 0 * len(str(type(kept)))


def bench_svm(table, name, path):
    X, labels = read_svm(path)
    expected, sets = load_svmlight_file(str(path), multilabel=True, zero_based=False)
    assert (sparse.csr_array(expected) != X).nnz == 0
    assert [tuple(map(float, row)) for row in labels] == sets
    peer = partial(load_svmlight_file, str(path), multilabel=True, zero_based=False)
    calls = {"ours": partial(read_svm, path), "scikit-learn": peer}
    times = compare(calls, budget=3.0 if QUICK else 20.0)
    table.add(f"{name}: read_svm", median(times, "ours"))
    factor = ratio(times, "scikit-learn", "ours")
    table.add(f"{name}: scikit-learn / ours", median(times, "scikit-learn"), factor, at_least(2))


def made_svm(folder, n_rows):
    rng = np.random.default_rng(0)
    X = sparse.random_array((n_rows, 5000), density=0.01, rng=rng, format="csr")
    Y = (rng.random((n_rows, 20)) < 0.1).astype(int)
    Y[:, 0] = 1
    path = Path(folder) / "made.svm"
    dump_svmlight_file(X, sparse.csr_matrix(Y), str(path), zero_based=False, multilabel=True)
    return path


def main():
    n_rows = 1000 if QUICK else 20_000
    with tempfile.TemporaryDirectory() as folder:
        table = Table("Reading ARFF files, CPU time", "peer / ours")
        for decimals in (4, None):
            path = made_numbers(folder, n_rows, decimals)
            what = f"20 numbers of {decimals or 17} digits"
            peers = {"liac-arff": partial(by_liac, path),
                     "SciPy": partial(scipy_arff.loadarff, path)}  # fmt: skip
            bench_arff(table, folder, what, path, peers)
        bench_memory(table, path)
        try:
            path = unpacked(folder, "imclef07a", "ImCLEF07A_Train.arff")
            bench_arff(table, folder, "ImCLEF07A", path,
                       {"liac-arff": partial(by_liac, without_hierarchy(path))})  # fmt: skip
            path = unpacked(folder, "yeast", "yeast-train.arff")
            bench_arff(table, folder, "yeast", path,
                       {"liac-arff": partial(by_liac, path),
                        "SciPy": partial(scipy_arff.loadarff, path)})  # fmt: skip
        except MissingDataError as error:
            table.note(f"Files of others are left out. {error}")
        table = Table("Reading LIBSVM files, CPU time", "scikit-learn / ours")
        bench_svm(table, "5000 columns, 1 % filled", made_svm(folder, n_rows))
        try:
            bench_svm(table, "RCV1", unpacked(folder, "rcv1_subset1", "rcv1subset1_train.svm"))
        except MissingDataError as error:
            table.note(f"RCV1 is left out. {error}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["memory"]:
        print(json.dumps(memory(sys.argv[2], Path(sys.argv[3]))))
    else:
        main()
