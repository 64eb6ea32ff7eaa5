# SPDX-License-Identifier: BSD-3-Clause
"""How much work something is, told by counts that do not depend on the machine or its load."""

import cProfile
import gc
import tracemalloc
from contextlib import contextmanager


@contextmanager
def _nothing_collected():
    """Who is told of garbage that is collected would be counted too, whenever that happens."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def n_calls(action):
    """Calls of functions, Python's and C's, while ``action()`` runs; compiled loops are one call.

    What is imported or compiled at the first call counts: call it once before.
    """
    profile = cProfile.Profile()
    with _nothing_collected():
        profile.runcall(action)
    return sum(entry.callcount for entry in profile.getstats())


def peak_bytes(action):
    """Memory that ``action()`` takes at its peak, in addition to what was there before."""
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
