# SPDX-License-Identifier: BSD-3-Clause
"""Things of SciPy, pandas and networkx as nodes, and back through constructors that check."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from skstruct._arrays.optional import is_networkx, is_pandas
from skstruct.exceptions import ModelFileError

FORMATS = ("csr", "csc")
GRAPHS = ("Graph", "DiGraph")
_PANDAS_DTYPE = re.compile(r"str|string|boolean|U?Int(8|16|32|64)|Float(32|64)")


# ---------------------------------------------------------------------- writing
def encode_foreign(value, node: Callable) -> dict | None:
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


def _is_masked(value) -> bool:
    """Whether this is a dtype of pandas such as Int64."""
    return is_pandas(value, "Int64Dtype", "Float64Dtype") or (
        type(value).__module__.startswith("pandas.")
        and _PANDAS_DTYPE.fullmatch(str(value)) is not None
    )


def _encode_sparse(value, node):
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
def decode_sparse(parts: dict, read: Callable):
    """A sparse array or matrix whose indices are all inside it."""
    name = f"{parts['kept']}_{'array' if parts['array'] is True else 'matrix'}"
    if parts["kept"] not in FORMATS or len(parts["shape"]) != 2:
        raise ModelFileError("a sparse array of an unknown form")
    data, indices, indptr = (read(parts[part]) for part in ("data", "indices", "indptr"))
    rows, columns = (int(n) for n in parts["shape"])
    lines, width = (rows, columns) if parts["kept"] == "csr" else (columns, rows)
    check_compressed(data, indices, indptr, lines, width)
    made = getattr(sparse, name)((data, indices, indptr), shape=(rows, columns))
    form = str(parts["format"])
    if form == parts["kept"]:
        return made
    if form not in ("coo", "lil", "dok", "bsr", "dia"):
        raise ModelFileError("a sparse array of an unknown form")
    return made.asformat(form)


def check_compressed(data, indices, indptr, lines: int, width: int) -> None:
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


def decode_pandas(parts: dict, read: Callable) -> Any:
    """An index, a series or a frame."""
    import pandas

    kind = parts.pop("kind")
    values = {name: read(part) for name, part in parts.items()}
    if kind == "MultiIndex":
        return pandas.MultiIndex.from_tuples(values["tuples"], names=values["names"])
    if kind == "CategoricalDtype":
        return pandas.CategoricalDtype(values["categories"], ordered=values["ordered"])
    if kind == "RangeIndex":
        return pandas.RangeIndex(values["range"], name=values["name"])
    if kind == "Index":
        return pandas.Index(values["values"], dtype=values["dtype"], name=values["name"])
    if kind == "Series":
        return pandas.Series(
            values["values"], index=values["index"], dtype=values["dtype"], name=values["name"]
        )
    if kind != "DataFrame":
        raise ModelFileError(f"a thing of pandas, {kind!r}, that is not known")
    columns = {
        j: pandas.Series(column, index=values["index"], dtype=dtype)
        for j, (column, dtype) in enumerate(zip(values["values"], values["dtypes"], strict=True))
    }
    frame = pandas.DataFrame(columns, index=values["index"])
    frame.columns = values["columns"]
    return frame


def decode_pandas_dtype(name: str):
    """A dtype that only pandas has."""
    import pandas

    if not _PANDAS_DTYPE.fullmatch(name):
        raise ModelFileError(f"a dtype of pandas, {name!r:.40}, that is not known")
    return pandas.api.types.pandas_dtype(name)


def decode_graph(parts: dict, read: Callable):
    """A graph of networkx, nodes and edges in their order."""
    import networkx

    values = {name: read(part) for name, part in parts.items()}
    if values["kind"] not in GRAPHS:
        raise ModelFileError(f"a graph {values['kind']!r:.40} that is not known")
    graph = getattr(networkx, values["kind"])()
    graph.graph.update(values["attributes"])
    graph.add_nodes_from(values["nodes"])
    graph.add_edges_from(values["edges"])
    return graph
