# SPDX-License-Identifier: BSD-3-Clause
"""Counters of a server as Prometheus reads them."""

import numpy as np

from skstruct.serving.settings import QUESTIONS

ROUTES = (*QUESTIONS, "models", "health", "ready", "metrics", "other")
STATUSES = (200, 400, 401, 404, 405, 408, 413, 415, 421, 422, 429, 499, 500, 503)
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
COUNTERS = {
    "batches": "Batches of requests that were predicted together.",
    "batched_requests": "Requests in these batches.",
    "reloads": "Models that were read again.",
    "failed_reloads": "Model files that could not be read again; the old model stays.",
    "worker_starts": "Worker processes that were started.",
    "worker_deaths": "Worker processes that died, or were stopped by the time limit.",
    "asked_again": "Requests that were asked again since their worker had died.",
}
GAUGES = {
    "waiting": "Requests that wait or are predicted.",
    "models": "Models that are served.",
    "workers": "Threads or processes that are ready to predict.",
}

_N_STATUS = len(ROUTES) * len(STATUSES)
_N_BUCKETS = len(ROUTES) * (len(BUCKETS) + 1)
_SECONDS = _N_STATUS + _N_BUCKETS
_ROWS = _SECONDS + len(ROUTES)
_COUNTERS = _ROWS + len(ROUTES)
_GAUGES = _COUNTERS + len(COUNTERS)
WIDTH = _GAUGES + len(GAUGES)


class Metrics:
    """Counters, all in the process that listens."""

    def __init__(self) -> None:
        self.own = np.zeros(WIDTH)

    def request(self, route: str, status: int, seconds: float, rows: int) -> None:
        """A request that was answered."""
        r = ROUTES.index(route)
        s = STATUSES.index(status) if status in STATUSES else STATUSES.index(500)
        bucket = int(np.searchsorted(BUCKETS, seconds))
        self.own[r * len(STATUSES) + s] += 1
        self.own[_N_STATUS + r * (len(BUCKETS) + 1) + bucket] += 1
        self.own[_SECONDS + r] += seconds
        self.own[_ROWS + r] += rows

    def count(self, name: str, amount: int = 1) -> None:
        """One of ``COUNTERS``."""
        self.own[_COUNTERS + list(COUNTERS).index(name)] += amount

    def gauge(self, name: str, value: float) -> None:
        """One of ``GAUGES``."""
        self.own[_GAUGES + list(GAUGES).index(name)] = value

    def text(self) -> str:
        """The format of Prometheus, version 0.0.4."""
        total = self.own
        lines = [*_requests(total), *_latencies(total)]
        lines += _header("rows_total", "Rows that were asked for.", "counter")
        lines += [
            f'skstruct_rows_total{{route="{route}"}} {total[_ROWS + r]:.0f}'
            for r, route in enumerate(ROUTES[: len(QUESTIONS)])
        ]
        for k, (name, about) in enumerate(COUNTERS.items()):
            lines += _header(f"{name}_total", about, "counter")
            lines.append(f"skstruct_{name}_total {total[_COUNTERS + k]:.0f}")
        for k, (name, about) in enumerate(GAUGES.items()):
            lines += _header(name, about, "gauge")
            lines.append(f"skstruct_{name} {total[_GAUGES + k]:.0f}")
        return "\n".join(lines) + "\n"


def _header(name: str, about: str, kind: str) -> list[str]:
    return [f"# HELP skstruct_{name} {about}", f"# TYPE skstruct_{name} {kind}"]


def _requests(total: np.ndarray) -> list[str]:
    lines = _header("requests_total", "Requests by route and status.", "counter")
    for r, route in enumerate(ROUTES):
        for s, status in enumerate(STATUSES):
            n = total[r * len(STATUSES) + s]
            if n:
                labels = f'route="{route}",status="{status}"'
                lines.append(f"skstruct_requests_total{{{labels}}} {n:.0f}")
    return lines


def _latencies(total: np.ndarray) -> list[str]:
    lines = _header("request_seconds", "Seconds until the answer was ready.", "histogram")
    for r, route in enumerate(ROUTES):
        start = _N_STATUS + r * (len(BUCKETS) + 1)
        counts = total[start : start + len(BUCKETS) + 1].cumsum()
        if not counts[-1]:
            continue
        for bound, n in zip((*map(str, BUCKETS), "+Inf"), counts):
            labels = f'route="{route}",le="{bound}"'
            lines.append(f"skstruct_request_seconds_bucket{{{labels}}} {n:.0f}")
        seconds = total[_SECONDS + r]
        lines.append(f'skstruct_request_seconds_sum{{route="{route}"}} {seconds:.6f}')
        lines.append(f'skstruct_request_seconds_count{{route="{route}"}} {counts[-1]:.0f}')
    return lines
