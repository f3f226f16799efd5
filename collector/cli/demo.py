"""`passhat demo`: known runs through a private collector, and what must come out."""

from __future__ import annotations

from typing import Annotated

import typer

from collector.cli.options import Output
from collector.cli.out import complain, result, result_json, say

NEXT = (
    "next: `passhat serve`, then in your agent's shell OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 and\n"
    "OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf; `passhat runs` lists what came of it,\n"
    "`passhat doctor` says why nothing did"
)


def demo(
    output: Output,
    store_url: Annotated[
        str | None,
        typer.Option(
            "--store-url",
            metavar="URL",
            help="Keep it in this ClickHouse (clickhouse://user:password@host:port/database) "
            "instead of a temporary store.",
            show_default=False,
        ),
    ] = None,
) -> int:
    """Send known runs the whole way and print their verdicts, pass@k and pass^k.

    Starts a private collector on free ports and sends through the stock OpenTelemetry exporters. Exits 1 when
    anything that comes back is not what the lessons say.
    """
    import logging

    from collector import logs
    from collector.demo.play import run_demo

    logs.setup("text", logging.WARNING)
    done = run_demo(store_url, say)
    if output.json:
        result_json(done.as_json())
    else:
        result(done.as_text())
    for difference in done.differences:
        complain(difference)
    if not done.differences:
        say(NEXT)
    return 1 if done.differences else 0
