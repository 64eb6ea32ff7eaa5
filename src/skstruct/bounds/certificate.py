# SPDX-License-Identifier: BSD-3-Clause
"""What a risk bound promises, in words and numbers, and the largest value that a loss can take."""

from dataclasses import dataclass, field
from numbers import Real
from textwrap import fill
from typing import Any

from skstruct._arrays.rows import distinct
from skstruct.fitted import Fitted
from skstruct.losses import Levels
from skstruct.spaces import Targets
from skstruct.tolerances import STATED_BOUND

LARGEST = "largest loss"  # the term that a bound has to stay below to say anything
WIDTH = (  # an assumption that several theorems share
    "the width of the input kernel, taken from the training inputs, would have been the same "
    "for other rows (give gamma a number to be free of this)"
)


@dataclass(frozen=True, repr=False)
class Certificate:
    """An upper bound on the expected loss of one fitted model.

    Over sets of rows drawn like the one at hand, those of training or others that were held out,
    the bound fails with probability at most ``delta``. It is not clipped: a value beyond the
    largest loss says nothing, and ``vacuous`` says so.

    Attributes
    ----------
    value : float
        The expected loss on new rows is at most this.
    terms : dict from str to float
        What the value is made of.
    vacuous : bool
        Whether the value is no better than the largest loss there is.
    delta : float
        Probability that the promise is broken.
    assumptions : tuple of str
        What must hold and cannot be seen from the data.
    kind : str
        Where the bound is from: ``"stability"``, ``"pac_bayes"`` or ``"compression"`` speak of
        the draw of the training rows, ``"held_out"`` of the draw of other ones.
    inequality : str
        What the bound follows from, in words, where one kind has several ways.

    Examples
    --------
    >>> Certificate(0.3, {"mean loss": 0.1, "slack": 0.2, "largest loss": 1.0}, False, 0.05)
    With probability at least 95 % over the draw of the training rows, the expected loss of
    this model on new rows is at most 0.3. No loss exceeds 1.
      mean loss     0.1
      slack         0.2
      largest loss  1
    """

    value: float
    terms: dict[str, float]
    vacuous: bool
    delta: float
    assumptions: tuple[str, ...] = field(default=())
    kind: str = "training"
    inequality: str = ""

    def __float__(self) -> float:
        return float(self.value)

    def __str__(self) -> str:
        lines = [fill(self._promise(), 92)]
        width = max((len(name) for name in self.terms), default=0)
        lines += [f"  {name:<{width}}  {term:.4g}" for name, term in self.terms.items()]
        if self.inequality:
            lines.append(fill(f"By {self.inequality}.", 92))
        if self.assumptions:
            lines.append("Provided that")
            lines += [
                fill(line, 92, initial_indent="- ", subsequent_indent="  ")
                for line in self.assumptions
            ]
        return "\n".join(lines)

    __repr__ = __str__

    def _promise(self) -> str:
        rows = "held-out" if self.kind == "held_out" else "training"
        promise = (
            f"With probability at least {100 * (1 - self.delta):.6g} % over the draw of the "
            f"{rows} rows, the expected loss of this model on new rows is at most "
            f"{self.value:.4g}."
        )
        largest = self.terms.get(LARGEST)
        if self.vacuous:
            beyond = "" if largest is None else f": no loss exceeds {largest:.4g}"
            return f"{promise} This says nothing{beyond}."
        return promise if largest is None else f"{promise} No loss exceeds {largest:.4g}."


def check_delta(delta: float) -> float:
    """A probability strictly between 0 and 1."""
    if not isinstance(delta, Real) or not 0 < float(delta) < 1:
        raise ValueError(f"delta is a probability between 0 and 1; got {delta!r}.")
    return float(delta)


def check_positive(value: float, name: str, used_by: str) -> float:
    """A finite number above zero."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if not 0 < number < float("inf"):
        raise ValueError(f"{used_by}: {name} is a positive number; got {value!r}.")
    return number


def check_not_encoded(model: Any, used_by: str) -> None:
    """Raise where the training rows settled how inputs are encoded, as names and gaps are.

    The features of all rows then depend on each of them, which the theorems do not allow.
    """
    if Fitted.of(model).encoder is not None:
        raise ValueError(
            f"{used_by}: medians, scales and names of the inputs were learned from these rows, and "
            "the bound holds for inputs that do not depend on them. Give numbers of a TableEncoder "
            "fitted to other rows, or certify by other rows: certify(X_new, y_new)."
        )


# The largest value that a loss can take on a space.


SEEN = 200  # training outputs that a largest loss is compared with


def largest_loss(loss: Any, space: Any) -> Any:
    """An upper bound on ``loss(z, y)`` over all outputs of ``space``; None where none is known.

    See :class:`skstruct.losses.Levels`, by which a loss says its own.

    Parameters
    ----------
    loss : loss bound to the space
    space : fitted space

    Examples
    --------
    >>> from skstruct.losses import Hamming
    >>> from skstruct.spaces import LabelSets
    >>> space = LabelSets(range(5))
    >>> largest_loss(Hamming().bind(space), space)
    5.0
    """
    return Levels.of(loss).largest(space)


def largest_of_problem(problem: Any, loss_bound: Any, used_by: str) -> Any:
    """The largest loss: given, if it holds for the training outputs, or known."""
    if loss_bound is not None:
        loss_bound = check_positive(loss_bound, "loss_bound", used_by)
        first, _ = distinct(problem.outputs)  # files may be sorted by output
        some = problem.outputs[first[:SEEN]]
        right = Targets.of(problem.observations).outputs_of(some)
        seen = float(problem.loss.pairwise(right, some).max())
        if seen > loss_bound * (1 + STATED_BOUND):
            raise ValueError(
                f"{used_by}: loss_bound is {loss_bound:g}, but a training output costs "
                f"{seen:g} against another."
            )
        return loss_bound
    known = largest_loss(problem.loss, problem.space)
    if known is None or not known > 0:
        raise ValueError(
            f"{used_by}: the largest value of {type(problem.loss).__name__} on "
            f"{type(problem.space).__name__} is not known; give loss_bound."
        )
    return known
