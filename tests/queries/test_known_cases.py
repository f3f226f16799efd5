"""Times that cannot be and text that no C string holds, as the store gives them back (docs/known-cases.md)."""

from __future__ import annotations

import json

from collector.normalise.unpack import spans_of
from collector.receive.findings import Findings
from collector.receive.otlp_json import decode
from collector.store.store import Store
from semconv.span import Event
from semconv.trace_line import TraceLine
from tests.support.stores import BASE_NS, ROOT, SECOND, batch, graded, row, span, trace, verdict

SHOWN = "SELECT SpanId, Duration, toYear(Timestamp) AS year FROM otel_traces"


def test_b053_b057_absurd_times_of_spans_neither_wrap_nor_pass_for_dates(store: Store) -> None:
    case = json.loads((ROOT / "tests" / "cases" / "I10_weird_times.json").read_text())
    body = json.dumps(case["requests"][0]["body"]).encode()
    spans = list(spans_of(decode(body, "traces", Findings()).SerializeToString()))
    assert store.insert(batch(*(row(one) for one in spans))) == []
    found = {span_id: (duration, year) for span_id, duration, year in store.query(SHOWN).rows}
    assert len(found) == case["expected"]["stored_spans"]
    assert all(found[span_id][0] == 0 for span_id in case["expected"]["duration_is_null_or_zero"])
    assert all(found[span_id][1] in (1970, 2026) for span_id in case["expected"]["time_flag"])
    sane = [one for one in spans if one.span_id not in case["expected"]["time_flag"]]
    assert max(duration for duration, _ in found.values()) == max(one.end_ns - one.start_ns for one in sane)


def test_b053_b054_calls_that_end_before_they_start_have_no_duration(store: Store) -> None:
    times = [(BASE_NS, BASE_NS + SECOND), (BASE_NS, BASE_NS - SECOND), (BASE_NS, 0), (0, 0), (2**63 - 1, BASE_NS)]
    lines = tuple(
        TraceLine(n=n, role="assistant", tool="Bash", input={}, start_ns=start, end_ns=end)
        for n, (start, end) in enumerate(times, 1)
    )
    store.write_gradings([graded("r", lines=lines, started_ns=BASE_NS + SECOND)])
    durations = [duration for (duration,) in store.query("SELECT duration_ms FROM tool_calls ORDER BY n").rows]
    assert durations == [1000.0, None, None, None, None]
    assert store.query("SELECT avg(duration_ms), min(duration_ms) FROM tool_calls").rows == [(1000.0, 1000.0)]
    assert store.query("SELECT duration_s FROM trials").rows[0][0] in (0, None)


def test_b058_times_of_events_that_no_date_can_hold_are_shown_as_1970(store: Store) -> None:
    times = (BASE_NS, 0, 2**63, 2**64 - 1)
    store.insert(batch(row(span(trace(1), 1, events=tuple(Event("e", at, {}) for at in times)))))
    ((shown,),) = store.query("SELECT arrayMap(t -> toYear(t), `Events.Timestamp`) FROM otel_traces").rows
    assert list(shown) == [2026, 1970, 1970, 1970]


def test_b044_nul_in_a_result_and_in_a_reason_is_kept(store: Store) -> None:
    lines = (TraceLine(n=1, role="tool", tool="Bash", output="a\x00b"),)
    store.write_gradings([graded("r", lines=lines, verdicts=(verdict("c", reason="a\x00b"),))])
    assert store.query("SELECT reason FROM current_verdicts").rows == [("a\x00b",)]
    ((output,),) = store.query("SELECT output FROM trace_lines").rows
    assert json.loads(output) == "a\x00b"
