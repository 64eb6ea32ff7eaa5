# SPDX-License-Identifier: BSD-3-Clause
"""Model files that are far more than they seem once they are read, if nobody counts.

Three families. Nodes that stand for something large, or for something small very often; entries of
a sound model, copied; and sizes of a sound model, all stretched together so that they still fit.
"""

from __future__ import annotations

import copy

import numpy as np
from hostile_files import node_at, node_paths

MANY = 100  # uses of one array
COPIES = 1000  # of one entry
LONG = 100_000  # entries of an array
STRETCHED = (300, 3000, 40_000)
MOST_ENTRIES = 500_000  # of a stretched array


def numbers(kind="list", array="long"):
    return {kind: {"numbers": array}}


def ref(number):
    return {"ref": number}


def empty_sparse(kept, form, shape):
    return {"sparse": {"array": True, "format": form, "kept": kept, "shape": list(shape),
                       "data": {"array": "none"}, "indices": {"array": "no indices"},
                       "indptr": {"array": "ends"}}}  # fmt: skip


def index(values, dtype="|O", kind="Index"):
    return {"pandas": {"kind": kind, "values": values, "dtype": {"dtype": dtype}, "name": None}}


# ---------------------------------------------------------------------- nodes
def growing_nodes() -> dict[str, list]:
    """Tables of entries, each of which would take more memory or time than a file may."""
    long_range, tall = {"range": [0, 10**6, 1]}, 3 * 10**6
    found = {
        "ranges": [long_range] * 500,
        "ranges in indices": [index(long_range)] * 60,
        "lists of a range": [{"list": long_range}] * 60,
        "range indices": [{"pandas": {"kind": "RangeIndex", "range": long_range, "name": None}}]
        * 500,
        "lists as indices": [numbers(), *[index(ref(0))] * COPIES],
        "texts as indices": [numbers(), *[index(ref(0), "<U1")] * COPIES],
        "wide texts": [{"list": [1] * 2000}, *[index(ref(0), "<U99999")] * 50],
        "objects": [{"objects": {"shape": [LONG], "items": {"numbers": "long"}}}] * MANY,
        "texts": [{"list": {"texts": ["letters", "ones"]}}] * MANY,
        "texts of wide letters": [{"list": {"texts": ["wide letters", "one length"]}}] * MANY,
        "digits": [{"int": "0x" + "f" * 10**6}],
        "dictionaries": [{"dict": [{"numbers": "long"}, {"numbers": "long"}]}] * MANY,
    }
    for kind in ("list", "tuple", "set", "frozenset"):
        found[f"{kind}s of one array"] = [numbers(kind)] * MANY
    for kept in ("csr", "csc"):
        for form in ("csr", "csc", "coo", "lil", "dok", "bsr", "dia"):
            for shape in ((tall, 1), (1, tall), (2**40, 1), (1, 2**40)):
                node = empty_sparse(kept, form, shape)
                found[f"sparse {kept} {form} {shape}"] = [node] * 20
    return found | _tables() | _graphs() | _shared()


def _tables():
    """Things of pandas that repeat what is there once."""
    rows = {"pandas": {"kind": "RangeIndex", "range": {"range": [0, LONG, 1]}, "name": None}}
    column = {"dtype": "<f8"}
    series = {"pandas": {"kind": "Series", "values": 5, "dtype": column, "index": ref(0),
                         "name": None}}  # fmt: skip
    frame = {"pandas": {"kind": "DataFrame", "values": {"list": [ref(1)] * 500},
                        "dtypes": {"list": [column] * 500}, "columns": ref(2),
                        "index": ref(0)}}  # fmt: skip
    names = {"pandas": {"kind": "RangeIndex", "range": {"range": [0, 500, 1]}, "name": None}}
    nothing = copy.deepcopy(frame)
    nothing["pandas"] |= {"values": {"list": [5] * 500}}
    pairs = {"pandas": {"kind": "MultiIndex", "tuples": {"list": [ref(0)] * 5000},
                        "names": {"list": [None] * 1000}}}  # fmt: skip
    category = {"pandas": {"kind": "CategoricalDtype", "categories": ref(0), "ordered": False}}
    return {
        "one value in a series": [rows, *[series] * COPIES],
        "one column in a frame": [rows, numbers(), names, frame],
        "one value in a frame": [rows, numbers(), names, nothing],
        "wide tuples": [{"tuple": [0] * 1000}, pairs],
        "categories": [rows, *[category] * COPIES],
    }


