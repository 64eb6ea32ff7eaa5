# SPDX-License-Identifier: BSD-3-Clause
"""A card to test on, and the doors through which tensors of a card come in.

A card is a CUDA device where there is one, and else tensors that behave like its. Without pytest:

    PYTHONPATH=src python tests/card_cases.py
"""

import contextlib
import copy
import sys
import tempfile
import traceback
from functools import cache
from unittest import mock

import numpy as np
import torch
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from torch.overrides import TorchFunctionMode

from skstruct import conformal, learners, model_selection, smoothing
from skstruct.backends.torch_backend import TorchBackend
from skstruct.backends.uploads import Uploads
from skstruct.config import config_context
from skstruct.spaces import Classes, LabelSets, Rankings
from skstruct.streaming import ArraySource

DEVICES = ["stand-in", *(["cuda"] if torch.cuda.is_available() else [])]
BETWEEN = (torch.Tensor.__setitem__, torch.Tensor.__getitem__, torch.Tensor.copy_)


class OnCard(torch.Tensor):
    """A tensor of the host that NumPy cannot read, as it cannot read those of a card."""

    def __array__(self, dtype=None, copy=None):
        raise TypeError(
            "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor "
            "to host memory first."
        )

    def numpy(self, **options):
        return self.__array__()

    def cpu(self):
        return self.as_subclass(torch.Tensor).clone()


