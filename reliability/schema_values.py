# SPDX-License-Identifier: BSD-3-Clause
"""Values drawn from a schema of an OpenAPI document, and values that just miss it."""

from __future__ import annotations

import json
import random

TEXTS = ["", "a", "é", "\u0000", "\ud800", "x" * 3000, "1", "null", "../..", "${x}", "%s", "'"]
NUMBERS = [0, 1, -1, 2, 5, 0.5, -0.0, 1e-300, 1e300, 2**31, 2**63, 10**30, 0.999999, 1000, 1001]
OTHERS = [None, True, [], {}, [[]], [None], {"": None}, "x", 7]
NAMES = {"null": None, "boolean": True}


def value_of(schema, rng: random.Random, depth=0):
    """A value that a schema allows, as far as its words are known here."""
    for word in ("oneOf", "anyOf"):
        if word in schema:
            return value_of(rng.choice(schema[word]), rng, depth + 1)
    if "enum" in schema:
        return rng.choice(schema["enum"])
    kind = schema.get("type")
    if kind in NAMES:
        return rng.random() < 0.5 if kind == "boolean" else None
    if kind in ("number", "integer"):
        return _number(schema, rng, kind == "integer")
    if kind == "string":
        return rng.choice(TEXTS)
    if kind == "array":
        items = schema.get("items", {})
        return [value_of(items, rng, depth + 1) for _ in range(rng.choice((0, 1, 1, 2, 3)))]
    if kind == "object":
        return _object(schema, rng, depth)
    return rng.choice([*OTHERS, *NUMBERS, *TEXTS])


def _number(schema, rng, whole):
    low = schema.get("minimum", schema.get("exclusiveMinimum", -(10**6)))
    high = schema.get("maximum", schema.get("exclusiveMaximum", 10**6))
    edges = [low, high, low + 1, high - 1]
    found = rng.choice([*edges, rng.uniform(low, high)])
    return int(found) if whole else found


def _object(schema, rng, depth):
    named = schema.get("properties", {})
    chosen = set(schema.get("required", ())) | {name for name in named if rng.random() < 0.3}
    found = {name: value_of(named[name], rng, depth + 1) for name in named if name in chosen}
    if not named and depth < 3:
        found = {rng.choice(TEXTS[:4]): rng.choice(OTHERS) for _ in range(rng.randint(0, 2))}
    return found


def near_value(schema, rng: random.Random):
    """A value that may miss the schema in one place: another kind, gone, twice, or unknown."""
    value = value_of(schema, rng)
    if not isinstance(value, dict) or rng.random() < 0.4:
        return value
    key = rng.choice([*value, "unknown"])
    if rng.random() < 0.2:
        value.pop(key, None)
    else:
        value[key] = rng.choice([*OTHERS, *NUMBERS, *TEXTS])
    return value


def text_of(value) -> bytes:
    """JSON in UTF-8, or what comes nearest."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
