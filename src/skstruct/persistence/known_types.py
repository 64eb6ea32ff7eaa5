# SPDX-License-Identifier: BSD-3-Clause
"""Values of Python and pandas that a file holds as a type and a text: names of labels, mostly."""

import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

from skstruct.exceptions import ModelFileError

LONGEST = 1000  # characters of a text
LARGEST = 10_000  # power of ten of a decimal: comparing it writes out so many digits
TIMES = re.compile(r"[\d-]+T[\d:.]+([+-][\d:.]+)?", re.ASCII)
WHOLE_PARTS = re.compile(r"-?\d+/\d+", re.ASCII)


def _decimal(text: str) -> Decimal:
    value = Decimal(text)
    if value.is_finite() and abs(value.adjusted()) > LARGEST:
        raise ValueError("a decimal that is too large")
    return value


def _fraction(text: str) -> Fraction:
    if not WHOLE_PARTS.fullmatch(text):  # nor a power of ten, which would be written out
        raise ValueError("a fraction that is none")
    above, below = map(int, text.split("/"))
    return Fraction(above, below)


def _timestamp(text: str) -> Any:
    import pandas

    if not TIMES.fullmatch(text):  # pandas would read many other texts, such as "now"
        raise ValueError("a time that is none")
    return pandas.Timestamp(text)


READ: dict[str, Callable[[str], Any]] = {
    "Decimal": _decimal,
    "Fraction": _fraction,
    "Timestamp": _timestamp,
    "UUID": UUID,
}


def encode_known(value: Any) -> list[str] | None:
    """The type and the text that a value is read from; None for one of another type."""
    kind = type(value)
    home = kind.__module__.partition(".")[0]
    if (home, kind.__name__) not in KNOWN:
        return None
    text = f"{value.numerator}/{value.denominator}" if kind is Fraction else str(value)
    text = value.isoformat() if kind.__name__ == "Timestamp" else text
    try:
        again = decode_known([kind.__name__, text])
    except ModelFileError:
        return None
    return [kind.__name__, text] if again == value else None


KNOWN = {("decimal", "Decimal"), ("fractions", "Fraction"), ("pandas", "Timestamp")}
KNOWN |= {("uuid", "UUID")}


def decode_known(body: Any) -> Any:
    """The value of a type and a text."""
    kind, text = body
    if not (isinstance(kind, str) and kind in READ and isinstance(text, str)):
        raise ModelFileError("a text of a type that is not known")
    if len(text) > LONGEST:
        raise ModelFileError(f"a {kind} of {len(text)} characters")
    try:
        return READ[kind](text)
    except (ArithmeticError, ValueError):
        raise ModelFileError(f"a {kind} that is none: {text!r:.60}") from None
