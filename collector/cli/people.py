"""What people said of runs, in exported files: it goes to the API, under the right of whoever imports it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from semconv.names import (
    EVALUATION_EXPLANATION,
    EVALUATION_LABEL,
    EVALUATION_SCORE,
    OUTCOME_RUN,
    OUTCOME_SOURCE,
    PROJECT,
)

if TYPE_CHECKING:
    from collector.receive.files import FileRequest

Json = dict[str, Any]


def parted(request: FileRequest) -> tuple[FileRequest, list[Json]]:
    """The request without the outcomes of people in it (an empty body: nothing is left), and those, for the API."""
    if request.encoding != "json" or request.signal != "logs" or OUTCOME_RUN.encode() not in request.body:
        return request, []
    from msgspec.structs import replace

    body, said, left = json.loads(request.body), [], 0
    for group in body.get("resourceLogs", ()):
        project = _values(group.get("resource", {})).get(PROJECT)
        for scope in group.get("scopeLogs", ()):
            records = scope.get("logRecords", [])
            theirs = [one for one in records if _values(one).get(OUTCOME_SOURCE) == "human"]
            said += [_outcome(one, project) for one in theirs]
            scope["logRecords"] = [one for one in records if one not in theirs]
            left += len(scope["logRecords"])
    return replace(request, body=json.dumps(body).encode() if left else b""), said


def _outcome(record: Json, project: Any) -> Json:
    """A statement as `POST /api/v1/outcomes` takes it."""
    from collector.serve.times import rfc3339

    told = _values(record)
    outcome = {
        "run_id": told.get(OUTCOME_RUN),
        "result": told.get(EVALUATION_LABEL),
        "source": "human",
        "reason": told.get(EVALUATION_EXPLANATION),
        "score": told.get(EVALUATION_SCORE),
        "time": rfc3339(int(record["timeUnixNano"])),
        "project": project,
    }
    return {key: value for key, value in outcome.items() if value is not None}


def _values(element: Json) -> Json:
    return {one["key"]: next(iter(one["value"].values()), None) for one in element.get("attributes", ())}
