# SPDX-License-Identifier: BSD-3-Clause
"""Replies as FastAPI sends them."""

from collections.abc import Mapping
from typing import Any

from skstruct.serving.messages import JSON, Reply, json_bytes
from skstruct.serving.settings import QUESTIONS


def response(reply: Reply) -> Any:
    """A reply, as a response of FastAPI."""
    from fastapi import Response

    return Response(reply.body, reply.status, dict(reply.headers), reply.kind)


def json_response(body: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Any:
    """A value as JSON."""
    return response(Reply(status, json_bytes(body), JSON, headers or {}))


async def not_found(request: Any, error: Any) -> Any:
    """Paths and methods that nobody knows, as JSON."""
    said = {
        404: f"There is no such address; known are {', '.join(f'/{q}' for q in QUESTIONS)}, "
        "/models, /health, /ready, /metrics and /openapi.json.",
        405: "This address takes another method: POST for questions, GET for what is served.",
    }.get(error.status_code, str(error.detail))
    return json_response({"error": said}, error.status_code, error.headers or {})
