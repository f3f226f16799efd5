"""`passhat export`: runs as lines of JSON - trace lines, OTLP, conversations to replay."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from collector.cli.options import Filters, Source, Times, given
from collector.cli.out import result_bytes, result_json, say
from collector.errors import UsageError


def export(
    source: Source,
    times: Times,
    filters: Filters,
    run: Annotated[
        list[str] | None,
        typer.Option("--run", metavar="RUN", help="Only this run (repeatable).", show_default=False),
    ] = None,
    task: Annotated[
        list[str] | None,
        typer.Option("--task", metavar="TASK", help="Only this task (repeatable).", show_default=False),
    ] = None,
    otlp: Annotated[bool, typer.Option("--otlp", help="OTLP/JSON, to be ingested or posted again.")] = False,
    prefixes: Annotated[
        bool, typer.Option("--prefixes", help="The conversation before each turn but the first, for replay.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Where to write it [default: stdout].", show_default=False),
    ] = None,
) -> None:
    """Write runs as lines of JSON: one numbered trace line each, keys in a fixed order, newest run first.

    The same runs give the same bytes. With --json the lines are one JSON list.
    """
    from collector.cli.client import api, run_told
    from collector.serve.exporting import NEXT

    if otlp and prefixes:
        raise UsageError("--otlp and --prefixes are two forms", hint="give one of them")
    form = "otlp" if otlp else "prefixes" if prefixes else "lines"
    asked: dict[str, Any] = {**times.params(), **filters.params(), **given({"run": run, "task": task}), "form": form}
    writing = _Writing(out, as_list=source.json)
    with api(source) as ask:
        if run:
            asked["run"] = [run_told(ask, one, filters.params())["run"]["run_id"] for one in run]
        cursor = ""
        while True:
            reply = ask.asked("GET", "/api/v1/export", params={**asked, **given({"cursor": cursor})})
            writing.add(reply.content)
            cursor = reply.headers.get(NEXT, "")
            if not cursor:
                break
    writing.close()


class _Writing:
    """Where the lines go: page by page, or all together as one list."""

    def __init__(self, out: Path | None, *, as_list: bool) -> None:
        self._path = out
        self._file = None if out is None else out.open("wb")
        self._list: list[Any] | None = [] if as_list else None
        self._lines = 0

    def add(self, data: bytes) -> None:
        import orjson

        self._lines += data.count(b"\n")
        if self._list is not None:
            self._list.extend(orjson.loads(line) for line in data.splitlines())
        elif self._file is not None:
            self._file.write(data)
        else:
            result_bytes(data)

    def close(self) -> None:
        """Write what is held back, and say how much it was."""
        import orjson

        if self._file is None:
            if self._list is not None:
                result_json(self._list)
            return
        if self._list is not None:
            self._file.write(orjson.dumps(self._list))
        self._file.close()
        say(f"{self._lines} lines in {self._path}")
