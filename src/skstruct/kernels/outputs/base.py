# SPDX-License-Identifier: BSD-3-Clause
"""What a kernel between outputs promises, how kernels are combined, and which one is meant by
a name, an object or a function.
"""

import copy
import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from itertools import combinations
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import _safe_indexing

from skstruct.kernels.outputs.codes import hashable, listed
from skstruct.losses import Levels
from skstruct.saving import savable
from skstruct.spaces import Decoded
from skstruct.tolerances import GRAM_SYMMETRY, SYMMETRY_ABSOLUTE

Array = Any
ROWS = 64  # of a block whose diagonal is all that is looked at


class OutputKernel(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    r"""A positive semidefinite kernel k(y, y') between outputs in the user's own format.

    The loss that goes with it is half a squared distance between features [1]_,

    .. math:: L_K(y, y') = \tfrac12 (k(y, y) + k(y', y')) - k(y, y').

    A child brings ``__call__(A, B=None)``, the matrix (n_a, n_b), and perhaps ``fit``, which
    learns sizes left open, and ``diagonal``. Kernels are added and multiplied by ``+`` and
    ``*``, with each other and with positive numbers.

    Some kernels are bilinear in the embedding psi of a space. These say so by
    ``embedding_on(space)``, and after ``bind(space)`` give for every row of weights b

    .. math:: k(z, z) - 2 \sum_i b_i k(z, y_i) = \langle \mathrm{cost}, \psi(z) \rangle
        + \mathrm{offset}, \quad g = \sum_i b_i \psi(y_i),\ \mathrm{total} = \sum_i b_i

    so that the nearest output in feature space is an argmin of the space. Where there is a
    space, ``bind`` comes before ``fit``: some kernels read outputs as the space does.

    References
    ----------
    .. [1] S. Giguère, F. Laviolette, M. Marchand, K. Sylla, "Risk bounds and learning
       algorithms for the regression approach to structured output prediction", 2013.
    """

    def fit(self, Y: Any) -> Self:
        """Learn what is left open from outputs in the user's format."""
        return self

    def admit(self, Y: Any) -> None:
        """After ``fit``, make room for outputs that may be predicted but were not seen."""

    @abstractmethod
    def __call__(self, A: Any, B: Any = None) -> np.ndarray:
        """k(a, b) for all pairs, shape (n_a, n_b); B=None stands for A."""

    def diagonal(self, A: Any) -> np.ndarray:
        """k(a, a), shape (n,)."""
        return self.paired(A, A)

    def paired(self, A: Any, B: Any) -> np.ndarray:
        """k(a_i, b_i) row by row, shape (n,)."""
        n = _number_of(A)
        if n != _number_of(B):
            raise ValueError(
                f"{type(self).__name__}: {n} outputs cannot be compared with {_number_of(B)} "
                "row by row."
            )
        blocks = [np.arange(start, min(start + ROWS, n)) for start in range(0, n, ROWS)]
        values = [self(_safe_indexing(A, at), _safe_indexing(B, at)).diagonal() for at in blocks]
        return np.concatenate(values) if values else self(A, B).diagonal()

    def loss(self, A: Any, B: Any) -> np.ndarray:
        """L_K(a_i, b_i) row by row, shape (n,)."""
        return (self.diagonal(A) + self.diagonal(B)) / 2 - self.paired(A, B)

    def largest_loss(self) -> float | None:
        """A number that no loss exceeds, as small as is known; None where none is known."""
        return None

    # ------------------------------------------------------------- on a space
    def embedding_on(self, space: Any) -> str | None:
        """Name of the embedding of ``space`` in which k is bilinear; None if there is none."""
        return None

    def bind(self, space: Any) -> Self:
        """A copy that knows the sizes of a space."""
        return copy.copy(self)

    def cost(self, g: Array, total: Array) -> np.ndarray:
        """Costs of the coordinates of psi, shape (n, d), for g (n, d) and total (n, 1)."""
        raise ValueError(
            f"{type(self).__name__} is no linear cost in an embedding; list the candidates."
        )

    def offset(self, g: Array, total: Array) -> np.ndarray:
        """What is to be added to the costs to get the squared distance, shape (n,)."""
        return np.zeros(len(g))

    def nearest(self, space: Any, g: Array, total: Array) -> Decoded:
        """The outputs z of least k(z, z) - 2 sum_i b_i k(z, y_i), after ``bind(space)``."""
        decoded, offset = space.argmin(self.cost(g, total)), self.offset(g, total)
        return Decoded(decoded.outputs, decoded.values + offset, decoded.bounds + offset)

    # ------------------------------------------------------------- combined
    def __add__(self, other: Any) -> Any:
        return added(self, resolve_output_kernel(other)) if _is_kernel(other) else NotImplemented

    def __radd__(self, other: Any) -> Any:
        if isinstance(other, Real) and other == 0:  # where sum([...]) begins
            return self
        return added(resolve_output_kernel(other), self) if _is_kernel(other) else NotImplemented

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Real):
            return scaled(self, float(other))
        if not _is_kernel(other):
            return NotImplemented
        return multiplied(self, resolve_output_kernel(other))

    __rmul__ = __mul__


