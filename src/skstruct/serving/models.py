# SPDX-License-Identifier: BSD-3-Clause
"""The models of a server, each from a file; read again when it changes."""

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from skstruct.exceptions import ModelFileError, restated
from skstruct.persistence import load_model
from skstruct.serving.copies import Copies
from skstruct.serving.problems import Problem
from skstruct.serving.served import ABILITIES, Served
from skstruct.serving.warming import warm


@dataclass
class Loaded:
    """A served model, when it was read, and what went wrong since."""

    served: Served
    loaded: str
    stamp: tuple[int, ...] | None = None  # of its file
    seen: tuple[int, ...] | None = None  # of its file when it was last looked at
    reloads: int = 0
    failures: int = 0
    error: str | None = None


class Models:
    """Served models by name.

    Parameters
    ----------
    sources : mapping of str to path or fitted model
        By the names they are asked by.
    note : callable (event, **fields), default=None
        Told when a model was read again, or could not be.
    copies : Copies, default=None
        Copies of the files, whose arrays stay in them and are shared by several processes.
    other_columns : bool, default=False
        Whether a file that changes may read other columns, or predict another kind of outputs.
    """

    def __init__(
        self,
        sources: dict[str, Any],
        note: Callable[..., None] | None = None,
        *,
        copies: Copies | None = None,
        other_columns: bool = False,
    ) -> None:
        if not sources:
            raise ValueError("There is no model to serve: give at least one.")
        self.note = note or (lambda event, **fields: None)
        self.copies, self.other_columns = copies, other_columns
        self._lock = threading.Lock()  # one thread reads files
        self.by_name = {name: self._first(name, source) for name, source in sources.items()}

    def _first(self, name: str, source: Any) -> Loaded:
        if not isinstance(source, (str, os.PathLike)):
            return Loaded(_warmed(Served(name, source)), _now())
        path = os.fspath(source)
        stamp = _stamp(path)
        try:
            return Loaded(self._read(name, path, stamp), _now(), stamp, stamp)
        except Exception as error:
            last = None if self.copies is None else self.copies.last(name)
            if last is None:
                raise
            # Others of this server had a good file before; it is theirs until the next one.
            served = _warmed(Served(name, load_model(last, mmap=True), path))
            return Loaded(served, _now(), (), stamp, failures=1, error=_said(error))

    def _read(
        self, name: str, path: str, stamp: tuple[int, ...] | None, old: Served | None = None
    ) -> Served:
        if stamp is None:
            raise FileNotFoundError(f"{path}: there is no such file.")
        if self.copies is None:
            return self._ready(Served(name, load_model(path), path), old)
        copy, last = self.copies.copy(name, path, stamp), self.copies.last(name)
        if old is None and last is not None and last != copy:  # a process that is started anew
            old = Served(name, load_model(last, mmap=True), path)
        try:
            served = self._ready(Served(name, load_model(copy, mmap=True), path), old)
        except ModelFileError as error:
            raise restated(error, str(error).replace(copy, path)) from None
        self.copies.keep(name, copy)
        return served

    def _ready(self, served: Served, old: Served | None) -> Served:
        """A model that is warm and takes the place of an old one."""
        if old is not None and not self.other_columns:
            _check_replaces(served, old)
        return _warmed(served)

    def get(self, name: str | None) -> Served:
        """The model of a name; the only one when None."""
        if name is None:
            if len(self.by_name) > 1:
                known = ", ".join(sorted(self.by_name))
                raise Problem(422, f"Several models are served: give model, one of {known}.")
            return next(iter(self.by_name.values())).served
        if name not in self.by_name:
            known = ", ".join(sorted(self.by_name))
            raise Problem(404, f"There is no model {name[:60]!r}; known are {known}.")
        return self.by_name[name].served

    def refresh(self) -> None:
        """Read files again that have changed; a broken one leaves the model as it was."""
        with self._lock:
            for name, loaded in list(self.by_name.items()):
                if loaded.stamp is not None:
                    self._refresh(name, loaded)

    def _refresh(self, name: str, loaded: Loaded) -> None:
        path = str(loaded.served.path)
        stamp = _stamp(path)
        if stamp == loaded.seen:
            return
        loaded.seen = stamp
        if stamp == loaded.stamp:  # as it was when the model was read
            loaded.error = None
            return
        try:
            served = self._read(name, path, stamp, loaded.served)
        except Exception as error:  # whatever is wrong with a file, the old model stays
            loaded.failures += 1
            loaded.error = _said(error)
            self.note("reload failed", model=name, reason=loaded.error)
            return
        new = Loaded(served, _now(), stamp, stamp, loaded.reloads + 1, loaded.failures)
        self.by_name[name] = new  # requests under way keep the old one
        self.note("reloaded", model=name)

    def described(self) -> list[dict[str, Any]]:
        """What is served, for whoever asks."""
        return [_described(name, loaded) for name, loaded in self.by_name.items()]


def _described(name: str, loaded: Loaded) -> dict[str, Any]:
    served = loaded.served
    return {
        "name": name,
        "task": served.task,
        "kind": served.kind,
        "learner": type(served.learner).__name__,
        "columns": [
            {key: value for key, value in vars(column).items() if value is not None}
            for column in served.columns
        ],
        "labels": served.labels,
        "losses": served.losses(),
        "constraints": served.constraints(),
        "can": {ability: served.can(ability) for ability in ABILITIES},
        "example": served.example_rows(1)[0],
        "loaded": loaded.loaded,
        "reloads": loaded.reloads,
        "failed_reloads": loaded.failures,
        "error": loaded.error,
    }


def _check_replaces(new: Served, old: Served) -> None:
    """Raise where clients of the old model would fail with the new one."""
    what = None
    if new.kind != old.kind:
        what = f"predicts {new.kind}, and the one that is served {old.kind}"
    elif list(new.reads.items()) != list(old.reads.items()):
        differ = sorted(name for name, _ in new.reads.items() ^ old.reads.items())
        told = ", ".join(dict.fromkeys(differ)) or "their order is another"
        what = f"reads other columns than the one that is served: {told[:100]}"
    if what is not None:
        raise ValueError(f"The model {what}. Use another name, or serve with --other-columns.")


def _warmed(served: Served) -> Served:
    warm(served)
    return served


def _said(error: Exception) -> str:
    return " ".join(str(error).split())[:300]


def _stamp(path: str) -> tuple[int, ...] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
