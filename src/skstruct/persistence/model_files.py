# SPDX-License-Identifier: BSD-3-Clause
"""Saving, loading and describing fitted models."""

import hashlib
import os
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from skstruct._arrays.memory import parse_memory
from skstruct._files.container import read_container, read_manifest, write_container
from skstruct.exceptions import ModelFileError
from skstruct.fitted import Fitted
from skstruct.persistence.budget import Budget
from skstruct.persistence.decoding import Decoder
from skstruct.persistence.encoding import Encoder
from skstruct.persistence.names import name_of
from skstruct.persistence.stored_predictions import (
    check_few,
    check_stored_predictions,
    own_rows,
    predict_with_values,
    readable,
    some_rows,
)
from skstruct.persistence.third_party import check_fields

FORMAT_VERSION = 1
KIND = "model"
PACKAGES = ("skstruct", "numpy", "scipy", "scikit-learn")
PARTS = {
    "format_version",
    "class",
    "parameters",
    "about",
    "versions",
    "model",
    "rehearsal",
    "objects",
}
LONGEST_WORD = 200  # of a parameter that is described
LONGEST_TEXT = 1_000  # of what a model tells in sentences


def save_model(model: Any, path: str | os.PathLike[str], *, X: Any = None) -> None:
    """Write a fitted model to a file that holds numbers and names only, and no code.

    The file is written whole or not at all. A few predictions are written with it, which
    :func:`load_model` makes again.

    Parameters
    ----------
    model : fitted learner of skstruct, or a scikit-learn Pipeline that ends in one
        With spaces, losses, kernels and smoothers of this library. Functions of your own and
        estimators of other libraries are refused: the message says where they are.
    path : str or path
        Usually ending in ``.skstruct``.
    X : inputs, default=None
        Rows to predict as a test, of which the first three are kept; else rows that the model
        has kept from its training, or made-up ones.

    Raises
    ------
    ModelFileError
        When the model holds something that cannot be saved.

    Examples
    --------
    >>> import os, tempfile
    >>> from skstruct import ConditionalRiskMinimizer
    >>> from skstruct.spaces import Hierarchy
    >>> Y = [{"animal", "cat"}, {"animal", "dog"}, set()]
    >>> space = Hierarchy([("animal", "cat"), ("animal", "dog")])
    >>> model = ConditionalRiskMinimizer(space, alpha=0.1).fit([[0.0], [1.0], [3.0]], Y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "pets.skstruct")
    ...     save_model(model, path)
    ...     again = load_model(path)
    >>> sorted(again.predict([[0.1]])[0])
    ['animal', 'cat']
    """
    name = name_of(type(model))
    if name is None:
        kind = type(model)
        raise ModelFileError(
            f"{kind.__module__}.{kind.__qualname__} is not a model that can be saved: give a "
            "learner of skstruct, or a Pipeline that ends in one."
        )
    if isinstance(model, BaseEstimator):
        check_is_fitted(model)
    encoder = Encoder()
    node = encoder.node(model, "model")
    manifest = {
        "format_version": FORMAT_VERSION,
        "class": name,
        "parameters": _described(model),
        "about": _about(model),
        "versions": installed_versions(),
        "model": node,
        "rehearsal": _stored_predictions(model, X, encoder),
        "objects": encoder.objects,
    }
    write_container(path, KIND, manifest, encoder.arrays)


def _stored_predictions(model: Any, X: Any, encoder: Any) -> Any:
    """Nodes of inputs and predictions, or None for a model that cannot predict by itself."""
    if X is None:
        try:
            rows = own_rows(model)
            found = predict_with_values(model, rows)
        except (
            Exception
        ):  # constraints that differ by row, inputs of a form that only the user knows
            return None
    else:
        rows = some_rows(readable(model, X))
        found = predict_with_values(model, rows)
    return {"X": encoder.node(rows, "X"), "found": encoder.node(found, "predictions")}


