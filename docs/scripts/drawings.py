# SPDX-License-Identifier: BSD-3-Clause
"""One page with a drawing of every structure: ``python docs/scripts/drawings.py PAGE.html``.

With ``--images``, the drawings of docs/drawings.md are written into docs/images as well.
"""

import sys
from pathlib import Path

import numpy as np

from skstruct import spaces
from skstruct.drawings import draw, stylesheet
from skstruct.spaces import Solving

IMAGES = Path(__file__).parents[1] / "images"
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Drawings</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 15px/1.4 "Segoe UI", "Liberation Sans", Arial, sans-serif; margin: 18px;
  background: light-dark(#ffffff, #14181f); color: light-dark(#1d2530, #e7ebf2); }}
main {{ display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 380px), 1fr));
  gap: 34px; }}
h2 {{ font-size: 15px; margin: 0 0 10px; }}
{style}</style></head><body><main>
{body}
</main></body></html>
"""
EDGES = [
    ("animal", "mammal"), ("animal", "bird"), ("mammal", "cat"), ("mammal", "dog"),
    ("bird", "owl"),
]  # fmt: skip
ROADS = [
    ("home", "park"), ("home", "mill"), ("park", "bridge"), ("mill", "bridge"),
    ("bridge", "school"), ("mill", "station"), ("station", "school"),
]  # fmt: skip
PIPES = [
    ("well", "north", 3), ("well", "south", 2), ("north", "south", 1), ("north", "town", 2),
    ("south", "town", 3),
]  # fmt: skip
SENTENCE = "The old owl quietly watched a small grey mouse near the barn .".split()  # noqa: SIM905
TAGS = "DET ADJ NOUN ADV VERB DET ADJ ADJ NOUN ADP DET NOUN PUNCT".split()  # noqa: SIM905
STRANGE = [
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "שלום עולם", "😀 smile",
    "a name that goes on and on until nobody remembers how it began", "naïve café",
]  # fmt: skip


def shares(rng: np.random.Generator, rows: int, q: int, chosen: list[int]) -> np.ndarray:
    """Probabilities of q symbols in each row, the chosen one mostly the largest."""
    found = rng.dirichlet(np.full(q, 0.3), rows) * 0.4
    found[np.arange(rows), chosen] += 0.6
    return found


def cases() -> dict[str, tuple]:
    """A space, a prediction in the user's format, the truth, and what else is drawn."""
    rng = np.random.default_rng(0)
    deep = [(f"topic {j // 3}", f"topic {j}") for j in range(1, 500)]
    tags = sorted(set(TAGS))
    guess = [*TAGS[:6], "NOUN", *TAGS[7:]]
    cities = ["Oslo", "Rome", "Bern", "Riga", "Cork", "Nice", "Linz"]
    at = {"Oslo": (10.7, 59.9), "Rome": (12.5, 41.9), "Bern": (7.4, 46.9), "Riga": (24.1, 56.9),
          "Cork": (-8.5, 51.9), "Nice": (7.3, 43.7), "Linz": (14.3, 48.3)}  # fmt: skip
    return {
        "hierarchy": (
            spaces.Hierarchy(EDGES), ["animal", "mammal", "cat"], ["animal", "mammal", "dog"],
            {"marginals": [0.98, 0.8, 0.18, 0.55, 0.4, 0.1]},
        ),
        "fixed": (
            spaces.Hierarchy(EDGES), ["animal", "mammal", "cat"], None,
            {"marginals": [0.98, 0.8, 0.18, 0.55, 0.4, 0.1],
             "constraints": {'"cat"': "in", '"bird"': "out"}},
        ),
        "dag": (
            spaces.Hierarchy([("a", "b"), ("a", "c"), ("c", "d"), ("b", "d"), ("e", "d")]),
            ["a", "b", "c", "d", "e"], ["a", "b"], {},
        ),
        "large hierarchy": (
            spaces.Hierarchy(deep), [f"topic {j}" for j in (0, 1, 3, 10, 31, 4, 12)],
            [f"topic {j}" for j in (0, 1, 3, 10, 30, 2)],
            {"marginals": np.where(np.arange(500) < 40, rng.random(500) * 0.4, 0.005)},
        ),
        "labels": (
            spaces.LabelSets(["sun", "wind", "rain", "snow", "hail", "fog"]), ["sun", "wind"],
            ["sun", "rain"], {"marginals": [0.91, 0.62, 0.41, 0.1, 0.04, 0.2]},
        ),
        "labels without probabilities": (
            spaces.LabelSets(["sun", "wind", "rain", "snow", "hail", "fog", "thunder", "frost"]),
            ["sun", "wind"], ["sun", "rain"], {"constraints": {'"fog"': "out", '"sun"': "in"}},
        ),
        "strange names": (
            spaces.LabelSets(STRANGE), STRANGE[:3], STRANGE[1:5], {"marginals": np.full(6, 0.5)},
        ),
        "classes": (
            spaces.Classes(["cat", "dog", "cow", "hen"]), "cow", "hen",
            {"marginals": [0.1, 0.15, 0.45, 0.3]},
        ),
        "levels": (
            spaces.Ordinal(["poor", "fair", "good", "great"]), "good", "fair",
            {"marginals": [0.05, 0.3, 0.5, 0.15]},
        ),
        "ranking": (
            spaces.Rankings(["sushi", "pizza", "curry", "salad", "soup"], "pairs"),
            ["pizza", "sushi", "curry", "soup", "salad"],
            ["sushi", "pizza", "curry", "salad", "soup"],
            {"marginals": np.full((5, 5), 0.7) - 0.2 * np.eye(5)},
        ),
        "ranking by positions": (
            spaces.Rankings(["sushi", "pizza", "curry", "salad"], "positions"),
            ["pizza", "sushi", "curry", "salad"], None,
            {"marginals": [[0.2, 0.6, 0.1, 0.1], [0.7, 0.2, 0.1, 0.0], [0.1, 0.1, 0.5, 0.3],
                           [0, 0.1, 0.3, 0.6]]},
        ),
        "sequence": (
            spaces.Sequences(tags, length=(1, 20)), guess, TAGS,
            {"words": SENTENCE, "marginals": shares(rng, 13, len(tags), [tags.index(s) for s in
                                                                       guess])},
        ),
        "letters": (spaces.Strings("acgt"), "acgttgacca", "acgtagacca", {}),
        "tour": (
            spaces.Cycles(cities), ["Oslo", "Riga", "Linz", "Rome", "Nice", "Bern", "Cork"],
            ["Oslo", "Riga", "Linz", "Rome", "Nice", "Cork"], {"coordinates": at},
        ),
        "tour on a circle": (
            spaces.Cycles(cities, directed=True), ["Oslo", "Riga", "Linz", "Rome", "Bern"],
            ["Oslo", "Linz", "Riga", "Rome", "Bern"], {},
        ),
        "path": (
            spaces.ShortestPaths(ROADS, "home", "school"), ["home", "park", "bridge", "school"],
            ["home", "mill", "bridge", "school"],
            {"marginals": [0.6, 0.4, 0.6, 0.25, 0.85, 0.15, 0.15]},
        ),
        "path in a grid": (
            spaces.ShortestPaths.grid(6, 8), None, None, {},
        ),
        "flow": (
            spaces.Flows(PIPES, {"well": 4, "town": -4}), [2.5, 1.5, 0.5, 2, 2],
            [2, 2, 0, 2, 2], {},
        ),
        "spanning tree": (
            spaces.SpanningTrees(list("abcdef")),
            [tuple(e) for e in ("ab", "bc", "cd", "ce", "ef")],
            [tuple(e) for e in ("ab", "bc", "cd", "de", "ef")], {},
        ),
        "matching": (
            spaces.Matchings(["Ann", "Bob", "Cleo", "Dan", "Eve", "Finn"]),
            [("Ann", "Bob"), ("Cleo", "Dan"), ("Eve", "Finn")],
            [("Ann", "Bob"), ("Cleo", "Eve"), ("Dan", "Finn")], {},
        ),
        "graph": (
            spaces.Graphs(list("pqrstu")), [tuple(e) for e in ("pq", "pr", "qr", "st")],
            [tuple(e) for e in ("pq", "pr", "tu")], {"marginals": rng.random(15)},
        ),
        "label graph": (
            spaces.PairwiseLabels([("sea", "beach"), ("beach", "sunset"), ("beach", "city"),
                                   ("city", "street"), ("street", "car")],
                                  ["sea", "beach", "sunset", "city", "street", "car"]),
            ["sea", "beach", "car"], ["sea", "beach", "sunset"],
            {"marginals": [0.8, 0.9, 0.6, 0.2, 0.1, 0.4]},
        ),
        "clique": (
            spaces.Cliques(["Ann", "Bob", "Cleo", "Dan", "Eve", "Finn"]), ["Ann", "Bob", "Eve"],
            ["Ann", "Eve", "Finn"], {},
        ),
        "graph node": (
            spaces.GraphNodes(np.roll(np.eye(8), 1, 0) + np.roll(np.eye(8), -1, 0)), 2, 3,
            {"marginals": [0, 0.1, 0.5, 0.3, 0.1, 0, 0, 0]},
        ),
        "assignment": (
            spaces.Assignments(["Ann", "Bob", "Cleo"], ["dig", "cook", "mend", "paint"]),
            ["cook", "dig", "paint"], ["cook", "mend", "paint"], {"marginals": rng.random(12)},
        ),
        "tournament": (
            spaces.Tournaments(["Ann", "Bob", "Cleo", "Dan"]),
            [("Ann", "Bob"), ("Ann", "Cleo"), ("Ann", "Dan"), ("Bob", "Cleo"), ("Bob", "Dan"),
             ("Cleo", "Dan")],
            [("Bob", "Ann"), ("Ann", "Cleo"), ("Ann", "Dan"), ("Bob", "Cleo"), ("Bob", "Dan"),
             ("Dan", "Cleo")], {},
        ),
        "states": (
            spaces.PairwiseStates([("morning", "noon"), ("noon", "night")], ["dry", "wet", "icy"],
                                  ["morning", "noon", "night"]),
            ["dry", "wet", "wet"], ["dry", "dry", "wet"], {},
        ),
        "poset": (
            spaces.Poset([("any", "plant"), ("any", "food"), ("plant", "apple"),
                          ("food", "apple")]),
            "apple", "food", {"marginals": [1, 0.7, 0.9, 0.6]},
        ),
        "knapsack": (
            spaces.Knapsacks({"tent": 3, "stove": 1, "rope": 2, "lamp": 1}, 5), ["tent", "rope"],
            ["tent", "lamp", "stove"], {"marginals": [0.9, 0.4, 0.5, 0.3]},
        ),
        "quantities": (
            spaces.Box(0, 50, labels=["rain", "wind", "cloud"]), [12.0, 31.0, 44.0],
            [17.0, 30.0, 20.0], {},
        ),
        "quantities of many sizes": (
            spaces.Box(labels=["price", "rooms", "change"]), [250000.0, 4.2, -0.03],
            [231000.0, 4.0, 0.02], {},
        ),
        "histogram": (
            spaces.Simplex(labels=["rent", "food", "travel", "savings"]), [0.4, 0.3, 0.1, 0.2],
            [0.35, 0.25, 0.25, 0.15], {},
        ),
        "one number": (spaces.Interval(0, 10), 3.7, 5.2, {}),
        "candidates": (
            spaces.Candidates(["pay now", "pay later", "refuse"]), "pay later", "pay now",
            {"marginals": [0.4, 0.5, 0.1]},
        ),
    }  # fmt: skip


