# SPDX-License-Identifier: BSD-3-Clause
"""What a fit will do, in words, before it begins."""

from __future__ import annotations

from skstruct.datasets.table import Table
from skstruct.losses import resolve_loss
from skstruct.model_selection.evaluation import loss_name


def loss_of(learner, space):
    """The loss that a learner will have: its own, or the usual one of the space."""
    asked = getattr(learner, "loss", None)
    return resolve_loss(space.default_loss if asked is None else asked)


def choice_in_words(name, why, learner, space, data, scale) -> list[str]:
    """Learner, task, space, loss and encoding, a sentence each.

    Parameters
    ----------
    name, why : str
        Short name of the learner, and the reason for it.
    learner, space : not yet fitted
    data : Dataset or TrainingBlocks
    scale : as in TableEncoder
    """
    usual = getattr(learner, "loss", None) is None
    loss = loss_name(loss_of(learner, space)) + (" (the usual one)" if usual else "")
    return [
        f"learner {name} ({type(learner).__name__}): {why}.",
        f"task {data.task}, space {type(space).__name__}, loss {loss}; {len(data):,} rows.",
        _encoding(data.inputs, scale),
    ]


def _encoding(inputs, scale):
    if not isinstance(inputs, Table):
        return "inputs are sequences: every position has features of its neighbours."
    n_names = sum(values is not None for values in inputs.values)
    n_numbers = len(inputs.names) - n_names
    n_features = sum(
        1 if values is None or len(values) < 3 else len(values) for values in inputs.values
    )
    scaled = "scaled" if scale == "standard" else "as they are"
    columns = "1 column" if n_numbers == 1 else f"{n_numbers:,} columns"
    parts = [f"{columns} of numbers, {scaled}"] if n_numbers else []
    parts += [f"{n_names:,} of names, one-hot"] if n_names else []
    features = "1 feature" if n_features == 1 else f"{n_features:,} features"
    return f"inputs are {', and '.join(parts)}: {features}."