def _graphs():
    """Graphs whose nodes share what is copied for each of them."""
    none = {"list": []}

    def graph(nodes, edges, kind="Graph"):
        return {"graph": {"kind": kind, "nodes": nodes, "edges": edges, "attributes": {
            "dict": [[], []]}}}  # fmt: skip

    attributes = {"dict": [[f"k{i}" for i in range(3000)], [0] * 3000]}
    nodes = {"list": [{"tuple": [i, ref(0)]} for i in range(3000)]}
    edges = {"list": [{"tuple": [i, i + 1, ref(0)]} for i in range(3000)]}
    few = {"list": [{"tuple": [i, i + 1, {"dict": [[], []]}]} for i in range(20_000)]}
    return {
        "attributes of nodes": [attributes, graph(nodes, none)],
        "attributes of edges": [attributes, graph(none, edges)],
        "numbers as nodes": [graph(numbers(), none)] * MANY,
        "a range as nodes": [graph({"range": [0, 10**6, 1]}, none)] * 20,
        "one list of edges": [few, *[graph(none, ref(0), "DiGraph")] * MANY],
    }


def _shared():
    """References to references: exponentially many when written out, or very deep."""

    def doubled(kind, n=40):
        return [{kind: [1, 2]}, *[{kind: [ref(i), ref(i)]} for i in range(n)]]

    def chain(kind, n=30_000):
        return [{kind: [1]}, *[{kind: [ref(i)]} for i in range(n)]]

    kernel = [{"class": "Dirac", "state": {}}]
    for i in range(40):
        kernel.append({"class": "SumKernel", "state": {"kernels": {"list": [ref(i), ref(i)]}}})
    levels = [{"class": "Level", "state": {"start": 0, "stop": 1, "weight": 1.0}}]
    for i in range(40):
        levels.append({"class": "Level", "state": {"start": ref(i), "stop": ref(i), "weight": 1}})
    big = {"tuple": {"numbers": "long"}}
    return {
        "doubled tuples in a set": [*doubled("tuple"), {"set": [ref(40)]}],
        "doubled tuples as a key": [*doubled("tuple"), {"dict": [[ref(40)], [1]]}],
        "doubled lists": [*doubled("list"), {"objects": {"shape": [1], "items": [ref(40)]}}],
        "doubled frozensets": [*doubled("frozenset"), {"set": [ref(40)]}],
        "doubled lists in an index": [*doubled("list"), index({"list": [ref(40)]})],
        "doubled tuples, many keys": [*doubled("tuple", 17), *[{"set": [ref(17)]}] * COPIES],
        "one tuple, many keys": [big, *[{"set": [ref(0)]}] * COPIES],
        "deep tuples in a set": [*chain("tuple"), {"set": [ref(30_000)]}],
        "deep lists": chain("list"),
        "doubled kernels": kernel,
        "doubled levels": [*levels, {"set": [ref(40)]}],
    }


def growing_arrays() -> dict[str, np.ndarray]:
    """The arrays that these nodes refer to."""
    letters = np.full(LONG, ord("a"), np.uint8)
    wide = np.concatenate([letters, np.frombuffer("\U0001f600".encode(), np.uint8)])
    return {
        "long": np.arange(LONG) + 10**6, "none": np.empty(0), "no indices": np.empty(0, np.int64),
        "ends": np.zeros(2, np.int64), "letters": letters, "ones": np.ones(LONG, np.int64),
        "wide letters": wide, "one length": np.array([len(wide)]),
    }  # fmt: skip


def with_nodes(manifest, arrays, nodes):
    """A sound file with further entries, which its model does not need."""
    changed = copy.deepcopy(manifest)
    start = len(changed["objects"])
    entries = [node if "class" in node else {"value": node} for node in nodes]
    changed["objects"] += [_shifted(entry, start) for entry in entries]
    named = {name.replace(" ", "_"): array for name, array in growing_arrays().items()}
    return changed, arrays | named


