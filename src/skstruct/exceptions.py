# SPDX-License-Identifier: BSD-3-Clause
"""Errors and warnings that a caller may want to catch."""


class InfeasibleError(ValueError):
    """No output of the space meets the constraints that were given."""


class UnverifiedAnswerError(RuntimeError):
    """A solver called an answer optimal, but checking it said otherwise."""


class UndecidableError(ValueError):
    """The question has an answer, but finding it would take more work than allowed."""


class MissingDataError(FileNotFoundError):
    """A data set is not on this machine; the message says how to get it."""
