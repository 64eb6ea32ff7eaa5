# SPDX-License-Identifier: BSD-3-Clause
"""Nothing explodes: what is decoded is charged before it is made."""

import sys
import tracemalloc
import zipfile
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from persistence.test_bad_files import saved  # noqa: F401
from script_folders import scripts_of
from skstruct import ConditionalRiskMinimizer, load_model, save_model
from skstruct._files.container import read_container, write_container
from skstruct.exceptions import ModelFileError
from skstruct.kernels import RBF
from skstruct.persistence.budget import Budget
from skstruct.persistence.decoding import DEEPEST, READERS, Decoder
from skstruct.smoothing import NadarayaWatson
from skstruct.spaces import LabelSets, Rankings

pandas = pytest.importorskip("pandas")
pytest.importorskip("networkx")

FOLDER = Path(__file__).parents[2] / "reliability"
N = 2000
ARRAYS = {
    "numbers": np.arange(N) + 1000, "floats": np.arange(float(N)),
    "letters": np.full(N, ord("a"), np.uint8), "ones": np.ones(N, np.int64),
    "smiles": np.frombuffer(("\U0001f600" + "b" * N).encode(), np.uint8),
    "smile": np.array([N + 4]), "columns": np.arange(N, dtype=np.int64) % 7,
    "starts": np.arange(N + 1, dtype=np.int64), "none": np.zeros(2, np.int64),
    "nothing": np.empty(0), "no columns": np.empty(0, np.int64),
}  # fmt: skip


def sparse_node(kept, format, array, shape, parts):
    data, indices, indptr = ({"array": part} for part in parts)
    return {"sparse": {"array": array, "format": format, "kept": kept, "shape": shape,
                       "data": data, "indices": indices, "indptr": indptr}}  # fmt: skip


def nodes() -> dict:
    """Nodes of every kind that are much larger in memory than in the file, or can be."""
    items = {"numbers": "numbers"}
    rows = {"pandas": {"kind": "RangeIndex", "range": {"range": [0, N, 1]}, "name": None}}
    number, text = {"dtype": "<f8"}, {"pandas dtype": "str"}
    values = {"list": items}
    column = {"values": values, "index": rows, "name": None}
    pair = {"dict": [["k"], [1]]}
    found = {
        "list": {"list": items}, "tuple": {"tuple": items}, "set": {"set": items},
        "frozenset": {"frozenset": items}, "dict": {"dict": [items, items]},
        "floats": {"list": {"numbers": "floats"}}, "nested": {"list": [{"list": []}] * N},
        "texts": {"list": {"texts": ["letters", "ones"]}},
        "wide text": {"list": {"texts": ["smiles", "smile"]}},
        "objects": {"objects": {"shape": [N], "items": items}},
        "int": {"int": hex(16**N)}, "bytes": {"bytes": "QUJD" * N},
        "index": {"pandas": {"kind": "Index", "values": values, "dtype": {"dtype": "|O"},
                             "name": None}},
        "texts of an index": {"pandas": {"kind": "Index", "values": {"list": {"texts": [
            "letters", "ones"]}}, "dtype": text, "name": None}},
        "range index": rows,
        "series": {"pandas": {"kind": "Series", "dtype": number, **column}},
        "texts of a series": {"pandas": {"kind": "Series", "dtype": text, **column}},
        "frame": {"pandas": {"kind": "DataFrame", "values": {"list": [values] * 5},
                             "dtypes": {"list": [number, text] * 2 + [number] * 1},
                             "columns": {"pandas": {"kind": "RangeIndex", "name": None,
                                                    "range": {"range": [0, 5, 1]}}},
                             "index": rows}},
        "many indices": {"pandas": {"kind": "MultiIndex", "names": {"list": ["a", "b"]},
                                    "tuples": {"list": [{"tuple": [i, str(i)]}
                                                        for i in range(N)]}}},
        "categories": {"pandas": {"kind": "CategoricalDtype", "ordered": False, "categories": {
            "pandas": {"kind": "Index", "values": values, "dtype": {"dtype": "<i8"},
                       "name": None}}}},
        "graph": {"graph": {"kind": "Graph", "attributes": {"dict": [[], []]},
                            "nodes": {"list": [{"tuple": [i, pair]} for i in range(N)]},
                            "edges": {"list": [{"tuple": [i, i + N, pair]} for i in range(N)]}}},
    }  # fmt: skip
    full, empty = ("floats", "columns", "starts"), ("nothing", "no columns", "none")
    for format in ("csr", "csc", "coo", "lil", "dok", "bsr", "dia"):
        for array in (True, False):
            for kept, shape, parts in (
                ("csr", [N, 7], full), ("csc", [7, N], full),
                ("csr", [1, 10 * N], empty), ("csc", [10 * N, 1], empty),
            ):  # fmt: skip
                if format in (kept, "coo", "lil", "dok", "bsr", "dia"):
                    name = f"{format} from {kept}, {shape}, {array}"
                    found[name] = sparse_node(kept, format, array, shape, parts)
    return found


