# SPDX-License-Identifier: BSD-3-Clause
"""Decoded rows and predictions against lists of all outputs.

    python reliability/certificates.py [--cases 1000000] [--minutes M] [--seed 0] [--first CASE]

Spaces, constraints, losses and learners are drawn at random, so small that oracles list all
outputs by their definitions (``oracle_*.py``, which use nothing of the library). A decoded row is
wrong if its output is not in the space or breaks a constraint, if its value is not what the output
costs, if its bound is above the optimum, if a space that is exact is above it, or if a loss, an
embedding or a k-best list differs from the definition. ``--cases`` are rows; a case that fails is
printed with its number: ``--first NUMBER --cases 1`` runs it again.
"""

import sys
from itertools import count
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

import drawn_edges
import drawn_orders
import drawn_sets
from certified_spaces import Wrong, space_case
from summary import Tries, arguments, finish

FAMILIES = [*drawn_sets.FAMILIES, *drawn_orders.FAMILIES, *drawn_edges.FAMILIES]
N_ROWS = 400


def one_case(seed, number):
    rng = np.random.default_rng([seed, number])
    return space_case(rng, FAMILIES, N_ROWS)


def main():
    given = arguments(__doc__, 1_000_000, ("--first", {"type": int, "default": 0}))
    tries, families = Tries(given), {}
    for number in count(given.first):
        if tries.tried >= given.cases or tries.over:
            break
        try:
            done, name = one_case(given.seed, number)
            families[name] = families.get(name, 0) + done
            tries.tried += done
        except Exception as error:
            tries.tried += 1
            why = f"{type(error).__name__}: {error}"
            tries.fail(number, why, f"--seed {given.seed} --first {number} --cases 1")
            print(number, why, file=sys.stderr, flush=True)
    counts = tries.counts(planted_caught=True, families=families)
    counts["rows_per_second"] = round(tries.tried / tries.seconds)
    return finish("certificates", counts)


if __name__ == "__main__":
    sys.exit(main())
