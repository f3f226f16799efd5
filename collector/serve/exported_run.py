"""What an export says of a run beside its lines and spans: whose it is, and the outcomes that only the store knows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from collector.serve.outcomes import DEFAULT_PROJECT
from collector.serve.sql import Row, read
from collector.store.otlp_json import key_values
from collector.store.sqlfiles import statement
from collector.store.store import Store
from semconv.evaluation import outcome_record, outcomes_request
from semconv.names import PROJECT

# What a run's first line says of it, in this order. A task of nobody's naming is found again from service and agent.
RUN_KEYS = (
    "project", "service", "service_version", "environment", "task_id", "task_version", "task_class", "expected",
    "trial_id", "retry_of", "workspace_id", "experiment_id", "started", "ended", "turns",
)  # fmt: skip
OUTCOME_KEYS = ("source", "result", "reason", "score", "time")


def first_line(told: Row) -> Row:
    """What stands on a run's first line beside it: enough to make the same run again."""
    run = told["run"]
    named = run["task_source"] == "attribute"
    kept = {key: run[key] for key in RUN_KEYS if run[key] not in ("", None) and (named or key != "task_id")}
    if run["root_error_type"]:
        kept["error_type"] = run["root_error_type"]
    if not any("input_tokens" in line or "output_tokens" in line for line in told["lines"]):
        used = {key: run[key] for key in ("input_tokens", "output_tokens") if run[key] is not None}
        kept |= {"usage": used} if used else {}
    if not run["root_status"]:
        kept["incomplete"] = True
    said = [
        {key: outcome[key] for key in OUTCOME_KEYS if outcome[key] not in ("", None)}
        for outcome in told["outcomes"]
        if outcome["source"] != "check"  # checks say theirs again
    ]
    return {"project": run["project"], **kept, **({"outcomes": said} if said else {})}


def outcome_requests(store: Store, runs: Sequence[Row]) -> Iterator[dict[str, Any]]:
    """Outcomes given over the API as export requests, one a project; those in telemetry are in its spans and logs."""
    records: dict[str, list[Row]] = {}
    for run in runs:
        key = {"project": run["project"], "run_id": run["run_id"]}
        said = [
            one for one in read(store, "run_outcomes", key) if not one["from_telemetry"] and one["source"] != "check"
        ]
        place = _place(store, run) if said else ("", "")
        for one in said:
            records.setdefault(run["project"], []).append(outcome_record(place, run["run_id"], one, one["time_ns"]))
    for project, some in records.items():
        yield of_project(outcomes_request([], some), project)


def of_project(request: Row, project: str) -> Row:
    """The request with its project in every resource: a token may have put it there, and another store has no such."""
    for group in next(iter(request.values())):
        attributes = group["resource"].setdefault("attributes", [])
        said = next((one["value"].get("stringValue") for one in attributes if one["key"] == PROJECT), DEFAULT_PROJECT)
        if said != project:
            kept = [one for one in attributes if one["key"] != PROJECT]
            group["resource"]["attributes"] = [*kept, *key_values({PROJECT: project})]
    return request


def _place(store: Store, run: Row) -> tuple[str, str]:
    """Trace and span of the run's root; the first trace alone where it never came."""
    found = read(store, "run_root", {"project": run["project"], "run_id": run["run_id"]})
    if not found:
        return "", ""
    traces, root = found[0]["trace_ids"], found[0]["root_span_id"]
    if len(traces) > 1 and root:
        keys = [(run["project"], trace) for trace in traces]
        rooted = store.rows(statement("out/root_traces"), keys=keys, spans=[root])
        traces = [trace for _, trace, _ in rooted] or traces
    return (traces[0] if traces else ""), root
