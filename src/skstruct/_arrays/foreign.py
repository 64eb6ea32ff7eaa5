# SPDX-License-Identifier: BSD-3-Clause
"""What comes from other packages: tensors as arrays, frames of polars and pyarrow as of pandas."""

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from skstruct._arrays.imports import require

Kind = TypeVar("Kind", bound=type)
FRAMES = {"polars": ("DataFrame",), "pyarrow": ("Table", "RecordBatch")}
COLUMNS = {"polars": ("Series",), "pyarrow": ("Array", "ChunkedArray")}


def is_tensor(value: Any) -> bool:
    """Whether ``value`` is a tensor of torch, without importing it."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def on_host(value: Any) -> Any:
    """A tensor, or each of a list of tensors, as an array; anything else as it is."""
    if is_tensor(value):
        return _array(value)
    if type(value) in (list, tuple) and len(value) and is_tensor(value[0]):
        return [on_host(row)[()] for row in value]  # numbers, where they have no axes
    return value


def _array(tensor: Any) -> Any:
    """The numbers of a tensor, wherever they are."""
    if tensor.is_meta:
        raise ValueError(
            f"A tensor of shape {tuple(tensor.shape)} is on the device meta, which holds no "
            "numbers: give one with data."
        )
    tensor = tensor.detach().cpu()
    if str(tensor.dtype) == "torch.bfloat16":  # which NumPy has not, and single precision holds
        tensor = tensor.float()
    return tensor.numpy()


def _is_one_of(value: Any, kinds: dict[str, tuple[str, ...]]) -> bool:
    """Whether this is of a class of packages that need not be imported: who has it, has them."""
    return any(
        isinstance(value, tuple(getattr(package, kind) for kind in names))
        for name, names in kinds.items()
        if (package := sys.modules.get(name)) is not None
    )


def in_memory(table: Any) -> Any:
    """A frame of polars or pyarrow as one of pandas, a column of theirs as an array or a list, a
    tensor of torch as an array; anything else as it is.

    >>> in_memory([[0, 1]])
    [[0, 1]]
    """
    return on_host(of_pandas(table))


def of_pandas(table: Any) -> Any:
    """The same, but tensors stay where they are."""
    if _is_one_of(table, FRAMES):
        pandas = require("pandas", used_by=f"A {type(table).__name__} of outputs", extra="parquet")
        import narwhals.stable.v2 as nw

        frame = nw.from_native(table, eager_only=True)
        return pandas.DataFrame({name: _cells(frame.get_column(name)) for name in frame.columns})
    if _is_one_of(table, COLUMNS):
        import narwhals.stable.v2 as nw

        return _cells(nw.from_native(_chunked(table), series_only=True))
    return table


def _chunked(column: Any) -> Any:
    """An array of pyarrow as the kind of it that narwhals reads."""
    pyarrow = sys.modules.get("pyarrow")
    is_array = pyarrow is not None and isinstance(column, pyarrow.Array)
    return pyarrow.chunked_array([column]) if pyarrow is not None and is_array else column


def _cells(column: Any) -> Any:
    """Numbers as an array, NaN where missing; others as a list, None where missing."""
    import narwhals.stable.v2 as nw

    if not (column.dtype.is_numeric() or column.dtype == nw.Boolean):
        return column.to_list()
    gaps = column.is_null().any()
    return (column.cast(nw.Float64) if gaps else column).to_numpy()


READERS = ("fit", "validate", "fit_validate")


def read_in_memory(kind: Kind, readers: tuple[str, ...] = READERS) -> Kind:
    """Let the methods of a class that read outputs take tensors, and frames of any package.

    Called by ``__init_subclass__``, so that whoever writes a space need not think of it.
    """
    for name in readers:
        method = vars(kind).get(name)
        if callable(method) and not hasattr(method, "reads_frames"):
            setattr(kind, name, _reading(method))
    return kind


def _reading(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def read(self: Any, Y: Any, *args: Any, **kwargs: Any) -> Any:
        given = {name: in_memory(value) for name, value in kwargs.items()}
        return method(self, in_memory(Y), *map(in_memory, args), **given)

    read.reads_frames = True  # type: ignore[attr-defined]
    return read
