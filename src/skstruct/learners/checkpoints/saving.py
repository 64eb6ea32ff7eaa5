# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints: files from which a fit goes on after its process was stopped."""

from __future__ import annotations

import os
import re
import threading
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from skstruct._arrays.checks import is_number
from skstruct._files.container import read_container, write_container
from skstruct.backends import on_host
from skstruct.exceptions import ModelFileError
from skstruct.learners.checkpoints.fingerprints import differences, owner_of

KIND = "checkpoint"
SHARE = 0.01  # of the time of a fit, at most, goes into saving it
LARGEST = 2**50  # bytes of a file that is read
ADVICE = "Delete it to begin anew, or give another path."
ONE_EACH = "Each fit needs a path of its own: those of a search over parameters cannot share one."


@dataclass(frozen=True)
class Checkpoint:
    """A file that a long fit is saved to, and goes on from when its process was stopped.

    ``fit(X, y, checkpoint=path)`` saves where it is from time to time. Called again after a
    crash, with the same parameters and data, it goes on from there, and ends with the same
    result, bit for bit (on the same machine, with the same number of threads). In the end the
    file is removed. A path is enough; this class sets how often.

    The file is replaced in one step and sealed by a checksum: at any time it is whole. It holds
    numbers only. One that belongs to another fit, or is damaged, is refused with a
    :class:`~skstruct.exceptions.ModelFileError`, and never written over. Two fits must not
    share a path: not at the same time, and not in a search over parameters such as scikit-learn's
    GridSearchCV, which takes a refusal for a fit that failed and goes on. Functions among the
    parameters count with the values and functions that they use, classes and modules by name;
    what cannot be distinguished from others of its kind is refused. ``random_state`` is best a
    number, or None, which is drawn once: a ``RandomState`` that was drawn from since is another
    one.

    Parameters
    ----------
    path : str or path
    every : float, default=10.0
        Seconds between two saves, at least. Where saving takes long, they are further apart, so
        that it takes no more than a hundredth of the time. 0 saves after each step.

    Examples
    --------
    >>> import tempfile
    >>> from skstruct.learners import StructuredSVM
    >>> X, y = [[0.0], [0.2], [1.0], [1.2]], ["sun", "sun", "rain", "rain"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model = StructuredSVM(alpha=0.01, random_state=0)
    ...     model = model.fit(X, y, checkpoint=Checkpoint(f"{folder}/svm.checkpoint", every=60))
    ...     left = os.listdir(folder)
    >>> model.predict([[0.1]]).tolist(), left
    (['sun'], [])
    """

    path: str | os.PathLike[str]
    every: float = 10.0

    def __post_init__(self) -> None:
        if not isinstance(self.path, (str, os.PathLike)):
            raise TypeError(f"checkpoint is the path of a file, or Checkpoint; got {self.path!r}.")
        if not os.fspath(self.path):
            raise ValueError("checkpoint is the path of a file; got an empty one.")
        if not (is_number(self.every) and self.every >= 0):
            raise ValueError(f"every is a number of seconds, at least 0; got {self.every!r}.")


@contextmanager
def resuming(
    model: Any, checkpoint: str | os.PathLike[str] | Checkpoint | None, **data: Any
) -> Iterator[Any]:
    """The level at which a fit begins, or goes on; the file is removed when all went well.

    Parameters
    ----------
    checkpoint : None, str, path or Checkpoint
    **data
        All that the result depends on besides the parameters of the model.
    """
    if checkpoint is None:
        yield NOWHERE
        return
    if not isinstance(checkpoint, Checkpoint):
        checkpoint = Checkpoint(checkpoint)
    saver = Saver(
        checkpoint, owner_of(model, {name: on_host(value) for name, value in data.items()})
    )
    with _seeded(model, saver.seed):
        yield saver.level
    saver.remove()


@contextmanager
def _seeded(model: Any, seed: int) -> Iterator[None]:
    """Where the model draws a seed of its own, it is the one that the checkpoint knows."""
    if model.get_params(deep=False).get("random_state", seed) is not None:
        yield
        return
    model.random_state = seed
    try:
        yield
    finally:
        model.random_state = None


