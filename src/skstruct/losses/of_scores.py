# SPDX-License-Identifier: BSD-3-Clause
"""Losses of scores of all outputs: how many are ranked above the truth, and exponential bounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import logsumexp

from skstruct._arrays.checks import is_count
from skstruct._arrays.rows import dense, distinct
from skstruct.sizes import AT_ONCE
from skstruct.spaces import Inference, Uniform
from skstruct.spaces.inference import MOST_LISTED
from skstruct.spaces.truth import flattened
from skstruct.tolerances import TIE


def exponential_loss(
    space: Any, scores: Any, y: Any, *, several_outputs: bool = False, log: bool = False
) -> np.ndarray:
    r"""Exponential loss of scores, row by row.

    .. math:: \ell_{\exp}(f, i) = \sum_{y \in Y_i} \sum_{z \in \mathcal Y \setminus Y_i}
              e^{1 + f(x_i, z) - f(x_i, y)}, \qquad f(x, z) = \langle u, \psi(z) \rangle

    Equation (5.4) of [1]_; it is at least e times the loss of :func:`auc_loss` that is not
    normalized, and that is the same without the 1: any :math:`e^a` is at least the step function
    at a. Sums are over a list where there are at most 20,000 outputs, and else from the partition
    functions of the space; outputs of probability above :math:`1 - 10^{-12}` or so then leave few
    digits for the others. What ``CountingRidge(solver="exponential")`` minimizes is this, divided
    by e and the number of outputs.

    Parameters
    ----------
    space : fitted space
        With ``enumerate`` or exact distributions.
    scores : array u of shape (n, d)
        Such as ``decision_function(X)`` of a model; (n,) for two classes.
    y : outputs in the user's format
    several_outputs : bool, default=False
        Whether ``y[i]`` is a list of outputs that are all correct.
    log : bool, default=False
        The logarithm, which stays finite where the loss itself would not.

    Returns
    -------
    losses : array of shape (n,)

    References
    ----------
    .. [1] S. Vembu, "Learning to predict combinatorial structures", PhD thesis, Bonn, 2010,
       section 5.2.

    Examples
    --------
    >>> from skstruct.spaces import Classes
    >>> u = np.log([[1.0, 2.0, 4.0], [4.0, 2.0, 1.0]])
    >>> (exponential_loss(Classes(["a", "b", "c"]), u, ["a", "a"]) / np.e).round(6)
    array([6.  , 0.75])
    """
    truths = ScoredTruths(space, scores, y, several_outputs)
    found = np.empty(len(truths.u))
    listed = Uniform.of(space).all_outputs(MOST_LISTED)
    correct = truths.log_sum(-1.0)
    if listed is not None:
        for rows, values in truths.values_of(listed):
            others = np.where(truths.among(listed, rows), -np.inf, values)
            found[rows] = correct[rows] + logsumexp(others, axis=1) + 1.0
    else:
        distribution = Inference.of(space).distribution(truths.u)
        if distribution is None:
            raise ValueError(
                f"exponential_loss: sums over all outputs of {type(space).__name__} are not known "
                f"exactly, and there are more than {MOST_LISTED:,} to list."
            )
        share = np.exp(truths.log_sum(1.0) - distribution.log_partition).clip(max=1.0)
        with np.errstate(divide="ignore"):  # no other output has any weight
            others = distribution.log_partition + np.log1p(-share)
        found = correct + others + 1.0
    return found if log else np.exp(found)


def auc_loss(
    space: Any,
    scores: Any,
    y: Any,
    *,
    several_outputs: bool = False,
    normalize: bool = True,
    n_samples: int | None = None,
    random_state: Any = None,
    return_errors: bool = False,
) -> Any:
    r"""Share of the outputs that are ranked above the truth, row by row.

    .. math:: \ell_{\mathrm{auc}}(f, i) = \sum_{y \in Y_i} \sum_{z \in \mathcal Y \setminus Y_i}
              \sigma(f(x_i, z) - f(x_i, y))

    with :math:`\sigma` 1 above zero, 0 below and 1/2 at it: equation (5.3) of [1]_, divided by the
    number of its terms. One minus it is the area under the ROC curve of the scores. All outputs are
    compared where there are at most 20,000; of larger spaces, uniform draws are, and the standard
    error is told. That of a share below 1 / n_samples is mostly zero: nothing was drawn that is
    better.

    Parameters
    ----------
    space, scores, y, several_outputs : as of :func:`exponential_loss`
    normalize : bool, default=True
        Whether to divide by the number of pairs; the sum itself otherwise.
    n_samples : int, default=None
        Draws that are compared, the same for all rows; None for all outputs.
    random_state : int or Generator, default=None
        Of the draws.
    return_errors : bool, default=False
        Whether standard errors come too, zero where all outputs are compared.

    Returns
    -------
    losses : array of shape (n,)
    errors : array of shape (n,), if ``return_errors``

    References
    ----------
    .. [1] S. Vembu, "Learning to predict combinatorial structures", PhD thesis, Bonn, 2010,
       section 5.2.

    Examples
    --------
    >>> from skstruct.spaces import LabelSets
    >>> auc_loss(LabelSets("ab"), [[1.0, -2.0]], [["a", "b"]])  # {} and {a} are above, {b} is not
    array([0.66666667])
    """
    if n_samples is not None and not is_count(n_samples):
        raise ValueError(
            f"auc_loss: n_samples is a whole number from 1, or None; got {n_samples!r}."
        )
    truths = ScoredTruths(space, scores, y, several_outputs)
    compared = Uniform.of(space).all_outputs(MOST_LISTED) if n_samples is None else None
    if compared is None:
        if n_samples is None:
            raise ValueError(
                f"auc_loss: {type(space).__name__} has more than {MOST_LISTED:,} outputs, or "
                "cannot list them: give n_samples, which draws some."
            )
        compared = Uniform.of(space).sample(n_samples, np.random.default_rng(random_state))
    shares, errors = np.zeros(len(truths.u)), np.zeros(len(truths.u))
    for rows, values in truths.values_of(compared):
        above, others = truths.ranked_above(values, rows), ~truths.among(compared, rows)
        n = others.sum(axis=1)
        shares[rows] = np.where(others, above, 0.0).sum(axis=1) / np.maximum(n, 1)
        off = np.where(others, above - shares[rows, None], 0.0)
        errors[rows] = np.sqrt((off**2).sum(axis=1) / np.maximum(n - 1, 1) / np.maximum(n, 1))
    if n_samples is None:
        errors[:] = 0.0
    if not normalize:
        pairs = truths.counts * (float(Uniform.of(space).size()) - truths.counts)
        shares, errors = shares * pairs, errors * pairs
    return (shares, errors) if return_errors else shares


class ScoredTruths:
    """Scores of rows, and their correct outputs.

    Parameters
    ----------
    space, scores, y, several_outputs : as of :func:`exponential_loss`
    """

    def __init__(self, space: Any, scores: Any, y: Any, several_outputs: bool) -> None:
        self.space, u = space, np.asarray(scores, dtype=np.float64)
        if not np.isfinite(u).all():
            at = tuple(np.argwhere(~np.isfinite(u))[0].tolist())
            raise ValueError(f"scores{list(at)} is {u[at]}: outputs cannot be ranked by it.")
        if u.ndim == 1:  # by how much the second of two classes is ahead
            u = np.column_stack([np.zeros(len(u)), u])
        flat, row = flattened(y) if several_outputs else (y, np.arange(len(u)))
        outputs = space.validate(flat)
        if len(outputs) != len(row) or (row[-1] + 1 if len(row) else 0) != len(u):
            n = len(y)
            raise ValueError(f"There are scores of {len(u)} rows, and outputs of {n}.")
        outside = np.flatnonzero(~space.contains(outputs))
        if len(outside):
            raise ValueError(
                f"y[{row[outside[0]]}] is no output of {type(space).__name__} within its "
                "constraints: nothing is ranked above or below it."
            )
        number = distinct(outputs)[1]
        first = np.sort(np.unique(np.column_stack([row, number]), axis=0, return_index=True)[1])
        self.u, self.outputs, self.row = u, outputs[first], row[first]
        self.counts = np.bincount(self.row, minlength=len(u))
        psi = dense(space.embed(self.outputs), np.float64)
        if psi.shape[1] != u.shape[1]:
            raise ValueError(
                f"scores have {u.shape[1]} columns for {psi.shape[1]} coordinates of "
                f"{type(space).__name__}."
            )
        self.values = np.einsum("ad,ad->a", psi, u[self.row])

    def log_sum(self, sign: float) -> Any:
        """ln of the sum of exp(sign * f(y)) over the correct outputs of each row; shape (n,)."""
        starts = np.flatnonzero(np.diff(self.row, prepend=-1))
        return np.logaddexp.reduceat(sign * self.values, starts)

    def values_of(self, outputs: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Scores of outputs, (b, m), for some rows at a time."""
        psi = self.space.embed(outputs)
        step = max(1, AT_ONCE // max(1, len(outputs)))
        for start in range(0, len(self.u), step):
            rows = slice(start, min(start + step, len(self.u)))
            yield rows, np.asarray(psi @ self.u[rows].T).T

    def among(self, outputs: np.ndarray, rows: slice) -> np.ndarray:
        """Which of some outputs are correct; shape (b, m)."""
        here = slice(*np.searchsorted(self.row, [rows.start, rows.stop]))
        both = np.concatenate([np.asarray(outputs), self.outputs[here]])
        number = distinct(both)[1]
        correct = np.zeros((rows.stop - rows.start, number.max() + 1), bool)
        correct[self.row[here] - rows.start, number[len(outputs) :]] = True
        return correct[:, number[: len(outputs)]]

    def ranked_above(self, values: np.ndarray, rows: slice) -> np.ndarray:
        """Mean step function of the scores of outputs over the correct ones; shape (b, m)."""
        total = np.zeros(values.shape)
        here = slice(*np.searchsorted(self.row, [rows.start, rows.stop]))
        for row, value in zip(self.row[here] - rows.start, self.values[here]):
            gap = values[row] - value
            tie = np.abs(gap) <= TIE * max(np.abs(values[row]).max(initial=0.0), abs(value))
            total[row] += np.where(tie, 0.5, gap > 0)
        return total / self.counts[rows, None]
