# SPDX-License-Identifier: BSD-3-Clause
"""The routes of a server of models."""

import asyncio
import contextlib
import json
import os
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from functools import partial
from typing import Any

from skstruct._arrays.imports import require
from skstruct.serving.batching import Batcher
from skstruct.serving.connections import unless_gone
from skstruct.serving.gate import Gate
from skstruct.serving.lanes import Lane, ThreadLane
from skstruct.serving.logs import Log
from skstruct.serving.messages import Reply, Request, reply_of
from skstruct.serving.metrics import Metrics
from skstruct.serving.openapi import described_api
from skstruct.serving.problems import Problem
from skstruct.serving.responses import json_response, not_found, response
from skstruct.serving.settings import QUESTIONS, Settings
from skstruct.serving.worker_lane import ProcessLane

COUNTED = {
    "reloaded": "reloads",
    "reload failed": "failed_reloads",
    "worker started": "worker_starts",
    "worker died": "worker_deaths",
    "asked again": "asked_again",
}
GOOD = ("reloaded", "worker started", "asked again")


def make_app(
    models: Mapping[str, Any],
    settings: Settings | None = None,
    *,
    workers: int = 1,
    log: Log | None = None,
) -> Any:
    """An application of FastAPI that serves fitted models.

    Parameters
    ----------
    models : dict
        Paths of model files, or fitted models, by the names that they are asked by. Files are read
        again when they change.
    settings : Settings, default=None
        Limits, token and origins.
    workers : int, default=1
        With 1, a thread of this process predicts. With more, so many processes do, each with the
        model files, and one that dies or takes too long is replaced.
    log : default=None
        Where it is written what was asked.

    Returns
    -------
    app : fastapi.FastAPI

    Examples
    --------
    >>> from fastapi.testclient import TestClient
    >>> from skstruct import ConditionalRiskMinimizer
    >>> model = ConditionalRiskMinimizer(alpha=0.1).fit([[0], [1], [2]], [{"a"}, {"a", "b"}, {"b"}])
    >>> app = make_app({"sets": model}, Settings(log_level="error"))
    >>> with TestClient(app) as client:
    ...     client.post("/predict", json={"rows": [[0], [2]], "restrict": {"min_size": 2}}).json()
    {'model': 'sets', 'answers': [{'prediction': ['a', 'b']}, {'prediction': ['a', 'b']}]}
    """
    require("fastapi", used_by="The server", extra="serve")
    settings = settings or Settings()
    return _Server(dict(models), settings, workers, log or Log(settings.log_level)).app()


