"""What the store holds of the ready inputs about ids, integers and repeated spans (tests/cases/README.md)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.pipeline.test_cases import case, in_project
from tests.support.serving import Serving

SPANS = """SELECT trace_id, span_id, parent_span_id, start_ns, end_ns, attr_int
FROM passhat.spans FINAL WHERE project = '{}' ORDER BY trace_id, span_id"""


def test_ids_integers_and_repeats_are_stored_as_the_cases_say(tmp_path: Path) -> None:
    said: dict[str, dict[str, Any]] = {}
    replies: dict[str, list[Any]] = {}
    with Serving(tmp_path) as serving:
        for name in ("I01", "I02", "I03", "I04", "I06"):
            read = case(name)
            said[name] = read["expected"]
            got = [serving.post_traces(in_project(request["body"], name)) for request in read["requests"]]
            replies[name] = [reply.json() for reply in got]
            assert [reply.status_code for reply in got] == read["expected"]["http"], name
        serving.drained()
        assert serving.stop() == 0
    stored = {name: serving.query(SPANS.format(name)) for name in said}

    assert [row["span_id"] for row in stored["I01"]] == said["I01"]["span_ids"]
    assert {row["trace_id"] for row in stored["I01"]} == set(said["I01"]["trace_ids"])
    assert {row["span_id"]: row["parent_span_id"] for row in stored["I01"] if row["parent_span_id"]} == said["I01"][
        "parent_of"
    ]
    assert stored["I02"] == []
    assert all(word in str(replies["I02"][0]) for word in said["I02"]["response_mentions"])

    (exact,) = stored["I03"]
    assert (str(exact["start_ns"]), str(exact["end_ns"])) == (
        said["I03"]["start_unix_nano"],
        said["I03"]["end_unix_nano"],
    )
    assert exact["attr_int"] == said["I03"]["attributes"]

    partial = replies["I04"][0]["partialSuccess"]
    assert partial["rejectedSpans"] == said["I04"]["response"]["partialSuccess"]["rejectedSpans"]
    assert partial["errorMessage"]
    assert [row["span_id"] for row in stored["I04"]] == said["I04"]["span_ids"]

    ends = {row["trace_id"]: [(int(row["end_ns"]) - int(row["start_ns"])) // 10**6] for row in stored["I06"]}
    assert ends == {trace: [end] for trace, end in said["I06"]["end_ms_after_start"].items()}
    assert len(stored["I06"]) == said["I06"]["stored_traces"]
