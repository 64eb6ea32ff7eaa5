# SPDX-License-Identifier: BSD-3-Clause
"""The settings that hold at a moment; :mod:`skstruct.config` is how users change them."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Settings:
    """The settings of one moment; see :func:`skstruct.set_config`."""

    device: Any = None
    engine: Any = None
    memory: str | int = "1GB"
    precision: str = "double"
    time_limit: float | None = None
    node_limit: int | None = None
    cancel: Any = None


of_all = [Settings()]  # of every thread, in a place that can be written to
here: ContextVar[Settings | None] = ContextVar("skstruct settings", default=None)


def current() -> Settings:
    """Those of the block that this is in, else those of all threads."""
    return here.get() or of_all[0]
