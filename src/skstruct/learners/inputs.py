# SPDX-License-Identifier: BSD-3-Clause
"""Inputs of any kind as what a smoother reads: arrays, strings, sequences of tokens."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import validate_data

from skstruct._arrays.sparse_rows import narrow_indices
from skstruct.backends import backend_for, is_tensor
from skstruct.learners.raw_inputs import checked_raw, takes_raw_inputs
from skstruct.learners.tokens import TokenBatch, TokenReader, are_tokens


def read_inputs(model, X, *, kernel=None, reset):
    """X as an array or CSR of floats; as a :class:`TokenBatch` where rows are sequences.

    With ``reset``, keeps on the model what new inputs need: ``features_`` of a kernel that is
    the inner product of features, ``tokens_`` of sequences.
    """
    X = on_host(X)
    if reset:
        if not _raw(model):
            _check_kernel_of_strings(X, kernel)
        model.features_ = clone(kernel).fit(X) if has_features(kernel) else None
        model.tokens_ = None
        if model.features_ is None and are_tokens(X):
            model.tokens_ = TokenReader().fit(X)
    if model.features_ is not None:
        X = model.features_.transform(X)
        if X.shape[1] == 0:
            raise ValueError(
                f"{type(model.features_).__name__}: no string of the training X is long enough to "
                "have an n-gram."
            )
    if model.tokens_ is None:
        return checked(model, X, reset)
    batch = model.tokens_.read(X)
    if not reset and batch.tokens.shape[0] == 0:  # empty sequences only
        return batch
    return TokenBatch(checked(model, batch.tokens, reset), batch.starts)


def on_host(value):
    """A tensor as an array; anything else as it is."""
    return value.detach().cpu().numpy() if is_tensor(value) else value


def device_of(model, X):
    """The device a model asks for, or the one that a tensor is on; None for numpy."""
    backend = backend_for(model.device, X)
    if is_tensor(X):
        return str(backend.device)
    return None if backend.device is None else model.device


def _check_kernel_of_strings(X, kernel):
    """A text is no row of numbers, and a list of kernels is tried on numbers only."""
    if isinstance(kernel, (list, tuple)) and any(map(has_features, kernel)):
        raise ValueError("String kernels are tried one at a time: give a single one.")
    rows = isinstance(X, (list, tuple)) or (isinstance(X, np.ndarray) and X.ndim == 1)
    first = X[0] if rows and len(X) else None
    if isinstance(first, str) and not has_features(kernel):
        raise ValueError(
            f"X[0] is the text {first[:30]!r}. Give a kernel between strings, such as "
            "SpectrumKernel(3), or turn texts into numbers first."
        )


def checked(model, X, reset):
    """An array or CSR of finite floats, with the features that the model knows.

    As it is where the model has a smoother that says what it takes.
    """
    if _raw(model):
        return narrow_indices(checked_raw(model, X, reset))
    X = validate_data(model, X, accept_sparse="csr", dtype=np.float64, reset=reset)
    return narrow_indices(X)


def _raw(model) -> bool:
    return takes_raw_inputs(getattr(model, "smoother", None))


def has_features(kernel) -> bool:
    """Whether a kernel is the inner product of features that it can write down."""
    return hasattr(kernel, "transform") and hasattr(kernel, "fit")


def plain_kernel(model, kernel):
    """The kernel between what ``read_inputs`` gave."""
    return "linear" if model.features_ is not None else kernel
