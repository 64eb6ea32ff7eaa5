# SPDX-License-Identifier: BSD-3-Clause
"""What a server allows: sizes, times, who may ask."""

import hmac
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

QUESTIONS = ("predict", "decode", "marginals", "kbest", "explain")
ONLY_OF = {"threshold": "predict", "level": "predict", "k": "kbest", "n": "explain"}  # options
LOCAL = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True)
class Settings:
    """Limits of a server, and who may ask it.

    Parameters
    ----------
    max_rows : int, default=10_000
        Of one request; 413 beyond.
    max_bytes : int, default=10_000_000
        Of the body of a request, counted while it is read; 413 beyond.
    timeout : float, default=30.0
        Seconds that a request may take; 503 beyond.
    queue : int, default=200
        Requests that may wait; 429 beyond.
    batch_ms : float, default=0.0
        Milliseconds that a request waits for others to be predicted together with. Requests that
        wait anyway, while others are predicted, are joined without it.
    token : str, default=None
        What ``Authorization: Bearer`` must bring; nobody is asked for one when None.
    cors : tuple of str
        Origins whose pages may ask from a browser.
    hosts : tuple of str
        Values of ``Host`` that are answered; all when empty. A page on the internet cannot reach a
        server on this machine under a name of its own that way.
    reload_seconds : float, default=1.0
        How often model files are looked at; 0 for never.
    other_columns : bool, default=False
        Whether a model file that changes may read other columns, or predict outputs of another
        kind. Every client of the model that is served would fail, so such a file is refused, as a
        broken one is.
    log_level : {"info", "warning", "error"}
    """

    max_rows: int = 10_000
    max_bytes: int = 10_000_000
    timeout: float = 30.0
    queue: int = 200
    batch_ms: float = 0.0
    token: str | None = field(default=None, repr=False)
    cors: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    reload_seconds: float = 1.0
    other_columns: bool = False
    log_level: str = "info"

    def __post_init__(self) -> None:
        for name in ("max_rows", "max_bytes", "queue"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is a whole number from 1; got {getattr(self, name)!r}.")
        if not self.timeout > 0:
            raise ValueError(f"timeout is a number of seconds above 0; got {self.timeout!r}.")
        if self.token is not None and not self.token.strip():
            raise ValueError("The token is empty: give at least one letter, better thirty.")

    def admits(self, authorization: bytes) -> bool:
        """Whether a header brings the token; takes as long for any wrong one."""
        if self.token is None:
            return True
        kind, _, given = authorization.partition(b" ")
        right = hmac.compare_digest(given.strip(), self.token.encode())
        return right and kind.lower() == b"bearer"

    def to_dict(self) -> dict[str, Any]:
        """For another process, the token included."""
        return asdict(self)

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> Self:
        """What :meth:`to_dict` gave."""
        lists = {name: tuple(given[name]) for name in ("cors", "hosts")}
        return cls(**{**given, **lists})


def named_files(models: Sequence[str]) -> dict[str, str]:
    """Names of models by their files: ``NAME=FILE``, or the file's name without its ending.

    >>> named_files(["a/enron.model", "new=b/enron.skstruct"])
    {'enron': 'a/enron.model', 'new': 'b/enron.skstruct'}
    """
    found: dict[str, str] = {}
    for given in models:
        name, equals, path = given.partition("=")
        if not equals or os.path.exists(given):
            name, path = Path(given).stem, given
        if name in found:
            raise ValueError(f"Two models are called {name!r}: give one as NAME=FILE.")
        found[name] = path
    return found
