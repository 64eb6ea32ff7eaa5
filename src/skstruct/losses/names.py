# SPDX-License-Identifier: BSD-3-Clause
"""Losses by their short names, and the space that each one asks for."""

import ast
from importlib import import_module
from typing import Any

from skstruct.losses.base import BaseLoss
from skstruct.spaces import Embeddings

HOMES = {  # the module of every loss, imported when it is asked for
    "ZeroOne": "zero_one",
    "Listed": "zero_one",
    "CostMatrix": "cost_matrix",
    "Hamming": "hamming",
    "SequenceHamming": "sequence_hamming",
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
    "SeparableLoss": "separable",
    "Cost": "decisions",
    "Regret": "decisions",
    "ConditionalValueAtRisk": "tail_risk",
    "Newsvendor": "newsvendor",
    "PiecewiseLinear": "newsvendor",
    "Scenarios": "scenarios",
}

SHORT_NAMES = {
    "zero_one": "ZeroOne",
    "cost_matrix": "CostMatrix",
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
    "cost": "Cost",
    "regret": "Regret",
    "cvar": "ConditionalValueAtRisk",
    "newsvendor": "Newsvendor",
    "piecewise_linear": "PiecewiseLinear",
}


def _class(name: str) -> Any:
    return getattr(import_module(f"skstruct.losses.{HOMES[name]}"), name)


def resolve_loss(loss: Any) -> Any:
    """A loss object from a short name, a loss, or any callable of two outputs.

    Underscores do not matter: ``"l2_l1"`` is ``"l2l1"``. Parameters may stand in brackets behind
    a name, as numbers, texts, lists and dictionaries; what a loss prints can be read again.

    >>> resolve_loss("hamming")
    Hamming()
    >>> resolve_loss("hamming(miss={'rare': 5}, alarm=0.5)")
    Hamming(alarm=0.5, miss={'rare': 5})
    """
    if isinstance(loss, str):
        return _from_text(loss)
    if isinstance(loss, BaseLoss):
        return loss
    if isinstance(loss, type):
        raise TypeError(f"A loss is an object, not a class: give {loss.__name__}().")
    if callable(loss):
        return _class("Listed")(loss)
    raise TypeError(f"A loss is a name, a loss object or a callable; got {loss!r}.")


def _from_text(text: str) -> Any:
    """A loss from its name, perhaps with parameters in brackets."""
    name, bracket, _ = text.partition("(")
    plain = {short.replace("_", ""): name for short, name in SHORT_NAMES.items()}
    plain |= {kind.lower(): kind for kind in SHORT_NAMES.values()}
    key = name.strip().replace("_", "").lower()
    if key not in plain:
        raise ValueError(f"Unknown loss {text!r}; known are {', '.join(SHORT_NAMES)}.")
    kind = _class(plain[key])
    positional, named = _parameters(text) if bracket else ([], {})
    try:
        return kind(*positional, **named)
    except TypeError:
        known = ", ".join(kind._get_param_names()) or "none"
        raise ValueError(f"The loss {text!r}: parameters of {plain[key]} are {known}.") from None


def _parameters(text: str) -> tuple[list[Any], dict[str, Any]]:
    """What stands in the brackets of ``name(...)``: values only, nothing is called."""
    try:
        call = ast.parse(text.strip(), mode="eval").body
        plain = isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
        if not isinstance(call, ast.Call) or not plain or any(not k.arg for k in call.keywords):
            raise ValueError
        named = {str(part.arg): ast.literal_eval(part.value) for part in call.keywords}
        return [ast.literal_eval(part) for part in call.args], named
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        raise ValueError(
            f"The loss {text!r} is not understood: parameters are values in brackets, as in "
            "hamming(miss=5, alarm=0.5), and texts in quotes."
        ) from None


def pair(loss: Any, space: Any, outputs: Any, seen: Any = None) -> tuple[Any, Any]:
    """The space under the embedding that ``loss`` asks for, and the loss bound to it.

    Parameters
    ----------
    outputs : array
        Outputs of training in canonical form: what a loss without an embedding of its
        own may predict, unless it brings candidates.
    seen : array, default=None
        Outputs that frequencies are counted in, where ``outputs`` are not those of training alone.
    """
    candidates = getattr(loss, "candidates", None)
    if candidates is not None:
        candidates = space.validate(candidates)
    view = Embeddings.of(space).view(loss.embedding_on(space), outputs, candidates)
    return view, loss.observe(view, outputs if seen is None else seen).bind(view)
