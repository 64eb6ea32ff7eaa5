# SPDX-License-Identifier: BSD-3-Clause
"""How much of a regression's error can reach the decisions that are made from it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from skstruct._arrays.memory import row_blocks
from skstruct._arrays.rows import dense
from skstruct.losses import Observed, pair, resolve_loss
from skstruct.spaces import Targets, Uniform
from skstruct.tolerances import STATED_BOUND

MOST = 2048  # outputs that are compared pair by pair
WIDEST = 3000  # columns of an embedding whose matrix is written down
STARTS, STEPS = 8, 30  # of the search for two outputs far apart


@dataclass(frozen=True)
class ComparisonConstant:
    """The constant of a comparison inequality, or what it lies between.

    Attributes
    ----------
    value : float
        The constant, or an upper bound on it: the inequality holds with it.
    attained : float
        What two outputs of the space attain: the constant is not smaller.
    exact : bool
        Whether both are the same.
    reason : str
        Where the value is from.
    """

    value: float
    attained: float
    exact: bool
    reason: str

    def __float__(self) -> float:
        return self.value


def comparison_constant(
    space: Any, loss: Any = None, y: Any = None, *, most: int = MOST
) -> ComparisonConstant:
    r"""The constant c of the comparison inequality between risk and regression error [1]_.

    A loss :math:`\ell(z, y) = \langle \psi(z), V \psi(y) + u \rangle + \dots` is decided from an
    estimate g(x) of :math:`g^*(x) = E[\psi(Y) \mid x]`. Whatever the distribution and the estimate,

    .. math:: \mathcal{E}(\hat z) - \mathcal{E}(z^*) \le c\, \Big(E\, \| g(X) - g^*(X) \|^2
              \Big)^{1/2}, \qquad c = \max_{z, z'} \| V^\top (\psi(z) - \psi(z')) \|.

    The root is that of the excess squared error of g. The paper prints
    :math:`c = \|V\| \max \|\psi\|`, which is too small by up to a factor of two: it gives 1 for two
    classes, where :math:`\sqrt 2` is needed.

    Parameters
    ----------
    space : space
    loss : str or loss, default=None
        One that is bilinear in an embedding of the space; the usual one of the space when None.
    y : outputs, default=None
        Outputs to fit the space to, where it learns its labels, its bounds or its list of
        candidates from them. None for a space that says all itself.
    most : int, default=2048
        With no more outputs than that, all pairs are compared and c is exact. Otherwise it is
        bounded by the range of every coordinate of :math:`V^\top \psi(z)`, found by decoding, and
        two outputs far apart are searched: where they meet the bound, that is exact too.

    Returns
    -------
    ComparisonConstant

    References
    ----------
    .. [1] C. Ciliberto, A. Rudi, L. Rosasco, "A consistent regularization approach for structured
       prediction", 2016, Theorem 2, with the constant corrected.

    Examples
    --------
    >>> from skstruct.spaces import Classes, LabelSets
    >>> round(comparison_constant(Classes(["a", "b"]), "zero_one").value, 4)
    1.4142
    >>> hundred = comparison_constant(LabelSets(range(100)), "hamming")
    >>> hundred.value, hundred.exact  # 2^100 sets; 2 sqrt(100)
    (20.0, True)
    """
    space = space if y is None else clone(space).fit(y)
    loss = resolve_loss(space.default_loss if loss is None else loss)
    if loss.embedding_on(space) == "weights":
        raise ValueError(
            f"{type(loss).__name__} is not bilinear in an embedding of finitely many columns; "
            "comparison_constant is for losses that are."
        )
    outputs = _some_outputs(space, y, most)
    view, loss = pair(loss, space, outputs)
    T = _transposed(view, loss, outputs)
    listed = Uniform.of(view).all_outputs(most)
    if listed is not None and y is None and Uniform.of(space).all_outputs(most) is None:
        raise ValueError(  # the list is that of one draw, which took the place of outputs
            f"{type(loss).__name__} compares outputs of a list, and {type(space).__name__} has "
            f"more than most={most} of them here: give y, or a larger most."
        )
    if listed is not None:
        points = _images(view, T, listed)
        value = _largest_distance(points)
        return ComparisonConstant(value, value, True, f"all pairs of {len(points)} outputs")
    bound, reason = _bound(view, T)
    attained = min(_far_apart(view, T), bound)
    exact = attained >= bound * (1.0 - STATED_BOUND)
    reason += ", which two outputs attain" if exact else ", an upper bound"
    return ComparisonConstant(bound, bound if exact else attained, exact, reason)


def _some_outputs(space: Any, y: Any, most: int) -> Any:
    """Outputs in canonical form: those given, or all, or one."""
    if y is not None:
        return space.validate(y)
    uniform = Uniform.of(space)
    listed = uniform.all_outputs(most)
    if listed is not None:
        return listed
    if uniform.draws:
        return uniform.sample(1, 0)
    raise ValueError(
        f"comparison_constant: {type(space).__name__} says nothing of its outputs before it has "
        "seen some; give y."
    )


def _transposed(view: Any, loss: Any, outputs: Any) -> Any:
    """V^T, of shape (columns that are observed, columns that are decided on)."""
    seen = Observed.of(loss).space_of(view)
    width = Targets.of(seen).targets(outputs[:1]).shape[1]
    if width > WIDEST:
        raise ValueError(
            f"comparison_constant writes down the matrix of a loss; that of "
            f"{type(loss).__name__} has {width} columns here, at most {WIDEST} will do."
        )
    unit = np.eye(width)
    return np.asarray(dense(loss.cost(unit, np.zeros((width, 1)))))


def _images(view: Any, T: np.ndarray, Z: Any) -> np.ndarray:
    """V^T psi(z) of outputs; shape (n, columns that are observed)."""
    psi = view.embed(Z)
    return np.asarray(psi @ T.T) if sparse.issparse(psi) else dense(psi) @ T.T


def _largest_distance(points: np.ndarray) -> float:
    centred = points - points.mean(axis=0)
    squares = (centred**2).sum(axis=1)
    best, pair_of = -1.0, (0, 0)
    for rows in row_blocks(len(points), 16 * len(points), "64MB"):
        away = squares[rows, None] + squares - 2.0 * centred[rows] @ centred.T
        row, column = np.unravel_index(away.argmax(), away.shape)
        if away[row, column] > best:
            best, pair_of = away[row, column], (rows.start + int(row), int(column))
    return float(np.linalg.norm(points[pair_of[0]] - points[pair_of[1]]))


def _bound(view: Any, T: np.ndarray) -> tuple[float, str]:
    """An upper bound from the range of every coordinate of V^T psi(z), and how it was found."""
    lower, upper = view.argmin(T.copy()).bounds, -view.argmin(-T).bounds
    spans = upper - lower
    if not np.isfinite(spans).all():
        raise ValueError("comparison_constant: outputs are not bounded, and nor is the constant.")
    found = {"ranges of the coordinates of V^T psi": float((spans**2).sum())}
    # |a - b| is at most the span, and at most the larger of a, b, which are not negative.
    weighted = spans @ T
    heaviest = -view.argmin(-weighted[None]).bounds[0] - spans @ lower
    found["largest sum of the coordinates of V^T psi"] = 2.0 * float(heaviest)
    lightest = spans @ upper - view.argmin(weighted[None]).bounds[0]
    found["largest sum of the coordinates of -V^T psi"] = 2.0 * float(lightest)
    reason = min(found, key=lambda name: found[name])
    return float(np.sqrt(max(found[reason], 0.0))), reason


def _far_apart(view: Any, T: np.ndarray) -> float:
    """The distance of two images, each in turn the farthest by the slope at the other."""
    rng, best = np.random.default_rng(0), 0.0
    gram = T.T @ T
    starts = np.vstack([np.sqrt(np.diag(gram)), rng.standard_normal((STARTS, len(gram)))])
    for slope in starts:
        here, there = _embedded(view, slope), _embedded(view, -slope)
        for _ in range(STEPS):
            best_before = best
            best = max(best, float(np.linalg.norm(T @ (here - there))))
            here = _embedded(view, gram @ (there - here))
            there = _embedded(view, gram @ (here - there))
            if best <= best_before:
                break
    return best


def _embedded(view: Any, costs: np.ndarray) -> np.ndarray:
    return dense(view.embed(view.argmin(costs[None]).outputs))[0]
