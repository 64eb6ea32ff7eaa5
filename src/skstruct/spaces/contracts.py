# SPDX-License-Identifier: BSD-3-Clause
"""Contracts of spaces: what a decoder returns and promises, and the protocols of capabilities."""

from dataclasses import dataclass
from typing import Any, Literal, Protocol, Self, runtime_checkable

from skstruct.saving import savable

Array = Any  # a NumPy array or a SciPy sparse array


@savable
@dataclass(frozen=True)
class Guarantee:
    """What argmin promises: worst - value >= ratio * (worst - best).

    Measured between the worst and the best output, so that adding a constant to
    all costs leaves the ratio as it is.
    """

    kind: Literal["exact", "ratio", "bound only"]
    ratio: float = 1.0
    reference: str = ""


EXACT = Guarantee("exact")


@savable
@dataclass(frozen=True)
class Decoded:
    """Outputs with their values and lower bounds: ``values - bounds`` is the certificate."""

    outputs: Array  # shape: (n_samples, ...)
    values: Array  # shape: (n_samples,)
    bounds: Array  # shape: (n_samples,); no output costs less


class OutputSpace(Protocol):
    """A set of outputs together with one embedding psi into R^d."""

    embedding: str  # what psi lists: "indicators", "outputs", "positions", ...
    guarantee: Guarantee
    default_loss: Any  # name of the loss used when the user gives none

    def fit(self, Y: Any) -> Self: ...  # learns names and sizes left open
    def validate(self, Y: Any) -> Array: ...
    def restore(self, Z: Array, index: Any = None) -> Any: ...
    def embed(self, Z: Array) -> Array: ...  # shape: (n_samples, d), dense or CSR
    def argmin(self, costs: Array) -> Decoded: ...
    def contains(self, Z: Array) -> Array: ...  # shape: (n_samples,)


@runtime_checkable
class Countable(Protocol):
    """Knows its size and the moments of psi under the uniform distribution."""

    def log_size(self) -> float: ...  # log |Y|
    def size(self) -> int: ...  # |Y|, exact
    def mean_embedding(self) -> Array: ...  # Psi / |Y|, shape: (d,)
    def second_moment(self) -> Array: ...  # C / |Y|, shape: (d, d)


@runtime_checkable
class Samplable(Protocol):
    """Draws outputs exactly uniformly."""

    def sample(self, n: int, rng: Any) -> Array: ...


@runtime_checkable
class Enumerable(Protocol):
    """Lists all its outputs in canonical form."""

    def enumerate(self, limit: int = ...) -> Array: ...


@runtime_checkable
class Restrictable(Protocol):
    """Can be narrowed at prediction time; ``restrict`` returns the same space, narrowed."""

    def restrict(self, **constraints: Any) -> Any: ...


@runtime_checkable
class KBest(Protocol):
    """Lists the k best outputs of every row: outputs (n, k, ...) and values (n, k)."""

    def kbest(self, costs: Array, k: int) -> Decoded: ...
