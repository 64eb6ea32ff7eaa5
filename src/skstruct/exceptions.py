# SPDX-License-Identifier: BSD-3-Clause
"""Errors and warnings that a caller may want to catch."""

import os
from collections.abc import Callable
from typing import Any, Self


class InfeasibleError(ValueError):
    """No output of the space meets the constraints that were given.

    Attributes
    ----------
    row : int or None
        The first row of which that is so, where rows differ.
    """

    def __init__(self, message: str, row: int | None = None) -> None:
        super().__init__(message)
        self.row = row

    def __reduce__(self) -> tuple[type[Any], tuple[str, int | None]]:
        return type(self), (str(self), self.row)

    def shifted(self, start: int) -> Self:
        """The same of a row counted from the beginning, not from the start of its block."""
        if self.row is None:
            return self
        row = self.row + start
        return type(self)(str(self).replace(f"row {self.row}", f"row {row}", 1), row)


class UnverifiedAnswerError(RuntimeError):
    """A solver called an answer optimal, but checking it said otherwise."""


class UndecidableError(ValueError):
    """The question has an answer, but finding it would take more work than allowed."""


class NoFacetError(ValueError):
    """A structure has no answer to a question of this kind."""


class SamplingError(RuntimeError):
    """Exact draws would take more trials than allowed."""


class Cancelled(RuntimeError):
    """Another thread has asked for the work to end; see :func:`skstruct.config_context`.

    Models are as they were before the call, files are whole or not there, and checkpoints stay.
    """


class DataFormatError(ValueError):
    """A file that cannot be read as data; one line that says where and why.

    Attributes
    ----------
    problem : str
    path : str or None
    line, column : int or None
        Counted from 1; a column is a field of the line.
    row : int or None
        Counted from 0, of rows that are in no file.
    field : str or None
        Name of the column there.

    Examples
    --------
    >>> raise DataFormatError("'x' is not a number", path="a.csv", line=3, column=2)
    Traceback (most recent call last):
        ...
    skstruct.exceptions.DataFormatError: a.csv, line 3, column 2: 'x' is not a number.
    """

    row: int | None = None
    field: str | None = None

    def __init__(
        self,
        problem: str,
        *,
        path: str | os.PathLike[str] | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        self.problem = " ".join(str(problem).split()).rstrip(".")
        self.path = None if path is None else str(path)
        self.line, self.column = line, column
        super().__init__(self._message())

    def _message(self) -> str:
        where = [] if self.path is None else [" ".join(self.path.split())]
        where += [] if self.line is None else [f"line {self.line}"]
        where += [] if self.column is None else [f"column {self.column}"]
        return ", ".join(where) + (": " if where else "") + self.problem + "."

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _rebuilt, (type(self), self.problem, self.path, self.line, self.column)

    def at(
        self,
        path: str | os.PathLike[str] | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> Self:
        """The same with a place that was not known where it was raised."""
        known = (self.path or path, self.line or line, self.column or column)
        made: Self = _rebuilt(type(self), self.problem, *known)
        made.row, made.field = self.row, self.field
        return made


def _rebuilt(kind: type[Any], problem: str, path: Any, line: int | None, column: int | None) -> Any:
    return kind(problem, path=path, line=line, column=column)


class ModelFileError(ValueError):
    """A model file or checkpoint that is not read, or an object that cannot be saved."""


class MissingDataError(FileNotFoundError):
    """A data set is not on this machine; the message says how to get it."""


class EngineError(RuntimeError):
    """The engine that spreads the work has failed, not the work: a worker or scheduler is gone."""


class MixingWarning(UserWarning):
    """Markov chains have not forgotten where they began; the message says what to try."""


def restated(error: Any, said: str) -> Exception:
    """An error of the same kind that says something else, if that kind can be made of words."""
    try:
        other = type(error)(said)
    except TypeError:
        other = ValueError(said)
    return other if said in str(other) else ValueError(said)
