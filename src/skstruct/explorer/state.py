# SPDX-License-Identifier: BSD-3-Clause
"""The explored model and rows: predictions, risks and losses of all rows, once for each loss."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np

from skstruct._arrays.imports import is_pandas
from skstruct._arrays.progress import working
from skstruct.drawings.parts import label_text
from skstruct.explorer.inputs import Inputs, read_inputs
from skstruct.explorer.recent import Recent
from skstruct.fitted import Staged
from skstruct.losses import PartlyKnown, pair, resolve_loss
from skstruct.losses.base import same_width
from skstruct.model_selection.evaluation import (
    affordable_losses,
    takes_loss,
    usual_losses,
)
from skstruct.reports.outputs import in_words
from skstruct.serving import Served
from skstruct.serving.abilities import why_not
from skstruct.serving.constraints import constraints_for
from skstruct.spaces import Description, Targets
from skstruct.spaces.truth import Truth, read_truth, seen_by

ABILITIES = ("marginals", "kbest", "explain", "risk", "what_if")


@dataclass(frozen=True)
class Judged:
    """All rows under one loss."""

    outputs: np.ndarray  # canonical
    texts: list[str]
    risks: np.ndarray  # estimated risks, or costs
    losses: np.ndarray | None  # NaN where nothing is known of the truth


class Explored:
    """A fitted model with the rows that the page shows.

    Parameters
    ----------
    model : TaskModel, fitted learner, or pipeline that ends in one
    X : inputs as the model takes them, or a Dataset
    y : true outputs, default=None
    name : str, default=None
        Of the model.
    row_names : sequence, default=None
        Of the rows; the index of a frame when None.
    coordinates : dict or array, default=None
        Where nodes of graphs are drawn.
    first : int, default=None
        So many rows at most; all when None.
    """

    def __init__(
        self,
        model: Any,
        X: Any,
        y: Any = None,
        *,
        name: str | None = None,
        row_names: Any = None,
        coordinates: Any = None,
        first: int | None = None,
    ) -> None:
        self.served = Served(name or "The explored model", model)
        self.model, self.learner, self.space = model, self.served.learner, self.served.space
        if row_names is None and is_pandas(X, "DataFrame", "Series"):
            row_names = list(X.index)
        self.n_given = X.shape[0] if hasattr(X, "shape") else len(X)
        X, y, row_names = (_first(part, first) for part in (X, y, row_names))
        fitted = self.served.fitted
        self.inputs: Inputs = read_inputs(X, fitted.encode, fitted.names)
        if len(self.inputs) == 0:
            raise ValueError("X has no rows: there is nothing to explore.")
        self.name = name or type(self.learner).__name__
        self.row_names = None if row_names is None else [str(name) for name in row_names]
        self.coordinates = coordinates
        self.truth = None if y is None else self._read_truth(y)
        self.losses = self._known_losses()
        self._judged: dict[str, Judged] = {}
        self._locks = {name: threading.Lock() for name in self.losses}
        self._bound_losses = Recent(32)

    def __len__(self) -> int:
        return len(self.inputs)

    def _read_truth(self, y: Any) -> Truth:
        truth = read_truth(seen_by(self.learner), y)
        if len(truth) != len(self.inputs):
            raise ValueError(f"X has {len(self.inputs)} rows and y has {len(truth)}.")
        return truth

    def _known_losses(self) -> dict[str, Any]:
        """Losses that can be decided for at once, by name, that of the model first."""
        learner = self.learner
        if not takes_loss(learner):
            return dict(list(usual_losses(learner).items())[:1])
        possible = set(self.served.losses())
        quick = affordable_losses(learner, len(self.inputs))[0]
        own = next(iter(quick), None)
        return {
            name: loss for name, loss in quick.items()
            if name == own or (name in possible and self._decides_for(loss))
        }  # fmt: skip

    def _decides_for(self, loss: Any) -> bool:
        """Whether the learner has what another loss needs."""
        staged = Staged.of(self.learner)
        if not staged.in_stages:
            return True
        try:
            staged.stages({"loss": loss})
        except (ValueError, TypeError, NotImplementedError):
            return False
        return True

    @property
    def own_loss(self) -> str:
        return next(iter(self.losses))

    @property
    def value_name(self) -> str:
        return self.served.fitted.value_name

    def constraints(self) -> list[str]:
        """What outputs can be restricted by."""
        return self.served.constraints()

    def constraint_kinds(self) -> dict[str, str]:
        """How constraints are entered: "number", "flag", "names" or "json"."""
        known = signature(self.space.restrict).parameters if self.constraints() else {}
        return {name: _kind_of(name, str(part.annotation)) for name, part in known.items()}

    @property
    def description(self) -> Description:
        """What there is to say of the outputs."""
        return Description.of(self.space)

    @property
    def fixable(self) -> tuple[str, ...]:
        """What can be asked of a part of the decision: "in", "out", both or nothing."""
        return self.description.fixable if self.constraints() else ()

    def can(self, ability: str) -> bool:
        """Whether the model has an ability of ``ABILITIES``."""
        if ability == "what_if":
            return self.inputs.what_if
        if ability == "marginals" and self.served.kind == "tour":
            return False  # coherent ones take seconds for a single row
        return why_not(self.served, ability) is None

    def read_constraints(self, given: dict[str, Any]) -> dict[str, Any]:
        """Constraints from JSON as the space takes them."""
        return constraints_for(self.served, given) or {}

    def drawn_parts(self) -> str | None:
        """The kind of marginals that drawings show, where there are several."""
        return "positions" if self.served.kind == "ranking" else None

    def check_loss(self, name: Any) -> str:
        """The name of a loss, that of the model for None or nothing."""
        if name is None or name == "":
            return self.own_loss
        if name not in self.losses:
            raise ValueError(f"loss is one of {', '.join(self.losses)}; got {name!r}.")
        return str(name)

    def options(self, loss: str) -> dict[str, Any]:
        """Arguments of the learner for a loss: none for its own."""
        return {} if loss == self.own_loss else {"loss": self.losses[loss]}

    def bound(self, loss: str) -> Any:
        """A loss, bound to the space."""
        learner = self.learner
        asked = resolve_loss(self.losses[loss])
        return self._bound_losses(loss, lambda: pair(asked, self.space, learner.outputs_)[1])

    def loss_range(self, loss: str) -> tuple[float, float]:
        """Least and largest loss that there can be, as far as these are known."""
        low, high = self.bound(loss).range()
        return float(low), float(high)

    # ------------------------------------------------------------------ all rows
    def judged(self, loss: str) -> Judged:
        """Predictions, risks and losses of all rows, computed once."""
        if loss in self._judged:
            return self._judged[loss]
        with self._locks[loss]:  # of a loss: nobody waits for another one
            if loss not in self._judged:
                with working(f"predictions for {loss}, {len(self):,} rows"):
                    self._judged[loss] = self._judge(loss)
            return self._judged[loss]

    def _judge(self, loss: str) -> Judged:
        learner, options, X = self.learner, self.options(loss), self.inputs.everything()
        if self.can("decode"):
            decoded = learner.decode(X, **options)
            outputs, values = self.space.validate(decoded.outputs), np.asarray(decoded.values)
        else:
            outputs = self.space.validate(learner.predict(X, **options))
            values = np.full(len(outputs), np.nan)
        if self.served.fitted.can("possible_risks"):
            values = learner.possible_risks(values, **options)
        losses = None
        if self.truth is not None:
            widened = same_width(outputs, self.truth.outputs)[0]
            losses = PartlyKnown.of(self.bound(loss)).against(widened, self.truth)
        return Judged(outputs, [self.text(z) for z in outputs], values, losses)

    def text(self, z: np.ndarray) -> str:
        """An output in words."""
        said = in_words(self.space, z)
        return said.between.join(piece.text for piece in said.pieces)

    # ------------------------------------------------------------------ one row
    def truth_of(self, i: int) -> np.ndarray | None:
        """The true output of a row in canonical form; None where nothing is known of it."""
        if self.truth is None or not self.truth.says[i]:
            return None
        return Targets.of(seen_by(self.learner)).outputs_of(self.truth.outputs[[i]])[0]

    def drawn_truth(self, i: int, z: np.ndarray) -> np.ndarray | None:
        """The true output of a row for a drawing of z: as wide, and as z where it is not known."""
        y = self.truth_of(i)
        if y is None or self.truth is None:
            return None
        if np.ndim(y) == 0:
            return y
        y, _ = same_width(np.asarray(y)[None], np.asarray(z)[None])
        known = self.truth.known[i]
        if not self.truth.is_whole and len(known) == y.shape[1]:
            gaps = ~known & (np.asarray(z) >= 0)
            y = np.where(gaps, z, y)
        return np.asarray(y[0])

    def known_parts(self, i: int) -> np.ndarray | None:
        """Which parts of a row's truth are known; None for all."""
        if self.truth is None or self.truth.is_whole:
            return None
        return np.asarray(self.truth.known[i])

    def loss_of(self, i: int, z: np.ndarray, loss: str) -> float | None:
        """What an output loses on what is known of the row; None where nothing is."""
        truth = self.truth
        if truth is None or not truth.says[i]:
            return None
        bound = self.bound(loss)
        z, y = same_width(np.asarray(z)[None], truth.outputs[[i]])
        if truth.partial is None:
            return float(np.asarray(bound(z, y))[0])
        return float(PartlyKnown.of(bound).losses(z, y, truth.partial.known[[i]])[0])

    def truth_text(self, i: int) -> str | None:
        """The true output of a row in words; None where nothing is known of it."""
        y = self.truth_of(i)
        return None if y is None else self.text(y)

    def part_names(self, outputs: np.ndarray) -> list[set[str]]:
        """Names of the parts of outputs, as labels are asked for."""
        parts_of = self.description.parts_of
        return [{name_of(part) for part in parts_of(z).parts} for z in outputs]

    def true_part_names(self) -> list[set[str] | None] | None:
        """The same of the truths; None for rows that say nothing."""
        if self.truth is None:
            return None
        right = [self.truth_of(i) for i in range(len(self))]
        return [None if y is None else self.part_names(np.asarray(y)[None])[0] for y in right]

    def row_name(self, i: int) -> str:
        return str(i + 1) if self.row_names is None else self.row_names[i]


def _first(part: Any, n: int | None) -> Any:
    if part is None or n is None:
        return part
    if hasattr(part, "rows") and hasattr(part, "take") and not hasattr(part, "shape"):  # a Table
        return part.rows(slice(n))
    return part.iloc[:n] if hasattr(part, "iloc") else part[:n]


def _kind_of(name: str, annotation: str) -> str:
    """How a constraint is entered, by what its argument takes."""
    if name in ("include", "exclude"):
        return "names"
    if "bool" in annotation:
        return "flag"
    return "number" if "int" in annotation or "ArrayLike" in annotation else "json"


def name_of(part: Any) -> str:
    """The name of a part, by which rows are found that have it."""
    return label_text(part.name)


def loss_title(name: str) -> str:
    """A loss as a menu shows it: "Zero one" for zero_one."""
    return name if "(" in name else name.replace("_", " ").capitalize()