class LevelsOfKernel(Levels):
    """The values that the loss of a kernel may have."""

    __slots__ = ()

    def largest(self, space: Any) -> float | None:
        return self.loss.largest_loss()


Levels.at(OutputKernel, LevelsOfKernel)


NAMED: dict[str, type[OutputKernel]] = {}  # filled by the modules beside this one


def named(name: str) -> Callable[..., Any]:
    """A decorator: the class of kernels that is meant by a name."""

    def register(kernel: type[OutputKernel]) -> type[OutputKernel]:
        NAMED[name] = kernel
        return kernel

    return register


def _is_kernel(other: Any) -> bool:
    return callable(other) and hasattr(other, "get_params")


def _number_of(Y: Any) -> int:
    shape = getattr(Y, "shape", None)
    return shape[0] if shape else len(Y)


def resolve_output_kernel(kernel: Any, **parameters: Any) -> OutputKernel:
    """The kernel between outputs that is meant by a name, an object or a function.

    Parameters
    ----------
    kernel : str, OutputKernel, other kernel object, or callable
        A name: ``"dirac"``, ``"hamming"``, ``"path"``; ``"linear"``, ``"rbf"``,
        ``"polynomial"`` of rows of numbers; ``"precomputed"``, where a square matrix stands
        for the outputs. A kernel object with parameters, such as
        :class:`~skstruct.kernels.SpectrumKernel`, gives matrices: kernel(A, B). A plain
        function gives the number k(y, y') of two outputs.
    **parameters
        Of the kernel that is named, such as ``gamma``.

    Examples
    --------
    >>> resolve_output_kernel("rbf", gamma=0.5)([[0.0], [2.0]]).round(3)
    array([[1.   , 0.135],
           [0.135, 1.   ]])
    >>> resolve_output_kernel(lambda y, z: float(len(y) * len(z)))(["a", "bcd"])
    array([[1., 3.],
           [3., 9.]])
    """
    if isinstance(kernel, str):
        if kernel not in NAMED:
            raise ValueError(
                f"Unknown kernel between outputs {kernel!r}; known are {', '.join(NAMED)}."
            )
        return NAMED[kernel](**parameters)
    if parameters:
        raise ValueError(f"Parameters {sorted(parameters)} go with the name of a kernel only.")
    if isinstance(kernel, OutputKernel):
        return kernel
    if isinstance(kernel, type) or not callable(kernel):
        raise ValueError(
            f"A kernel between outputs is a name, a kernel object or a function; got {kernel!r}."
        )
    return MatrixKernel(kernel) if hasattr(kernel, "get_params") else FunctionKernel(kernel)


TRIED = 32  # distinct outputs whose pairs are asked for both ways round


