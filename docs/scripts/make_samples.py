# SPDX-License-Identifier: BSD-3-Clause
"""Writes the small data files that come with skstruct: invented, by a fixed seed.

python docs/scripts/make_samples.py [FOLDER]
"""

import sys
from pathlib import Path

import numpy as np

from skstruct.datasets.dataset import Dataset, Table
from skstruct.datasets.writing import write_data

FOLDER = Path(__file__).resolve().parents[2] / "src" / "skstruct" / "datasets" / "samples"

HABITATS, SKINS = ("land", "water", "air"), ("fur", "feathers", "scales", "bare")
KINDS = {  # weight in kg, legs, habitat, skin, lays eggs
    "mammal/cat": (4.0, 4, "land", "fur", "no"),
    "mammal/dog": (20.0, 4, "land", "fur", "no"),
    "mammal/whale": (9000.0, 0, "water", "bare", "no"),
    "bird/eagle": (5.0, 2, "air", "feathers", "yes"),
    "bird/penguin": (12.0, 2, "water", "feathers", "yes"),
    "fish/salmon": (5.0, 0, "water", "scales", "yes"),
    "fish/shark": (500.0, 0, "water", "scales", "no"),
}


def animals(name, n, seed):
    """Kinds of a small tree; of some rows only the group is known; one cell in twenty missing."""
    rng = np.random.default_rng(seed)
    paths = list(KINDS)
    values = (None, None, HABITATS, SKINS, ("no", "yes"))
    rows, outputs = [], []
    for k in rng.integers(len(paths), size=n):
        weight, legs, habitat, skin, eggs = KINDS[paths[k]]
        seen = weight * np.exp(rng.normal(0, 0.6))
        row = [round(float(np.log10(seen)), 2), legs, HABITATS.index(habitat), SKINS.index(skin)]
        row.append(("no", "yes").index(eggs))
        if rng.random() < 0.15:  # seen in the wrong place
            row[2] = int(rng.integers(len(HABITATS)))
        rows.append([np.nan if rng.random() < 0.05 else value for value in row])
        group = paths[k].split("/")[0]
        outputs.append((group,) if rng.random() < 0.1 else (paths[k],))
    names = ("log10_weight", "legs", "habitat", "skin", "eggs")
    groups = sorted({path.split("/")[0] for path in paths})
    labels = tuple(sorted([*groups, *paths]))
    edges = tuple((path.split("/")[0], path) for path in sorted(paths))
    table = Table(names, values, np.array(rows, dtype=np.float64))
    return Dataset(name, "clus", "hierarchy", table, outputs, labels, edges)


def drinks(n=120, seed=1):
    """Orders of four drinks by age, hour and temperature; the last places sometimes unknown."""
    rng = np.random.default_rng(seed)
    items = ("tea", "coffee", "juice", "beer")
    age, hour = rng.integers(8, 80, n), rng.integers(6, 24, n)
    warmth = rng.normal(15, 8, n).round(1)
    liking = np.column_stack([
        1.0 - 0.04 * warmth + 0.01 * age,
        0.03 * age - 0.12 * np.abs(hour - 9),
        0.04 * warmth - 0.02 * age + 1.0,
        np.where(age < 18, -9.0, 0.25 * (hour - 16)),
    ])  # fmt: skip
    order = np.argsort(-(liking + rng.normal(0, 0.3, liking.shape)), axis=1)
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(1, 5)[None, :].repeat(n, axis=0), axis=1)
    unknown = rng.random(n) < 0.1
    ranks[unknown] = np.where(ranks[unknown] > 2, 0, ranks[unknown])
    data = np.column_stack([age, hour, warmth]).astype(np.float64)
    table = Table(("age", "hour", "warmth"), (None, None, None), data)
    return Dataset("drinks", "csv", "ranking", table, ranks, items)


def garden(n=100, seed=2):
    """Kilograms of beans and tomatoes by water, sun and soil."""
    rng = np.random.default_rng(seed)
    water, sun = rng.uniform(0, 10, n).round(1), rng.uniform(2, 12, n).round(1)
    soil = rng.integers(3, size=n)
    rich = np.array([0.6, 1.0, 1.4])[soil]
    beans = np.maximum(0, rich * (1 + 0.5 * water - 0.03 * water**2) + rng.normal(0, 0.3, n))
    tomatoes = np.maximum(0, rich * (0.4 * sun - 1 + 0.1 * water) + rng.normal(0, 0.4, n))
    table = Table(
        ("water", "sun", "soil"), (None, None, ("sand", "loam", "clay")),
        np.column_stack([water, sun, soil]).astype(np.float64),
    )  # fmt: skip
    outputs = np.column_stack([beans, tomatoes]).round(2)
    return Dataset("garden", "csv", "regression", table, outputs, ("beans", "tomatoes"))


WORDS = {
    "DT": ("the", "a", "every"), "JJ": ("old", "green", "small", "quick"),
    "NN": ("dog", "house", "river", "letter", "train"), "VB": ("saw", "reached", "left", "liked"),
    "IN": ("in", "near", "with"),
}  # fmt: skip


def phrases(n=80, seed=3):
    """Sentences of noun, verb and prepositional phrases with a chunk tag for every word."""
    rng = np.random.default_rng(seed)

    def noun_phrase():
        speech = ["DT"] * (rng.random() < 0.8) + ["JJ"] * int(rng.integers(3)) + ["NN"]
        return [(kind, "B-NP" if i == 0 else "I-NP") for i, kind in enumerate(speech)]

    sentences, tags = [], []
    for _ in range(n):
        tokens = [*noun_phrase(), ("VB", "B-VP"), *noun_phrase()]
        if rng.random() < 0.5:
            tokens += [("IN", "B-PP"), *noun_phrase()]
        sentences.append([(str(rng.choice(WORDS[kind])), kind) for kind, _ in tokens])
        tags.append(tuple(tag for _, tag in tokens))
    labels = tuple(sorted({tag for row in tags for tag in row}))
    return Dataset("phrases", "conll", "sequence", sentences, tags, labels)


def write_samples(folder):
    folder.mkdir(exist_ok=True)
    write_data(animals("animals", 150, 0), folder / "animals.arff", format="clus")
    write_data(animals("animals_new", 80, 10), folder / "animals_new.arff", format="clus")
    write_data(drinks(), folder / "drinks.csv", format="csv")
    write_data(garden(), folder / "garden.csv", format="csv")
    write_data(phrases(), folder / "phrases.txt", format="conll")


if __name__ == "__main__":
    write_samples(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
