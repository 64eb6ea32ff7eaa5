# SPDX-License-Identifier: BSD-3-Clause
"""Flows in the user's own form: arrays and frames, mappings of arcs, graphs with attributes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skstruct._arrays.optional import is_pandas
from skstruct.spaces.quantities.forms import read_quantities

ATTRIBUTE = "flow"  # of the edges of a graph


@dataclass(frozen=True)
class FlowForm:
    """How flows that came one object per row were written."""

    kind: str  # "arcs" {arc: flow}, "nested" {tail: {head: flow}} or "graphs"
    template: Any = None  # a graph to copy

    def write(self, Z, labels: tuple, index=None):
        writer = {"arcs": _to_arcs, "nested": _to_nested}.get(self.kind)
        if writer is not None:
            return [writer(row, labels) for row in np.asarray(Z).tolist()]
        return [self._to_graph(row, labels) for row in np.asarray(Z).tolist()]

    def _to_graph(self, row, labels):
        graph = self.template.copy()
        for arc, flow in zip(labels, row):
            graph.edges[arc][ATTRIBUTE] = flow
        return graph


def read_flows(Y, arcs: tuple, graph, *, used_by: str):
    """Flows (n, d), their arcs, and the form they came in."""
    plain = isinstance(Y, np.ndarray) and Y.dtype != object
    rows = None if plain or is_pandas(Y, "DataFrame") else list(Y)
    if rows and hasattr(rows[0], "is_directed"):
        values = [_from_graph(row, arcs, i, used_by) for i, row in enumerate(rows)]
        template = graph if hasattr(graph, "is_directed") else rows[0]
        form: Any = FlowForm("graphs", template)
    elif rows and hasattr(rows[0], "keys"):
        nested = any(hasattr(value, "keys") for value in rows[0].values())
        read = _from_nested if nested else _from_arcs
        known = set(arcs)
        values = [read(row, arcs, known, i, used_by) for i, row in enumerate(rows)]
        form = FlowForm("nested" if nested else "arcs")
    else:
        return read_quantities(Y, arcs, used_by=used_by)
    return read_quantities(np.array(values, dtype=object), arcs, used_by=used_by)[0], arcs, form


def _from_arcs(row, arcs, known, i, used_by):
    unknown = [arc for arc in row if arc not in known]
    if unknown:
        raise ValueError(f"{used_by}: Y[{i}] names {unknown[0]!r}, which is no arc of the graph.")
    return [row.get(arc, 0.0) for arc in arcs]


def _from_nested(row, arcs, known, i, used_by):
    if arcs and len(arcs[0]) == 3:
        flat = {
            (tail, head, key): flow
            for tail, heads in row.items()
            for head, keys in heads.items()
            for key, flow in keys.items()
        }
    else:
        flat = {(tail, head): flow for tail, heads in row.items() for head, flow in heads.items()}
    return _from_arcs(flat, arcs, known, i, used_by)


def _from_graph(graph, arcs, i, used_by):
    missing = [arc for arc in arcs if not graph.has_edge(*arc)]
    if missing:
        raise ValueError(f"{used_by}: Y[{i}] has no edge {missing[0]!r}.")
    return [graph.edges[arc].get(ATTRIBUTE, 0.0) for arc in arcs]


def _to_arcs(row, labels):
    return dict(zip(labels, row))


def _to_nested(row, labels):
    nested: dict = {}
    for arc, flow in zip(labels, row):
        inner = nested.setdefault(arc[0], {})
        if len(arc) == 3:
            inner.setdefault(arc[1], {})[arc[2]] = flow
        else:
            inner[arc[1]] = flow
    return nested
