"""`passhat doctor FILE`: for each span and log record, which dialect reads it and what is missing, in words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from collector.cli.options import Source
from collector.cli.out import cell, result, result_json, say
from collector.errors import UsageError

if TYPE_CHECKING:
    from collector.receive.files import FileRequest
    from semconv.explain import Explanation
    from semconv.words import Words


def explain_file(source: Source, file: Path) -> int:
    """Print an explanation a record; 1 when the file holds something unreadable or no record at all."""
    from collector.cli.settings import load_config
    from collector.receive.files import FileRequest, read_file
    from collector.rules import words_of

    if not file.is_file():
        raise UsageError(f"there is no file {file}")
    words = words_of(load_config(source.config))
    told: list[dict[str, Any]] = []
    problems: list[str] = []
    for item in read_file(file):
        if isinstance(item, FileRequest):
            told += [as_json(one) for one in explanations(item, words)]
        else:
            problems.append(f"{item.where}: {item.why}")
    if source.json:
        result_json({"records": told, "problems": problems})
    else:
        for one in told:
            result(text_of(one))
        for problem in problems:
            say(cell(problem, 1000))
    return 1 if problems or not told else 0


def explanations(request: FileRequest, words: Words) -> Iterator[Explanation]:
    """What becomes of each record of a request, decoded and checked as the receiver does. Raises UsageError."""
    from google.protobuf.message import DecodeError

    from collector.errors import BadData
    from collector.normalise.unpack import logs_of, spans_of
    from collector.receive import otlp_json
    from collector.receive.findings import Findings
    from semconv.explain import explain, explain_log

    body = request.body
    try:
        if request.encoding == "json":
            body = otlp_json.decode(body, request.signal, Findings()).SerializeToString()
        if request.signal == "traces":
            yield from (explain(span, words) for span in spans_of(body))
        else:
            yield from (explain_log(record, words) for record in logs_of(body))
    except (BadData, DecodeError) as error:
        raise UsageError(f"{request.where}: not OTLP: {error}") from None


def as_json(one: Explanation) -> dict[str, Any]:
    """An explanation as `--json` tells it."""
    facts = one.facts
    return {
        "name": one.name,
        "scope": one.scope,
        "dialect": one.dialect,
        "evidence": one.evidence,
        "operation": facts.operation,
        "agent": facts.agent,
        "tool": facts.tool,
        "call_id": facts.call_id,
        "input_state": facts.input_state,
        "status": facts.status,
        "missing": [{"fact": missing.fact, "why": missing.why} for missing in one.missing],
    }


def text_of(one: dict[str, Any]) -> str:
    """A record in one line, what is missing below it."""
    read = f"{one['dialect']}, {one['operation']}" if one["dialect"] else "no dialect"
    known = f" by {one['evidence']}" if one["evidence"] else ""
    facts = ", ".join(f"{key} {one[key]}" for key in ("agent", "tool", "call_id", "input_state", "status") if one[key])
    lines = [f"{one['name']}: {read}{known}" + (f" ({facts})" if facts else "")]
    lines += [f"  {missing['fact']}: {missing['why']}" for missing in one["missing"]]
    return "\n".join(cell(line, 1000) if not line.startswith("  ") else "  " + cell(line[2:], 1000) for line in lines)
