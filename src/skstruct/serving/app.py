# SPDX-License-Identifier: BSD-3-Clause
"""The routes of a server of models."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from functools import partial
from typing import Any

from skstruct._arrays.imports import require
from skstruct.serving.batching import Batcher, Job, is_wrong
from skstruct.serving.gate import Gate
from skstruct.serving.logs import Log
from skstruct.serving.metrics import Metrics
from skstruct.serving.models import Models
from skstruct.serving.openapi import describe_api
from skstruct.serving.parsing import JSON, read_request
from skstruct.serving.problems import Problem, problem_of
from skstruct.serving.settings import QUESTIONS, Settings
from skstruct.serving.writing import accepted, written

LARGE = 50_000  # bytes of a body that are not read between two other requests


def make_app(
    models: Mapping[str, Any],
    settings: Settings | None = None,
    *,
    metrics: Metrics | None = None,
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
    metrics, log : default=None
        Where it is counted and written what was asked.

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
    server = _Server(Models(dict(models)), settings or Settings(), metrics, log)
    return server.app()


class _Server:
    """What the routes share."""

    def __init__(
        self, models: Models, settings: Settings, metrics: Metrics | None, log: Log | None
    ) -> None:
        self.models, self.settings = models, settings
        self.metrics, self.log = metrics or Metrics(), log or Log(settings.log_level)
        self.batcher = Batcher(settings, self._batch)
        self.is_draining = False
        self.metrics.gauge("models", len(models.by_name))
        models.note = self._model_event

    def app(self) -> Any:
        from fastapi import FastAPI
        from starlette.exceptions import HTTPException

        app = FastAPI(
            title="skstruct", docs_url=None, openapi_url=None, redoc_url=None,
            lifespan=self._lifespan,
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
        app.add_exception_handler(HTTPException, _not_found)
        app.add_api_route(
            "/openapi.json", partial(self._openapi, app), include_in_schema=False,
            response_model=None,
        )  # fmt: skip
        describe_api(app, self.models)
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
            try:
                body, kind = await self._answer(question, request)
            except Exception as error:
                if not is_wrong(error):
                    raise
                found = problem_of(error)
                answer: Response = _json(found.body(), found.status, found.headers())
                return answer
            return Response(body, media_type=kind)

        return route

    async def _answer(self, question: str, request: Any) -> tuple[bytes, str]:
        told = request.scope["state"]
        body = await self._body(request)
        read = partial(
            read_request, body, request.headers.get("content-type", ""),
            request.query_params, self.settings.max_rows,
        )  # fmt: skip
        wanted = read() if len(body) < LARGE else await asyncio.to_thread(read)
        served = self.models.get(wanted.model)
        told["model"], told["rows"] = served.name, len(wanted.rows)
        kind = accepted(request.headers.get("accept", ""))
        finish = partial(_finish, served, kind)
        job = Job(served, question, wanted.rows, wanted.asked, finish)
        self.metrics.gauge("waiting", self.batcher.n_waiting + 1)
        try:
            return await self.batcher.ask(job), kind
        finally:
            self.metrics.gauge("waiting", self.batcher.n_waiting)

    async def _body(self, request: Any) -> bytes:
        """The body, as long as it is not too long and does not take too long."""
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
        return b"".join(parts)

    # ------------------------------------------------------------------ about the server
    async def models_route(self) -> Any:
        """What is served: columns, labels, losses, constraints, abilities."""
        loop = asyncio.get_running_loop()
        found = await loop.run_in_executor(self.batcher.thread, self.models.described)
        return _json({"models": found})

    async def _openapi(self, app: Any) -> Any:
        loop = asyncio.get_running_loop()  # losses of a model are tried: not between requests
        return _json(await loop.run_in_executor(self.batcher.thread, app.openapi))

    async def health_route(self) -> Any:
        """Whether the process is alive."""
        return _json({"status": "alive"})

    async def ready_route(self) -> Any:
        """Whether models are there and warm, and requests are welcome."""
        if self.is_draining:
            return _json({"error": "The server is going down."}, 503, {"Retry-After": "5"})
        return _json({"status": "ready", "models": sorted(self.models.by_name)})

    async def metrics_route(self) -> Any:
        """Counters as Prometheus reads them."""
        from fastapi import Response

        return Response(self.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    def _batch(self, jobs: int, rows: int) -> None:
        self.metrics.count("batches")
        self.metrics.count("batched_requests", jobs)

    def _model_event(self, event: str, **fields: Any) -> None:
        failed = event != "reloaded"
        self.metrics.count("failed_reloads" if failed else "reloads")
        self.log.write("error" if failed else "info", event, **fields)

    @contextlib.asynccontextmanager
    async def _lifespan(self, app: Any) -> AsyncIterator[None]:
        watching = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            self.is_draining = True
            watching.cancel()
            self.batcher.close()

    async def _watch(self) -> None:
        """Look at the model files again and again."""
        while self.settings.reload_seconds > 0:
            await asyncio.sleep(self.settings.reload_seconds)
            await asyncio.to_thread(self.models.refresh)


def _finish(served: Any, kind: str, records: list[Any]) -> bytes:
    return written(served, records, kind)


def _json(body: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Any:
    from fastapi import Response

    text = json.dumps(body, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
    return Response(text, status, dict(headers or {}), JSON)


async def _not_found(request: Any, error: Any) -> Any:
    """Paths and methods that nobody knows, as JSON."""
    said = {
        404: f"There is no such address; known are {', '.join(f'/{q}' for q in QUESTIONS)}, "
        "/models, /health, /ready, /metrics and /openapi.json.",
        405: "This address takes another method: POST for questions, GET for what is served.",
    }.get(error.status_code, str(error.detail))
    return _json({"error": said}, error.status_code, error.headers or {})
