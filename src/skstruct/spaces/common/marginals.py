# SPDX-License-Identifier: BSD-3-Clause
"""Probabilities of the parts of outputs, read off means of psi."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from skstruct._arrays.memory import row_blocks
from skstruct.solvers.dags import Dag
from skstruct.solvers.nearest_means import nearest_means
from skstruct.spaces.description import Description
from skstruct.tolerances import SURE

MIXED, MEMORY = 100, "100MB"  # outputs that a row is a mixture of, and all that rows may take


class PartMarginals:
    """What a space says of the parts of its outputs, given means of psi; a child says more.

    Estimated means are numbers of any size. They are moved to the nearest ones that a
    distribution over the outputs can have, are conditioned on what is known of a row, and put
    into the form in which people read them.
    """

    # Which parts have probabilities, each with a loss whose embedding has their means; the usual
    # ones first.
    marginal_losses: ClassVar[dict[str, str]] = {}
    multi_output: ClassVar[bool] = True  # whether an output may be a row of several numbers
    # Of outputs as scikit-learn knows them: "classifier", "regressor" or None.
    estimator_type: ClassVar[str | None] = None

    def recalibrates(self) -> bool:
        """Whether marginals are probabilities that psi can be read off again, and coherent ones
        take no search: then left-out rows of training calibrate them.
        """
        return False

    def is_free(self) -> bool:
        """Whether a distribution of largest entropy over this space is known from its means."""
        return True

    def marginal_parts(self) -> tuple[str, ...]:
        """Parts whose probabilities can be read off means of this embedding."""
        return tuple(self.marginal_losses)

    def marginals(
        self,
        means: Any,
        parts: str | None = None,
        within: Any = None,
        raw: bool = False,
        recalibrate: Any = None,
    ) -> Any:
        """Probabilities of the parts of outputs; shape (n, ...), by ``marginal_axes``.

        Parameters
        ----------
        means : array of shape (n, d)
            Of psi, estimated.
        parts : one of ``marginal_parts``
        within : the same space, narrowed, default=None
            What is known of the rows: probabilities are those given that.
        raw : bool, default=False
            Leave means as they are.
        recalibrate : callable, default=None
            A rising map of probabilities, after which they are made coherent again.
        """
        if not raw:
            means = self.coherent(means)
            if recalibrate is not None:
                told = recalibrate(self.readable(means, parts))
                means = self.coherent(self.unread(told, parts))
            if within is not None:
                means = within.condition(means) if self.is_free() else within.coherent(means)
        return self.readable(means, parts)

    def telling(self: Any, parts: str | None = None) -> Any:
        """This set of outputs with an embedding whose means tell of such parts."""
        return self

    def coherent(self: Any, means: np.ndarray) -> np.ndarray:
        """The nearest means of psi that a distribution over the outputs has; shape (n, d)."""
        found = np.empty(means.shape)
        for rows in row_blocks(len(means), 8 * MIXED * means.shape[1], MEMORY):
            space = self.rows(rows)
            found[rows] = nearest_means(
                lambda costs, left, space=space: space.rows(left).argmin(costs).outputs,
                space.embed, means[rows],
            )  # fmt: skip
        return found

    def condition(self, means: np.ndarray) -> np.ndarray:
        """Coherent means of psi over a larger space, given that outputs are in this one.

        Of all distributions with such means, that of the largest entropy is conditioned where it
        is known; elsewhere the nearest means within this space are taken.
        """
        return self.coherent(means)

    def readable(self, means: np.ndarray, parts: str | None = None) -> np.ndarray:
        """Means of psi in the form of ``marginals``."""
        return means

    def unread(self, marginals: np.ndarray, parts: str | None = None) -> np.ndarray:
        """Means of psi that read as such: the other way round from ``readable``."""
        return marginals

    def marginal_axes(self: Any, width: int, parts: str | None = None) -> list[Sequence[Any]]:
        """Names along each axis of ``marginals`` but the first, for psi of ``width`` numbers; of
        the first parts that there are where None are named.
        """
        names = Description.of(self).part_names()
        return [names if names is not None and len(names) == width else range(width)]

    def decision_scores(self, scores: np.ndarray) -> np.ndarray:
        """Scores of the coordinates of psi as scikit-learn has them; shape (n, d)."""
        return scores

    def sklearn_classes(self) -> Any:
        """``classes_`` of a classifier over this space; None where there is none."""
        return None


def label_classes(labels: Any) -> np.ndarray:
    """``classes_`` of a classifier of label sets: their names, one for each column.

    Two names would be two classes to scikit-learn, and one would be none: of up to two labels
    [0, 1] for each, as of several outputs.
    """
    if len(labels) <= 2:
        return np.tile(np.arange(2), (len(labels), 1))
    alike = len({type(name) for name in labels}) == 1 and isinstance(labels[0], (str, int))
    return np.array(labels) if alike else np.fromiter(labels, dtype=object, count=len(labels))


def given_odds(means: np.ndarray, dag: Dag) -> np.ndarray:
    r"""Scores of the distribution of largest entropy over closed sets with such means; (n, d).

    With :math:`q_j = p_j / p_{\mathrm{pa}(j)}` the probability of a label given its parent,

    .. math:: u_j = \ln \frac{q_j}{1 - q_j} + \sum_{c\,\text{child of}\,j} \ln (1 - q_c).

    Parameters
    ----------
    means : coherent array of shape (n, d)
    dag : Dag, a forest
    """
    # Of a label whose parent is never there, nothing is known: one half.
    above = np.where(dag.parent_of >= 0, means[:, dag.parent_of], 1.0)
    share = np.clip((means + SURE) / (above + 2.0 * SURE), SURE, 1.0 - SURE)
    scores: np.ndarray = np.log(share) - np.log1p(-share)
    for child in np.flatnonzero(dag.parent_of >= 0):
        scores[:, dag.parent_of[child]] += np.log1p(-share[:, child])
    return scores


def renormalized(probabilities: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Probabilities given that one of those allowed is chosen, which may have probability zero.

    Parameters
    ----------
    probabilities : array of shape (n, k), rows sum to one
    allowed : bool array of shape (1 or n, k)
    """
    kept = np.where(allowed, probabilities + SURE, 0.0)
    return kept / kept.sum(axis=1, keepdims=True)


def given_marginals(space: Any, means: np.ndarray) -> np.ndarray:
    """Probabilities of labels given that sets are in the space: exact for the distribution of
    largest entropy, where it is known.
    """
    known = space.distribution(given_odds(means, space.dag_)) if space.dag_.is_forest else None
    return space.coherent(means) if known is None else known.marginals()