NODES = nodes()
SMALL = {"array", "complex", "date", "datetime", "dtype", "float", "function", "known",
         "pandas dtype", "range", "ref", "scalar", "slice", "times", "type"}  # fmt: skip


def test_every_kind_of_node_is_tried():
    tried = {next(iter(node)) for node in NODES.values()}
    assert tried | SMALL == set(READERS)
    assert not tried & SMALL


@pytest.mark.slow
@pytest.mark.parametrize("name", NODES)
def test_nodes_take_no_more_than_they_are_charged(name):
    """Measured: what is allocated at the peak, kept or not."""
    budget = Budget(10**8, 10**9)
    decoder = Decoder([], ARRAYS, budget)
    Decoder([], ARRAYS, Budget(10**8, 10**9)).value(NODES[name])  # imports, caches
    before = budget.left
    tracemalloc.start()
    try:
        made = decoder.value(NODES[name])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert made is not None
    charged = before - budget.left
    assert peak <= charged + 20_000  # frames of calls, and what libraries keep by the way
    with pytest.raises(ModelFileError, match="max_bytes"):
        Decoder([], ARRAYS, Budget(10**8, sum(a.nbytes for a in ARRAYS.values()) + charged - 1)
                ).value(NODES[name])  # fmt: skip


# ---------------------------------------------------------------------- references
@given(st.lists(st.lists(st.integers(0, 5), max_size=4), max_size=25), st.data())
def test_references_are_charged_by_what_they_stand_for(table, data):
    """Against writing everything out."""
    objects, sizes, depths = [], [], []
    for i, row in enumerate(table):
        refs = data.draw(st.lists(st.integers(0, i - 1), max_size=3)) if i else []
        objects.append({"value": {"tuple": [*row, *({"ref": r} for r in refs)]}})
        sizes.append(len(row) + len(refs) + sum(sizes[r] for r in refs))
        depths.append(1 + max((depths[r] for r in refs), default=0))
    budget = Budget(10**9, 10**9)
    decoder = Decoder(objects, {}, budget)
    assert [size.items for size in decoder._sizes] == sizes
    assert [size.depth for size in decoder._sizes] == depths


@pytest.mark.parametrize("kind", ["tuple", "list", "frozenset"])
def test_references_to_references_are_refused(kind):
    doubled = [{"value": {kind: [1]}}]
    doubled += [{"value": {kind: [{"ref": i}, {"ref": i}]}} for i in range(60)]
    with pytest.raises(ModelFileError, match="far longer than its size tells"):
        Decoder(doubled, {}, Budget(5000, 10**9))
    chain = [{"value": {kind: [1]}}]
    chain += [{"value": {kind: [{"ref": i}]}} for i in range(DEEPEST + 1)]
    with pytest.raises(ModelFileError, match="nested too deeply"):
        Decoder(chain, {}, Budget(10**6, 10**9))
    assert len(Decoder(chain[: DEEPEST - 1], {}, Budget(10**6, 10**9)).made) == DEEPEST - 1


# ---------------------------------------------------------------------- whole files
def grown(path, *entries, **arrays):
    """A sound model with further entries."""
    manifest, others = read_container(path, "model")
    manifest["objects"] += [{"value": entry} for entry in entries]
    write_container(path, "model", manifest, others | arrays)


INDEX = {"pandas": {"kind": "Index", "values": {"range": [0, 10**6, 1]},
                    "dtype": {"dtype": "|O"}, "name": None}}  # fmt: skip


