# SPDX-License-Identifier: BSD-3-Clause
"""Methods of an output kernel regressor: a name, or the object with settings it stands for."""

from __future__ import annotations

from typing import Any

from skstruct.kernels.inputs import kernel_name
from skstruct.learners.output_kernel.components import PrincipalComponents
from skstruct.learners.regression import ONE_PASS
from skstruct.smoothing import LargestWeights, SampleCompression

NAMES = ("ridge", "sample_compression", "largest_weights", "components")


def is_ridge(method: Any) -> bool:
    """Whether it is ridge regression with all weights."""
    return _is_named(method, "ridge") or components_of(method) is not None


def is_sparse(method: Any) -> bool:
    """Whether it predicts from the largest weights alone."""
    return _is_named(method, "largest_weights") or isinstance(method, LargestWeights)


def components_of(method: Any) -> PrincipalComponents | None:
    """What answers are projected on, if they are."""
    if _is_named(method, "components"):
        return PrincipalComponents()
    return method if isinstance(method, PrincipalComponents) else None


def check(method: Any, solver: str, weighted: bool) -> None:
    """Raise where there is no such method, or where it does not go with the other settings."""
    known = isinstance(method, (SampleCompression, LargestWeights, PrincipalComponents))
    if not known and method not in NAMES:
        raise ValueError(
            'method is "ridge", "sample_compression", "largest_weights", "components", or a '
            f"SampleCompression, LargestWeights or PrincipalComponents; got {method!r}."
        )
    if (components := components_of(method)) is not None:
        components.check()
    if isinstance(method, LargestWeights) and method.smoother is not None:
        raise ValueError(
            "method: kernel and alpha are those of OutputKernelRegressor, as "
            f"LargestWeights(n_weights=...) leaves them open; got {method!r}."
        )
    if is_sparse(method) and solver in ONE_PASS:
        raise ValueError(
            "method: landmarks have no weights of rows, of which some could be the largest; "
            f'got solver="{solver}".'
        )
    if isinstance(method, SampleCompression) and kernel_name(method.kernel) != "rbf":
        raise ValueError(
            "method: the kernel between inputs is the kernel of OutputKernelRegressor; got "
            f"{method.kernel!r} in SampleCompression."
        )
    if not (is_ridge(method) or is_sparse(method)) and weighted:
        raise ValueError(
            "Sample compression bounds the coefficients of single rows: it takes no sample_weight."
        )


def _is_named(method: Any, name: str) -> bool:
    return isinstance(method, str) and method == name
