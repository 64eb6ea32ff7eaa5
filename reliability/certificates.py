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
import drawn_solvers
import planted_bugs
from certified_decisions import decision_case, region_decision_case, scenario_case
from certified_learners import learner_case
from certified_partial import censored_case, one_of_case
from certified_quantities import quantity_case
from certified_regions import region_case, region_risk_case
from certified_spaces import space_case
from summary import Tries, arguments, finish

FAMILIES = [*drawn_sets.FAMILIES, *drawn_orders.FAMILIES, *drawn_edges.FAMILIES]
DECODED = [*FAMILIES, *drawn_solvers.FAMILIES]
N_ROWS = 1000
OTHERS = [  # cases of numbers and of decisions by costs, with rows as they take time
    (quantity_case, 250), (decision_case, 250), (region_case, 500), (region_risk_case, 40),
    (scenario_case, 50), (region_case, 500), (one_of_case, 100), (region_decision_case, 60),
    (censored_case, 100),
]  # fmt: skip


def one_case(seed, number):
    """How many rows were held against their oracle, and of what.

    Every third case is a learner, every sixth one of numbers or of decisions by costs.
    """
    rng = np.random.default_rng([seed, number])
    if number % 3 == 0:
        return learner_case(rng, DECODED, N_ROWS)
    if number % 6 == 1:
        case, n_rows = OTHERS[number // 6 % len(OTHERS)]
        return case(rng, n_rows)
    return space_case(rng, DECODED, N_ROWS)


def main():
    given = arguments(__doc__, 1_000_000, ("--first", {"type": int, "default": 0}))
    missed = planted_bugs.missed(given.seed)
    tries, rows = Tries(given), {}
    for number in count(given.first):
        if tries.tried >= given.cases or tries.over:
            break
        try:
            done, name = one_case(given.seed, number)
            rows[name] = rows.get(name, 0) + done
            tries.tried += done
        except Exception as error:
            tries.tried += 1
            why = f"{type(error).__name__}: {error}"
            tries.fail(number, why, f"--seed {given.seed} --first {number} --cases 1")
    counts = tries.counts(planted_caught=not missed, planted_missed=missed)
    counts["rows_per_second"] = round(tries.tried / tries.seconds)
    return finish("certificates", {**counts, "rows": dict(sorted(rows.items()))})


if __name__ == "__main__":
    sys.exit(main())
