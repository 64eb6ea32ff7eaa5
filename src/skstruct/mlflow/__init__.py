# SPDX-License-Identifier: BSD-3-Clause
"""Models in MLflow: saved, logged and loaded as ``pyfunc`` models with loss and constraints.

An MLflow model is a folder. Beside MLflow's own files it holds the model file that
:func:`skstruct.save_model` writes: data only, no pickle. As a ``pyfunc`` model it is asked by
rows and ``params``, whatever serves it; the columns of training are its signature.
"""

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import skstruct
from skstruct._arrays.imports import require
from skstruct.mlflow.pyfunc import PyfuncModel
from skstruct.mlflow.rows import example
from skstruct.mlflow.signatures import signature_of
from skstruct.persistence import describe_model
from skstruct.serving import Served

__all__ = ["load_model", "log_model", "save_model", "signature_of"]

FLAVOR_NAME = "skstruct"
DATA = "model.skstruct"


def _mlflow(module: str = "mlflow") -> Any:
    return require(module, used_by="skstruct.mlflow", extra="mlflow")


# ---------------------------------------------------------------------- writing
def save_model(
    model: Any,
    path: str | os.PathLike[str],
    *,
    signature: Any = None,
    input_example: Any = None,
    pip_requirements: Any = None,
    extra_pip_requirements: Any = None,
    conda_env: Any = None,
    metadata: dict[str, Any] | None = None,
    mlflow_model: Any = None,
    **options: Any,
) -> None:
    """Write a fitted model as a folder that MLflow reads.

    Parameters
    ----------
    model : TaskModel, learner, or pipeline that ends in one; fitted
        Whatever :func:`skstruct.save_model` can write.
    path : str or path
        A folder that does not exist yet.
    signature : mlflow.models.ModelSignature, or False, default=None
        Types of rows, params and answers; made from the model's own columns when None.
    input_example : rows, or False, default=None
        As MLflow takes them; made up from what the model knows of its columns when None.
    pip_requirements, extra_pip_requirements, conda_env : as of MLflow
        By default the installed versions of skstruct and of what its files depend on.
    metadata : dict, default=None
        Added to what the model tells of itself.
    mlflow_model : mlflow.models.Model, default=None
        That this flavour is added to.
    options : as of ``mlflow.pyfunc.save_model``
        Such as ``code_paths``, for a package that defines a space of your own.
    """
    pyfunc, models = _mlflow("mlflow.pyfunc"), _mlflow("mlflow.models")
    served = Served(FLAVOR_NAME, model)
    if signature is None:
        signature = signature_of(model)
    if input_example is None:
        input_example = example(served)
    if conda_env is None and pip_requirements is None:
        pip_requirements = [*_requirements(), *(extra_pip_requirements or [])]
        extra_pip_requirements = None
    added = mlflow_model if mlflow_model is not None else models.Model()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / DATA
        skstruct.save_model(model, file)
        about = describe_model(file)
        added.add_flavor(
            FLAVOR_NAME,
            skstruct_version=skstruct.__version__,
            data=f"data/{DATA}",
            model_class=about["class"],
            sha256=about["sha256"],
        )
        pyfunc.save_model(
            path=os.fspath(path),
            loader_module=__name__,
            data_path=os.fspath(file),
            mlflow_model=added,
            signature=signature or None,
            input_example=None if input_example is False else input_example,
            pip_requirements=pip_requirements,
            extra_pip_requirements=extra_pip_requirements,
            conda_env=conda_env,
            metadata=_metadata(served, about) | (added.metadata or {}) | (metadata or {}),
            **options,
        )


def log_model(model: Any, name: str, **options: Any) -> Any:
    """Log a fitted model with the current run of MLflow.

    Parameters
    ----------
    model, and options : as of :func:`save_model`
        And those of ``mlflow.models.Model.log``, such as ``registered_model_name``, ``params``,
        ``tags`` and ``step``.
    name : str
        Of the logged model.

    Returns
    -------
    mlflow.models.model.ModelInfo
        ``model_uri`` is what :func:`load_model` and ``mlflow.pyfunc.load_model`` take.
    """
    models = _mlflow("mlflow.models")
    flavor = sys.modules[__name__]
    options = {"params": _parameters(model)} | options
    return models.Model.log(
        artifact_path=None, name=name, flavor=flavor, model=model, flavor_name=FLAVOR_NAME,
        **options,
    )  # fmt: skip


def _requirements() -> list[str]:
    """Of what reads the model: the versions that are installed here."""
    from importlib.metadata import version

    others = (f"{name}=={version(name)}" for name in ("numpy", "scipy", "scikit-learn", "pandas"))
    return [f"skstruct=={skstruct.__version__}", *others]


def _metadata(served: Served, about: dict[str, Any]) -> dict[str, Any]:
    told = {"task": served.task, "kind": served.kind, "sha256": about["sha256"]}
    return {key: value for key, value in told.items() if value is not None}


def _parameters(model: Any) -> dict[str, str]:
    """What was fitted, by which a list of logged models can be searched."""
    served = Served(FLAVOR_NAME, model)
    about = {k: v for k, v in served.fitted.about.items() if isinstance(v, (str, float))}
    found = about | served.learner.get_params(deep=False)
    return {key: str(value)[:500] for key, value in found.items() if value is not None}


# ---------------------------------------------------------------------- reading
def load_model(model_uri: str, dst_path: str | None = None, *, mmap: bool = False) -> Any:
    """The model that was saved or logged, as :func:`skstruct.load_model` gives it.

    Parameters
    ----------
    model_uri : str
        Such as a folder, ``models:/NAME/1`` or ``runs:/RUN/NAME``.
    dst_path : str, default=None
        An existing folder to download to; a temporary one when None.
    mmap : bool, default=False
        As of :func:`skstruct.load_model`.
    """
    folder = Path(_mlflow("mlflow.artifacts").download_artifacts(model_uri, dst_path=dst_path))
    flavors = _mlflow("mlflow.models").Model.load(str(folder)).flavors
    if FLAVOR_NAME not in flavors:
        raise ValueError(
            f"{model_uri} was not saved by skstruct.mlflow; it has the flavours "
            f"{', '.join(sorted(flavors))}: read it by mlflow.pyfunc.load_model."
        )
    return skstruct.load_model(folder / flavors[FLAVOR_NAME]["data"], mmap=mmap)


def _load_pyfunc(path: str) -> PyfuncModel:
    """For ``mlflow.pyfunc``: the model file, mapped, so that all workers of a server share it."""
    return PyfuncModel(skstruct.load_model(path, mmap=os.name != "nt"))
