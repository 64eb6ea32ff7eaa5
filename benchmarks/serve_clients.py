# SPDX-License-Identifier: BSD-3-Clause
"""Clients of a server in a process of their own: connections that are kept, one request at a time.

They speak HTTP over bare sockets, so that they take little time themselves, and print JSON:
requests, how many had another status than 200, how many failed with their connection (nothing is
asked twice), and latencies.

    python benchmarks/serve_clients.py PORT PATH BODY CLIENTS SECONDS
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import time
from pathlib import Path

HOST = "127.0.0.1"
PATIENCE = 60.0  # seconds that an answer may take


async def answer_of(reader) -> tuple[int, bytes]:
    """Status and body of the next answer."""
    head = await reader.readuntil(b"\r\n\r\n")
    status = int(head.split(b" ", 2)[1])
    lower = head.lower()
    at = lower.index(b"content-length:") + 15
    length = int(lower[at : lower.index(b"\r\n", at)])
    return status, await reader.readexactly(length)


class Client:
    """One connection after the other, one request at a time."""

    def __init__(self, port: int, request: bytes, counts: dict):
        self.port, self.request, self.counts = port, request, counts
        self.streams = None

    async def ask(self) -> int:
        if self.streams is None:
            self.streams = await asyncio.open_connection(HOST, self.port, limit=2**24)
        reader, writer = self.streams
        writer.write(self.request)
        status, _ = await asyncio.wait_for(answer_of(reader), PATIENCE)
        return status

    async def close(self) -> None:
        if self.streams is not None:
            self.streams[1].close()
            with contextlib.suppress(OSError):
                await self.streams[1].wait_closed()
            self.streams = None

    async def run(self, until: float) -> None:
        """Ask until the time is over; a lost connection is a failure, and is opened again."""
        counts = self.counts
        while time.perf_counter() < until:
            start = time.perf_counter()
            try:
                status = await self.ask()
                counts["refused"] += status != 200
            except (OSError, asyncio.IncompleteReadError, TimeoutError):
                counts["failed"] += 1
                await self.close()
            counts["seconds"].append(time.perf_counter() - start)
        await self.close()


async def clients(port: int, path: str, body: bytes, n: int, seconds: float) -> dict:
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {HOST}:{port}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    counts = {"refused": 0, "failed": 0, "seconds": []}
    start = time.perf_counter()
    until = start + seconds
    await asyncio.gather(*(Client(port, head.encode() + body, counts).run(until) for _ in range(n)))
    spent, cpu = time.perf_counter() - start, time.process_time()
    found = sorted(counts.pop("seconds"))
    return counts | {
        "requests": len(found), "wall": spent, "per_second": len(found) / spent,
        "p50": found[len(found) // 2], "p99": found[min(len(found) - 1, int(0.99 * len(found)))],
        "client_cpu_share": cpu / spent,
    }  # fmt: skip


def main() -> None:
    port, path, body, n, seconds = sys.argv[1:6]
    if len(sys.argv) > 6:
        os.sched_setaffinity(0, {int(core) for core in sys.argv[6].split(",")})
    with contextlib.suppress(ImportError):
        import uvloop

        asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
    found = asyncio.run(clients(int(port), path, Path(body).read_bytes(), int(n), float(seconds)))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
