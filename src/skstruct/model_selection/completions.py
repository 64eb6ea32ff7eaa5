# SPDX-License-Identifier: BSD-3-Clause
"""Between which ends a loss lies, whatever the parts of the truth are that are not known."""

from typing import Any

import numpy as np

from skstruct.losses import Levels, PartlyKnown, resolve_loss
from skstruct.losses.base import same_width
from skstruct.losses.completions import LISTED, Ends, listed_ends
from skstruct.spaces import Embeddings, Inference, Uniform
from skstruct.spaces.partial import PartialOutputs
from skstruct.spaces.truth import Truth, read_truth


def completion_bounds(
    loss: Any, space: Any, predicted: Any, y: Any, known: Any = None, *, training: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    r"""The least and the largest loss over all outputs that agree with what is known of the truth.

    .. math:: \min_{y' \text{ agrees with } y} \ell(z, y') \quad \text{and} \quad
              \max_{y' \text{ agrees with } y} \ell(z, y')

    A loss that is bilinear in an embedding is linear in that of the truth, so that both ends are
    decodes over the outputs that agree. They are exact for label sets, forests, classes, sequences
    and boxes. Where a decoder proves a bound only, that is the end: no lower end is too high, and
    no upper end too low.

    Parameters
    ----------
    loss : name or loss
    space : fitted space
    predicted : outputs in any format that the space reads
    y : true outputs, parts of which may be missing, in any format that the space reads
    known : bool array, default=None
        Which parts of y are known, where y does not say so itself.
    training : outputs, default=None
        For losses whose costs depend on how often something occurs in training.

    Returns
    -------
    lower, upper : arrays of shape (n,)
        Equal where everything is known; infinite where a quantity of which nothing is known has no
        limits.

    Examples
    --------
    >>> from skstruct.spaces import LabelSets
    >>> space = LabelSets("abc")
    >>> lower, upper = completion_bounds("hamming", space, [[1, 1, 0]], [[1, np.nan, np.nan]])
    >>> lower, upper
    (array([0.]), array([2.]))
    >>> lower, upper = completion_bounds("f1", space, [[1, 1, 0]], [[1, np.nan, np.nan]])
    >>> lower.round(2), upper.round(2)
    (array([0.]), array([0.5]))
    """
    resolved = resolve_loss(loss)
    truth, Z = read_truth(space, y, known), space.validate(predicted)
    if len(Z) != len(truth):
        raise ValueError(f"There are {len(Z)} predictions and {len(truth)} true outputs.")
    candidates = truth.outputs if training is None else space.validate(training)
    view = Embeddings.of(space).view(resolved.embedding_on(space), candidates)
    if training is not None:
        resolved = resolved.observe(view, candidates)
    return bounds_of(resolved.bind(view), space, Z, truth)


def bounds_of(loss: Any, space: Any, predicted: np.ndarray, truth: Truth) -> Ends:
    """The same for a loss that is bound, and outputs in canonical form."""
    predicted, outputs = same_width(predicted, truth.outputs)
    if truth.partial is None:
        losses = np.asarray(loss(predicted, outputs), dtype=np.float64)
        return losses, losses.copy()
    whole = truth.partial.complete
    lower = np.empty(len(predicted))
    if whole.any():
        lower[whole] = loss(predicted[whole], outputs[whole])
    upper, gaps = lower.copy(), np.flatnonzero(~whole)
    if len(gaps):
        partial = truth.partial.rows(gaps)
        lower[gaps], upper[gaps] = _ends(loss, space, predicted[gaps], partial)
    return lower, upper


def _ends(loss: Any, space: Any, predicted: np.ndarray, partial: PartialOutputs) -> Ends:
    """By the loss itself, by comparing all outputs, or all that is known of the loss."""
    found = PartlyKnown.of(loss).ends(space, predicted, partial)
    if found is not None:
        return found
    listed = Uniform.of(space).all_outputs(LISTED)
    if listed is not None:
        return listed_ends(loss, listed, predicted, _agree(space, listed, partial))
    least, most = loss.range()
    largest = Levels.of(loss).largest(space)
    most = most if largest is None else min(most, largest)
    return np.full(len(predicted), least), np.full(len(predicted), most)


def _agree(space: Any, listed: np.ndarray, partial: PartialOutputs) -> np.ndarray:
    """Which outputs of a list agree with what is known; bool array of shape (n, m)."""
    n = len(partial)
    if not partial.by_parts:  # one of several names
        scores = np.zeros((n, space.embed(listed[:1]).shape[1]))
        return Inference.of(partial.allowed).exact(scores).marginals() > 0
    rows, columns = same_width(np.reshape(partial.outputs, (n, -1)), _rows(listed))
    unknown = np.zeros(rows.shape, bool)
    unknown[:, : partial.known.shape[1]] = ~partial.known
    return np.array([((columns == y) | free).all(axis=1) for y, free in zip(rows, unknown)])


def _rows(outputs: np.ndarray) -> np.ndarray:
    return np.reshape(outputs, (len(outputs), -1))
