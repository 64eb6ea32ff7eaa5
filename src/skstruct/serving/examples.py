# SPDX-License-Identifier: BSD-3-Clause
"""What a model could be asked for, made up from what it knows of its columns and names."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from skstruct.persistence.stored_predictions import own_rows
from skstruct.serving.outputs import json_value

SEED = 7
NUMBERS: dict[str, tuple[Any, ...]] = {  # values of constraints that name nothing
    "min_size": (1,), "max_size": (2, 1), "top": (1,), "max_length": (100,), "length": (2, 1),
    "one_path": (True,), "capacity": (1.0,), "low": (0.0,), "high": (1.0,),
}  # fmt: skip
EPOCH = np.datetime64("1970-01-01")


def example_rows(served: Any, n: int = 1) -> list[Any]:
    """Rows as JSON has them: names of training, and numbers about its means."""
    encoder = served.fitted.encoder
    if encoder is None:
        return _unnamed(served, n)
    table = encoder.example_rows(n, np.random.default_rng(SEED))
    rows = []
    for numbers in np.asarray(table.data).tolist():
        row = {
            name: _cell(number, values, encoder.others_.get(name))
            for name, values, number in zip(table.names, table.values, numbers)
        }
        named = hasattr(encoder, "feature_names_in_")
        rows.append(row if named else list(row.values()))
    return rows


def example_constraints(served: Any) -> list[dict[str, Any]]:
    """For every constraint the first example that the space takes; none where none is known."""
    found = []
    for key in served.constraints():
        for value in _values(key, served.names):
            try:
                served.space.restrict(**{key: value})
            except Exception:  # another form is wanted, or nothing is left by it
                continue
            found.append({key: value})
            break
    return found


def _values(key: str, kinds: list[tuple[Any, ...]]) -> Iterator[Any]:
    """What a constraint may be: a number, or names in one of the forms in which spaces take them.

    Parameters
    ----------
    kinds : list of tuples
        Names of labels, of nodes, and so on.
    """
    if key in NUMBERS:
        yield from NUMBERS[key]
        return
    for name in [names[end] for end in (0, -1) for names in kinds]:
        yield from ([name], name, {0: name}, {name: 1})
        yield from ({names[0]: name} for names in kinds)
    yield from (form for a, b in [names[:2] for names in kinds] for form in ([(a, b)], [[a, b]]))


def _cell(number: float, values: Any, kind: str | None) -> Any:
    if number != number:
        return None
    if values is not None:
        return str(values[int(number)])
    if kind == "date":
        return str(EPOCH + np.timedelta64(round(number), "D"))
    return float(f"{number:.4g}")


def _short(cell: Any) -> Any:
    return float(f"{cell:.4g}") if isinstance(cell, float) else cell


def _unnamed(served: Any, n: int) -> list[Any]:
    found = own_rows(served.model)
    if hasattr(found, "toarray"):
        found = found.toarray()
    rows = json_value([found[i % len(found)] for i in range(n)])
    if served.of_sequences or all(isinstance(row, str) for row in rows):
        return list(rows)
    names = [column.name for column in served.columns]
    short = [[_short(cell) for cell in row] for row in rows]
    return [dict(zip(names, row)) for row in short] if names else short
