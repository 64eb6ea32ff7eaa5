# SPDX-License-Identifier: BSD-3-Clause
"""Structured prediction, scikit-learn compatible.

>>> from skstruct import ConditionalRiskMinimizer
>>> model = ConditionalRiskMinimizer(alpha=1.0).fit([[0.0], [1.0]], ["no", "yes"])
>>> model.predict([[0.9]])
array(['yes'], dtype='<U3')
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skstruct.config import config_context, get_config, set_config
    from skstruct.features import TokenFeatures
    from skstruct.learners import (
        ConditionalRiskMinimizer,
        CountingRidge,
        ExponentialFamily,
        MaxMarginNetwork,
        MaxMarginTree,
        OutputKernelRegressor,
        StructuredPerceptron,
        StructuredSVM,
    )
    from skstruct.persistence import load_model, save_model

__version__ = "0.1.0"

_LEARNERS = (
    "ConditionalRiskMinimizer",
    "CountingRidge",
    "ExponentialFamily",
    "MaxMarginNetwork",
    "MaxMarginTree",
    "OutputKernelRegressor",
    "StructuredPerceptron",
    "StructuredSVM",
)
_FEATURES = ("TokenFeatures",)
_FILES = ("load_model", "save_model")
_SETTINGS = ("config_context", "get_config", "set_config")
_ROOMS = (
    "bounds",
    "conformal",
    "datasets",
    "encoding",
    "features",
    "inspection",
    "kernels",
    "learners",
    "losses",
    "model_selection",
    "persistence",
    "rankings",
    "reports",
    "sampling",
    "smoothing",
    "spaces",
    "streaming",
    "testing",
)
_OPTIONAL_ROOMS = ("torch",)  # not among ``__all__``: to import all names needs no extra

__all__ = [
    "ConditionalRiskMinimizer",
    "CountingRidge",
    "ExponentialFamily",
    "MaxMarginNetwork",
    "MaxMarginTree",
    "OutputKernelRegressor",
    "StructuredPerceptron",
    "StructuredSVM",
    "TokenFeatures",
    "__version__",
    "config_context",
    "get_config",
    "load_model",
    "save_model",
    "set_config",
    *_ROOMS,
]


def __getattr__(name: str) -> Any:
    """Load sub-packages when they are first touched, so that importing costs little."""
    if name in _LEARNERS:
        return getattr(import_module("skstruct.learners"), name)
    if name in _FEATURES:
        return getattr(import_module("skstruct.features"), name)
    if name in _SETTINGS:
        return getattr(import_module("skstruct.config"), name)
    if name in _FILES:
        return getattr(import_module("skstruct.persistence"), name)
    if name in _ROOMS + _OPTIONAL_ROOMS:
        return import_module(f"skstruct.{name}")
    raise AttributeError(f"module 'skstruct' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_OPTIONAL_ROOMS])