class Saver:
    """Reads and writes the checkpoint of one fit."""

    def __init__(self, checkpoint: Checkpoint, owner: dict[str, Any]) -> None:
        self.path, self.every, self.owner = Path(checkpoint.path), checkpoint.every, owner
        if not self.path.parent.is_dir():
            raise FileNotFoundError(f"{self.path}: there is no folder {self.path.parent}.")
        if self.path.is_dir():
            raise IsADirectoryError(f"checkpoint is the path of a file; {self.path} is a folder.")
        self.lock, self.next = threading.RLock(), time.monotonic() + self.every
        found = self._read()
        # Not from the model: a seed of its own must be the same after a crash.
        drawn = int(check_random_state(None).randint(2**31 - 1)) if found is None else 0
        self.seed = drawn if found is None else found["seed"]
        self.level = Level(self, None if found is None else found["tree"])

    def _read(self) -> dict[str, Any] | None:
        if not self.path.exists():
            return None
        if self.path.is_dir():
            raise ModelFileError(f"{self.path} is a folder; give the path of a file.")
        try:
            manifest, arrays = read_container(self.path, KIND, max_bytes=LARGEST)
            owner = manifest["owner"]
            why = differences(owner, self.owner)
            content = None if why else unpacked(manifest["content"], arrays)
        except (OSError, KeyError, TypeError, ValueError, AttributeError) as error:
            said = str(error) if isinstance(error, ModelFileError) else f"{self.path}: {error!r}."
            raise ModelFileError(f"{said} {ADVICE}") from None
        if why is not None:
            said = f"{self.path} is the checkpoint of another fit: {why}. {ADVICE} {ONE_EACH}"
            raise ModelFileError(said)
        return content

    def is_due(self) -> bool:
        """Whether it is time to save."""
        return time.monotonic() >= self.next

    def save(self, lane: Level) -> None:
        """Write the file; ``lane`` is the level that is between two steps."""
        with self.lock:
            begun = time.monotonic()
            if lane is not self.level:
                lane.freeze()
            arrays: dict[str, np.ndarray] = {}
            content = packed(plain({"seed": self.seed, "tree": self.level.tree()}), arrays)
            try:
                manifest = {"owner": self.owner, "content": content}
                write_container(self.path, KIND, manifest, arrays)
            except OSError as error:  # a full disk is no reason to lose the fit as well
                warnings.warn(f"{self.path} could not be written: {error}", stacklevel=2)
            now = time.monotonic()
            rest = (now - begun) / SHARE if self.every > 0 else 0.0
            self.next = now + max(self.every, rest)

    def remove(self) -> None:
        """No file is left, nor what writers that were killed have left."""
        try:
            self.path.unlink(missing_ok=True)
            if not self.path.parent.is_dir():  # someone was quicker
                return
            temporary = re.compile(re.escape(f".{self.path.name[:100]}.") + "[a-z0-9_]{8}")
            for path in self.path.parent.iterdir():
                if temporary.fullmatch(path.name) and _is_ours(path):
                    path.unlink(missing_ok=True)
        except OSError as error:  # the fit is done: that counts
            warnings.warn(f"{self.path} could not be removed: {error}", stacklevel=2)


def _is_ours(path: Path) -> bool:
    """Whether a file is empty or begins like a container."""
    with suppress(OSError):
        if path.is_file():
            with path.open("rb") as file:
                return file.read(4) in (b"", b"PK\3\4")
    return False


# The state of a fit as JSON and arrays, level by level: training inside of a search in a fit.


def plain(value: Any, copied: bool = False) -> Any:
    """Dictionaries, lists, numbers and arrays alone: objects give their ``state()``.

    Random generators say where they are.

    With ``copied``, arrays are those of this moment, whatever happens to the originals.
    """
    if isinstance(value, (np.random.Generator, np.random.RandomState)):
        return plain(_stream_state(value), copied)
    if hasattr(value, "state"):
        return plain(value.state(), copied)
    if isinstance(value, np.ndarray):
        return value.copy(order="K") if copied else value
    if isinstance(value, dict):
        return {name: plain(part, copied) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part, copied) for part in value]
    return value