def _shifted(node, by):
    """A node with its references moved, and names of arrays as members of a zip have them."""
    if isinstance(node, list):
        return [_shifted(part, by) for part in node] if node and not _plain(node) else node
    if isinstance(node, dict):
        if set(node) == {"ref"}:
            return {"ref": node["ref"] + by}
        return {key: _shifted(part, by) if key not in ("numbers", "array", "texts")
                else _member(part) for key, part in node.items()}  # fmt: skip
    return node


def _plain(items):
    return not any(isinstance(item, (dict, list)) for item in items)


def _member(name):
    if isinstance(name, str):
        return name.replace(" ", "_")
    return [part.replace(" ", "_") for part in name] if isinstance(name, list) else name


# ---------------------------------------------------------------------- copies and stretches
def copied(manifest, arrays, numbers=None):
    """(name, manifest, arrays): every object of a model many times, its arrays made long."""
    for i in range(len(manifest["objects"])) if numbers is None else numbers:
        entry = manifest["objects"][i]
        if "class" not in entry:
            continue
        changed, longer = copy.deepcopy(manifest), dict(arrays)
        changed["objects"] += [entry] * COPIES
        yield f"{entry['class']} {i} copied", changed, arrays
        for path in node_paths(entry["state"], []):
            node = node_at(entry["state"], path)
            if path[-1] == "array" and node in arrays and arrays[node].ndim:
                longer[node] = np.resize(arrays[node], (LONG // 4, *arrays[node].shape[1:]))
        yield f"{entry['class']} {i} copied, long", changed, longer


def stretched(manifest, arrays, lengths=None, to=STRETCHED):
    """(name, manifest, arrays): everything of one length made longer, all of it together."""
    for length in sorted(lengths_of(manifest, arrays)) if lengths is None else lengths:
        for longer in to:
            changed, others = copy.deepcopy(manifest), dict(arrays)
            for name, array in arrays.items():
                others[name] = _resized(array, length, longer)
            others["names"] = np.arange(longer)
            _stretch(changed["objects"], length, longer)
            yield f"{length} stretched to {longer}", changed, others


def chained(manifest, arrays, to=STRETCHED):
    """(name, manifest, arrays): a graph of labels that is one long path, where there is a graph."""
    number = next((i for i, e in enumerate(manifest["objects"]) if e.get("class") == "Dag"), None)
    if number is None:
        return
    names = {key: node["array"] for key, node in manifest["objects"][number]["state"].items()}
    length = len(arrays[names["depth"]])
    for longer in to:
        for _, changed, others in stretched(manifest, arrays, [length], [longer]):
            path = np.arange(longer)
            parts = {"depth": path, "parents": path[:-1], "children": path[1:]}
            others |= {names[key]: part for key, part in parts.items()}
            yield f"a path of {longer} labels", changed, others


def lengths_of(manifest, arrays):
    """Lengths that sizes of a model may have."""
    found = {n for array in arrays.values() for n in array.shape}
    for path in node_paths(manifest["objects"], []):
        node = node_at(manifest["objects"], path)
        if isinstance(node, list) and path[-1] in ("list", "tuple", "items", 0, 1):
            found.add(len(node))
    return {n for n in found if 1 < n < 100}


def _resized(array, length, longer):
    for axis, n in enumerate(array.shape):
        if n == length and array.size // n * longer <= MOST_ENTRIES:
            array = np.take(array, np.arange(longer) % n, axis=axis)
            if array.ndim == 1 and array.dtype.kind == "i" and _is_order(array[:n]):
                array = np.arange(longer).astype(array.dtype)
    return array


def _is_order(array):
    return np.array_equal(np.sort(array), np.arange(len(array)))


def _stretch(node, length, longer):
    """Replace lists of names of a length, and numbers that are this length."""
    items = node.items() if isinstance(node, dict) else enumerate(node)
    for key, part in list(items):
        if type(part) is int and part == length and key != "ref":
            node[key] = longer
        elif isinstance(part, list) and len(part) == length and key in ("list", "tuple", "items"):
            node[key] = {"numbers": "names"}
        elif key == "shape" and isinstance(part, list):
            node[key] = [longer if n == length else n for n in part]
        elif isinstance(part, (dict, list)):
            _stretch(part, length, longer)
