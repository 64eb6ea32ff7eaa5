# SPDX-License-Identifier: BSD-3-Clause
"""All partial orders of a few items, and how many there are of more."""

import numpy as np

from skstruct.exceptions import UndecidableError
from skstruct.sizes import AT_ONCE
from skstruct.spaces.partial_orders.decoding import as_columns, as_matrices

MOST_LISTED = 6  # items whose orders are listed: 130,023 of six, but six million of seven

# Labelled partial orders of 0, 1, 2, ... items: sequence A001035 of the On-Line Encyclopedia of
# Integer Sequences; up to 16 items by Brinkmann and McKay (2002).
COUNTS = (
    1, 1, 3, 19, 219, 4231, 130023, 6129859, 431723379, 44511042511, 6611065248783,
    1396281677105899, 414864951055853499, 171850728381587059351, 98484324257128207032183,
    77567171020440688353049939, 83480529785490157813844256579,
    122152541250295322862941281269151, 241939392597201176602897820148085023,
)  # fmt: skip


def list_orders(low: np.ndarray, high: np.ndarray, n_items: int, limit: int) -> np.ndarray:
    """All partial orders between ``low`` and ``high``, (N (N - 1),); int8 (count, N (N - 1)).

    Item by item: a new one has some items before it and some behind it, whatever is before the
    former is before it, too, whatever is behind the latter behind it, and all of the former are
    before all of the latter. Orders of the first items obey the constraints on these.
    """
    known, allowed = (as_matrices(mask[None], n_items)[0].astype(bool) for mask in (low, high))
    orders = np.zeros((1, n_items, n_items), bool)
    for new in range(1, n_items):
        before, after = _places(new, known, allowed)
        step = max(1, AT_ONCE // max(1, len(before)))
        parts, found = [], 0
        for start in range(0, len(orders), step):
            parts.append(_extended(orders[start : start + step], before, after))
            found += len(parts[-1])
            if found > limit:
                raise UndecidableError(
                    f"PartialOrders: there are more than {limit:,} partial orders of {new + 1} of "
                    f"{n_items} items; raise limit, or restrict the space."
                )
        orders = np.concatenate(parts) if parts else orders
    return as_columns(orders).astype(np.int8)


def _places(new: int, known: np.ndarray, allowed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which earlier items come before and after a new one, in all ways that are allowed."""
    places = np.indices((3,) * new).reshape(new, -1).T
    before, after = places == 1, places == 2
    inside = (known[:new, new] <= before) & (before <= allowed[:new, new])
    inside &= (known[new, :new] <= after) & (after <= allowed[new, :new])
    good = inside.all(axis=1)
    return before[good], after[good]


def _extended(orders: np.ndarray, before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """All orders with one item more, from those of ``new`` items and its places."""
    new = before.shape[1]
    good = np.ones((len(orders), len(before)), bool)
    for a in range(new):
        for b in range(new):
            if a == b:
                continue
            related = orders[:, a, b, None]
            broken = (before[:, b] & ~before[:, a]) | (after[:, a] & ~after[:, b])
            good &= ~(related & broken) & (related | ~(before[:, a] & after[:, b]))
    order, place = np.nonzero(good)
    extended = orders[order]
    extended[:, :new, new], extended[:, new, :new] = before[place], after[place]
    return extended
