# SPDX-License-Identifier: BSD-3-Clause
"""Outputs as scikit-learn knows them: classes, labels or numbers, one or several in a row."""

from typing import Any, ClassVar

import numpy as np

from skstruct.facets import Facet


class SklearnTarget(Facet):
    """A space as a target of scikit-learn: what a learner over it is there, and what it shows.

    By default it is neither a classifier nor a regressor, and scores are those of the coordinates
    of psi.

    Parameters
    ----------
    space : a space

    Attributes
    ----------
    estimator_type : "classifier", "regressor" or None
    multi_output : bool
        Whether an output may be a row of several numbers.

    Examples
    --------
    >>> from skstruct.spaces import Classes, LabelSets, Rankings, SklearnTarget
    >>> pets = SklearnTarget.of(Classes(["cat", "dog"]).fit(["cat"]))
    >>> pets.estimator_type, pets.multi_output, pets.classes()
    ('classifier', False, array(['cat', 'dog'], dtype='<U3'))
    >>> SklearnTarget.of(LabelSets("abc")).classes()
    array(['a', 'b', 'c'], dtype='<U1')
    >>> SklearnTarget.of(Rankings(3)).estimator_type is None
    True
    """

    __slots__ = ()
    estimator_type: ClassVar[str | None] = None
    multi_output: ClassVar[bool] = True

    def classes(self) -> Any:
        """``classes_`` of a classifier over this space; None where there is none."""
        return None

    def decision_scores(self, scores: np.ndarray) -> np.ndarray:
        """Scores of the coordinates of psi as scikit-learn has them; shape (n, d)."""
        return scores


class Quantities(SklearnTarget):
    """Rows of numbers, for a regressor."""

    __slots__ = ()
    estimator_type = "regressor"


class OneQuantity(Quantities):
    """One number in a row, for a regressor."""

    __slots__ = ()
    multi_output = False


class Labels(SklearnTarget):
    """Sets of labels, for a classifier of several outputs."""

    __slots__ = ()
    estimator_type = "classifier"

    def classes(self) -> Any:
        return label_classes(self.space.labels_)


class OneLevel(SklearnTarget):
    """One level of several in a row, for a classifier."""

    __slots__ = ()
    estimator_type = "classifier"
    multi_output = False

    def classes(self) -> Any:
        return np.asarray(self.space.labels_)


class OneClass(OneLevel):
    """One class of several in a row, for a classifier."""

    __slots__ = ()

    def decision_scores(self, scores: np.ndarray) -> np.ndarray:
        """Of two classes, by how much the second one scores more; shape (n,)."""
        return scores[:, 1] - scores[:, 0] if len(self.space.labels_) == 2 else scores


def label_classes(labels: Any) -> np.ndarray:
    """``classes_`` of a classifier of label sets: their names, one for each column.

    Two names would be two classes to scikit-learn, and one would be none: of up to two labels
    [0, 1] for each, as of several outputs.
    """
    if len(labels) <= 2:
        return np.tile(np.arange(2), (len(labels), 1))
    alike = len({type(name) for name in labels}) == 1 and isinstance(labels[0], (str, int))
    return np.array(labels) if alike else np.fromiter(labels, dtype=object, count=len(labels))
