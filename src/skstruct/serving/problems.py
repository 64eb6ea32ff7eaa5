# SPDX-License-Identifier: BSD-3-Clause
"""What is wrong with a request: a status, and a sentence with row, column and remedy."""

import re
from typing import Any

_ROW = re.compile(r"\bY\[(\d+)\]|\brow (\d+)\b")
RETRY = {429: "1", 503: "5"}  # seconds, for whoever asks again
WRONG = (
    ValueError,
    TypeError,
    OverflowError,
    RecursionError,
    NotImplementedError,
    ZeroDivisionError,
)


class Problem(Exception):
    """A request that is not answered.

    Parameters
    ----------
    status : int
        Of HTTP.
    error : str
        What is wrong, and what to do.
    **more
        Further fields of the answer, such as ``row`` and ``column``.
    """

    def __init__(self, status: int, error: str, **more: Any) -> None:
        super().__init__(error)
        self.status, self.error, self.more = status, error, more

    def body(self) -> dict[str, Any]:
        """What the answer holds."""
        return {"error": self.error, **self.more}

    def headers(self) -> dict[str, str]:
        """Headers that belong to the status."""
        found = {"Retry-After": RETRY[self.status]} if self.status in RETRY else {}
        return found | ({"WWW-Authenticate": "Bearer"} if self.status == 401 else {})


def problem_of(error: BaseException) -> Problem:
    """The sentence of an error of Python, with its row, counted from 1, and its column.

    >>> from skstruct.encoding.columns import fail
    >>> problem_of(fail("a number is wanted", 0, "size")).body()
    {'error': "row 1, column 'size': a number is wanted.", 'row': 1, 'column': 'size'}
    """
    if isinstance(error, Problem):
        return error
    if isinstance(error, RecursionError):
        return Problem(422, "The request is nested too deeply: rows are flat.")
    if isinstance(error, OverflowError):
        return Problem(422, "A number is too large: give one that fits into a float.")
    text = " ".join(str(error).split()) or type(error).__name__
    counted = hasattr(error, "field")  # messages for Python count from 0, people from 1
    if not counted:
        text = _ROW.sub(lambda found: f"row {int(found[1] or found[2]) + 1}", text)
    return Problem(422, text, **_where(error, text))


def _where(error: BaseException, text: str) -> dict[str, Any]:
    row, column = getattr(error, "row", None), getattr(error, "field", None)
    if row is None and (found := re.match(r"(?:restrict of )?row (\d+)\b", text)):
        row = int(found[1]) - 1
    where: dict[str, Any] = {} if row is None else {"row": int(row) + 1}
    return where | ({} if column is None else {"column": str(column)})
