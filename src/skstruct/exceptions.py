# SPDX-License-Identifier: BSD-3-Clause
"""Errors and warnings that a caller may want to catch."""


class InfeasibleError(ValueError):
    """No output of the space meets the constraints that were given.

    Attributes
    ----------
    row : int or None
        The first row of which that is so, where rows differ.
    """

    def __init__(self, message, row=None):
        super().__init__(message)
        self.row = row

    def __reduce__(self):
        return type(self), (str(self), self.row)

    def shifted(self, start: int):
        """The same of a row counted from the beginning, not from the start of its block."""
        if self.row is None:
            return self
        row = self.row + start
        return type(self)(str(self).replace(f"row {self.row}", f"row {row}", 1), row)


class UnverifiedAnswerError(RuntimeError):
    """A solver called an answer optimal, but checking it said otherwise."""


class UndecidableError(ValueError):
    """The question has an answer, but finding it would take more work than allowed."""


class SamplingError(RuntimeError):
    """Exact draws would take more trials than allowed."""


class MissingDataError(FileNotFoundError):
    """A data set is not on this machine; the message says how to get it."""


class MixingWarning(UserWarning):
    """Markov chains have not forgotten where they began; the message says what to try."""
