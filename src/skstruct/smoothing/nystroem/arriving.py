# SPDX-License-Identifier: BSD-3-Clause
"""Blocks of rows where they are computed with: read and sent while the last ones are summed."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from typing import Any

from skstruct.streaming.pipeline import overlapped


def arriving(blocks: Iterable[Any], read: Callable[..., Any], backend: Any) -> Iterator[Any]:
    """Rows, targets and weights of every block, in their order.

    On a device with memory of its own, reading a block, sending it and computing with the one
    before happen at the same time: three blocks are in memory, whatever the number of rows.

    Parameters
    ----------
    blocks : iterable of Block
    read : callable (Block) -> X, targets of shape (n, q), weights or None
    backend : Backend
    """
    uploads = backend.uploads()
    if uploads is None:
        yield from map(read, blocks)
        return

    def send(rows: tuple[Any, Any, Any]) -> tuple[Any, Any]:
        X, T, weight = rows
        return uploads.send({"X": X, "T": T}), weight

    with closing(overlapped(blocks, read, send, depth=1)) as sent_blocks:
        for sent, weight in sent_blocks:
            arrays = sent.received()
            yield arrays["X"], arrays["T"], weight
