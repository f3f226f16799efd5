"""The paths of the SQL endpoint: /clickhouse, with and without a slash, and /clickhouse/ping."""

from __future__ import annotations

import asyncio
import gzip
import logging
import time
import uuid
from collections.abc import Awaitable, Callable

import anyio
from anyio import to_thread
from fastapi import APIRouter, Request
from fastapi.responses import Response

from collector.config import Config
from collector.metrics import Metrics
from collector.serve.access import need
from collector.serve.clickhouse.answer import Answer, Answers
from collector.serve.clickhouse.asked import Asked, asked_of
from collector.serve.clickhouse.formats import CONTENT_TYPES
from collector.serve.clickhouse.refusals import ACCESS_DENIED, TOO_MANY_SIMULTANEOUS_QUERIES, SqlError, of_door
from collector.serve.problems import Refused
from collector.store.store import Store
from collector.tokens import Grant

log = logging.getLogger("passhat.sql")

PATH = "/clickhouse"
MAX_WAITING = 100
GZIP_FROM = 1024
SLOW_S = 5.0
router = APIRouter(include_in_schema=False)


Gone = Callable[[], Awaitable[None]]


class Desk:
    """Hands statements to threads, so many at once; the event loop and the API's own readers stay free."""

    def __init__(self, store: Store, config: Config, metrics: Metrics) -> None:
        self._answers = Answers(store, config.sql, config.store.reader_url)
        self._readers = config.sql.readers
        self._turns: anyio.CapacityLimiter | None = None
        self._metrics = metrics

    async def serve(self, asked: Asked, gone: Gone) -> Answer:
        """The answer. Raises SqlError. A caller who is `gone` frees the reader: nobody waits for the answer."""
        if self._turns is None:
            self._turns = anyio.CapacityLimiter(self._readers)
        if self._turns.statistics().tasks_waiting >= MAX_WAITING:
            raise SqlError(TOO_MANY_SIMULTANEOUS_QUERIES, f"{MAX_WAITING} statements wait already")
        mark = uuid.uuid4().hex
        watching = asyncio.create_task(self._cancel_when(gone, mark))
        try:
            return await to_thread.run_sync(self._answers.answer, asked, mark, limiter=self._turns)
        finally:
            watching.cancel()

    async def _cancel_when(self, gone: Gone, mark: str) -> None:
        await gone()
        while True:  # it may not have begun yet
            await to_thread.run_sync(self._answers.cancel, mark)
            await asyncio.sleep(0.25)

    def close(self) -> None:
        """End all that runs: the engine must be idle when the process ends."""
        self._answers.close()

    def count(self, result: str) -> None:
        self._metrics.sql.labels(result=result).inc()


@router.api_route(PATH, methods=["GET", "POST"])
@router.api_route(PATH + "/", methods=["GET", "POST"])
async def sql(request: Request) -> Response:
    """One statement, answered in the format it asks for."""
    desk: Desk = request.app.state.sql
    began = time.monotonic()
    try:
        _admit(request.state.grant)
        asked = await asked_of(request)
        if not asked.sql and request.method == "GET":
            return Response("Ok.\n", media_type="text/plain; charset=utf-8")
        reply = _reply(request, await desk.serve(asked, lambda: _gone(request)))
    except Refused as refused:
        return of_door(refused)
    except SqlError as error:
        desk.count("refused" if error.code == ACCESS_DENIED else "failed")
        return error.response()
    desk.count("answered")
    if (took := time.monotonic() - began) >= SLOW_S:
        log.info("a statement took %.1f s, asked by %r", took, request.headers.get("user-agent", "")[:200])
    return reply


@router.get(PATH + "/ping")
async def ping() -> Response:
    """What clients ask to see whether somebody is there."""
    return Response("Ok.\n", media_type="text/plain; charset=utf-8")


def refusal(path: str, refused: Refused) -> Response | None:
    """How the door says no on these paths; None for others."""
    return of_door(refused) if path == PATH or path.startswith(PATH + "/") else None


async def _gone(request: Request) -> None:
    """Return once the caller has hung up; the body was read before."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _admit(grant: Grant) -> None:
    need(grant, "read")
    if grant.project:
        raise Refused(403, "SQL reads every project: a token that is confined to one cannot be used here")


def _reply(request: Request, answer: Answer) -> Response:
    headers = {
        "X-ClickHouse-Format": answer.format,
        "X-ClickHouse-Timezone": "UTC",
        "X-ClickHouse-Server-Display-Name": "passhat",
        "X-ClickHouse-Query-Id": uuid.uuid4().hex,
        "Vary": "Accept-Encoding",
    }
    data = answer.data
    if len(data) >= GZIP_FROM and _takes_gzip(request.headers.get("accept-encoding", "")):
        headers["Content-Encoding"] = "gzip"
        data = gzip.compress(data, compresslevel=1)
    return Response(data, headers=headers, media_type=CONTENT_TYPES[answer.format])


def _takes_gzip(header: str) -> bool:
    """Whether `Accept-Encoding` names gzip, and not with q=0."""
    for part in header.lower().split(","):
        name, _, weight = part.strip().partition(";")
        if name.strip() == "gzip":
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False
