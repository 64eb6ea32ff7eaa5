# SPDX-License-Identifier: BSD-3-Clause
"""All papers at a glance: the paper's figure, ours by the rule, ours by default, noise or not.

Read from the kept logs of the scripts, whose last lines compare figures with those of the papers.
*By the rule*: features, kernels and penalties as the script's protocol says, chosen on training
data alone. *By default*: ``ConditionalRiskMinimizer(space, loss)`` with nothing else said. Errors
are standard errors of our figures over test rows or repeated runs; papers seldom print theirs. A
figure that is less than two of them away from the paper's is within noise.

Usage: python papers/at_a_glance.py [FOLDER OF LOGS]
"""

import ast
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
VERDICTS = ("better", "within noise", "worse")


def rows_of(log):
    """Rows of the summary that a log ends with, and the line that names their columns."""
    lines = log.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith("Summary:")), None)
    if start is None:
        return None, []
    names = next(i for i, line in enumerate(lines) if i > start and "by default" in line)
    rest = lines[names + 1 :]
    end = next((i for i, line in enumerate(rest) if "±" not in line), len(rest))
    return lines[names], rest[:end]


def verdicts(names, row):
    """What the rule and the default are, by the columns that say so."""
    places = names.index("the rule is"), names.index("the default is")
    return row[places[0] : places[1]].strip(), row[places[1] :].strip()


def about(name):
    """The first sentence of a script."""
    path = ROOT / "papers" / f"{name}.py"
    return ast.get_docstring(ast.parse(path.read_text("utf-8"))).split("\n\n")[0].replace("\n", " ")


def main(folder):
    print(__doc__.partition("Usage:")[0].strip(), "\n")
    counts, shown = (Counter(), Counter()), False
    for path in sorted(folder.glob("*.txt")):
        names, rows = rows_of(path.read_text("utf-8"))
        if path.stem == "at_a_glance" or not rows:
            continue
        if not shown:
            print("   " + names)
            shown = True
        print(about(path.stem))
        for row in rows:
            print("   " + row)
            for count, verdict in zip(counts, verdicts(names, row)):
                count[verdict] += 1
    for who, count in zip(("by the rule", "by default"), counts):
        said = ", ".join(f"{count[verdict]} {verdict}" for verdict in VERDICTS)
        print(f"\n{who.capitalize()}: {said}.", end="")
    print()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "results")