@savable
class FunctionKernel(OutputKernel):
    """A function k(y, y') of two outputs that returns a number.

    It is asked once for each pair of distinct outputs, and for the pairs of the first 32 both
    ways round. That it is positive semidefinite is for its author to know.

    Parameters
    ----------
    function : callable (y, y') -> float

    Examples
    --------
    >>> FunctionKernel(lambda y, z: len(set(y) & set(z)))(["abc", "cd"], ["dc", "dc", "x"])
    array([[1., 1., 0.],
           [2., 2., 0.]])
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, A: Any, B: Any = None) -> Any:
        rows, distinct = _distinct(A)
        if B is None:
            return self._square(distinct)[np.ix_(rows, rows)]
        columns, others = _distinct(B)
        table = np.array([[self._value(a, b) for b in others] for a in distinct])
        return table[np.ix_(rows, columns)]

    def _square(self, outputs: list[Any]) -> np.ndarray:
        K = np.diag([self._value(y, y) for y in outputs])
        for i, j in combinations(range(len(outputs)), 2):
            K[i, j] = K[j, i] = self._value(outputs[i], outputs[j])
            if j < TRIED:
                back = self._value(outputs[j], outputs[i])
                if not np.isclose(back, K[i, j], rtol=GRAM_SYMMETRY, atol=SYMMETRY_ABSOLUTE):
                    raise ValueError(
                        f"The kernel between outputs is not symmetric: of {outputs[i]!r} and "
                        f"{outputs[j]!r} it is {K[i, j]:.6g}, the other way round {back:.6g}."
                    )
        return K

    def diagonal(self, A: Any) -> Any:
        rows, distinct = _distinct(A)
        return np.array([self._value(y, y) for y in distinct])[rows]

    def paired(self, A: Any, B: Any) -> np.ndarray:
        A, B = listed(A, "A kernel between outputs"), listed(B, "A kernel between outputs")
        if len(A) != len(B):
            raise ValueError(f"{len(A)} outputs cannot be compared with {len(B)} row by row.")
        return np.array([self._value(a, b) for a, b in zip(A, B)])

    def _value(self, a: str | float, b: str | float) -> float:
        value = self.function(a, b)
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = np.nan
        if not np.isfinite(number):
            raise ValueError(
                "A kernel between outputs is a finite number for any two of them; of "
                f"{a!r} and {b!r} it is {value!r}."
            )
        return number


def _distinct(Y: Any) -> tuple[np.ndarray, list[Any]]:
    """Numbers of the outputs, and the distinct ones in order of appearance.

    Outputs that cannot be hashed are all taken for different.
    """
    number: dict[Any, Any] = {}
    rows: list[int] = []
    outputs: list[Any] = []
    for i, y in enumerate(listed(Y, "A kernel between outputs")):
        try:
            key = hashable(y, "A kernel between outputs")
        except ValueError:
            key = ("not hashable", i)
        rows.append(number.setdefault(key, len(number)))
        if len(number) > len(outputs):
            outputs.append(y)
    return np.array(rows, dtype=np.int64), outputs


@savable
class MatrixKernel(OutputKernel):
    """A kernel object that gives matrices, kernel(A, B), such as a string kernel.

    A :class:`~skstruct.kernels.SpectrumKernel` that is not normalized is the inner product of
    n-gram counts, in which ``Strings`` of the same n embeds its outputs: the nearest string
    is then searched for by the space.

    Parameters
    ----------
    kernel : object, called with two lists of outputs
        Its methods ``fit`` and ``diagonal`` are used if it has them.

    Examples
    --------
    >>> from skstruct.kernels import EdgeKernel
    >>> MatrixKernel(EdgeKernel()).loss([[1, 2, 3]], [[3, 2, 1]])
    array([3.])
    """

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel

    def fit(self, Y: Any) -> Self:
        self.kernel_ = clone(self.kernel, safe=False)
        if hasattr(self.kernel_, "fit"):
            self.kernel_.fit(Y)
        return self

    def __call__(self, A: Any, B: Any = None) -> np.ndarray:
        kernel = getattr(self, "kernel_", self.kernel)
        K = np.asarray(kernel(A, A if B is None else B), dtype=np.float64)
        if K.ndim != 2 or not np.isfinite(K).all():
            raise ValueError(
                f"{type(kernel).__name__} gave an array of shape {K.shape} for outputs; a finite "
                "matrix was expected."
            )
        return K

    def diagonal(self, A: Any) -> np.ndarray:
        kernel = getattr(self, "kernel_", self.kernel)
        if hasattr(kernel, "diagonal"):
            return np.asarray(kernel.diagonal(A), dtype=np.float64)
        return super().diagonal(A)

    def largest_loss(self) -> float | None:
        from skstruct.kernels.strings.kernels import NGramKernel

        # Features of strings are counts, none below zero: (1 + 1) / 2 - 0 is the worst.
        normalized = isinstance(self.kernel, NGramKernel) and self.kernel.normalize
        return 1.0 if normalized else None

    def embedding_on(self, space: Any) -> str | None:
        from skstruct.kernels.strings.kernels import SpectrumKernel

        counted = isinstance(self.kernel, SpectrumKernel) and not self.kernel.normalize
        if counted and space.embedding == "ngrams" and space.n == self.kernel.n:
            return "ngrams"
        return None

    def cost(self, g: np.ndarray, total: Any) -> np.ndarray:
        raise ValueError(
            "Squared counts of n-grams are no linear cost; use nearest(space, g, total)."
        )

    def nearest(self, space: Any, g: np.ndarray, total: np.ndarray) -> Any:
        return space.nearest(g)


@savable
class SumKernel(OutputKernel):
    r"""Kernels added with weights, :math:`\sum_j c_j k_j(y, y')`; also ``k + l`` and ``2.0 * k``.

    Its features are those of all kernels side by side, each times :math:`\sqrt{c_j}`, and its
    loss is the same sum of their losses. On a space it is bilinear where all kernels are, in
    the same embedding.

    Parameters
    ----------
    kernels : list of kernels between outputs, or their names
    weights : list of numbers :math:`c_j \ge 0`, default=None
        One each when None.

    Examples
    --------
    >>> from skstruct.kernels import Dirac, HammingKernel
    >>> kernel = HammingKernel(length=3) + 0.5 * Dirac()
    >>> kernel(["abc", "ab"])
    array([[3.5, 2. ],
           [2. , 3.5]])
    """

    def __init__(self, kernels: Sequence[Any], weights: Sequence[float] | None = None) -> None:
        self.kernels = kernels
        self.weights = weights

    def fit(self, Y: Any) -> Self:
        self.kernels_ = [kernel.fit(Y) for kernel in _copies(self.kernels, "SumKernel")]
        self._weights()
        return self

    def _weights(self) -> np.ndarray:
        n = len(self.kernels)
        weights = np.ones(n) if self.weights is None else np.asarray(self.weights, np.float64)
        if weights.shape != (n,) or not (np.isfinite(weights).all() and (weights >= 0).all()):
            raise ValueError(
                f"SumKernel: weights are {n} finite numbers, none below zero, one per kernel; got "
                f"{self.weights!r}."
            )
        return weights

    def _sum(self, method: str, *args: Any) -> Any:
        values = [getattr(kernel, method)(*args) for kernel in _parts(self, "SumKernel")]
        return sum(weight * value for weight, value in zip(self._weights(), values))

    def __call__(self, A: Any, B: Any = None) -> Any:
        return self._sum("__call__", A, B)

    def diagonal(self, A: Any) -> np.ndarray:
        return self._sum("diagonal", A)

    def paired(self, A: Any, B: Any) -> np.ndarray:
        return self._sum("paired", A, B)

    def loss(self, A: Any, B: Any) -> np.ndarray:
        return self._sum("loss", A, B)

    def admit(self, Y: Any) -> None:
        for kernel in _parts(self, "SumKernel"):
            kernel.admit(Y)

    def largest_loss(self) -> float | None:
        largest = [kernel.largest_loss() for kernel in _parts(self, "SumKernel")]
        if None in largest:
            return None
        return float(self._weights() @ np.array(largest, dtype=np.float64))

    # ------------------------------------------------------------- on a space
    def embedding_on(self, space: Any) -> str | None:
        names = {kernel.embedding_on(space) for kernel in _parts(self, "SumKernel")}
        if len(names) > 1 or "ngrams" in names:  # squares of counts are no linear cost
            return None
        return names.pop()

    def bind(self, space: Any) -> Any:
        bound = copy.copy(self)
        bound.kernels = [kernel.bind(space) for kernel in _parts(self, "SumKernel")]
        bound.kernels_ = bound.kernels  # and fit after this fits copies of the bound ones
        return bound

    def cost(self, g: np.ndarray, total: Any) -> np.ndarray:
        return self._sum("cost", g, total)

    def offset(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        return self._sum("offset", g, total)


@savable
class ProductKernel(OutputKernel):
    r"""Kernels multiplied, :math:`\prod_j k_j(y, y')`; also ``k * l``.

    Its features are all products of one feature of each kernel, so that it is positive
    semidefinite where they are.

    Parameters
    ----------
    kernels : list of kernels between outputs, or their names

    Examples
    --------
    >>> from skstruct.kernels import Dirac, HammingKernel
    >>> (HammingKernel(length=3) * HammingKernel(length=3))(["abc"], ["abd", "xyz"])
    array([[4., 0.]])
    """

    def __init__(self, kernels: Sequence[Any]) -> None:
        self.kernels = kernels

    def fit(self, Y: Any) -> Self:
        self.kernels_ = [kernel.fit(Y) for kernel in _copies(self.kernels, "ProductKernel")]
        return self

    def _product(self, method: str, *args: Any) -> Any:
        return math.prod(getattr(part, method)(*args) for part in _parts(self, "ProductKernel"))

    def __call__(self, A: Any, B: Any = None) -> Any:
        return self._product("__call__", A, B)

    def diagonal(self, A: Any) -> np.ndarray:
        return self._product("diagonal", A)

    def paired(self, A: Any, B: Any) -> np.ndarray:
        return self._product("paired", A, B)

    def admit(self, Y: Any) -> None:
        for kernel in _parts(self, "ProductKernel"):
            kernel.admit(Y)

    def bind(self, space: Any) -> Any:
        bound = copy.copy(self)
        bound.kernels = [kernel.bind(space) for kernel in _parts(self, "ProductKernel")]
        bound.kernels_ = bound.kernels  # and fit after this fits copies of the bound ones
        return bound


def _copies(kernels: Sequence[Any], used_by: str) -> list[OutputKernel]:
    """Kernels that may be fitted without changing those of the user."""
    if isinstance(kernels, (str, OutputKernel)) or len(kernels) == 0:
        raise ValueError(f"{used_by} expects a list of at least one kernel; got {kernels!r}.")
    return [copy.copy(resolve_output_kernel(kernel)) for kernel in kernels]


def _parts(kernel: Any, used_by: str) -> list[OutputKernel]:
    """The kernels as they were fitted, or as they are."""
    return getattr(kernel, "kernels_", None) or _copies(kernel.kernels, used_by)


def added(first: OutputKernel, second: OutputKernel) -> SumKernel:
    """The sum of two kernels; of sums, one sum of all their terms."""
    kernels: list[Any] = []
    weights: list[float] = []
    for kernel in (first, second):
        terms = kernel.kernels if isinstance(kernel, SumKernel) else [kernel]
        kernels += list(terms)
        weights += kernel._weights().tolist() if isinstance(kernel, SumKernel) else [1.0]
    return SumKernel(kernels, weights)


def multiplied(first: OutputKernel, second: OutputKernel) -> ProductKernel:
    """The product of two kernels; of products, one product of all their factors."""
    kernels: list[Any] = []
    for kernel in (first, second):
        kernels += kernel.kernels if isinstance(kernel, ProductKernel) else [kernel]
    return ProductKernel(kernels)


def scaled(kernel: OutputKernel, factor: float) -> SumKernel:
    """A multiple of a kernel."""
    if not (np.isfinite(factor) and factor >= 0):
        raise ValueError(f"A kernel is multiplied by finite numbers >= 0; got {factor!r}.")
    if isinstance(kernel, SumKernel):
        return SumKernel(kernel.kernels, (float(factor) * kernel._weights()).tolist())
    return SumKernel([kernel], [float(factor)])
