"""`passhat ingest`: OTLP files through the same way in as live traffic."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from collector.cli.options import Output, Settings
from collector.cli.out import cell, result, result_json, say
from collector.cli.where import DEFAULTS, VARIABLES, configured, url_of
from collector.errors import StoreError, UsageError

if TYPE_CHECKING:
    import httpx

    from collector.receive.files import FileRequest

TIMEOUT_S = 60.0
TRIES = 20
STDIN = Path("-")
MAX_SHOWN = 20
CONTENT_TYPES = {"json": "application/json", "protobuf": "application/x-protobuf"}


class Sending:
    """Posts requests of files to an OTLP/HTTP endpoint, waiting where the receiver asks to."""

    def __init__(self, client: httpx.Client, where: str, web: str = "") -> None:
        self._client = client
        self._where = where
        self._web = web
        self._here: dict[str, bool] = {}
        self.counts: Counter[str] = Counter()
        self.problems: list[str] = []

    def send(self, request: FileRequest) -> None:
        """Send one request. Raises StoreError when nobody answers, UsageError when we may not."""
        import httpx

        from collector.cli.people import parted

        if self._is_here(request):
            self.counts["already_here"] += 1
            return
        request, said = parted(request)
        if said:
            self._tell(request.where, said)
        if not request.body:
            return
        headers = {"Content-Type": CONTENT_TYPES[request.encoding], **token()}
        for _ in range(TRIES):
            try:
                reply = self._client.post(f"/v1/{request.signal}", content=request.body, headers=headers)
            except httpx.ConnectError:
                raise StoreError(
                    f"no receiver answers at {self._where}",
                    hint="start `passhat serve`, name another with --endpoint, or give --data DIR",
                ) from None
            except httpx.HTTPError as error:
                raise StoreError(f"{self._where}: {type(error).__name__}: {error}") from None
            if reply.status_code not in (429, 503):
                break
            wait(reply.headers.get("Retry-After", "1"))
        self._count(request, reply)

    def _is_here(self, request: FileRequest) -> bool:
        """Whether the run was exported from the very store it is sent to: under new span ids its calls would double.

        Asked once a run: after its spans are sent, its outcomes must follow.
        """
        if request.origin is None or not self._web or not self._web_is_receiver:
            return False
        key = f"{request.origin['project']} {request.origin['run_id']}"
        if key not in self._here:
            self._here[key] = self._knows(request.origin)
        return self._here[key]

    @cached_property
    def _web_is_receiver(self) -> bool:
        """Whether the API belongs to the receiver: PASSHAT_SERVER may be another passhat than the one sent to."""
        import httpx

        try:
            told = self._client.get(f"{self._web}/api/v1/status", headers=token())
            listens = (told.json().get("listening") or {}).get("http", "") if told.is_success else ""
        except httpx.HTTPError:
            return False
        return not listens or int(listens.rpartition(":")[2]) == httpx.URL(self._where).port

    def _knows(self, origin: dict[str, Any]) -> bool:
        import httpx

        from collector.cli.client import run_path

        path = self._web + run_path(origin["run_id"])
        try:
            reply = self._client.get(path, headers=token())
            if reply.status_code == 409:
                reply = self._client.get(path, params={"project": origin["project"]}, headers=token())
        except httpx.HTTPError:
            return False
        return reply.is_success and not set(origin["traces"]).isdisjoint(reply.json()["run"]["trace_ids"])

    def _tell(self, where: str, said: list[dict[str, Any]]) -> None:
        """Outcomes of people go to the API: telemetry cannot speak for a person."""
        import httpx

        count = f"{where}: {len(said)} outcomes of people"
        if not self._web:
            self.problems.append(f"{count} not sent: name the web address in PASSHAT_SERVER")
            return
        try:
            reply = self._client.post(f"{self._web}/api/v1/outcomes", json=said, headers=token())
        except httpx.HTTPError as error:
            self.problems.append(f"{count} not sent: {self._web}: {type(error).__name__}")
            return
        if reply.is_success:
            self.counts["requests"] += 1
        else:
            self.problems.append(f"{count} refused ({reply.status_code}): they need a token with the scope label")

    def _count(self, request: FileRequest, reply: httpx.Response) -> None:
        if reply.status_code in (401, 403):
            raise UsageError(f"{self._where} refused us ({reply.status_code})", hint="set PASSHAT_TOKEN")
        if reply.is_success:
            self.counts["requests"] += 1
            refused = partial(reply)
            if refused[0]:
                self.counts["refused"] += refused[0]
                self.problems.append(f"{request.where}: {refused[0]} records refused: {refused[1]}")
            return
        self.counts["failed"] += 1
        self.problems.append(f"{request.where}: the receiver answered {reply.status_code}")


def ingest(
    output: Output,
    settings: Settings,
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE", help="OTLP as JSON, JSON lines or protobuf, plain, gzip or zstd; - is stdin."),
    ],
    endpoint: Annotated[
        str | None,
        typer.Option(
            "--endpoint",
            metavar="URL",
            help="An OTLP/HTTP receiver [default: PASSHAT_ENDPOINT, else as --config listens, else by PASSHAT_SERVER].",
            show_default=False,
        ),
    ] = None,
) -> int:
    """Send OTLP files to a running passhat, or with --data to the store in a directory.

    With --data the runs are graded before the command ends; those without an end are incomplete until it comes.
    """
    if endpoint and settings.data:
        raise UsageError("--endpoint and --data name two ways in", hint="give one of them")
    missing = [path for path in files if path != STDIN and not path.is_file()]
    if missing:
        raise UsageError(f"there is no file {missing[0]}")
    with ExitStack() as stack:
        paths = [stack.enter_context(piped()) if path == STDIN else path for path in files]
        sending = stack.enter_context(way_in(settings, endpoint))
        read_all(paths, sending)
    return tell(output, sending)


@contextmanager
def piped() -> Iterator[Path]:
    """What comes in on stdin, as a file for as long as it is read."""
    with tempfile.NamedTemporaryFile(prefix="passhat-stdin-") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
        file.flush()
        yield Path(file.name)


def read_all(files: list[Path], sending: Sending) -> None:
    """Every request of every file; what cannot be read is a problem, the rest is sent all the same."""
    from collector.receive.files import FileRequest, read_file

    for path in files:
        for item in read_file(path):
            if isinstance(item, FileRequest):
                sending.send(item)
            else:
                sending.counts["unreadable"] += 1
                sending.problems.append(f"{item.where}: {item.why}")


def tell(output: Output, sending: Sending) -> int:
    """The counts on stdout, the problems on stderr; 2 when nothing of the files could be sent."""
    counts = {name: sending.counts[name] for name in ("requests", "already_here", "refused", "failed", "unreadable")}
    if output.json:
        result_json({**counts, "problems": sending.problems})
    else:
        others = {name.replace("_", " "): count for name, count in counts.items() if count and name != "requests"}
        beside = ", ".join(f"{count} {name}" for name, count in others.items())
        result(f"{counts['requests']} requests sent" + (f", {beside}" if beside else ""))
        for problem in sending.problems[:MAX_SHOWN]:
            say(cell(problem, 1000))
        if len(sending.problems) > MAX_SHOWN:
            say(f"and {len(sending.problems) - MAX_SHOWN} more; --json has them all")
    return 2 if sending.problems and not counts["requests"] else 0


@contextmanager
def way_in(settings: Settings, endpoint: str | None) -> Iterator[Sending]:
    """A running receiver, or one over a data directory that lives as long as this command."""
    import httpx

    if settings.data is None:
        where = endpoint or receiver(settings.config)
        with httpx.Client(base_url=where, timeout=TIMEOUT_S, trust_env="127.0.0.1" not in where) as client:
            web = os.environ.get(VARIABLES["web"], "") if endpoint else url_of("web", settings.config)
            yield Sending(client, where, web)
        return
    from collector.cli.private import private_collector
    from collector.cli.settings import load_config

    with private_collector(load_config(settings.config, settings.flags())) as running:
        where = f"http://{running.at.http}"
        with httpx.Client(base_url=where, timeout=TIMEOUT_S, trust_env=False) as client:
            yield Sending(client, where, f"http://{running.at.web}")
        running.settled()


def receiver(config: Path | None) -> str:
    """Where to send when no option says so: beside the server of PASSHAT_SERVER when nothing names a receiver."""
    named = os.environ.get(VARIABLES["http"]) or configured("http", config)
    if named or not os.environ.get(VARIABLES["web"]):
        return named or DEFAULTS["http"]
    from collector.cli.client import api
    from collector.cli.examine import receiver_of
    from collector.cli.options import Source
    from collector.config import load

    with api(Source(config=config)) as ask:
        return receiver_of(ask, load(config))


def partial(reply: httpx.Response) -> tuple[int, str]:
    """How many records a successful reply refused, and why (OTLP partial success, JSON or protobuf)."""
    if reply.headers.get("content-type", "").startswith("application/json"):
        told: dict[str, Any] = reply.json().get("partialSuccess") or {}
        count = told.get("rejectedSpans") or told.get("rejectedLogRecords") or 0
        return int(count), str(told.get("errorMessage", ""))
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

    # Both signals' replies have the same fields by number.
    message = ExportTraceServiceResponse.FromString(reply.content).partial_success
    return message.rejected_spans, message.error_message


def token() -> dict[str, str]:
    value = os.environ.get("PASSHAT_TOKEN")
    return {"Authorization": f"Bearer {value}"} if value else {}


def wait(retry_after: str) -> None:
    """As long as the receiver asks: it is the one that knows when it has room again."""
    import time

    time.sleep(min(float(retry_after) if retry_after.isdigit() else 1.0, 10.0))
