# SPDX-License-Identifier: BSD-3-Clause
"""From requests to replies: read, put together what asks the same, predict, write.

A thread of the server does this, or a process of its own.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from skstruct.serving.answers import answer
from skstruct.serving.copies import Copies
from skstruct.serving.messages import Replies, Reply, Request, fault_of, json_bytes, reply_of
from skstruct.serving.models import Models
from skstruct.serving.openapi import operations
from skstruct.serving.parsing import Wanted, read_request
from skstruct.serving.problems import Problem
from skstruct.serving.writing import accepted, written

TOGETHER = 1000  # rows that are joined at most


@dataclass(eq=False)
class Job:
    """A request that was read."""

    at: int
    request: Request
    served: Any
    wanted: Wanted

    @property
    def n_rows(self) -> int:
        return len(self.wanted.rows)

    @property
    def key(self) -> tuple[Any, ...]:
        """The same for requests that may be predicted together."""
        rows, asked = self.wanted.rows, self.wanted.asked
        if not isinstance(rows, list) or asked.by_row:
            return (self.at,)
        return id(self.served), self.request.question, asked.key, type(rows[0])

    def reply(self, records: list[Any]) -> Reply:
        kind = accepted(self.request.accept)
        body = written(self.served, records, kind)
        return Reply(200, body, kind, model=self.served.name, rows=self.n_rows)


class Work:
    """Models, and replies to what they are asked.

    Parameters
    ----------
    sources : mapping of str to path or fitted model
    max_rows : int
        Of one request.
    note : callable (event, **fields), default=None
        Told when a model was read again, or could not be.
    copies : Copies, default=None
        Of model files, by which processes share the arrays of models.
    other_columns : bool, default=False
        Whether files that change may read other columns.
    """

    def __init__(
        self,
        sources: Mapping[str, Any],
        max_rows: int = 10_000,
        note: Callable[..., None] | None = None,
        *,
        copies: Copies | None = None,
        other_columns: bool = False,
    ) -> None:
        self.max_rows = max_rows
        self.models = Models(dict(sources), note, copies=copies, other_columns=other_columns)

    def replies(self, requests: list[Request]) -> Iterator[Replies]:
        """Replies as they are ready, each with the place of its request."""
        groups: dict[tuple[Any, ...], list[Job]] = {}
        for at, request in enumerate(requests):
            if request.question in _ABOUT:
                yield [(at, self._about(request.question))]
                continue
            try:
                job = self._read(at, request)
            except Exception as error:
                yield [(at, reply_of(error))]
                continue
            groups.setdefault(job.key, []).append(job)
        for jobs in groups.values():
            for some in _parts(jobs):
                yield _answered(some)

    def _read(self, at: int, request: Request) -> Job:
        query = dict(request.query)
        if len(query) < len(request.query):
            raise Problem(422, "An option is there twice in the address: give it once.")
        wanted = read_request(request.body, request.content_type, query, self.max_rows)
        return Job(at, request, self.models.get(wanted.model), wanted)

    def _about(self, question: str) -> Reply:
        try:
            return Reply(200, json_bytes(_ABOUT[question](self.models)))
        except Exception as error:
            return fault_of(error)


# what is asked about all models, beside the questions to one
_ABOUT: dict[str, Callable[[Models], Any]] = {
    "models": lambda models: {"models": models.described()},
    "operations": operations,
}


def _parts(jobs: list[Job]) -> Iterator[list[Job]]:
    """Jobs of at most so many rows together, or one by itself."""
    some: list[Job] = []
    n = 0
    for job in jobs:
        if some and n + job.n_rows > TOGETHER:
            yield some
            some, n = [], 0
        some.append(job)
        n += job.n_rows
    yield some


def _answered(jobs: list[Job]) -> Replies:
    """Replies to jobs; one by one if something is wrong with them together."""
    if len(jobs) > 1:
        try:
            return _together(jobs)
        except Exception:  # told of the job whose it is
            return [_alone(job) for job in jobs]
    return [_alone(jobs[0])]


def _alone(job: Job) -> tuple[int, Reply]:
    served, wanted = job.served, job.wanted
    try:
        records = answer(job.request.question, served, served.inputs(wanted.rows), wanted.asked)
    except Exception as error:
        return job.at, reply_of(error, served.name, job.n_rows)
    try:
        return job.at, job.reply(records)
    except Exception as error:
        return job.at, fault_of(error, served.name, job.n_rows)


def _together(jobs: list[Job]) -> Replies:
    first = jobs[0]
    rows = [row for job in jobs for row in job.wanted.rows]
    served, asked = first.served, first.wanted.asked
    records = answer(first.request.question, served, served.inputs(rows), asked)
    found: Replies = []
    start = 0
    for job in jobs:
        end = start + job.n_rows
        found.append((job.at, job.reply(records[start:end])))
        start = end
    return found