def packed(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    """JSON for a plain value; arrays are put aside under names of their own.

    >>> packed({"weights": np.zeros(3), "gap": 0.5, "n": 7}, arrays := {})
    {'dict': {'weights': {'array': 'a0'}, 'gap': {'float': '0x1.0000000000000p-1'}, 'n': 7}}
    >>> arrays
    {'a0': array([0., 0., 0.])}
    """
    if isinstance(value, np.ndarray):
        name = f"a{len(arrays)}"
        arrays[name] = value
        return {"array": name}
    if isinstance(value, float):  # infinite ones too
        return {"float": float(value).hex()}
    if isinstance(value, dict):
        return {"dict": {name: packed(part, arrays) for name, part in value.items()}}
    if isinstance(value, list):
        return [packed(part, arrays) for part in value]
    if isinstance(value, np.generic):
        return packed(value.item(), arrays)
    if value is None or isinstance(value, (bool, int, str)):
        return value
    raise TypeError(f"{type(value).__name__} cannot be saved.")


def unpacked(value: Any, arrays: dict[str, Any]) -> Any:
    """The plain value that was packed."""
    if isinstance(value, list):
        return [unpacked(part, arrays) for part in value]
    if not isinstance(value, dict):
        return value
    ((kind, part),) = value.items()
    if kind == "array":
        return arrays[part]
    if kind == "float":
        return float.fromhex(part)
    return {name: unpacked(inner, arrays) for name, inner in part.items()}


def _stream_state(rng: np.random.Generator | np.random.RandomState) -> Mapping[str, Any]:
    if isinstance(rng, np.random.RandomState):
        return rng.get_state(legacy=False)
    return rng.bit_generator.state


def set_stream(rng: Any, state: dict[str, Any]) -> None:
    """Put a random generator where another one was."""
    if isinstance(rng, np.random.RandomState):
        rng.set_state(state)
    else:
        rng.bit_generator.state = state


# Where a fit is, level by level: training inside of a search inside of a fit.
#
# A level is to a checkpoint what a frame is to the stack of calls. A function that takes long is
# given a level. It looks into ``found`` for what was saved when an earlier process was stopped in
# its place; it keeps in ``state`` what it would need to come back to the point where it is now;
# and it opens a level below for the function that it calls. What is saved is the state of all open
# levels, at moments that the innermost one chooses by ``reached``: between two of its steps.


class Level:
    """One level of a fit that is being saved.

    Attributes
    ----------
    found : dict
        What this level had kept when the fit was stopped; empty where it had not come here.
    """

    def __init__(
        self, saver: Saver, found: dict[str, Any] | None = None, lane: Level | None = None
    ) -> None:
        self._saver, self._lane = saver, self if lane is None else lane
        self.found: dict[str, Any] = {} if found is None else found["state"]
        self._found_below = {} if found is None else dict(found["below"])
        self._state: dict[str, Any] = {}
        self._open: dict[str, Level] = {}
        self._frozen = found if lane is None else None

    def keep(self, *over: Any, **state: Any) -> None:
        """Remember what is needed to come back here; levels beside that are ``over`` close."""
        with self._saver.lock:
            self._state = {**self._state, **state}
            for name in over:
                self._open.pop(name, None)

    def below(self, name: str) -> Level:
        """The level of a function that is called now, in place of the one called before."""
        level = Level(self._saver, self._found_below.pop(name, None), self._lane)
        self._open = {name: level}
        return level

    def beside(self, names: Any) -> dict[str, Level]:
        """Levels below that are open at the same time, perhaps in threads of their own."""
        with self._saver.lock:
            self._open = {
                name: Level(self._saver, self._found_below.pop(name, None)) for name in names
            }
        return dict(self._open)

    def reached(self, **state: Any) -> None:
        """Say where this level is, between two steps; all is saved if it is time to."""
        if self._saver.is_due():
            self._state = state
            self._saver.save(self._lane)

    def freeze(self) -> None:
        """Copy the state of this level and of those below, which other threads may save."""
        self._frozen = plain(self._tree(), copied=True)

    def tree(self, root: bool = True) -> dict[Any, Any] | None:
        """States of this level and of those below; of levels beside each other, frozen ones."""
        return self._tree() if root or self._lane is not self else self._frozen

    def _tree(self) -> dict[str, Any]:
        below = {name: level.tree(root=False) for name, level in self._open.items()}
        return {"state": self._state, "below": {n: t for n, t in below.items() if t is not None}}


class Nowhere:
    """The level of a fit that is not saved."""

    found: dict[str, Any] = {}  # noqa: RUF012  (never written to)

    def keep(self, *over: Any, **state: Any) -> None:
        """Nothing."""

    def below(self, name: str) -> Nowhere:
        return self

    def beside(self, names: Any) -> dict[str, Nowhere]:
        return dict.fromkeys(names, self)

    def reached(self, **state: Any) -> None:
        """Nothing."""


NOWHERE = Nowhere()
