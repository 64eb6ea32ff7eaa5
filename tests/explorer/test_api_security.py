# SPDX-License-Identifier: BSD-3-Clause
"""The explorer answers its own page on this machine, and nobody else."""

import pytest

pytest.importorskip("fastapi")
from fastapi.testclient import TestClient
from tests.explorer.explorer_cases import ADDRESS, client_of

from skstruct.explorer.security import POLICY


@pytest.fixture(scope="module")
def client():
    return client_of("labels")


@pytest.mark.parametrize("path", ["/", "/page/main.js", "/api/model", "/api/rows", "/nothing"])
def test_headers_of_every_answer(client, path):
    headers = client.get(path).headers
    assert headers["content-security-policy"] == POLICY
    assert "'unsafe" not in POLICY
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "access-control-allow-origin" not in headers


def test_kinds_of_files(client):
    assert client.get("/").headers["content-type"] == "text/html; charset=utf-8"
    assert client.get("/page/main.js").headers["content-type"].startswith("text/javascript")
    assert client.get("/page/drawings.css").headers["content-type"].startswith("text/css")


@pytest.mark.parametrize(
    "path",
    ["/page/nothing.js", "/page/../app.py", "/page/..%2fapp.py", "/page/%2e%2e/app.py", "/docs",
     "/openapi.json", "/page/", "/static/main.js", "/page//etc/passwd"],
)  # fmt: skip
def test_no_other_file_is_served(client, path):
    answer = client.get(path)
    assert answer.status_code == 404
    assert "error" in answer.json()


@pytest.mark.parametrize(
    "host",
    ["example.org", "example.org:8000", "127.0.0.1:9000", "127.0.0.1", "127.0.0.1.example.org:8000",
     "localhost.example.org:8000", "", "0.0.0.0:8000", "[::1", "user@127.0.0.1:8000"],
)  # fmt: skip
def test_other_names_are_refused(client, host):
    for answer in (
        client.get("/", headers={"host": host}),
        client.post("/api/decide", json={"row": 0}, headers={"host": host}),
    ):
        assert answer.status_code == 421
        assert "127.0.0.1" in answer.json()["error"]


@pytest.mark.parametrize(
    "name", ["127.0.0.1:8000", "localhost:8000", "LOCALHOST:8000", "[::1]:8000"]
)
def test_names_of_this_machine(client, name):
    assert client.get("/api/model", headers={"host": name}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://example.org"},
        {"origin": "http://127.0.0.1:9000"},
        {"origin": "https://127.0.0.1:8000"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_other_pages_are_refused(client, headers):
    for answer in (
        client.post("/api/decide", json={"row": 0}, headers=headers),
        client.get("/api/rows", headers=headers),
    ):
        assert answer.status_code == 403
        assert "another" in answer.json()["error"]


@pytest.mark.parametrize(
    "headers",
    [{"origin": ADDRESS, "sec-fetch-site": "same-origin"}, {"sec-fetch-site": "none"}, {}],
)
def test_the_own_page_and_scripts_are_answered(client, headers):
    assert client.post("/api/decide", json={"row": 0}, headers=headers).status_code == 200


def test_a_link_of_another_page_opens_the_page_itself(client):
    assert client.get("/", headers={"sec-fetch-site": "cross-site"}).status_code == 200


def test_forms_of_other_pages_hold_no_json(client):
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        answer = client.post("/api/decide", content=b'{"row": 0}', headers={"content-type": kind})
        assert answer.status_code == 415


def test_large_requests_are_refused(client):
    answer = client.post("/api/decide", json={"row": 0, "values": {"a": "x" * 1_100_000}})
    assert answer.status_code == 413
    deep = "[" * 200_000 + "]" * 200_000
    headers = {"content-type": "application/json"}
    assert client.post("/api/decide", content=deep, headers=headers).status_code == 422


def test_other_methods(client):
    assert client.put("/api/decide", json={"row": 0}).status_code == 405
    assert client.get("/api/decide").status_code == 405
    assert client.options("/api/decide", headers={"origin": "https://a.org"}).status_code == 403


def test_port_80_needs_no_number(client):
    plain = TestClient(client.app, base_url="http://127.0.0.1")
    assert plain.get("/api/model").status_code == 200
