# SPDX-License-Identifier: BSD-3-Clause
"""The description of the routes, with examples from the models' own columns and labels."""

import copy
from typing import Any

from skstruct.serving.messages import ARROW, CSV, JSON
from skstruct.serving.outputs import json_value
from skstruct.serving.settings import ONLY_OF, QUESTIONS

ABOUT = {
    "predict": "Predictions; with a level what is certain and possible, too.",
    "decode": "Predictions with their risk or cost, a lower bound on it, and the gap.",
    "marginals": "How probable the parts of outputs are.",
    "kbest": "The k best outputs of each row.",
    "explain": "Predictions with the training rows that weigh most for and against.",
}
WRONG = {
    "400": "The body is not JSON, CSV, Arrow or UTF-8.",
    "401": "The token is wrong or missing.",
    "404": "There is no model of this name.",
    "408": "The body took too long to arrive.",
    "413": "Too many rows or bytes.",
    "415": "The body is of another kind than JSON, CSV or Arrow.",
    "422": "Rows or options are wrong: the error names row, column and remedy.",
    "429": "Too many requests wait.",
    "503": "The answer takes too long.",
}
OPTIONS: dict[str, dict[str, Any]] = {
    "model": {"type": "string", "description": "Needed where several models are served."},
    "loss": {"type": "string", "description": "In the place of the loss of training."},
    "restrict": {
        "description": "Constraints: a dictionary, or a list with one for each row.",
        "oneOf": [{"type": "object"}, {"type": "array", "items": {"type": "object"}}],
    },
    "threshold": {
        "description": "A number, one for each label as a list or by name, or a measure.",
        "oneOf": [{"type": kind} for kind in ("number", "string", "array", "object")],
    },
    "level": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    "k": {"type": "integer", "minimum": 1},
    "n": {"type": "integer", "minimum": 1},
}


def operations(models: Any) -> dict[str, Any]:
    """The description of every question, with examples of the models that are served now."""
    return {question: _operation(question, models) for question in QUESTIONS}


def described_api(app: Any, told: dict[str, Any]) -> dict[str, Any]:
    """What ``/openapi.json`` tells; ``told`` is what :func:`operations` gave."""
    found: dict[str, Any] = copy.deepcopy(app.openapi())  # which is kept, while models change
    for question in QUESTIONS:
        found["paths"][f"/{question}"]["post"].update(told[question])
    counters = found["paths"]["/metrics"]["get"]["responses"]["200"]
    counters["content"] = {"text/plain": {"schema": {"type": "string"}}}
    return found


def _operation(question: str, models: Any) -> dict[str, Any]:
    several = len(models.by_name) > 1
    names: dict[str, Any] = {"enum": list(models.by_name)}
    examples, lines = {}, {}
    for name, loaded in models.by_name.items():
        served = loaded.served
        rows = served.example_rows(2)
        value: dict[str, Any] = {"model": name} if several else {}
        value |= {"rows": rows} | _choices(served, question)
        examples[name] = {"summary": f"{served.kind}, {name}", "value": value}
        if served.columns:
            lines[name] = {"value": _csv(rows)}
    about = "Dictionaries by names of columns, or lists."
    known = [option for option in OPTIONS if ONLY_OF.get(option, question) == question]
    options = {option: OPTIONS[option] for option in known}
    options["model"] = OPTIONS["model"] | names
    schema = {
        "type": "object",
        "required": ["rows"],
        "properties": {"rows": {"type": "array", "minItems": 1, "description": about}} | options,
    }
    content: dict[str, Any] = {JSON: {"schema": schema, "examples": examples}}
    content[CSV] = {"schema": {"type": "string"}} | ({"examples": lines} if lines else {})
    content[ARROW] = {"schema": {"type": "string", "format": "binary"}}
    answers: dict[str, Any] = {kind: {} for kind in (JSON, CSV, ARROW)}
    return {
        "summary": ABOUT[question],
        "requestBody": {"required": True, "content": content},
        "parameters": [
            {
                "name": name,
                "in": "query",
                "required": False,
                "schema": {"type": "string"} | (names if name == "model" else {}),
            }
            for name in (*known, "separator")
        ],
        "responses": {"200": {"description": ABOUT[question], "content": answers}}
        | {status: {"description": about} for status, about in WRONG.items()},
    }


def _choices(served: Any, question: str) -> dict[str, Any]:
    """A loss and a constraint that the model knows, as an example."""
    found: dict[str, Any] = {}
    losses = served.losses() if question != "marginals" else []
    if len(losses) > 1:
        found["loss"] = losses[1]
    if "exclude" in served.constraints() and served.kind in ("labels", "hierarchy"):
        found["restrict"] = {"exclude": [json_value(served.space.labels_[-1])]}
    return found | ({"k": 3} if question == "kbest" else {"n": 5} if question == "explain" else {})


def _csv(rows: list[Any]) -> str:
    names = list(rows[0])
    lines = [",".join("" if row[n] is None else str(row[n]) for n in names) for row in rows]
    return "\n".join([",".join(names), *lines]) + "\n"