def load_model(
    path: str | os.PathLike[str], *, max_bytes: str | int = "4GB", mmap: bool = False
) -> Any:
    """A model that :func:`save_model` wrote; it predicts as it did, bit for bit on one machine.

    Reading runs no code that the file brings: it can name only classes of a fixed list, and
    everything that compiled code relies on is checked. The model makes a few predictions that
    were written with it; where these differ, it is refused.

    Parameters
    ----------
    path : str or path
    max_bytes : str or int, default="4GB"
        Larger files are refused before they are read, and so are files that would take more once
        they are read: everything that a file stands for is counted before it is made. Beside
        these bytes reading takes up to 25 times the text that describes the model, which has at
        most 1/32 of ``max_bytes``, or a megabyte. Whatever the cap, a small file makes nothing
        large: 64 MB, and 100 times the bytes of the file.
    mmap : bool, default=False
        Map the arrays instead of reading them: processes that map the same file have one copy of
        its arrays in memory together. The checksum is compared as ever. Arrays can be written to,
        which changes them in this process and nowhere else. What the model makes of its arrays
        (the trees of a forest, names) is a copy in each process, and so are arrays of files that
        skstruct wrote before it aligned them: save such a model again.

        Keep a mapped file as it is. Replace it as :func:`save_model` does, by renaming another to
        its name: who has mapped the old one keeps it (Windows refuses to rename over a mapped
        file). A file that is overwritten in place changes the model under its user, unchecked,
        and one that is cut short ends the process with a bus error when the lost part is touched.

    Raises
    ------
    ModelFileError
        For every file that is not exactly as it was written, is made by hand, is of a newer
        version, or predicts something else than it did.
    """
    most = parse_memory(max_bytes)
    try:
        manifest, arrays = read_container(path, KIND, max_bytes=most, mmap=mmap)
        budget = Budget(os.path.getsize(path), most)
    except IsADirectoryError:
        raise ModelFileError(f"{path} is not read: it is a folder.") from None
    try:
        return _model(manifest, arrays, budget)
    except ModelFileError as error:
        raise _with_path(error, path) from None
    except ImportError as error:
        raise ModelFileError(
            f"{path} is not read: it needs {error.name}, which is not installed."
        ) from None
    except Exception as error:  # whatever a file made by hand makes our own code raise
        reason = " ".join(str(error).split())[:200]
        raise ModelFileError(
            f"{path} is not read: it holds no sound model ({type(error).__name__}: {reason})."
        ) from None


def _model(manifest: dict[str, Any], arrays: dict[str, Any], budget: Budget) -> Any:
    """The model of a manifest, after its test."""
    _check_version(manifest)
    if set(manifest) != PARTS:
        raise ModelFileError("its manifest is not that of a model")
    decoder = Decoder(manifest["objects"], arrays, budget)
    model = decoder.value(manifest["model"])
    if name_of(type(model)) != manifest["class"] or not hasattr(model, "predict"):
        raise ModelFileError("it holds no model")
    if manifest["rehearsal"] is not None:
        check_fields(manifest["rehearsal"], {"X", "found"}, "stored predictions")
        X, found = (decoder.value(manifest["rehearsal"][part]) for part in ("X", "found"))
        check_few(X)
        check_stored_predictions(model, X, found)
    return model


def _check_version(manifest: dict[str, Any]) -> None:
    found = manifest["format_version"]
    if type(found) is not int or found < 1:
        raise ModelFileError("its format has no version")
    if found > FORMAT_VERSION:
        raise ModelFileError(
            f"its format is {found}, and this skstruct knows up to {FORMAT_VERSION}: update "
            "skstruct"
        )


def _with_path(error: Any, path: Any) -> Any:
    text = str(error)
    known = text.startswith(f"{path} is not read")
    return ModelFileError(text if known else f"{path} is not read: {text.rstrip('.')}.")


def describe_model(path: str | os.PathLike[str], *, max_bytes: str | int = "4GB") -> dict[str, Any]:
    """What a model file says of itself; nothing of the model is made.

    Returns
    -------
    about : dict
        ``class``, ``parameters`` (as text), ``about`` (what a model of the command line tells of
        its training), ``versions`` (of libraries when it was written),
        ``format_version``, ``n_arrays``, ``n_bytes``, ``tested`` (whether predictions are stored)
        and ``sha256``.
    """
    try:
        manifest, sizes = read_manifest(path, KIND, max_bytes=parse_memory(max_bytes))
        _check_version(manifest)
        with open(path, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        return {
            "class": str(manifest["class"]),
            "parameters": {str(k): str(v) for k, v in manifest["parameters"].items()},
            "about": {str(k): str(v) for k, v in manifest["about"].items()},
            "versions": {str(k): str(v) for k, v in manifest["versions"].items()},
            "format_version": manifest["format_version"],
            "tested": manifest["rehearsal"] is not None,
            "n_arrays": len(sizes),
            "n_bytes": os.path.getsize(path),
            "sha256": digest,
        }
    except ModelFileError as error:
        raise _with_path(error, path) from None
    except IsADirectoryError:
        raise ModelFileError(f"{path} is not read: it is a folder.") from None
    except (KeyError, TypeError, AttributeError):
        raise ModelFileError(f"{path} is not read: it is no model file.") from None


def _described(model: Any) -> dict[str, str]:
    """Parameters as text, for people."""
    if not hasattr(model, "get_params"):
        return {}
    return {key: repr(value)[:LONGEST_WORD] for key, value in model.get_params(deep=False).items()}


def _about(model: Any) -> dict[str, str]:
    """What a model tells of its training, as text."""
    about = Fitted.of(model).about
    longest = {key: LONGEST_TEXT if isinstance(about[key], str) else LONGEST_WORD for key in about}
    return {key: str(value)[: longest[key]] for key, value in about.items()}


def installed_versions() -> dict[str, str]:
    """Of the packages that a model file tells."""
    import platform
    from importlib.metadata import version

    return {name: version(name) for name in PACKAGES} | {"python": platform.python_version()}
