# SPDX-License-Identifier: BSD-3-Clause
"""True outputs that predictions are judged by, of which parts may not be known."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from skstruct.backends import on_host
from skstruct.spaces.description import Description
from skstruct.spaces.known import Known
from skstruct.spaces.partial import PartialOutputs

NOTHING = "Nothing is known of any row of y: there is nothing to judge by."


@dataclass(frozen=True, eq=False)
class Truth:
    """True outputs in canonical form, and what is known of them.

    Attributes
    ----------
    outputs : array of n outputs
        The same placeholder wherever a part is not known.
    partial : PartialOutputs, default=None
        What is known, where that is not all.
    """

    outputs: np.ndarray
    partial: PartialOutputs | None = None

    def __len__(self) -> int:
        return len(self.outputs)

    @property
    def is_whole(self) -> bool:
        """Whether everything is known."""
        return self.partial is None

    @property
    def parts(self) -> np.ndarray:
        """Which columns of the outputs are parts of them, not the padding of sequences."""
        outputs = np.reshape(self.outputs, (len(self), -1))
        padded = self.outputs.ndim == 2 and outputs.dtype.kind == "i" and (outputs < 0).any()
        return outputs >= 0 if padded else np.ones(outputs.shape, bool)

    @property
    def known(self) -> np.ndarray:
        """Which parts are known; bool array of the shape of ``parts``."""
        parts = self.parts
        return parts if self.partial is None else parts & self.partial.known

    @property
    def looked_at(self) -> np.ndarray | None:
        """Which parts were given, without what follows from their values; None for all."""
        return None if self.partial is None else self.partial.observed

    @property
    def says(self) -> np.ndarray:
        """Which rows say anything; shape (n,)."""
        if self.partial is None:
            return np.ones(len(self), bool)
        return np.asarray(self.known.any(axis=1))

    def in_words(self, space: Any) -> str | None:
        """How much is not known, in a sentence; None where everything is.

        Parameters
        ----------
        space : space that names the parts
        """
        if self.partial is None:
            return None
        n_parts, n_known = int(self.parts.sum()), int(self.known.sum())
        share, silent = 1.0 - n_known / max(n_parts, 1), int((~self.says).sum())
        rows = f"{silent:,} of {len(self):,} {'row says' if len(self) == 1 else 'rows say'} nothing"
        parts = Description.of(space).part_words[1]
        return f"{_percent(share)} of the {parts} of the truth are not known; {rows}."


def _percent(share: float) -> str:
    """Rounded, but neither to nothing nor to all."""
    if 0 < share < 0.005:
        return "less than 1 %"
    return "more than 99 %" if 0.995 <= share < 1 else f"{share:.0%}".replace("%", " %")


def check_some_told(truth: Truth) -> None:
    """Raise where no row says anything."""
    if not truth.says.any():
        raise ValueError(NOTHING)


def told_mean(losses: np.ndarray, weights: Any = None) -> float:
    """Mean of the losses that are no NaN, those of rows that say something.

    >>> told_mean(np.array([1.0, np.nan, 2.0]))
    1.5
    """
    losses, weights = np.asarray(losses, dtype=np.float64), on_host(weights)
    told = ~np.isnan(losses)
    if told.all():
        return float(np.average(losses, weights=weights))
    if not told.any():
        raise ValueError(NOTHING)
    weights = None if weights is None else np.asarray(weights, dtype=np.float64)[told]
    return float(np.average(losses[told], weights=weights))


def seen_by(model: Any) -> Any:
    """The space that truths of a fitted model are from: that of outputs, unless its loss observes
    others.
    """
    return getattr(model, "observation_space_", None) or model.space_


def read_truth(space: Any, y: Any, known: Any = None) -> Truth:
    """True outputs as a fitted space reads them; it learns nothing from them.

    Parameters
    ----------
    space : fitted space
    y : outputs in any format that the space reads, parts of which may be missing
    known : bool array, default=None
        Which parts are known, where y does not say so itself.
    """
    if known is None and not Known.of(space).has_gaps(y):
        return Truth(space.validate(y))
    partial = Known.of(space).read_further(y, known)
    if partial.by_parts and partial.known.all():
        return Truth(partial.outputs)
    return Truth(partial.outputs, partial)


def flattened(y: Any) -> tuple[list[Any], np.ndarray]:
    """All correct outputs of all rows, and the row of each."""
    flat, row = [], []
    for i, outputs in enumerate(y):
        if isinstance(outputs, (str, bytes)) or not hasattr(outputs, "__len__"):
            raise ValueError(
                f"several_outputs=True: y[{i}] is a list of correct outputs; got {outputs!r}."
            )
        if len(outputs) == 0:
            raise ValueError(f"several_outputs=True: y[{i}] has no correct output.")
        flat += list(outputs)
        row += [i] * len(outputs)
    return flat, np.array(row, dtype=np.int64)
