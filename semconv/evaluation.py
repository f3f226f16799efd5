"""An outcome as the `gen_ai.evaluation.result` event that tells it: what an export writes, and a reader takes again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from semconv.names import (
    EVALUATION_EVENT,
    EVALUATION_EXPLANATION,
    EVALUATION_LABEL,
    EVALUATION_NAME,
    EVALUATION_SCORE,
    EVENT_NAME,
    OUTCOME,
    OUTCOME_RUN,
    OUTCOME_SOURCE,
    RUN_ID,
)

SCOPE: Final = "passhat.outcomes"
Json = dict[str, Any]


def outcome_record(place: tuple[str, str], run_id: str, outcome: Mapping[str, Any], time_ns: int) -> Json:
    """A log record in OTLP/JSON at (trace, span) of the run. `outcome` has result, source, and maybe reason, score.

    Its name is read whatever `trials.outcome_events` says. The run's id is for outcomes of people, which the API takes:
    telemetry cannot speak for a person.
    """
    texts = {
        EVENT_NAME: EVALUATION_EVENT,
        EVALUATION_NAME: OUTCOME,
        EVALUATION_LABEL: outcome["result"],
        EVALUATION_EXPLANATION: outcome.get("reason"),
        OUTCOME_SOURCE: outcome["source"],
        OUTCOME_RUN: run_id if outcome["source"] == "human" else "",
        RUN_ID: "" if place[0] else run_id,
    }
    attributes: list[Json] = [{"key": key, "value": {"stringValue": text}} for key, text in texts.items() if text]
    if outcome.get("score") is not None:
        attributes.append({"key": EVALUATION_SCORE, "value": {"doubleValue": float(outcome["score"])}})
    return {
        "timeUnixNano": str(time_ns),
        "eventName": EVALUATION_EVENT,
        "traceId": place[0],
        "spanId": place[1],
        "attributes": attributes,
    }


def outcomes_request(resource: list[Json], records: list[Json]) -> Json:
    """An export request of such records; `resource` are attributes in OTLP/JSON."""
    scope = {"scope": {"name": SCOPE}, "logRecords": records}
    return {"resourceLogs": [{"resource": {"attributes": resource}, "scopeLogs": [scope]}]}
