# SPDX-License-Identifier: BSD-3-Clause
"""What a loss compares decisions with, outputs or others, known as a whole or in part: facets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skstruct.facets import Facet
from skstruct.losses.base import same_width
from skstruct.losses.completions import Ends, decoded_ends
from skstruct.losses.deciding import OfLoss
from skstruct.spaces import Coordinates, Embeddings
from skstruct.spaces.truth import seen_by


class Observed(OfLoss, Facet):
    """What truths are under a loss: outputs, unless others are compared with decisions.

    Examples
    --------
    >>> from skstruct.losses import Hamming, Regret
    >>> Observed.of(Hamming()).what, Observed.of(Regret()).what
    ('outputs', 'costs')
    """

    __slots__ = ()

    what = "outputs"

    def space_of(self, space: Any, within: Any = None) -> Any:
        """The space that truths are from: that of outputs, unless others are compared with them.

        Of a loss whose truths are no outputs, such as costs, it reads ``y`` (``fit_validate``,
        ``validate``, and ``Known`` what has gaps) and says what is regressed on (``targets``).

        Parameters
        ----------
        space : space of outputs
        within : space, default=None
            The narrower one that predictions are from, where these are restricted; outputs that
            are true need not be in it.
        """
        return space

    def check_same(self, fitted: Any) -> None:
        """Raise where a model that was fitted under another loss knows truths of another kind."""
        before = Observed.of(fitted).what
        if before != self.what:
            raise ValueError(
                f"{type(self.loss).__name__} compares outputs with {self.what}, and the model was "
                f"fitted to {before}: fit it under such a loss."
            )


def check_outputs_observed(model: Any, used_by: str) -> None:
    """Raise where a fitted model was told costs, or others that are no outputs."""
    if seen_by(model) is not model.space_:
        raise ValueError(
            f"{used_by} compares predictions with true outputs, and the model was fitted to "
            f"{Observed.of(model.loss_).what} under {model.loss_!r}."
        )


class PartlyKnown(OfLoss, Facet):
    """A loss where parts of the truth are not known.

    Examples
    --------
    >>> from skstruct.losses import Hamming
    >>> known = np.array([[True, True, False], [False, False, False]])
    >>> PartlyKnown.of(Hamming()).losses([[1, 1, 1], [1, 0, 0]], [[0, 1, 0], [0, 0, 0]], known)
    array([ 1., nan])
    """

    __slots__ = ()

    def learned(self, space: Any) -> Any:
        """The loss that is learned where outputs of ``space`` are known in part; mostly this one.

        A loss whose embedding needs outputs as a whole may name one like it that needs parts only.
        """
        return self.loss

    def losses(self, Y_pred: ArrayLike, Y_true: ArrayLike, known: np.ndarray) -> np.ndarray:
        """The loss on what is known of the truth; parts that are not are taken for right.

        Parameters
        ----------
        Y_pred, Y_true : outputs in canonical form
        known : bool array of shape (n, d)
            Parts of the truth that are known; one column for single names.

        Returns
        -------
        losses : array of shape (n,)
            NaN where nothing is known.
        """
        Y_pred, Y_true = same_width(Y_pred, Y_true)
        mask = known[:, 0] if Y_true.ndim == 1 else known
        if Y_true.ndim == 2 and mask.shape[1] < Y_true.shape[1]:  # sequences, padded
            more = Y_true.shape[1] - mask.shape[1]
            mask = np.hstack([mask, np.ones((len(mask), more), bool)])
        losses = np.array(self.loss(np.where(mask, Y_pred, Y_true), Y_true), dtype=np.float64)
        if Y_true.ndim == 2 and Y_true.dtype.kind == "i":
            mask = mask & (Y_true >= 0)  # the padding of sequences says nothing
        losses[~mask.reshape(len(losses), -1).any(axis=1)] = np.nan
        return losses

    def against(self, Y_pred: np.ndarray, truth: Any) -> np.ndarray:
        """Losses on what is known of a :class:`~skstruct.spaces.truth.Truth`, NaN where nothing
        is; shape (n,).
        """
        if truth.partial is None:
            return np.asarray(self.loss(Y_pred, truth.outputs), dtype=np.float64)
        return self.losses(Y_pred, truth.outputs, truth.partial.known)

    def ends(self, space: Any, Y_pred: np.ndarray, partial: Any) -> Ends | None:
        """The least and the largest loss over all truths that agree with what is known.

        Parameters
        ----------
        space : fitted space of the truth
        Y_pred : outputs in canonical form
        partial : PartialOutputs

        Returns
        -------
        lower, upper : arrays of shape (n,)
            None in place of both where the loss has no way of its own.
        """
        agreeing = partial.allowed
        if agreeing is None:
            return None
        view = Embeddings.of(space).view(self.loss.embedding_on(space), partial.outputs)
        if Coordinates.of(view).is_list:
            return None
        return decoded_ends(self.loss, view, Y_pred, agreeing)
