# SPDX-License-Identifier: BSD-3-Clause
"""A model as others ask it: what its rows are called, what it can tell, and how rows are read."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from skstruct.fitted import Fitted
from skstruct.model_selection.evaluation import loss_name, takes_loss, usual_losses
from skstruct.serving.abilities import why_not
from skstruct.serving.outputs import name_text
from skstruct.serving.reading import array_of, dated, with_names, words_of
from skstruct.spaces import Description
from skstruct.spaces.common.fixing import json_name

KINDS = {"number": "number", "boolean": "number", "names": "names", "date": "date"}
NAMED = ("labels_", "symbols_", "items_", "nodes_", "states_", "agents_", "tasks_")
ABILITIES = ("decode", "marginals", "kbest", "explain", "risk", "threshold", "level")


@dataclass(frozen=True)
class Column:
    """A column of the inputs.

    Attributes
    ----------
    name : str
    kind : {"number", "names", "date", "text"}
    values : tuple of str, or None
        The names that training knows, of a column of names.
    """

    name: str
    kind: str
    values: tuple[str, ...] | None = None


class Served:
    """What a model file holds, ready to be asked.

    Parameters
    ----------
    name : str
        What the model is called.
    model : TaskModel, learner, or pipeline that ends in a learner; fitted
    path : str, default=None
        The file that it was read from.

    Attributes
    ----------
    learner : what decides
    space : the space of outputs
    kind : str
        ``output_kind`` of the space, such as "labels".
    task : str or None
        Of a model that was fitted to a data file.

    Examples
    --------
    >>> from skstruct import ConditionalRiskMinimizer
    >>> X = [{"size": 1.0, "sky": "sun"}, {"size": 3.0, "sky": "rain"}]
    >>> model = ConditionalRiskMinimizer(alpha=0.1).fit(X, ["dry", "wet"])
    >>> served = Served("weather", model)
    >>> [(column.name, column.kind, column.values) for column in served.columns]
    [('size', 'number', None), ('sky', 'names', ('rain', 'sun'))]
    >>> served.labels, served.losses(), served.can("marginals")
    (['dry', 'wet'], ['zero_one'], True)
    """

    def __init__(self, name: str, model: Any, path: str | None = None) -> None:
        self.name, self.model, self.path = name, model, path
        self.fitted = Fitted.of(model)
        self.learner, self.space = self.fitted.learner, self.fitted.space
        if self.space is None:
            raise ValueError(
                f"{name}: a fitted model of skstruct is wanted, which has a space_; got "
                f"{self.fitted.name}."
            )
        self.kind: str = Description.of(self.space).output_kind
        self.task = self.fitted.task
        self.is_task = self.task is not None
        self._tried: dict[str, bool] = {}

    def __repr__(self) -> str:
        return f"Served({self.name!r}, {type(self.learner).__name__}, {self.kind})"

    # ------------------------------------------------------------------ what it knows
    @cached_property
    def columns(self) -> list[Column]:
        """Columns of the inputs; none if they have no names."""
        encoder = self.fitted.encoder
        if encoder is None:
            return [Column(name, "number") for name in self._names or ()]
        if not hasattr(encoder, "feature_names_in_"):
            return []
        return [
            self._column(name, values)
            for name, values in zip(encoder.names_, encoder.values_)
        ]  # fmt: skip

    def _column(self, name: str, values: Any) -> Column:
        kind = self.fitted.encoder.others_.get(name, "number" if values is None else "names")
        if kind == "names":
            return Column(name, "names", tuple(map(str, values)))
        return Column(name, KINDS.get(kind, "number"))

    @property
    def reads(self) -> dict[str, str]:
        """Kinds of the columns that rows must bring, by name or number, in their order."""
        if self.columns:
            return {column.name: column.kind for column in self.columns}
        return {str(j): "number" for j in range(self.fitted.width or 0)}

    @property
    def _names(self) -> list[str] | None:
        """Names of the columns of training, where a learner that encodes nothing has them."""
        names = self.fitted.names
        return None if names is None else [str(name) for name in names]

    @cached_property
    def of_sequences(self) -> bool:
        """Whether an input is a list of words or of rows of features."""
        return self.fitted.of_sequences

    @cached_property
    def labels(self) -> list[str]:
        """Names of labels, classes, items or symbols as text; none if outputs have none."""
        if self.kind == "ranking" and self.fitted.targets:
            return [str(name) for name in self.fitted.targets]
        names = self._names_by_kind
        for kind in ("symbols_", "items_", "labels_"):
            if kind in names:
                return [name_text(name) for name in names[kind]]
        parts = Description.of(self.space).part_names()
        return [] if parts is None else [name_text(name) for name in parts]

    @property
    def names(self) -> list[tuple[Any, ...]]:
        """Names by which outputs are told and restricted: of labels, of nodes, and so on."""
        return [names for names in self._names_by_kind.values() if names]

    @cached_property
    def by_text(self) -> dict[Any, Any]:
        """Names by what JSON makes of them: lists, which are tuples here, or texts."""
        names = [name for some in self.names for name in some]
        texts = {name_text(name): name for name in names}
        return texts | {json_name(name): name for name in names}

    @cached_property
    def _names_by_kind(self) -> dict[str, tuple[Any, ...]]:
        found = ((kind, getattr(self.space, kind, None)) for kind in NAMED)
        return {kind: tuple(names) for kind, names in found if names is not None}

    def losses(self) -> list[str]:
        """Losses that the model can predict for without being fitted again, its own first."""
        return list(self._losses)

    @cached_property
    def _losses(self) -> list[str]:
        own = self.fitted.loss
        if not takes_loss(self.learner):
            return [] if own is None else [loss_name(own)]
        return [name for name in usual_losses(self.learner) if self._predicts_for(name)]

    def _predicts_for(self, loss: str) -> bool:
        """Whether a made-up row is predicted for a loss: not all fit all smoothers and outputs."""
        if loss == loss_name(self.learner.loss_):
            return True
        try:
            self.learner.predict(self.inputs(self.example_rows(1)), loss=loss)
        except (ValueError, TypeError, NotImplementedError):
            return False
        return True

    def constraints(self) -> list[str]:
        """What outputs can be restricted by in a prediction."""
        return self.fitted.constraints

    def can(self, ability: str) -> bool:
        """Whether the model has an ability: "decode", "marginals", "kbest", "explain", "risk",
        "threshold" or "level".
        """
        if ability not in self._tried:
            self._tried[ability] = why_not(self, ability) is None and self._works(ability)
        return self._tried[ability]

    def _works(self, ability: str) -> bool:
        """Whether a made-up row is answered: some spaces, losses and smoothers cannot."""
        from skstruct.serving.answers import answer

        if ability not in ("decode", "marginals", "kbest", "explain"):
            return True
        try:
            answer(ability, self, self.inputs(self.example_rows(1)))
        except (ValueError, TypeError, NotImplementedError, AttributeError):
            return False
        return True

    # ------------------------------------------------------------------ rows
    def inputs(self, rows: Any) -> Any:
        """Rows as the learner takes them.

        Parameters
        ----------
        rows : list of dictionaries, list of lists, DataFrame, table of pyarrow, or sentences
            Names of columns as in training; lists have the order of training.

        Raises
        ------
        ValueError
            That names row and column.
        """
        if isinstance(rows, list) and not rows:
            raise ValueError("There are no rows: give at least one.")
        if self.of_sequences:
            return self.fitted.inputs(words_of(rows))
        if self.fitted.encoder is not None:
            return self._encoded(rows)
        texts = self.model is not self.learner  # a first step may read them
        return self.fitted.inputs(array_of(rows, self._names, self.fitted.width, texts))

    def _encoded(self, rows: Any) -> Any:
        encoder = self.fitted.encoder
        if isinstance(rows, list) and not isinstance(rows[0], Mapping):
            rows = with_names(rows, encoder.names_)
        return self.fitted.inputs(dated(rows, encoder.others_))

    def example_rows(self, n: int = 1) -> list[Any]:
        """Made-up rows as JSON has them: names of training, and numbers about its means."""
        from skstruct.serving.examples import example_rows

        return example_rows(self, n)
