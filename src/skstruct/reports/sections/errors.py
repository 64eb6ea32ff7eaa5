# SPDX-License-Identifier: BSD-3-Clause
"""Which part of the outputs goes wrong: tables and pictures by the kind of outputs."""

from __future__ import annotations

from importlib import import_module

from skstruct.reports.pages import Section, left_out

HOMES = {
    "classes": "class_tables",
    "ordinal": "class_tables",
    "labels": "label_tables",
    "hierarchy": "label_tables",
    "ranking": "ranking_tables",
    "sequence": "sequence_tables",
    "quantities": "quantity_tables",
    "flow": "quantity_tables",
    "tour": "tour_tables",
}


def section(subject) -> Section:
    """Tables of the kind of outputs that the space has."""
    home = HOMES.get(subject.kind)
    if home is None:
        why = f"outputs of {type(subject.space).__name__} have no parts that a table could list."
        return left_out("Where errors concentrate", "parts", why)
    return import_module(f"skstruct.reports.sections.{home}").section(subject)
