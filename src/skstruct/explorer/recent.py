# SPDX-License-Identifier: BSD-3-Clause
"""What was computed last, for questions that come again with one thing changed."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any


class Recent:
    """The last answers by their key; the oldest is dropped first.

    >>> recent = Recent(2)
    >>> [recent(key, lambda: key.upper()) for key in "aba"], list(recent.kept)
    (['A', 'B', 'A'], ['b', 'a'])
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.kept: OrderedDict[Hashable, Any] = OrderedDict()

    def __call__(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        if key not in self.kept:
            self.kept[key] = compute()
        self.kept.move_to_end(key)
        while len(self.kept) > self.most:
            self.kept.popitem(last=False)
        return self.kept[key]
