"""Why no run comes of what an agent sends: what a running passhat says of it, with what to do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from collector.cli.out import cell

Note = tuple[str, str, str]  # what, found, what to do about it ('' for nothing)

OWN_SERVICE = "passhat-doctor"  # left out of every view by name: queries/views/trials.sql
MOST_CLIENTS = 20
SILENT = "set OTEL_EXPORTER_OTLP_ENDPOINT in your agent's shell, and let it flush before it exits: docs/sending.md"
HELP = {
    "not_served": "OTEL_EXPORTER_OTLP_ENDPOINT is the address without a path; spans go to /v1/traces, logs to /v1/logs",
    "method_not_allowed": "exporters send a POST",
    "unsupported_media": "set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf (port 4318) or grpc (port 4317)",
    "unauthenticated": 'set OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20TOKEN" in your agent\'s shell',
    "forbidden": "the token your agent sends lacks the scope ingest",
    "too_large": "let the exporter send smaller batches",
    "bad_data": "the log of passhat names the field",
    "unfinished": "your agent hung up half way: its export timeout (OTEL_EXPORTER_OTLP_TIMEOUT) may be too short",
    "removed_run": "these belong to a run that was removed for good: give new runs new ids",
    "own_telemetry": "passhat's own spans are never graded",
}
CLOSED = "look at judge.url and judge.api_key; asked again until judge.wait is over"
LATER = "exporters send it again; if it grows, the log of passhat says why"


def notes(status: dict[str, Any]) -> Iterator[Note]:
    """What `/api/v1/status` says between a span sent and a run counted, in the order of the way."""
    clients = [one for one in status.get("clients", ()) if one["service"] != OWN_SERVICE]
    if "clients" in status:
        found = "; ".join(client_of(one) for one in clients[:MOST_CLIENTS])
        yield (
            "clients",
            found or "nobody has sent anything since it started",
            "" if any(one["accepted"] for one in clients) else SILENT,
        )
    for reason, count in sorted(status.get("refused", {}).items()):
        yield "refused", f"{count} {reason}", HELP.get(reason, LATER)
    unmapped, spans = status.get("unmapped", 0), status.get("stored", {}).get("traces", 0)
    if unmapped:
        found = f"{unmapped} of {spans} spans: no dialect reads them; they are kept, and give no lines"
        yield "unmapped", found, "`passhat doctor FILE` says what each span lacks; docs/dialects.md adds a dialect"
    if status.get("not_a_run"):
        found = f"{status['not_a_run']} traces have no agent, no model call and no tool call"
        yield "not_a_run", found, "instrument the agent or its model client, not only HTTP: docs/sending.md#runs"
    waiting = status.get("lag", {}).get("units_waiting", 0)
    if waiting:
        yield "waiting", f"{waiting} traces are not over yet", "a run is graded runs.settle_s after its root span ended"
    yield from judge_notes(status)
    for one in status.get("blocked", ()):
        yield "blocked", f"{one['runs']} runs of the last week count nowhere: {one['reason']}", one["fix"]


def judge_notes(status: dict[str, Any]) -> Iterator[Note]:
    """What keeps verdicts waiting for the model that judges."""
    judge = status.get("outward", {}).get("judge", {})
    if why := judge.get("held"):
        waits = f"{judge['waiting']} wait{'s' if judge['waiting'] == 1 else ''}"
        yield "judge", f"{waits}: {why}", "it goes on by itself" if why.startswith("judge.per_") else CLOSED


def client_of(client: dict[str, Any]) -> str:
    """A sender in a few words. Its names are its own: made harmless."""
    name = cell(client["service"] or "unknown sender", 80)
    project = f" (project {cell(client['project'], 80)})" if client["project"] else ""
    refused = f", {client['refused']} refused, last: {client['last_reason']}" if client["refused"] else ""
    return f"{name}{project}: {client['accepted']} accepted{refused}"
