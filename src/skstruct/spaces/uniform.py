# SPDX-License-Identifier: BSD-3-Clause
"""The facet of counting: all outputs of a space, each as likely as any other."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from skstruct._arrays.memory import check_square_fits
from skstruct._arrays.rows import dense
from skstruct.exceptions import InfeasibleError, NoFacetError
from skstruct.facets import Facet
from skstruct.spaces.common.covariances import Covariance, DenseCovariance
from skstruct.spaces.constraints import differs_by_row, of_one_row
from skstruct.spaces.embeddings import whole_of

LIMIT = 10**6  # outputs listed, or subproblems counted, before giving up
Seed = np.random.Generator | int | None
FEW, DRAWN = 200, 200  # outputs that are listed, and those of a sample, where a mean is roughly it


class Uniform(Facet):
    """How many outputs a space has, their list, mean and second moment of psi, draws.

    A structure brings ``enumerate``, from which all else follows, or what it knows in closed form.
    Constraints are those of the space, and the same in all rows.

    Examples
    --------
    >>> from skstruct.spaces import LabelSets
    >>> uniform = Uniform.of(LabelSets(["a", "b"]).restrict(min_size=1))
    >>> uniform.size(), uniform.mean_embedding().round(3), uniform.counts
    (3, array([0.667, 0.667]), True)
    """

    __slots__ = ()

    # ------------------------------------------------------------------ which answers there are
    @property
    def lists(self) -> bool:
        """Whether all outputs can be listed."""
        return self.answers("enumerate")

    @property
    def draws(self) -> bool:
        """Whether outputs are drawn exactly uniformly."""
        return self.lists or self.answers("sample")

    @property
    def counts(self) -> bool:
        """Whether the size and the moments are known."""
        return self.lists or self.answers("size", "mean_embedding", "second_moment")

    # ------------------------------------------------------------------ size and list
    def size(self) -> int:
        """Exact number of outputs."""
        return len(self._listed)

    def log_size(self) -> float:
        """Natural logarithm of the number of outputs; minus infinity when there is none."""
        size = self.size()
        return math.log(size) if size else -math.inf

    def enumerate(self, limit: int = LIMIT) -> np.ndarray:
        """All outputs in canonical form; an error where there are more than ``limit``."""
        raise NoFacetError(
            f"{type(self.space).__name__} cannot be counted: no facet Uniform says how many "
            "outputs it has, or lists them."
        )

    def all_outputs(self, most: int) -> np.ndarray | None:
        """All outputs, where there are no more than ``most`` and these can be listed."""
        try:
            return self.enumerate(limit=most)
        except ValueError:  # there are more
            return None

    @property
    def _listed(self) -> np.ndarray:
        return self.enumerate()

    def check_not_empty(self) -> None:
        """Raise where constraints exclude all outputs."""
        if self.size() == 0:
            name = type(self.space).__name__
            raise InfeasibleError(f"{name}: no output meets the constraints.")

    def _one_row(self) -> Any:
        """Constraints, where they are the same for all rows."""
        return of_one_row(self.space.constraints_)

    # ------------------------------------------------------------------ moments and draws
    def mean_embedding(self) -> np.ndarray:
        """Mean of psi over all outputs; shape (d,)."""
        self.check_not_empty()
        return dense(self.space.embed(self._listed)).mean(axis=0)

    def second_moment(self) -> np.ndarray:
        """Mean of psi psi' over all outputs; shape (d, d)."""
        self.check_not_empty()
        closed = self._closed_covariance()
        if closed is not None:
            mean = self.mean_embedding()
            return closed.dense() + np.outer(mean, mean)
        psi = dense(self.space.embed(self._listed))
        return psi.T @ psi / len(psi)

    def covariance(self) -> Covariance:
        """Covariance of psi: a :class:`~skstruct.spaces.common.covariances.Covariance`."""
        return self._closed_covariance() or self._dense_covariance()

    def _closed_covariance(self) -> Covariance | None:
        """The covariance by its eigenspaces, where these are known."""
        return None

    def _dense_covariance(self) -> Covariance:
        mean = np.asarray(self.mean_embedding())
        name = type(self.space).__name__
        check_square_fits(len(mean), f"The covariance over {name}", "Use a smaller embedding.")
        second = np.array(dense(self.second_moment()))
        second -= np.outer(mean, mean)
        return DenseCovariance(second)

    def sample(self, n: int, rng: Seed = None) -> np.ndarray:
        """``n`` outputs drawn uniformly and independently, in canonical form."""
        self.check_not_empty()
        listed = self._listed
        return listed[np.random.default_rng(rng).integers(len(listed), size=n)]

    def sampled_moments(self) -> Any:
        """The draws that moments are means over, and their errors; None where moments are exact."""
        return None

    def uniform_means(self, n: int) -> np.ndarray:
        """Mean of psi over all outputs that each of n rows allows; shape (n, d).

        Of a sample of them, where these are many and cannot be counted.
        """
        if not differs_by_row(self.space):
            return np.repeat(mean_of_outputs(self.space)[None], n, axis=0)
        return np.array([mean_of_outputs(self.space.rows([i])) for i in range(n)])

    # ------------------------------------------------------------------ what is counted instead
    @property
    def counted(self) -> Any:
        """The space that is counted in place of this one: itself, or one that contains it."""
        return self.space

    def relaxation(self) -> Any:
        """A larger space with the same embedding, whose moments are closed forms, or None.

        What the truth may be contrasted with where the outputs of this space are too alike, or
        too hard to count; constraints are left behind.
        """
        return None

    # ------------------------------------------------------------------ one by one
    def sibling(self, Z: np.ndarray) -> np.ndarray:
        """For each output another: the sum of their psi is the same for all such pairs."""
        self.refuse("siblings")

    def stream(self, block: int = 1024) -> Iterator[np.ndarray]:
        """All outputs bit by bit, at most ``block`` at a time."""
        yield from np.array_split(self.enumerate(), max(1, self.size() // block))


class UniformOfViews(Uniform):
    """Of a view, whose outputs are those of the space that it shows."""

    __slots__ = ()

    def all_outputs(self, most: int) -> np.ndarray | None:
        return Uniform.of(self.space.space).all_outputs(most)


class UniformOfListViews(Uniform):
    """Of a view that lists what may be predicted."""

    __slots__ = ()

    def all_outputs(self, most: int) -> np.ndarray:
        return self.space.listed_[self.space.allowed()[0]]


def mean_of_outputs(space: Any, counted: bool = True) -> np.ndarray:
    """Mean of psi over all outputs, which are the same for all rows; shape (d,).

    By the list of them, by counting, or by a sample.

    Parameters
    ----------
    space : space or view of one
    counted : bool, default=True
        Whether a closed form may be asked for.

    Examples
    --------
    >>> from skstruct.spaces import LabelSets
    >>> mean_of_outputs(LabelSets(["a", "b"]).restrict(include=["a"]))
    array([1. , 0.5])
    """
    whole = whole_of(space)
    uniform = Uniform.of(whole)
    listed = uniform.all_outputs(FEW)
    if listed is not None and len(listed):
        return dense(space.embed(listed)).mean(axis=0)
    if counted and whole is space and uniform.counts:
        return np.asarray(uniform.mean_embedding(), dtype=np.float64).ravel()
    if uniform.draws:
        drawn = uniform.sample(DRAWN, np.random.default_rng(0))
        return dense(space.embed(drawn)).mean(axis=0)
    raise ValueError(
        f"{type(whole).__name__} neither counts nor samples what is left: give OneOf([...]) with "
        "the outputs that may be true."
    )