@pytest.mark.parametrize("options", [{"max_bytes": "1MB"}, {}])
def test_small_files_that_would_take_gigabytes(saved, options):  # noqa: F811
    sound = saved.read_bytes()
    load_model(saved, **options)
    numbers = {"long": np.arange(100_000)}
    tall = {"none": np.empty(0), "indices": np.empty(0, np.int64), "ends": np.zeros(2, np.int64)}
    lil = sparse_node("csc", "lil", True, [3 * 10**6, 1], ("none", "indices", "ends"))
    for entries, arrays in (
        ([INDEX] * 60, {}), ([lil], tall), ([{"list": {"numbers": "long"}}] * 500, numbers),
    ):  # fmt: skip
        saved.write_bytes(sound)
        grown(saved, *entries, **arrays)
        with pytest.raises(ModelFileError, match=r"bytes|list that is none"):
            load_model(saved, **options)


def test_max_bytes_is_the_remedy_that_is_told(saved):  # noqa: F811
    grown(saved, {"list": {"numbers": "long"}}, long=np.arange(100_000))
    with pytest.raises(ModelFileError, match=r"takes more than 2,000,000 bytes \(max_bytes\)"):
        load_model(saved, max_bytes=2 * 10**6)
    load_model(saved, max_bytes=6 * 10**6)


def test_what_a_model_computes_from_itself_counts(tmp_path):
    """Pairs of items: 4,000 of them are 16 million numbers for every row of training."""
    path = tmp_path / "model"
    ranks = np.argsort(np.random.default_rng(0).random((4, 300)), axis=1) + 1
    save_model(ConditionalRiskMinimizer(Rankings(), alpha=1.0).fit(np.eye(4), ranks), path)
    load_model(path, max_bytes="20MB")
    with pytest.raises(ModelFileError, match=r"using it takes more than 2,000,000 bytes"):
        load_model(path, max_bytes=2 * 10**6)


def test_predictions_of_many_rows_are_refused(saved):  # noqa: F811
    manifest, arrays = read_container(saved, "model")
    name = manifest["rehearsal"]["X"]["array"]
    arrays["rows"] = np.repeat(arrays[name], 100, axis=0)
    manifest["rehearsal"]["X"] = {"array": "rows"}
    write_container(saved, "model", manifest, arrays)
    with pytest.raises(ModelFileError, match="300 rows; 3 are written"):
        load_model(saved)


def test_arrays_of_empty_texts_take_their_place(saved):  # noqa: F811
    """Nothing in the file, and four bytes each in memory."""
    with zipfile.ZipFile(saved) as packed:
        members = [(info.filename, packed.read(info)) for info in packed.infolist()]
    header = b"{'descr': '<U0', 'fortran_order': False, 'shape': (300000000,), }\n"
    start = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little")
    members.append(("arrays/empty.npy", start + header))
    with pytest.MonkeyPatch.context() as patch, scripts_of(FOLDER, patch) as named:
        saved.write_bytes(named("hostile_files").sealed(members))
    with pytest.raises(ModelFileError, match=r"shape of 'arrays/empty\.npy' does not fit"):
        load_model(saved)


# ---------------------------------------------------------------------- large and sound
@pytest.mark.slow
def test_a_large_model_is_read(tmp_path):
    """Many numbers, and fifty thousand names."""
    rng = np.random.default_rng(0)
    X = rng.random((500, 6_000))
    Y = [{f"n{j}" for j in row} for row in rng.integers(0, 50_000, (500, 3))]
    names = [f"n{j}" for j in range(50_000)]
    model = ConditionalRiskMinimizer(LabelSets(names), smoother=NadarayaWatson(RBF(1e-4)))
    model.fit(X, Y)
    save_model(model, tmp_path / "model", X=X[:1])
    assert (tmp_path / "model").stat().st_size > 24 * 10**6
    assert load_model(tmp_path / "model").predict(X[:2]).tolist() == model.predict(X[:2]).tolist()


@pytest.mark.slow
@pytest.mark.subprocess
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of memory")
def test_files_that_grow(monkeypatch, tmp_path):
    """All that stand for more than they are, and one model copied and stretched."""
    with scripts_of(FOLDER, monkeypatch) as named:
        hostile = named("hostile_models")
        models = hostile.warm_models()
        attacks = hostile.Attacks({"neighbors": models["neighbors"]}, tmp_path, seed=0)
        # Bombs take minutes; a busy machine makes the two seconds of a sound file four or five.
        cases = [partial(attacks.make_growing, number) for number in range(len(attacks.growing))]
        found = Counter(named("reading_children").verdicts(cases, seconds=15))
    assert set(found) <= {"refused", "read"}
    assert sum(found.values()) > 100
    assert found["refused"] > 90
