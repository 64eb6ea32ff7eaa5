# SPDX-License-Identifier: BSD-3-Clause
"""Probabilities of the parts of outputs beside predictions, batch after batch and into files."""

from typing import Any

import numpy as np

from skstruct._arrays.imports import is_pandas
from skstruct.exceptions import restated
from skstruct.spaces import Description
from skstruct.streaming.blocks import count_rows

COLUMNS = ("labels", "hierarchy", "classes", "ordinal")  # kinds of outputs with one name a part


def check_marginals(model: Any) -> None:
    """Raise where a model has no probabilities."""
    if not hasattr(model, "predict_marginals"):
        raise TypeError(f"marginals=True: {type(model).__name__} has no predict_marginals.")


def marginals_of(model: Any, X: Any, choices: dict[str, Any]) -> Any:
    """``predict_marginals`` given what is known of the outputs."""
    restrict = choices.get("restrict")
    return model.predict_marginals(X, **({} if restrict is None else {"restrict": restrict}))


class PredictedMarginals:
    """Outputs, as a pair with probabilities of their parts."""

    def __init__(self, outputs: Any, marginals: Any) -> None:
        self.outputs = (outputs, marginals)


class MarginalStages:
    """Stages of a prediction that also gives probabilities, found while the last batch is decided.

    Parameters
    ----------
    stages : with ``begin`` and ``finish``
    model : fitted learner with ``predict_marginals``
    choices : dict
        Of ``predict``; ``restrict`` goes for probabilities, too.
    """

    def __init__(self, stages: Any, model: Any, choices: dict[str, Any]) -> None:
        check_marginals(model)
        self.stages, self.model, self.choices = stages, model, choices

    def begin(self, batch: Any) -> tuple[Any, Any]:
        some = count_rows(batch) > 0
        found = marginals_of(self.model, batch, self.choices) if some else self._nothing()
        return self.stages.begin(batch), found

    def finish(self, begun: tuple[Any, Any]) -> PredictedMarginals:
        return PredictedMarginals(self.stages.finish(begun[0]).outputs, begun[1])

    def _nothing(self) -> Any:
        """Probabilities of a batch without rows."""
        space = self.model.space_
        if Description.of(space).output_kind in COLUMNS:
            return np.empty((0, len(space.labels_)))
        return []


class MarginalColumns:
    """Columns of predictions, with a column ``P(name)`` for every part; it can be pickled.

    Parameters
    ----------
    columns : callable, block of rows to dict of columns
    model : fitted learner with ``predict_marginals``
        Over label sets, hierarchies, classes or levels.
    choices : dict
        Of ``predict``; ``restrict`` goes for probabilities, too.
    """

    def __init__(self, columns: Any, model: Any, choices: dict[str, Any]) -> None:
        check_marginals(model)
        kind = Description.of(model.space_).output_kind
        if kind not in COLUMNS:
            raise ValueError(
                "marginals=True: labels, classes and levels have a column of probabilities each; "
                f"outputs of {type(model.space_).__name__} have none. Use predict_batches, which "
                "gives probabilities in the form of predict_marginals."
            )
        self.columns, self.model, self.choices = columns, model, choices

    def __call__(self, block: Any) -> dict[str, Any]:
        found: dict[str, Any] = self.columns(block)
        try:
            marginals = marginals_of(self.model, block.X, self.choices)
        except (ValueError, TypeError) as error:
            raise restated(error, f"In {block.where}: {error}") from error
        values = marginals.to_numpy() if is_pandas(marginals, "DataFrame") else marginals
        return with_probabilities(found, self.model.space_.labels_, values)


def with_probabilities(columns: dict[str, Any], names: Any, values: np.ndarray) -> dict[str, Any]:
    """Columns and those of probabilities, none under a name that is taken.

    >>> values = np.array([[0.25, 0.75]])
    >>> list(with_probabilities({"row": [0], "P(1)": [1]}, [1, "b"], values))
    ['row', 'P(1)', 'P(1)_2', 'P(b)']
    """
    found = dict(columns)
    for name, column in zip(names, np.asarray(values, dtype=np.float64).T):
        text, number = f"P({name})", 1
        while text in found:
            number += 1
            text = f"P({name})_{number}"
        found[text] = column
    return found
