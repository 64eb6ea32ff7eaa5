# SPDX-License-Identifier: BSD-3-Clause
"""``skstruct predict --marginals``: how probable the parts of outputs are, in columns."""

from typing import Any

import click
import numpy as np

from skstruct.cli.beside import Beside, Maker, four_digits
from skstruct.cli.predictions import Predictions
from skstruct.exceptions import InfeasibleError
from skstruct.serving.abilities import no_marginals
from skstruct.spaces import Marginals


def check_marginals(task_model: Any, option: str) -> None:
    """Wrong usage, where a model tells no probabilities of parts."""
    reason = no_marginals(task_model.learner_)
    if reason is not None:
        raise click.UsageError(f"{option}: {reason}")


def marginal_columns(task_model: Any, constraints: dict[str, Any] | None) -> Maker:
    """A function that makes the columns of a block.

    Parameters
    ----------
    constraints : dict or None
        What is known of outputs: probabilities are those given that.
    """
    learner, task = task_model.learner_, task_model.task_
    options: dict[str, Any] = {} if constraints is None else {"restrict": constraints}

    def make(X: Any, found: Predictions) -> list[Beside]:
        try:
            marginals = learner.predict_marginals(X, **options)
        except InfeasibleError:
            raise
        except ValueError as error:
            raise click.UsageError(f"--marginals: {error}") from None
        if task == "sequence":
            return [_confidence(marginals, learner.space_, found)]
        return _columns(np.asarray(marginals), learner.space_, task)

    return make


def _columns(marginals: np.ndarray, space: Any, task: str) -> list[Beside]:
    """A column for every name, or for every pair of items in the order of the items."""
    names = [str(name) for name in Marginals.of(space).axes(marginals.shape[-1])[0]]
    if task != "ranking":
        return [_probability(name, marginals[:, j]) for j, name in enumerate(names)]
    first, second = np.triu_indices(len(names), 1)
    return [
        _probability(f"{names[i]} before {names[j]}", marginals[:, i, j])
        for i, j in zip(first.tolist(), second.tolist())
    ]


def _probability(what: str, values: np.ndarray) -> Beside:
    return Beside(f"P({what})", values.tolist(), four_digits, "float64")


def _confidence(marginals: Any, space: Any, found: Predictions) -> Beside:
    """The probability of each predicted symbol at its position."""
    number = {str(symbol): a for a, symbol in enumerate(space.symbols_)}
    at = found.columns.index("prediction")
    cells = [
        [float(probabilities[t][number[symbol]]) for t, symbol in enumerate(row[at])]
        for row, probabilities in zip(found.rows, marginals)
    ]
    return Beside("confidence", cells, lambda numbers: " ".join(map(four_digits, numbers)))
