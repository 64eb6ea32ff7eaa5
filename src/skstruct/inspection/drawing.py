# SPDX-License-Identifier: BSD-3-Clause
"""Axes to draw on, names as they are, and one row of inputs or outputs, however it was given."""

import unicodedata
from typing import Any

import numpy as np
from scipy import sparse

from skstruct._arrays.imports import is_pandas, require
from skstruct.fitted import Fitted

LITERAL = {"parse_math": False}  # "$x$" is a name here, not a formula
GOOD, MISSED, FALSE = "#3b6fb6", "#d1495b", "#e8a33d"  # right, false negative, false positive
UNSEEN = "\N{REPLACEMENT CHARACTER}"
_TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def written(name: Any, most: int = 40) -> str:
    """A name in one line of letters that can be seen and drawn, in at most ``most`` of them.

    Control characters, halves of surrogate pairs and what turns the direction of reading are
    shown as a replacement character: such a name neither spoils a file nor hides what it says.

    >>> written("up\\x00set", 10), written("a  very\\nlong name", 8), written("")
    ('up�set', 'a very …', "''")
    """
    line = " ".join(str(name).split())
    if not (line and line.isascii() and line.isprintable()):  # most names are
        line = "".join(_visible(letter) for letter in line) or repr(str(name))
    return line if len(line) <= most else line[: most - 1] + "…"


def _visible(letter: str) -> str:
    odd = letter in _TURNING or unicodedata.category(letter) in ("Cc", "Cs", "Cn")
    return UNSEEN if odd else letter


def axes_of(ax: Any, used_by: str, figsize: tuple[float, float]) -> Any:
    """The axes to draw on: those given, or those of a new figure."""
    pyplot = require("matplotlib.pyplot", used_by=used_by, extra="plot")
    return pyplot.subplots(figsize=figsize, layout="constrained")[1] if ax is None else ax


def literal_legend(ax: Any, **options: Any) -> Any:
    """A legend whose names are no formulas."""
    legend = ax.legend(**options)
    for text in legend.get_texts():
        text.set_parse_math(False)
    return legend


# One row of inputs or outputs, however it was given.


def one_input(estimator: Any, x: Any) -> Any:
    """One row that ``estimator`` takes without a word: with names if it was fitted with them."""
    fitted = Fitted.of(estimator)
    if fitted.learner is not estimator or not fitted.estimates_risks:
        raise ValueError(
            f"The display draws predictions of a ConditionalRiskMinimizer, not of "
            f"{type(estimator).__name__}."
        )
    if np.ndim(x) == 2 and x.shape[0] != 1:
        raise ValueError(f"One row is drawn; got {x.shape[0]}.")
    if is_pandas(x, "DataFrame"):
        return x
    names = Fitted.of(estimator).names
    if is_pandas(x, "Series") and names is not None and set(names) <= set(x.index):
        return x[list(names)].to_frame().T
    x = x.toarray() if sparse.issparse(x) else x
    X = np.asarray(x, dtype=np.float64).reshape(1, -1)
    if names is None or X.shape[1] != len(names):
        return X
    import pandas

    return pandas.DataFrame(X, columns=names)


def one_output(space: Any, y: Any) -> np.ndarray:
    """One output in canonical form; a row of a frame is one, too."""
    if is_pandas(y, "DataFrame"):
        rows = y
    else:
        rows = y.to_frame().T if is_pandas(y, "Series") else [y]
    return space.validate(rows)[0]
