# SPDX-License-Identifier: BSD-3-Clause
"""Draws the pictures of the front page: predictions of small models.

Data come along with the library, or are drawn here at random.

Usage: python docs/scripts/card_pictures.py [FOLDER]
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
import numpy as np

from skstruct import ConditionalRiskMinimizer
from skstruct.datasets import load
from skstruct.features import TokenFeatures
from skstruct.spaces import Hierarchy, LabelSets, Rankings, Sequences, ShortestPaths

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "src" / "skstruct" / "datasets" / "samples"
BLUE, PALE, GREY, INK = "#1668a8", "#d6e6f3", "#9a9a9a", "#222222"
TAGS = {"NP": "#d6e6f3", "VP": "#fde3cf", "PP": "#dff0d8"}


def canvas():
    figure, ax = plt.subplots(figsize=(4.8, 2.7))
    figure.subplots_adjust(0.01, 0.01, 0.99, 0.99)
    ax.set(xlim=(0, 16), ylim=(0, 9))
    ax.axis("off")
    return figure, ax


def box(ax, x, y, text, fill, edge=GREY, weight="normal", size=13):
    style = {"boxstyle": "round,pad=0.35", "facecolor": fill, "edgecolor": edge, "linewidth": 1.6}
    ax.text(x, y, text, ha="center", va="center", size=size, weight=weight, bbox=style, color=INK)


def ontology(ax):
    """An animal in its classes, with probabilities."""
    lines = (SAMPLES / "animals.arff").read_text(encoding="utf-8").splitlines()
    rows = [line.split(",") for line in lines if line and line[0] not in "@%" and "?" not in line]
    rows = [row for row in rows if "@" not in row[5]]
    values = [sorted({row[j] for row in rows}) for j in (2, 3, 4)]
    X = [
        [
            float(row[0]),
            float(row[1]),
            *(row[j] == v for j, vs in zip((2, 3, 4), values) for v in vs),
        ]
        for row in rows
    ]
    Y = [[*{path.split("/")[0], path}] for path in (row[5] for row in rows)]
    edges = sorted({(path.split("/")[0], path) for path in (row[5] for row in rows) if "/" in path})
    model = ConditionalRiskMinimizer(Hierarchy(edges), "hierarchical").fit(X, Y)
    shown = next(i for i, row in enumerate(rows) if row[5] == "bird/penguin")
    names = model.space_.labels_
    probable = dict(zip(names, np.ravel(model.predict_marginals([X[shown]]))))
    predicted = set(model.predict([X[shown]])[0])
    place = {"bird": (3, 6.6), "fish": (8.2, 6.6), "mammal": (13, 6.6)}
    leaves = {"bird/eagle": 1.6, "bird/penguin": 4.9, "fish/salmon": 8.2, "mammal/cat": 11.3}
    place |= {name: (x, 2) for name, x in {**leaves, "mammal/whale": 14.2}.items()}
    for parent, child in edges:
        if child in place:
            (a, b), (c, d) = place[parent], place[child]
            told = child in predicted
            ax.plot(
                [a, c], [b, d], color=BLUE if told else GREY, linewidth=3 if told else 1, zorder=0
            )
    for name, (x, y) in place.items():
        told = name in predicted
        text = f"{name.split('/')[-1]}\n{probable[name]:.0%}"
        box(ax, x, y, text, PALE if told else "white", BLUE if told else GREY,
            "bold" if told else "normal", 12)  # fmt: skip


def tagging(ax):
    """Phrases of a sentence, predicted."""
    text = (SAMPLES / "phrases.txt").read_text(encoding="utf-8")
    blocks = [[line.split() for line in block.splitlines()] for block in text.strip().split("\n\n")]
    words = [[row[0] for row in block] for block in blocks]
    tags = [[row[2] for row in block] for block in blocks]
    from sklearn.pipeline import make_pipeline

    model = make_pipeline(TokenFeatures(), ConditionalRiskMinimizer(Sequences()))
    model.fit(words[20:], tags[20:])
    shown = next(i for i in range(20) if len(words[i]) == 6)
    found = model.predict([words[shown]])[0]
    for k, (word, tag) in enumerate(zip(words[shown], found)):
        x, y = 2.9 + 5.1 * (k % 3), 7.1 - 4.4 * (k // 3)
        ax.text(x, y, word, ha="center", va="center", size=16, color=INK)
        box(ax, x, y - 1.6, tag, TAGS.get(tag[-2:], "white"), size=13)


def product_tags(ax):
    """Tags of a product, with the probability of each."""
    rng = np.random.default_rng(0)
    names = np.array(["organic", "vegan", "kitchen", "outdoor", "gift"])
    hidden = rng.normal(size=(300, 3))
    scores = hidden @ rng.normal(size=(3, 5)) * 1.5 + rng.normal(0, 0.7, (300, 5))
    Y = [names[row > 0].tolist() for row in scores]
    model = ConditionalRiskMinimizer(LabelSets(names.tolist()), "f1").fit(hidden, Y)
    sets = [set(row) for row in model.predict(hidden[:40])]
    shown = next(i for i, row in enumerate(sets) if len(row) == 3)
    probable = np.ravel(model.predict_marginals(hidden[[shown]]))
    for k, (name, p) in enumerate(zip(model.space_.labels_, probable)):
        y, told = 8.1 - 1.75 * k, name in sets[shown]
        box(ax, 2.8, y, name, PALE if told else "white", BLUE if told else GREY, size=13)
        ax.barh(y, 7.4, 0.7, 5.8, color="#eeeeee")
        ax.barh(y, 7.4 * p, 0.7, 5.8, color=BLUE if told else GREY)
        ax.text(13.6, y, f"{p:.0%}", va="center", size=13, color=INK)


def routes(ax):
    """A way through a grid, by predicted costs, over the best one."""
    side, rng = 5, np.random.default_rng(3)
    nodes = [(i, j) for i in range(side) for j in range(side)]
    arcs = [((i, j), (i + 1, j)) for i, j in nodes if i + 1 < side]
    arcs += [((i, j), (i, j + 1)) for i, j in nodes if j + 1 < side]
    X = rng.normal(size=(250, 4))
    costs = (X @ rng.normal(size=(4, len(arcs))) + 3.0) ** 2 + rng.normal(0, 1, (250, len(arcs)))
    space = ShortestPaths(arcs, (0, 0), (side - 1, side - 1))
    model = ConditionalRiskMinimizer(space, "regret").fit(X[:200], costs[:200])
    found = model.predict(X[200:201])[0]
    for a, b in arcs:
        ax.plot(*zip(at(a), at(b)), color="#d0d0d0", linewidth=2, zorder=0)
    ax.plot(*zip(*map(at, found)), color=BLUE, linewidth=6, solid_joinstyle="round")
    for node in nodes:
        ax.plot(*at(node), "o", color="white", markeredgecolor=GREY, markersize=9)
    ax.text(*np.add(at((0, 0)), (-0.9, 0)), "start", ha="right", va="center", size=13)
    ax.text(*np.add(at((side - 1, side - 1)), (0.9, 0)), "end", va="center", size=13)


def at(node):
    return 4.0 + 2.0 * node[0], 8.2 - 1.85 * node[1]


def rankings(ax):
    """Drinks in the order that is predicted, and in the true one."""
    with open(SAMPLES / "drinks.csv", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["ranking"].count(">") == 3]
    rows = [row for row in rows if all(row.values()) and "=" not in row["ranking"]]
    X = np.array([[float(row[name]) for name in ("age", "hour", "warmth")] for row in rows])
    orders = [row["ranking"].split(">") for row in rows]
    model = ConditionalRiskMinimizer(Rankings(), "kendall").fit(X[15:], orders[15:])
    found = [list(order) for order in model.predict(X[:15])]
    shown = next(i for i in range(15) if sum(a != b for a, b in zip(found[i], orders[i])) == 2)
    for k, item in enumerate(found[shown]):
        other = orders[shown].index(item)
        color = BLUE if other == k else GREY
        ax.plot([5.2, 10.8], [6.5 - 1.8 * k, 6.5 - 1.8 * other], color=color, linewidth=3, zorder=0)
        box(ax, 4, 6.5 - 1.8 * k, f"{k + 1}. {item}", PALE, BLUE)
        box(ax, 12, 6.5 - 1.8 * other, f"{other + 1}. {item}", "white")
    ax.text(4, 8.4, "predicted", ha="center", size=13, color=INK)
    ax.text(12, 8.4, "true", ha="center", size=13, color=INK)


def own_structure(ax):
    """The space of examples/segmentations.py: where a noisy series is cut."""
    sys.path.insert(0, str(ROOT / "examples"))
    from segmentations import Segmentations

    rng = np.random.default_rng(0)
    space = Segmentations(8)
    Z = space.sample(400, rng)
    X, Y = Z + rng.normal(0, 0.35, Z.shape), space.restore(Z)
    model = ConditionalRiskMinimizer(space).fit(X[:300], Y[:300])
    found = model.predict(X[300:320])
    shown = next(i for i in range(20) if len(found[i]) == 3 and max(found[i]) == 8)
    for k, value in enumerate(X[300 + shown]):
        ax.bar(1.9 + 1.75 * k, 4.2 * max(value, 0.05) / 1.6, 1.3, 1.0, color=PALE, edgecolor=GREY)
    start = 0
    for stop in found[shown]:
        ax.plot([1.3 + 1.75 * start, 0.75 + 1.75 * stop], [7.4, 7.4], color=BLUE, linewidth=9)
        ax.text(
            1.0 + 0.875 * (start + stop), 8.3, f"{start}..{stop}", ha="center", va="center", size=13
        )
        start = stop


def front() -> plt.Figure:
    """A digit in a taxonomy of shapes: how probable labels are, what is predicted, what is true."""
    data = load("digit_shapes")
    rng = np.random.default_rng(0)  # noise, as in examples/demo.py
    X = data.X_train + rng.normal(0, 0.4, data.X_train.shape)
    X_test = data.X_test + rng.normal(0, 0.4, data.X_test.shape)
    space = Hierarchy(data.edges, data.labels)
    model = ConditionalRiskMinimizer(space, "hierarchical").fit(X, data.Y_train)
    decoded = model.decode(X_test[:100])
    right = (decoded.outputs == data.Y_test[:100]).all(axis=1)
    row = int(np.argmax(np.where(right, decoded.values, -np.inf)))
    probable = dict(zip(data.labels, np.ravel(model.predict_marginals(X_test[[row]]))))
    predicted = {name for name, on in zip(data.labels, decoded.outputs[row]) if on}
    children = {name: [b for a, b in data.edges if a == name] for name in data.labels}
    (root,) = set(children) - {child for _, child in data.edges}
    figure, ax = plt.subplots(figsize=(6.4, 4.4))
    figure.subplots_adjust(0.01, 0.01, 0.99, 0.99)
    ax.set(xlim=(0, 16), ylim=(11.6, -0.6))
    ax.axis("off")
    place, y = {}, 0.0
    for middle in children[root]:
        rows = [y + k for k in range(len(children[middle]))]
        place |= {leaf: (13.6, at_row) for leaf, at_row in zip(children[middle], rows)}
        place[middle] = (8.6, float(np.mean(rows)))
        y += len(rows) + 0.6
    place[root] = (4.6, float(np.mean([place[name][1] for name in children[root]])))
    for a, b in data.edges:
        color, width = (BLUE, 3) if b in predicted else ("#cccccc", 1)
        ax.plot(*zip(place[a], place[b]), color=color, linewidth=width, zorder=0)
    for name, (x, at_row) in place.items():
        told = name in predicted
        box(ax, x, at_row, f"{name} {probable[name]:.0%}", PALE if told else "white",
            BLUE if told else GREY, "bold" if told else "normal", 13)  # fmt: skip
    image = figure.add_axes((0.01, 0.36, 0.17, 0.26))
    image.imshow(X_test[row].reshape(8, 8), cmap="gray_r")
    image.axis("off")
    return figure


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for draw in (ontology, tagging, product_tags, routes, rankings, own_structure):
        figure, ax = canvas()
        draw(ax)
        figure.savefig(folder / f"{draw.__name__}.png", dpi=110)
        plt.close(figure)
        print(f"drawn: {folder / draw.__name__}.png")
    front().savefig(folder / "front.png", dpi=110)
    print(f"drawn: {folder / 'front.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images" / "cards")
