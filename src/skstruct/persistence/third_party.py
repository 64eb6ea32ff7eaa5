# SPDX-License-Identifier: BSD-3-Clause
"""Things of SciPy, pandas and networkx as nodes, and back through constructors that check."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from skstruct._arrays.imports import is_networkx, is_pandas
from skstruct.exceptions import ModelFileError
from skstruct.persistence.budget import CELL, HASHED, NODE, NUMBER, TABLE, Budget

FORMATS = ("csr", "csc")
GRAPHS = ("Graph", "DiGraph")
_PANDAS_DTYPE = re.compile(r"str|string|boolean|U?Int(8|16|32|64)|Float(32|64)")


# ---------------------------------------------------------------------- writing
def encode_foreign(value: Any, node: Callable[..., Any]) -> dict[Any, Any] | None:
    """The node of something of another library; None where it is none of these.

    ``node(part, name)`` makes the nodes of its parts.
    """
    parts: dict[str, Any]
    if sparse.issparse(value):
        return {"sparse": _encode_sparse(value, node)}
    if is_pandas(value, "MultiIndex"):
        parts = {"tuples": list(value), "names": list(value.names)}
    elif is_pandas(value, "RangeIndex"):
        parts = {"range": range(value.start, value.stop, value.step), "name": value.name}
    elif is_pandas(value, "Index") and type(value).__name__ == "Index":
        parts = {"values": list(value), "dtype": value.dtype, "name": value.name}
    elif is_pandas(value, "Series"):
        parts = {"values": list(value), "dtype": value.dtype}
        parts |= {"index": value.index, "name": value.name}
    elif is_pandas(value, "DataFrame"):
        columns = [value.iloc[:, j] for j in range(value.shape[1])]
        parts = {"values": [list(column) for column in columns], "dtypes": list(value.dtypes)}
        parts |= {"columns": value.columns, "index": value.index}
    elif is_pandas(value, "CategoricalDtype"):
        parts = {"categories": value.categories, "ordered": value.ordered}
    elif is_pandas(value, "StringDtype", "BooleanDtype") or _is_masked(value):
        return {"pandas dtype": str(value)}
    elif is_networkx(value) and type(value).__name__ in GRAPHS:
        parts = {
            "kind": type(value).__name__,
            "nodes": [(v, dict(data)) for v, data in value.nodes(data=True)],
            "edges": [(u, v, dict(data)) for u, v, data in value.edges(data=True)],
            "attributes": dict(value.graph),
        }
        return {"graph": {name: node(part, name) for name, part in parts.items()}}
    else:
        return None
    kind = type(value).__name__
    return {"pandas": {"kind": kind} | {name: node(part, name) for name, part in parts.items()}}


def _is_masked(value: Any) -> bool:
    """Whether this is a dtype of pandas such as Int64."""
    return is_pandas(value, "Int64Dtype", "Float64Dtype") or (
        type(value).__module__.startswith("pandas.")
        and _PANDAS_DTYPE.fullmatch(str(value)) is not None
    )


def _encode_sparse(value: Any, node: Callable[..., Any]) -> dict[str, Any]:
    form = value.format if value.format in FORMATS else "csr"
    kept = value if value.format == form else value.asformat(form)
    return {
        "array": isinstance(value, sparse.sparray),
        "format": value.format,
        "kept": form,
        "shape": list(value.shape),
        **{name: node(getattr(kept, name), name) for name in ("data", "indices", "indptr")},
    }


# ---------------------------------------------------------------------- reading
SPARSE = {"array", "format", "kept", "shape", "data", "indices", "indptr"}
GRAPH = {"kind", "nodes", "edges", "attributes"}


def check_fields(parts: Any, names: set[str], what: str) -> None:
    """Raise unless something has these fields and no others, which would mean something, too."""
    if not isinstance(parts, dict) or parts.keys() != names:
        raise ModelFileError(
            f"{what} with other fields than it has: wanted {sorted(names)}; got "
            f"{sorted(parts) if isinstance(parts, dict) else type(parts).__name__!r:.200}"
        )


def decode_sparse(parts: dict[Any, Any], read: Callable[..., Any], budget: Budget) -> Any:
    """A sparse array or matrix whose indices are all inside it."""
    check_fields(parts, SPARSE, "a sparse array")
    if parts["kept"] not in FORMATS or len(parts["shape"]) != 2:
        raise ModelFileError("a sparse array of an unknown form")
    if type(parts["array"]) is not bool:
        raise ModelFileError(
            f"a sparse array that is neither array nor matrix: got {parts['array']!r:.40}"
        )
    name = f"{parts['kept']}_{'array' if parts['array'] else 'matrix'}"
    data, indices, indptr = (read(parts[part]) for part in ("data", "indices", "indptr"))
    if any(type(n) is not int or n < 0 for n in parts["shape"]):
        raise ModelFileError("a sparse array of an impossible shape")
    rows, columns = parts["shape"]
    lines, width = (rows, columns) if parts["kept"] == "csr" else (columns, rows)
    # Whoever turns it over makes an array as long as its other side.
    budget.take(TABLE + 8 * (rows + columns) + 16 * len(indices))
    check_compressed(data, indices, indptr, lines, width)
    made = getattr(sparse, name)((data, indices, indptr), shape=(rows, columns))
    form = parts["format"]
    if form == parts["kept"]:
        return made
    if not isinstance(form, str) or form not in _CONVERTED:
        raise ModelFileError("a sparse array of an unknown form")
    budget.take(_CONVERTED[form](made))
    return made.asformat(form)


def _diagonal_bytes(made: Any) -> int:
    """Every diagonal that has an entry is kept whole."""
    coordinates = made.tocoo()
    n_diagonals = len(np.unique(coordinates.col.astype(np.int64) - coordinates.row))
    return int(64 * made.nnz + n_diagonals * made.shape[1] * made.dtype.itemsize)


# Bytes that a compressed array takes in its other formats.
_CONVERTED: dict[str, Callable[..., Any]] = {
    "bsr": lambda made: 64 * (made.nnz + sum(made.shape)),
    "coo": lambda made: 32 * made.nnz,
    "dia": _diagonal_bytes,
    "dok": lambda made: (HASHED + 4 * NUMBER) * made.nnz,
    "lil": lambda made: 192 * made.shape[0] + 2 * (NUMBER + 8) * made.nnz,
}


def check_compressed(
    data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, lines: int, width: int
) -> None:
    """Refuse indices that point outside: compiled code follows them without looking."""
    plain = all(isinstance(part, np.ndarray) and part.ndim == 1 for part in (data, indices, indptr))
    if not plain or data.dtype.kind not in "biufc":
        raise ModelFileError("a sparse array that is not one")
    if any(part.dtype not in (np.int32, np.int64) for part in (indices, indptr)):
        raise ModelFileError("a sparse array with indices that are no 32 or 64 bit numbers")
    good = (
        0 <= width < 2**62 and len(indptr) == lines + 1 and len(data) == len(indices)
        and indptr[0] == 0 and indptr[-1] == len(indices) and (np.diff(indptr) >= 0).all()
        and (len(indices) == 0 or (indices.min() >= 0 and indices.max() < width))
    )  # fmt: skip
    if not good:
        raise ModelFileError("a sparse array with indices outside of it")


def decode_pandas(parts: dict[Any, Any], read: Callable[..., Any], budget: Budget) -> Any:
    """An index, a series or a frame."""
    kind = parts.pop("kind")
    if kind not in _PANDAS:
        raise ModelFileError(f"a thing of pandas, {kind!r:.40}, that is not known")
    make, fields = _PANDAS[kind]
    check_fields(parts, fields, f"a {kind} of pandas")
    values = {name: read(part) for name, part in parts.items()}
    budget.take(TABLE)
    return make(values, budget)


def _multi_index(values: dict[str, Any], budget: Budget) -> Any:
    import pandas

    tuples = _listed(values["tuples"], tuple)
    budget.take(2 * CELL * sum(map(len, tuples)))
    return pandas.MultiIndex.from_tuples(tuples, names=values["names"])


def _range_index(values: dict[str, Any], budget: Budget) -> Any:
    import pandas

    if type(values["range"]) is not range:
        raise ModelFileError("an index of a range that is none")
    return pandas.RangeIndex(values["range"], name=values["name"])


def _index(values: dict[str, Any], budget: Budget) -> Any:
    import pandas

    budget.take(CELL * len(_listed(values["values"])))
    return pandas.Index(values["values"], dtype=_dtype(values["dtype"]), name=values["name"])


def _categories(values: dict[str, Any], budget: Budget) -> Any:
    import pandas

    if not is_pandas(values["categories"], "Index"):
        raise ModelFileError("categories that are none")
    budget.take(CELL * len(values["categories"]))
    return pandas.CategoricalDtype(values["categories"], ordered=values["ordered"])


def _series(values: dict[str, Any], budget: Budget) -> Any:
    import pandas

    _check_index(values["index"], [_listed(values["values"])])
    budget.take(2 * CELL * len(values["values"]))
    return pandas.Series(
        values["values"], index=values["index"], dtype=_dtype(values["dtype"]), name=values["name"]
    )


def _frame(values: dict[str, Any], budget: Budget) -> Any:
    import pandas

    columns = _listed(values["values"], list)
    _check_index(values["index"], columns)
    budget.take(len(columns) * (TABLE + 2 * CELL * len(values["index"])))
    made = {
        j: pandas.Series(column, index=values["index"], dtype=_dtype(dtype))
        for j, (column, dtype) in enumerate(zip(columns, values["dtypes"], strict=True))
    }
    frame = pandas.DataFrame(made, index=values["index"])
    frame.columns = values["columns"]
    return frame


_PANDAS: dict[str, tuple[Callable[..., Any], set[str]]] = {
    "CategoricalDtype": (_categories, {"categories", "ordered"}),
    "DataFrame": (_frame, {"values", "dtypes", "columns", "index"}),
    "Index": (_index, {"values", "dtype", "name"}),
    "MultiIndex": (_multi_index, {"tuples", "names"}),
    "RangeIndex": (_range_index, {"range", "name"}),
    "Series": (_series, {"values", "dtype", "index", "name"}),
}


def _listed(items: list[Any], kind: type | None = None) -> list[Any]:
    """A list, of things of one kind where it is given: others may be listed without an end."""
    if type(items) is not list or (kind is not None and not all(type(i) is kind for i in items)):
        raise ModelFileError("a list that is none")
    return items


def _check_index(index: Any, columns: list[list[int]]) -> None:
    """Raise unless all columns are as long as their index: one value would be repeated."""
    if not is_pandas(index, "Index") or any(len(column) != len(index) for column in columns):
        raise ModelFileError("a table whose index does not fit")


def _dtype(dtype: Any) -> Any:
    """A dtype of numpy or pandas, and no wide text: this would be as wide in every cell."""
    extended = is_pandas(dtype, "CategoricalDtype", "StringDtype") or _is_masked(dtype)
    if not extended and not (isinstance(dtype, np.dtype) and dtype.itemsize <= 16):
        raise ModelFileError("a dtype of a column that is none")
    return dtype


def decode_pandas_dtype(name: str) -> Any:
    """A dtype that only pandas has."""
    import pandas

    if not _PANDAS_DTYPE.fullmatch(name):
        raise ModelFileError(f"a dtype of pandas, {name!r:.40}, that is not known")
    return pandas.api.types.pandas_dtype(name)


def decode_graph(parts: dict[Any, Any], read: Callable[..., Any], budget: Budget) -> Any:
    """A graph of networkx, nodes and edges in their order."""
    import networkx

    check_fields(parts, GRAPH, "a graph")
    values = {name: read(part) for name, part in parts.items()}
    if values["kind"] not in GRAPHS:
        raise ModelFileError(f"a graph {values['kind']!r:.40} that is not known")
    nodes, edges = (_listed(values[part], tuple) for part in ("nodes", "edges"))
    both = [(nodes, 2, NODE), (edges, 3, 3 * NODE)]  # an edge may bring its nodes
    for parts_of, width, each in both:
        if any(len(part) != width or type(part[-1]) is not dict for part in parts_of):
            raise ModelFileError("a graph with nodes or edges that are none")
        # Attributes are copied: many nodes may share one large dictionary in the file.
        budget.take(sum(each + HASHED * len(part[-1]) for part in parts_of))
    graph = getattr(networkx, values["kind"])()
    graph.graph.update(values["attributes"])
    graph.add_nodes_from(nodes)
    graph.add_edges_from(edges)
    return graph