def drawn(name: str, case: tuple, clickable: bool = True):
    """The drawing of a case."""
    space, output, truth, more = case
    if output is None:  # the best by random costs
        rng = np.random.default_rng(2)
        z, true = space.argmin(rng.random((2, len(space.labels_)))).outputs
        return draw(space, z, truth=true, title=name, **more)
    Y = [output] if truth is None else [output, truth]
    space = space.fit(np.array(Y) if not Solving.of(space).discrete else Y)
    Z = space.validate(np.array(Y) if not Solving.of(space).discrete else Y)
    true = None if truth is None else Z[1]
    return draw(space, Z[0], truth=true, title=name, clickable=clickable, **more)


def page() -> str:
    body = [f"<section><h2>{name}</h2>{drawn(name, case).svg}</section>"
            for name, case in cases().items()]  # fmt: skip
    return PAGE.format(style=stylesheet(), body="\n".join(body))


IN_THE_DOCS = ("hierarchy", "labels", "ranking", "sequence", "tour", "flow", "quantities")

if __name__ == "__main__":
    if "--images" in sys.argv:
        for name in IN_THE_DOCS:
            target = IMAGES / f"drawing_{name.replace(' ', '_')}.svg"
            drawn(name, cases()[name], clickable=False).save(target)
    for path in [part for part in sys.argv[1:] if part != "--images"]:
        Path(path).write_text(page(), encoding="utf-8")
