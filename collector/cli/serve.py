"""`passhat serve`: receive, grade, answer, until told to stop."""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import threading
from dataclasses import dataclass
from enum import StrEnum
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from collector.cli.options import Group, Settings
from collector.cli.out import result
from collector.cli.where import DEFAULTS

if TYPE_CHECKING:
    from collector.pipeline import Addresses


class LogFormat(StrEnum):
    """How logs and the listening line are written."""

    TEXT = "text"
    JSON = "json"


class Stop:
    """SIGTERM, SIGINT, and SIGHUP unless somebody had it ignored: the first stops gracefully, the second at once."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.signal = 0
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:  # nohup means it
                signal.signal(number, self._on)

    def _on(self, number: int, _: FrameType | None) -> None:
        if self.asked.is_set():
            os._exit(128 + number)
        self.signal = number
        self.asked.set()


def _port(flag: str, what: str) -> Any:
    return typer.Option(flag, min=0, max=65535, metavar="PORT", help=what, show_default=False)


@dataclass
class Listen(Group):
    """Where to listen."""

    grpc_port: Annotated[int | None, _port("--grpc-port", "OTLP/gRPC [default: 4317].")] = None
    http_port: Annotated[int | None, _port("--http-port", "OTLP/HTTP [default: 4318].")] = None
    web_port: Annotated[int | None, _port("--web-port", "API, and its page /docs [default: 8317].")] = None
    host: Annotated[
        str | None,
        typer.Option("--host", metavar="HOST", help="Listen here instead of on loopback.", show_default=False),
    ] = None
    unsafe_no_auth: Annotated[
        bool, typer.Option("--unsafe-no-auth", help="Listen beyond loopback without a token.")
    ] = False

    def flags(self) -> dict[str, object]:
        """As overrides of `collector.config.load`."""
        ports = {"grpc": self.grpc_port, "http": self.http_port, "web": self.web_port}
        return {"listen.host": self.host, **{f"listen.{name}.port": port for name, port in ports.items()}}


def serve(
    settings: Settings,
    listen: Listen,
    log_format: Annotated[
        LogFormat, typer.Option("--log-format", metavar="text|json", help="Logs (on stderr) and the listening line.")
    ] = LogFormat.TEXT,
) -> int:
    """Receive OTLP, grade runs, answer the API. Port 0 means any free port."""
    from collector import logs
    from collector.cli.settings import load_config
    from collector.config import refuse_open_door
    from collector.pipeline import Collector

    stop = Stop()
    logs.setup(log_format.value)
    loaded = load_config(settings.config, {**settings.flags(), **listen.flags()})
    refuse_open_door(loaded, unsafe_no_auth=listen.unsafe_no_auth)
    collector = Collector(loaded)
    try:
        result(listening(collector.start(), log_format))
        sys.stdout.flush()
        stop.asked.wait()
        logging.getLogger("passhat").info("stopping: what is accepted is kept")
    finally:
        collector.stop()
    return 128 + stop.signal if stop.signal == signal.SIGINT else 0


def listening(at: Addresses, log_format: LogFormat) -> str:
    """The line programs wait for, or the same for people with what to set in a harness."""
    if log_format is LogFormat.JSON:
        line = {"event": "listening", "grpc": at.grpc, "http": at.http, "web": at.web}
        return json.dumps(line, separators=(",", ":"))
    web = at.url("web")
    said = [f"PASSHAT_SERVER={web}"] if web != DEFAULTS["web"] else []
    said += [f"PASSHAT_ENDPOINT={at.url('http')}"] if at.url("http") != DEFAULTS["http"] else []
    commands = f"\n\nfor the commands:\n  {' '.join(said)}" if said else ""
    return (
        f"passhat listens\n  OTLP/gRPC  {at.grpc}\n  OTLP/HTTP  {at.http}\n  API        {web}\n\n"
        f"for your agent:\n  OTEL_EXPORTER_OTLP_ENDPOINT={at.url('http')} OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf\n"
        f"  OTEL_EXPORTER_OTLP_ENDPOINT={at.url('grpc')} OTEL_EXPORTER_OTLP_PROTOCOL=grpc{commands}"
    )
