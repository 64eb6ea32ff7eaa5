# SPDX-License-Identifier: BSD-3-Clause
"""Losses by their short names, and the space that each one asks for."""

from importlib import import_module
from typing import Any

from skstruct.losses.base import BaseLoss

HOMES = {  # the module of every loss, imported when it is asked for
    "ZeroOne": "zero_one",
    "Listed": "zero_one",
    "Hamming": "hamming",
    "SequenceHamming": "hamming",
    "F1": "f_measures",
    "FBeta": "f_measures",
    "HierarchicalLoss": "hierarchical",
    "Kendall": "rankings",
    "RankLoss": "rankings",
    "Footrule": "rankings",
    "PositionLoss": "rankings",
    "Spearman": "rankings",
    "Squared": "squared",
    "Absolute": "piecewise",
    "Pinball": "piecewise",
    "EpsilonInsensitive": "piecewise",
    "Huber": "piecewise",
    "Hinge": "piecewise",
    "Cauchy": "smooth",
    "GemanMcClure": "smooth",
    "Fair": "smooth",
    "L2L1": "smooth",
    "Logistic": "smooth",
    "ChiSquare": "histograms",
    "SquaredHellinger": "histograms",
    "RootAbsolute": "histograms",
    "KernelLoss": "kernel_induced",
    "Diffusion": "diffusion",
    "SeparableLoss": "base",
}

SHORT_NAMES = {
    "zero_one": "ZeroOne",
    "hamming": "Hamming",
    "f1": "F1",
    "fbeta": "FBeta",
    "hierarchical": "HierarchicalLoss",
    "kendall": "Kendall",
    "spearman": "Spearman",
    "footrule": "Footrule",
    "rank": "RankLoss",
    "squared": "Squared",
    "absolute": "Absolute",
    "pinball": "Pinball",
    "epsilon_insensitive": "EpsilonInsensitive",
    "huber": "Huber",
    "cauchy": "Cauchy",
    "geman_mcclure": "GemanMcClure",
    "fair": "Fair",
    "l2_l1": "L2L1",
    "logistic": "Logistic",
    "hinge": "Hinge",
    "chi_square": "ChiSquare",
    "squared_hellinger": "SquaredHellinger",
    "root_absolute": "RootAbsolute",
    "kernel": "KernelLoss",
    "diffusion": "Diffusion",
}


def _class(name: str) -> Any:
    return getattr(import_module(f"skstruct.losses.{HOMES[name]}"), name)


def resolve_loss(loss: Any) -> Any:
    """A loss object from a short name, a loss, or any callable of two outputs.

    Underscores do not matter: ``"l2_l1"`` is ``"l2l1"``.

    >>> resolve_loss("hamming")
    Hamming()
    """
    if isinstance(loss, str):
        plain = {short.replace("_", ""): name for short, name in SHORT_NAMES.items()}
        if loss.replace("_", "") not in plain:
            raise ValueError(f"Unknown loss {loss!r}; known are {', '.join(SHORT_NAMES)}.")
        return _class(plain[loss.replace("_", "")])()
    if isinstance(loss, BaseLoss):
        return loss
    if isinstance(loss, type):
        raise TypeError(f"A loss is an object, not a class: give {loss.__name__}().")
    if callable(loss):
        return _class("Listed")(loss)
    raise TypeError(f"A loss is a name, a loss object or a callable; got {loss!r}.")


def pair(loss: Any, space: Any, outputs: Any) -> tuple[Any, Any]:
    """The space under the embedding that ``loss`` asks for, and the loss bound to it.

    Parameters
    ----------
    outputs : array
        Outputs of training in canonical form: what a loss without an embedding of its
        own may predict, unless it brings candidates.
    """
    candidates = getattr(loss, "candidates", None)
    if candidates is not None:
        candidates = space.validate(candidates)
    view = space.with_embedding(loss.embedding_on(space), outputs, candidates)
    return view, loss.bind(view)