class _Server:
    """What the routes share."""

    def __init__(self, models: dict[str, Any], settings: Settings, workers: int, log: Log) -> None:
        self.settings, self.log, self.metrics = settings, log, Metrics()
        self.names = sorted(models)
        self.refresh: Callable[[], None] | None = None  # where this process has the models
        self.copies: tempfile.TemporaryDirectory[str] | None = None  # of the files of workers
        lanes = self._processes(models, workers) if workers > 1 else self._thread(models)
        self.batcher = Batcher(settings, lanes, self._note)
        self.is_draining = False
        self.metrics.gauge("models", len(models))

    def _thread(self, models: dict[str, Any]) -> list[Lane]:
        from skstruct.serving.working import Work  # only where predictions are made

        other = self.settings.other_columns
        work = Work(models, self.settings.max_rows, self._note, other_columns=other)
        self.refresh = work.models.refresh
        return [ThreadLane(work.replies)]

    def _processes(self, models: dict[str, Any], workers: int) -> list[Lane]:
        for name, source in models.items():
            if not isinstance(source, (str, os.PathLike)):
                kind = type(source).__name__
                raise ValueError(f"{name}: workers read model files; got a {kind}: save it first.")
        self.copies = tempfile.TemporaryDirectory(prefix="skstruct-models-")
        told = models, self.settings, self.copies.name, self._note
        return [ProcessLane(*told) for _ in range(workers)]

    def app(self) -> Any:
        from fastapi import FastAPI
        from starlette.exceptions import HTTPException

        app = FastAPI(
            title="skstruct", docs_url=None, openapi_url=None, redoc_url=None,
            lifespan=self._lifespan, redirect_slashes=False,
            summary="Structured predictions: loss and constraints chosen in each request.",
        )  # fmt: skip
        for question in QUESTIONS:
            app.add_api_route(
                f"/{question}", self._question(question), methods=["POST"],
                response_model=None, name=question,
            )  # fmt: skip
        for name in ("models", "health", "ready", "metrics"):
            app.add_api_route(
                f"/{name}", getattr(self, f"{name}_route"), methods=["GET"], response_model=None
            )
        app.add_exception_handler(HTTPException, not_found)
        app.add_api_route(
            "/openapi.json", partial(self._openapi, app), include_in_schema=False,
            response_model=None,
        )  # fmt: skip
        app.state.batcher = self.batcher
        if self.settings.cors:
            from starlette.middleware.cors import CORSMiddleware

            app.add_middleware(
                CORSMiddleware, allow_origins=list(self.settings.cors),
                allow_methods=["GET", "POST"], allow_headers=["authorization", "content-type"],
            )  # fmt: skip
        app.add_middleware(
            Gate, settings=self.settings, metrics=self.metrics, log=self.log
        )  # fmt: skip
        return app

    # ------------------------------------------------------------------ questions
    def _question(self, question: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        from fastapi import Request, Response

        async def route(request: Request) -> Response:
            told = request.scope["state"]
            reply = await self._reply(question, request)
            told["model"], told["rows"] = reply.model, reply.rows
            if reply.failure is not None:
                self.log.failure(reply.failure, told["request_id"])
            answer: Response = response(reply)
            return answer

        return route

    async def _reply(self, question: str, request: Any) -> Reply:
        try:
            asked = Request(
                question, await self._body(request), request.headers.get("content-type", ""),
                tuple(request.query_params.items()), request.headers.get("accept", ""),
            )  # fmt: skip
            return await unless_gone(self.batcher.ask(asked), request.receive)
        except Problem as problem:
            return reply_of(problem)

    async def _body(self, request: Any) -> bytes:
        """The body, as long as it is not too long and does not take too long."""
        from starlette.requests import ClientDisconnect

        most = self.settings.max_bytes
        too_long = Problem(413, f"The body has more than {most:,} bytes: send rows in parts.")
        told = request.headers.get("content-length", "")
        if told.isdecimal() and int(told) > most:
            raise too_long
        parts, n = [], 0
        try:
            async with asyncio.timeout(self.settings.timeout):
                async for part in request.stream():
                    n += len(part)
                    if n > most:
                        raise too_long
                    parts.append(part)
        except TimeoutError:
            raise Problem(408, "The body took too long to arrive.") from None
        except ClientDisconnect:  # nobody reads this, but the log tells who is to blame
            raise Problem(400, "The body ended before it was whole.") from None
        return b"".join(parts)

    # ------------------------------------------------------------------ about the server
    async def models_route(self) -> Any:
        """What is served: columns, labels, losses, constraints, abilities."""
        return response(await self._about("models"))

    async def _openapi(self, app: Any) -> Any:
        reply = await self._about("operations")
        if reply.status != 200:
            return response(reply)
        return json_response(described_api(app, json.loads(reply.body)))

    async def _about(self, what: str) -> Reply:
        """What only those who have the models know."""
        try:
            reply = await self.batcher.ask(Request(what))
        except Problem as problem:
            return reply_of(problem)
        if reply.failure is not None:
            self.log.failure(reply.failure, f"GET {what}")
        return reply

    async def health_route(self) -> Any:
        """Whether the process is alive."""
        return json_response({"status": "alive"})

    async def ready_route(self) -> Any:
        """Whether models are there and warm, and requests are welcome."""
        if self.is_draining:
            return response(reply_of(Problem(503, "The server is going down.")))
        if not self.batcher.n_ready:
            return response(reply_of(Problem(503, "No worker process is ready yet.")))
        return json_response({"status": "ready", "models": self.names})

    async def metrics_route(self) -> Any:
        """Counters as Prometheus reads them."""
        from fastapi import Response

        self.metrics.gauge("waiting", self.batcher.n_waiting)
        self.metrics.gauge("workers", self.batcher.n_ready)
        return Response(self.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    def _note(self, event: str, **fields: Any) -> None:
        """What is counted and written beside the requests themselves."""
        if event == "batch":
            self.metrics.count("batches")
            self.metrics.count("batched_requests", fields["requests"])
            return
        if event in COUNTED:
            self.metrics.count(COUNTED[event])
        self.log.write("info" if event in GOOD else "error", event, **fields)

    @contextlib.asynccontextmanager
    async def _lifespan(self, app: Any) -> AsyncIterator[None]:
        try:
            await self.batcher.open()
        except Exception as error:
            app.state.failure = error  # for who runs the application
            raise
        watching = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            self.is_draining = True
            watching.cancel()
            await self.batcher.close()
            if self.copies is not None:
                self.copies.cleanup()

    async def _watch(self) -> None:
        """Look at the model files again and again."""
        while self.refresh is not None and self.settings.reload_seconds > 0:
            await asyncio.sleep(self.settings.reload_seconds)
            await asyncio.to_thread(self.refresh)
