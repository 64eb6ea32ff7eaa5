# SPDX-License-Identifier: BSD-3-Clause
"""The page and its questions over HTTP: JSON in, JSON out, nothing from another place."""

# No postponed annotations: FastAPI reads them where the functions are defined.
import json
from contextlib import suppress
from dataclasses import replace
from importlib import resources
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from skstruct.exceptions import InfeasibleError
from skstruct.explorer.deciding import Decider
from skstruct.explorer.questions import Question
from skstruct.explorer.rows import MOST_AT_ONCE, Rows
from skstruct.explorer.security import OwnPageOnly
from skstruct.explorer.slices import DEPTH, Slices
from skstruct.explorer.state import ABILITIES, Explored, loss_title
from skstruct.explorer.training import Training
from skstruct.serving.outputs import json_value
from skstruct.spaces import Description

KINDS = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
}
ELSEWHERE = {"drawings.css": "skstruct.drawings"}  # files of the page that belong to others
EMPTY = "<!doctype html><title>Explorer</title><p>The page is not installed."


def answered(value: Any, status: int = 200) -> Response:
    """Any value as JSON, in ASCII: names need be no Unicode, and come back as they were."""
    body = json.dumps(json_value(value), allow_nan=False)
    return Response(body, status, media_type="application/json")


def new_app(explored: Explored, training: Training) -> FastAPI:
    """The application for explored rows."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    decider, slices = Decider(explored, training), Slices(explored)
    rows, files = Rows(explored, slices), page_files()
    described = describe(explored)

    @app.exception_handler(ValueError)
    async def wrong(request: Request, error: Exception) -> Response:
        return answered({"error": " ".join(str(error).split())}, 422)

    @app.exception_handler(404)
    async def missing(request: Request, error: Exception) -> Response:
        return JSONResponse({"error": "There is nothing here."}, 404)

    @app.get("/")
    def page() -> Response:
        return file_of(files, "index.html")

    @app.get("/page/{name}")
    def page_file(name: str) -> Response:
        return file_of(files, name)

    @app.get("/api/model")
    def model() -> Response:
        return answered(described)

    @app.get("/api/rows")
    def some_rows(request: Request) -> Response:
        return answered(rows.page(**rows_asked(dict(request.query_params), explored)))

    @app.post("/api/decide")
    async def decide(request: Request) -> Response:
        question = Question.from_json(await sent(request), explored)
        return answered(await run_in_threadpool(decided, decider, question))

    @app.get("/api/slices")
    def some_slices(request: Request) -> Response:
        return answered(slices.of(explored.check_loss(request.query_params.get("loss"))))

    @app.get("/api/training/{row}")
    def training_row(row: str) -> Response:
        if not row.isdecimal():
            raise ValueError(f"A row of training is a number; got {row!r:.80}.")
        return answered(training.row(int(row)))

    app.state.warm_up = lambda: warm_up(explored, training)
    app.add_middleware(OwnPageOnly)
    return app


def decided(decider: Decider, question: Question) -> Any:
    """The decision; what stands in its way is said with the remedy."""
    try:
        return decider.decide(question)
    except InfeasibleError:
        raise ValueError(
            "No output satisfies these constraints: release one of the parts that are fixed, or "
            "widen the limits."
        ) from None
    except TypeError as error:  # constraints of a wrong kind
        raise ValueError(str(error)) from None


async def sent(request: Request) -> Any:
    """The JSON of a request."""
    try:
        return await request.json()
    except (ValueError, RecursionError):
        raise ValueError("The request is no JSON.") from None


def warm_up(explored: Explored, training: Training) -> None:
    """Ask what users will ask, while they look at the page: all is compiled and computed then."""
    decider = Decider(explored, training)  # of its own, so that nobody waits for it
    for loss in explored.losses:
        with suppress(ValueError, NotImplementedError):
            question = Question(0, loss)
            parts = decider.decide(question)["parts"]
            fixed = {part["key"]: state for part, state in zip(parts, explored.fixable)}
            decider.decide(replace(question, fixed=fixed))
        with suppress(ValueError, NotImplementedError):
            explored.judged(loss)


# Files of the page.


def page_files() -> dict[str, tuple[str, bytes]]:
    """All files of the page by name, with their kind, read once."""
    found = {}
    folder = resources.files("skstruct.explorer") / "page"
    files = [item for item in folder.iterdir() if item.is_file()] if folder.is_dir() else []
    files += [resources.files(package) / name for name, package in ELSEWHERE.items()]
    for item in files:
        kind = KINDS.get("." + item.name.rpartition(".")[2])
        if kind is not None and item.is_file():
            found[item.name] = kind, item.read_bytes()
    found.setdefault("index.html", (KINDS[".html"], EMPTY.encode()))
    return found


def file_of(files: dict[str, tuple[str, bytes]], name: str) -> Response:
    """A file of the page, and no other."""
    if name not in files:
        return JSONResponse({"error": "There is no such file of the page."}, 404)
    kind, content = files[name]
    return Response(content, media_type=f"{kind}; charset=utf-8")


# What the model is.


def describe(explored: Explored) -> dict[str, Any]:
    """All that the page asks once."""
    space, learner, inputs = explored.space, explored.learner, explored.inputs
    about = dict(explored.served.fitted.about)
    about.setdefault("learner", type(learner).__name__)
    about.setdefault("space", type(space).__name__)
    return {
        "name": explored.name,
        "task": explored.served.task,
        "kind": Description.of(space).output_kind,
        "part_words": list(Description.of(space).part_words),
        "rows": len(explored),
        "rows_given": explored.n_given,
        "has_truth": explored.truth is not None,
        "about": about,
        "losses": [{"name": name, "title": loss_title(name)} for name in explored.losses],
        "loss": explored.own_loss,
        "constraints": explored.constraints(),
        "labels": explored.served.labels,
        "columns": [column.as_json() for column in inputs.columns],
        "columns_hidden": inputs.n_hidden,
        "constraint_kinds": explored.constraint_kinds(),
        "can": {name: explored.can(name) for name in ABILITIES}
        | dict.fromkeys(("filter_column", "filter_depth"), explored.truth is not None),
        "fixable": list(explored.fixable),
    }


def rows_asked(asked: dict[str, str], explored: Explored) -> dict[str, Any]:
    """Arguments of :meth:`Rows.page`."""
    known = (
        "search", "sort", "descending", "label", "where", "column", "bin", "depth", "start",
        "count", "loss",
    )  # fmt: skip
    for name in asked:
        if name not in known:
            raise ValueError(f"There is no {name!r:.80}; known are {', '.join(known)}.")
    found: dict[str, Any] = {key: asked[key] for key in ("search", "label") if key in asked}
    found |= {key: asked[key] for key in ("sort", "where") if asked.get(key)}
    if asked.get("column"):
        found["slice_"] = asked["column"], asked.get("bin", "")
    elif asked.get(DEPTH):
        found["slice_"] = DEPTH, asked[DEPTH]
    found["descending"] = asked.get("descending", "0") in ("1", "true")
    found["loss"] = explored.check_loss(asked.get("loss"))
    for key, high in (("start", 10**9), ("count", MOST_AT_ONCE)):
        if key in asked:
            if not asked[key].isdecimal() or int(asked[key]) > high:
                raise ValueError(f"{key} is a number from 0 to {high:,}; got {asked[key]!r:.80}.")
            found[key] = int(asked[key])
    return found
