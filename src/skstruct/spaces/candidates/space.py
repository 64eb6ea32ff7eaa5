# SPDX-License-Identifier: BSD-3-Clause
"""Any finite list of any Python objects."""

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np

from skstruct._arrays.checks import check_costs
from skstruct._arrays.imports import is_pandas
from skstruct._arrays.rows import unit_vectors
from skstruct.saving import savable
from skstruct.spaces.base import BaseSpace
from skstruct.spaces.classes.space import Classes
from skstruct.spaces.common.covariances import Covariance
from skstruct.spaces.common.formats import check_writable, is_missing_name, refuse_empty
from skstruct.spaces.description import Description
from skstruct.spaces.embeddings import Embeddings
from skstruct.spaces.known import Known
from skstruct.spaces.marginals import Marginals
from skstruct.spaces.solving import Solving


@savable
class Candidates(Classes):
    r"""A finite list of outputs of any kind, with any loss between them.

    :math:`\psi(z) = e_z` over the list, so that every loss is bilinear:
    :math:`\ell(z, y) = e_z' L e_y` with :math:`L_{zy}` = ``loss(z, y)``. Outputs seen in
    training that are not candidates still count through their losses; they are known,
    but never predicted.

    Parameters
    ----------
    outputs : list
        What may be predicted. Objects that cannot be hashed are compared by ``==``.
    loss : callable (predicted, true) -> float, default=None
        Used by a learner that is given no other loss; None is the zero-one loss.

    Examples
    --------
    >>> import numpy as np
    >>> words = ["cat", "cart", "dog"]
    >>> space = Candidates(words, loss=lambda z, y: abs(len(z) - len(y))).fit(["cat", "horse"])
    >>> space.restore(space.validate(["dog", "cat"])).tolist()
    ['dog', 'cat']
    >>> space.n_known_  # three candidates and one more word
    4
    """

    def __init__(self, outputs: Any, loss: Callable[[Any, Any], float] | None = None) -> None:
        self.outputs = outputs
        self.loss = loss

    @property
    def default_loss(self) -> Any:
        return "zero_one" if self.loss is None else self.loss

    _learned: ClassVar[tuple[str, ...]] = ("known_", "n_candidates_", "series_")

    def fit(self, Y: Any) -> Self:
        self.__dict__.pop("_opened", None)
        self._open()
        self.series_ = (Y.name,) if is_pandas(Y, "Series") else None
        for i, output in enumerate(Y):
            if is_missing_name(output):
                raise ValueError(f"Candidates: Y[{i}] is {output!r}, a missing value.")
            self.known_.add(output)
        check_writable(self.known_.objects)
        return self

    def _is_given(self) -> bool:
        return True

    def _open(self) -> None:
        if not hasattr(self.outputs, "__len__"):
            raise ValueError(f"Candidates: outputs are a list; got {self.outputs!r}.")
        if len(self.outputs) == 0:
            raise ValueError("Candidates: the list of outputs is empty.")
        self.known_, self.series_ = _Catalogue(), None
        for i, output in enumerate(self.outputs):
            if is_missing_name(output):
                raise ValueError(f"Candidates: outputs[{i}] is {output!r}, a missing value.")
            self.known_.add(output)
        self.n_candidates_ = len(self.known_.objects)

    @property
    def n_known_(self) -> int:
        return len(self.known_.objects)

    @property
    def listed_(self) -> np.ndarray:
        """All that is known, in canonical form; the candidates come first."""
        return np.arange(self.n_known_)

    def enumerate(self, limit: int | None = None) -> np.ndarray:
        return np.arange(self.n_candidates_)

    @property
    def labels_(self) -> np.ndarray:  # candidates only, as the sizes and samples of Classes
        return self.known_.array()[: self.n_candidates_]

    def validate(self, Y: Any) -> np.ndarray:
        """Numbers of the outputs in ``Y``; outputs never seen before are an error."""
        self._ready()
        Y = list(Y)
        numbers = [self.known_.find(output) for output in Y]
        refuse_empty(numbers, "Candidates")
        if None in numbers:
            i = numbers.index(None)
            raise ValueError(
                f"Candidates: Y[{i}] is {Y[i]!r}, neither a candidate nor an output of training."
            )
        return np.array(numbers, dtype=np.int64)

    def restore(self, Z: np.ndarray, index: Any = None) -> Any:
        self._ready()
        outputs = self.known_.array()[np.asarray(Z)]
        if self.series_ is None:
            return outputs
        import pandas

        return pandas.Series(outputs, index=index, name=self.series_[0])

    def embed(self, Z: np.ndarray) -> Any:
        return unit_vectors(Z, self.n_known_)

    def contains(self, Z: Any) -> np.ndarray:
        return (np.asarray(Z) >= 0) & (np.asarray(Z) < self.n_candidates_)

    def _allowed_costs(self, costs: np.ndarray) -> np.ndarray:
        self._ready()
        costs = check_costs(costs, self.n_known_, used_by="Candidates")
        return super()._allowed_costs(costs[:, : self.n_candidates_])

    def _pad(self, array: np.ndarray) -> np.ndarray:
        extra = self.n_known_ - self.n_candidates_
        return np.pad(array, [(0, extra)] * array.ndim)

    def mean_embedding(self) -> np.ndarray:
        return self._pad(super().mean_embedding())

    def second_moment(self) -> np.ndarray:
        return self._pad(super().second_moment())

    def covariance(self) -> Covariance:
        if self.n_known_ > self.n_candidates_:  # coordinates that are always zero
            return BaseSpace.covariance(self)
        return super().covariance()


@savable
class _Catalogue:
    """Objects numbered in order of appearance: by hash where they have one, else by ==."""

    def __init__(self) -> None:
        self.objects: list[Any] = []
        self._hashed: dict[Any, Any] = {}
        self._others: list[int] = []

    def find(self, thing: Any) -> int | None:
        try:
            return self._hashed.get(thing)
        except TypeError:
            for number in self._others:
                if _same(self.objects[number], thing):
                    return number
            return None

    def add(self, thing: Any) -> None:
        if self.find(thing) is not None:
            return
        self.objects.append(thing)
        try:
            self._hashed[thing] = len(self.objects) - 1
        except TypeError:
            self._others.append(len(self.objects) - 1)

    def array(self) -> np.ndarray:
        """A one-dimensional array of the objects, whatever they look like inside."""
        array = np.empty(len(self.objects), dtype=object)
        for i, thing in enumerate(self.objects):
            array[i] = thing
        return array


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    if type(a) is not type(b):
        return False
    if isinstance(a, (list, tuple)):  # which may hold arrays
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    return bool(a == b)


Solving.at(Candidates, "skstruct.spaces.candidates.solving:SolvingOfCandidates")
Known.at(Candidates, "skstruct.spaces.candidates.known:KnownOfCandidates")
Description.at(Candidates, "skstruct.spaces.candidates.description:DescriptionOfCandidates")
Marginals.at(Candidates, "skstruct.spaces.candidates.marginals:MarginalsOfCandidates")
Embeddings.at(Candidates, "skstruct.spaces.classes.coordinates:EmbeddingsOfCandidates")