class Apart(TorchFunctionMode):
    """What is made for a device is on the card, and computes with nothing that is not."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        there = {isinstance(tensor, OnCard) for tensor in tensors_of([args, *kwargs.values()])}
        if len(there) > 1 and func not in BETWEEN:
            raise RuntimeError(f"{func.__name__}: tensors are on different devices, cuda:0 and cpu")
        found = func(*args, **kwargs)
        made = kwargs.get("device") is not None and isinstance(found, torch.Tensor)
        return found.as_subclass(OnCard) if made else found


def tensors_of(values):
    for value in values:
        if isinstance(value, torch.Tensor) and value.ndim:
            yield value
        elif isinstance(value, (list, tuple)):
            yield from tensors_of(value)


class Sending(Uploads):
    def _send(self, name, array):
        return super()._send(name, array).as_subclass(OnCard)


def on_card(method):
    return lambda *args, **options: method(*args, **options).as_subclass(OnCard)


class Card:
    """``device`` names it, ``send`` copies an array there."""

    def __init__(self, device):
        self.device = device

    def send(self, array, dtype=None):
        tensor = torch.tensor(np.asarray(array), dtype=dtype)
        return tensor.cuda() if self.device == "cuda" else tensor.as_subclass(OnCard)


@contextlib.contextmanager
def card_of(kind):
    """A :class:`Card` of one of ``DEVICES``, which backends of torch compute on meanwhile."""
    if kind == "cuda":
        yield Card("cuda")
        return
    patched = {"asarray": on_card(TorchBackend.asarray), "zeros": on_card(TorchBackend.zeros)}
    patched["uploads"] = lambda backend: Sending(backend.device)
    with mock.patch.multiple(TorchBackend, **patched), Apart():
        yield Card("cpu")


# ---------------------------------------------------------------------- doors
N = 60
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, 3))
SCORES = X @ RNG.standard_normal((3, 4)) + 0.3 * RNG.standard_normal((N, 4))
SETS = (SCORES > 0).astype(int)
KNOWN = RNG.random(SETS.shape) < 0.8
GAPS = np.where(KNOWN, SETS, np.nan)
RANKS = np.argsort(np.argsort(-SCORES)) + 1
LABELS = SCORES.argmax(axis=1)
WEIGHT = RNG.random(N) + 0.5
GROUPS = np.arange(N) % 6


def minimizer(space=None, **options):
    given = {"kernel": "rbf", "alpha": 0.5, "smoother": "kernel_ridge", "random_state": 0}
    return learners.ConditionalRiskMinimizer(space or LabelSets(), **given | options)


def blocks(send, *rows):
    """A function that makes the blocks anew."""
    steps = range(0, N, 20)
    return lambda: (tuple(send(part[i : i + 20]) for part in rows) for i in steps)


def means(model, send):
    return model.predict_marginals(send(X), calibrated=None)


def ridge(**options):
    return smoothing.NystroemRidge(**{"alpha": 0.5, "random_state": 0} | options)


def checkpointed(model, send):
    with tempfile.TemporaryDirectory() as folder:
        model.fit(send(X), send(SETS), checkpoint=f"{folder}/fit")
    return means(model, send)


# Functions of what sends arrays to the card, and of nothing else: numbers that must be the same
# wherever the rows are.
FITS = {
    **{f"arrays, {solver}": lambda send, solver=solver:
        means(minimizer(solver=solver).fit(send(X), send(SETS), send(WEIGHT)), send)
       for solver in ("auto", "cholesky", "spectral", "nystroem", "fourier")},
    "arrays, default": lambda send:
        learners.ConditionalRiskMinimizer(alpha=0.5, kernel="rbf", smoother="kernel_ridge")
        .fit(send(X), send(LABELS)).predict(send(X)),
    "arrays, searched": lambda send:
        means(minimizer(alpha="auto").fit(send(X), send(SETS), groups=send(GROUPS)), send),
    "arrays with gaps": lambda send: means(minimizer().fit(send(X), send(GAPS)), send),
    "arrays and a mask": lambda send:
        means(minimizer().fit(send(X), send(SETS), known=send(KNOWN)), send),
    "arrays, saved on the way": lambda send: checkpointed(minimizer(alpha="auto"), send),
    "rows in a list": lambda send:
        means(minimizer().fit(send(X), [send(row) for row in SETS]), send),
    **{f"blocks, {options}": lambda send, options=options:
        means(minimizer(**options).fit(blocks(send, X, SETS)), send)
       for options in ({}, {"alpha": "auto"}, {"solver": "fourier"})},
    "blocks, classes": lambda send:
        means(minimizer(Classes()).fit(blocks(send, X, LABELS)), send),
    "blocks, weighted": lambda send: means(minimizer().fit(blocks(send, X, SETS, WEIGHT)), send),
    "blocks, read once": lambda send: means(minimizer().fit(blocks(send, X, SETS)()), send),
    "blocks with gaps": lambda send: means(minimizer().fit(blocks(send, X, GAPS)), send),
    "further rows": lambda send:
        means(minimizer().partial_fit(send(X), send(SETS), send(WEIGHT))
              .partial_fit(send(X), send(SETS)), send),
    "further rows of an exact fit": lambda send:
        means(minimizer().fit(send(X), send(SETS)).partial_fit(send(X), send(SETS)), send),
    "further rows on the host": lambda send:
        means(minimizer().fit(send(X), send(SETS)).partial_fit(X, SETS), lambda rows: rows),
    "KernelRidge": lambda send:
        smoothing.KernelRidge(alpha=0.5).fit(send(X), send(SCORES), send(WEIGHT))
        .with_targets(send(SETS)).predict(send(X)),
    "NystroemRidge": lambda send:
        ridge().fit(send(X), send(SCORES), send(WEIGHT)).with_targets(send(SETS)).predict(send(X)),
    "NystroemRidge, sums": lambda send:
        ridge().fit_source(ArraySource(send(X), send(SCORES), send(WEIGHT))).predict(send(X)),
    "NystroemRidge, further rows": lambda send:
        ridge().partial_fit(send(X), send(SCORES), send(WEIGHT))
        .partial_fit(send(X), send(SCORES)).predict(send(X)),
    "NystroemRidge on the host": lambda send:
        ridge().fit(X, send(SCORES), send(WEIGHT)).weights(send(X)),
    **{name: lambda send, made=made:
        made.fit(send(X), send(SCORES), send(WEIGHT)).with_targets(send(-SCORES)).predict(send(X))
       for name, made in {
           "NadarayaWatson": smoothing.NadarayaWatson(), "Neighbors": smoothing.Neighbors(5),
           "LinearRidge": smoothing.LinearRidge(0.5),
           "Stacked": smoothing.Stacked([smoothing.KernelRidge(alpha=0.5),
                                         smoothing.Neighbors(5)]),
           "CrossFitted": smoothing.CrossFitted(smoothing.KernelRidge(alpha=0.5)),
       }.items()},
    "MaskedRidge": lambda send:
        smoothing.MaskedRidge(alpha=0.5).fit(send(X), send(GAPS), send(WEIGHT)).predict(send(X)),
}  # fmt: skip

LEARNERS = {  # with outputs to learn from
    "ConditionalRiskMinimizer": (minimizer(), SETS),
    "of classes": (minimizer(Classes(), alpha=0.1), LABELS),
    "of rankings": (minimizer(Rankings()), RANKS),
    "of quantities": (learners.ConditionalRiskMinimizer(kernel="rbf", alpha=0.5), SCORES),
    "StructuredSVM": (learners.StructuredSVM(alpha=0.1, random_state=0), SETS),
    "ExponentialFamily": (learners.ExponentialFamily(alpha=0.1), LABELS),
    "StructuredPerceptron": (learners.StructuredPerceptron(random_state=0), LABELS),
    "CountingRidge": (learners.CountingRidge(LabelSets(), "hamming", alpha=0.1), SETS),
    "OutputKernelRegressor": (learners.OutputKernelRegressor(alpha=0.1), LABELS),
    "PairwiseComparison": (learners.PairwiseComparison(), RANKS),
    "LabelRankingSVM": (learners.LabelRankingSVM(alpha=0.1, random_state=0), RANKS),
    "NeighborLabelRanker": (learners.NeighborLabelRanker(n_neighbors=5), RANKS),
}


@cache
def fitted(name):
    made, y = LEARNERS[name]
    return clone(made).fit(X, y)


def estimates(model, send, y):
    found = model_selection.evaluate(model, X, send(y), n_bootstrap=20, random_state=0)
    return [value for each in found for value in (each.mean, each.low, each.high)]


def held_out(model, send, y):
    return model.certify(X + 1e-3, send(y), bound="held_out").value


def calibrated(model, send, y):
    """Probabilities; of quantities there are none, and means are as sure as before."""
    model = copy.copy(model).calibrate(X, send(y), send(WEIGHT))
    return model.predict(X) if y is SCORES else np.asarray(model.predict_marginals(X))


def promised(made, send, y):
    return made.calibrate(X, send(y))


PROMISES = {
    "PredictionSets": lambda send:
        promised(conformal.PredictionSets(fitted("of classes"), 0.2), send, LABELS)
        .includes(X, send(LABELS)),
    "RiskControl": lambda send:
        promised(conformal.RiskControl(fitted("ConditionalRiskMinimizer"), 0.3), send, SETS)
        .thresholds_,
    "Abstention": lambda send:
        promised(conformal.Abstention(fitted("of classes"), 0.6), send, LABELS).thresholds_,
    "best_thresholds": lambda send:
        model_selection.best_thresholds(send(SCORES), send(SETS), sample_weight=send(WEIGHT))[0],
    "loss_scorer": lambda send:
        model_selection.loss_scorer("hamming")(fitted("StructuredSVM"), X, send(SETS)),
}  # fmt: skip


def judged(name):
    """Functions, by their names, of what sends outputs to the card, for a fitted learner."""
    made, y = LEARNERS[name]
    model = fitted(name)
    doors = {
        "fit": lambda send: clone(made).fit(X, send(y)).predict(X),
        "score": lambda send: model.score(X, send(y), send(WEIGHT)),
        "evaluate": lambda send: estimates(model, send, y),
    }
    if hasattr(made, "calibrate"):
        doors["calibrate"] = lambda send: calibrated(model, send, y)
    if hasattr(made, "certify") and y is not SCORES:
        doors["certify"] = lambda send: held_out(model, send, y)
    return doors


def itself(rows):
    return rows


def check_fit(name, given, device):
    """A fit with rows on a card, or computed there from arrays, is that of the host."""
    expected = FITS[name](itself)
    with card_of(device) as card:
        send = card.send if given == "tensors" else itself
        with config_context(device=None if given == "tensors" else card.device):
            found = FITS[name](send)
    assert_allclose(found, expected, atol=1e-8)


def check_judged(name, device):
    """Outputs and weights on a card are read by all methods of a learner."""
    for method, door in judged(name).items():
        expected = door(itself)
        with card_of(device) as card:
            found = door(card.send)
        assert_array_equal(found, expected, err_msg=method)


def check_promise(name, device):
    expected = PROMISES[name](itself)
    with card_of(device) as card:
        assert_array_equal(PROMISES[name](card.send), expected)


def main():
    device, wrong = DEVICES[-1], 0
    checks = {f"{name}, {given}": (check_fit, name, given, device)
              for name in FITS for given in ("tensors", "arrays")}  # fmt: skip
    checks |= {f"outputs, {name}": (check_judged, name, device) for name in LEARNERS}
    checks |= {f"outputs, {name}": (check_promise, name, device) for name in PROMISES}
    for name, (check, *arguments) in checks.items():
        try:
            check(*arguments)
            print(f"good    {name}", flush=True)
        except Exception:
            wrong += 1
            print(f"WRONG   {name}", flush=True)
            traceback.print_exc()
    print(f"{device}: {wrong} of {len(checks)} doors are wrong")
    return wrong


if __name__ == "__main__":
    sys.exit(min(1, main()))
