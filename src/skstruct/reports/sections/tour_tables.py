# SPDX-License-Identifier: BSD-3-Clause
"""Tours: which places and which ways between them go wrong."""

from __future__ import annotations

from functools import partial

import numpy as np

from skstruct.inspection import FlowDisplay
from skstruct.reports.counts import HEADER, Counts
from skstruct.reports.example_pictures import places_of
from skstruct.reports.kinds import label_text
from skstruct.reports.pages import Section, Table, Text
from skstruct.reports.pictures import picture
from skstruct.spaces.quantities.networks import read_network

MOST_WAYS = 120  # of the map, those with most mistakes


def section(subject) -> Section:
    """Shares by place and by edge."""
    space, Z, Y = subject.space, subject.predicted, subject.truth
    visited, due = (visits(space, part) for part in (Z, Y))
    places = Counts.of_sets(visited, due)
    edges = Counts.of_sets(Z, Y)
    text = (
        f"{(visited == due).all(axis=1).mean():.1%} of the tours visit the right places, "
        f"{(np.asarray(Z) == np.asarray(Y)).all(axis=1).mean():.1%} in the right order too. "
        f"{due.sum(axis=1).mean():.2f} places per tour, {visited.sum(axis=1).mean():.2f} predicted."
    )
    names = [label_text(node) for node in space.nodes_]
    order = np.argsort(-places.errors, kind="stable")
    by_place = Table(["place", *HEADER], places.rows(names, order), "places, worst first")
    used = np.argsort(-edges.errors, kind="stable")
    used = used[(edges.support + edges.false)[used] > 0]
    between = " → " if space.directed else " – "
    ways = [label_text(label, between=between) for label in space.edge_labels_]
    by_edge = Table(["way", *HEADER], edges.rows(ways, used), "ways that were taken, worst first")
    blocks: list = [Text(text)]
    if len(used):
        drawn = partial(_map, subject, edges, used[:MOST_WAYS])
        about = "Places and the ways between them, as broad as they were taken often"
        blocks.append(picture(drawn, about, "how often ways were taken: predicted | true"))
    blocks += [by_place, by_edge]
    return Section("Places and ways: where errors concentrate", "places", blocks)


def _map(subject, edges, used):
    """Ways as if they were flows: predicted on one side, true on the other."""
    space, at = subject.space, places_of(subject)
    if not hasattr(at, "keys"):
        at = dict(zip(space.nodes_, np.asarray(at)))
    network = read_network([tuple(space.edge_labels_[a]) for a in used])
    counts = (edges.found + edges.false)[used], edges.support[used]
    return FlowDisplay(network, *counts, at, directed=bool(space.directed)).plot()


def visits(space, outputs) -> np.ndarray:
    """Whether each place is on each tour; shape (n, n_places)."""
    tours = np.asarray(space.tours(np.asarray(outputs)))
    found = np.zeros((len(tours), len(space.nodes_)), dtype=bool)
    rows, columns = np.nonzero(tours >= 0)
    found[rows, tours[rows, columns]] = True
    return found
