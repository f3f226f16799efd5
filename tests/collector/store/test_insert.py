"""Spans and logs in and back: nothing lost, nothing doubled, nothing that costs its neighbours."""

from __future__ import annotations

import math
from typing import Any

import pytest

from collector.store.rows import Batch, log_row
from collector.store.store import Store
from semconv.facts import Facts, Identity, Message, Part
from semconv.span import Event, Link, LogRecord, Resource, Scope
from tests.support.stores import BASE_NS, RESOURCE, SCOPE, batch, row, span, trace

KEY = ("default", trace(1))


def only(store: Store, unit: str = trace(1)) -> Any:
    (fact,) = store.read_units([("default", unit)])["default", unit].facts
    return fact


def column(store: Store, name: str) -> Any:
    return store.query(f"SELECT {name} FROM spans FINAL").rows[0][0]


def test_attributes_of_every_type_come_back(store: Store) -> None:
    attributes = {
        "text": "a\tb'\\\n\x00é", "empty": "", "int": 2**63 - 1, "least": -(2**63), "double": 0.1, "minus": -0.0,
        "yes": True, "no": False, "none": None, "bytes": b"\x00\xff", "list": [1, "1", 1.0, None, [b"x"]],
        "map": {"a.b": {"a": 1}}, "": "nameless", "a.b": 1, "a": {"b": 2}, "inf": math.inf,
    }  # fmt: skip
    store.insert(batch(row(span(trace(1), 1, attributes=attributes))))
    found = only(store).attributes
    assert found == attributes
    assert {key: type(value) for key, value in found.items()} == {key: type(value) for key, value in attributes.items()}
    assert math.copysign(1, found["minus"]) == -1


def test_nan_is_kept_as_nan(store: Store) -> None:
    store.insert(batch(row(span(trace(1), 1, attributes={"x": math.nan, "list": [math.nan]}))))
    found = only(store).attributes
    assert math.isnan(found["x"])
    assert math.isnan(found["list"][0])


def test_everything_of_a_span_is_stored(store: Store) -> None:
    one = span(
        trace(1), 1, 2, name="näme", kind=-5, status_code=2, status_message="it broke",
        events=(Event("e", 3, {"k": 1}, 2),), links=(Link("a" * 32, "b" * 16, "ts", {"k": True}, 1, 256),),
        resource=Resource({"service.name": "s", "x": [1]}, "http://schema", 7),
        scope=Scope("scope", "2", "http://schema", {"k": "v"}, 3),
        trace_state="k=v", flags=257, dropped_attributes=1, dropped_events=2, dropped_links=3,
    )  # fmt: skip
    stored = row(one, Facts(operation="tool", dialect="d", tool="Bash", call_id="c", input_tokens=5))
    store.insert(batch(stored))
    names = [name for name in stored.__struct_fields__ if name not in ("join_keys", "run_end", "facts", "start")]
    found = store.query(f"SELECT {', '.join(names)} FROM spans").dicts()[0]
    expected = {name: getattr(stored, name) for name in names}
    assert found | {"flags": tuple(found["flags"])} == expected
    assert column(store, "toUnixTimestamp64Nano(start)") == one.start_ns


def test_facts_come_back(store: Store) -> None:
    facts = Facts(
        operation="chat", dialect="otel_genai", own=Identity(task_id="t", run_end=True), model="m", output="",
        input={"a": [1, None, {"b": 1.5}]}, messages_in=(Message("user", (Part("text", "hi"),)),), cost_usd=0.25,
    )  # fmt: skip
    store.insert(batch(row(span(trace(1), 1, 9), facts)))
    assert only(store).facts == facts


def test_what_json_cannot_hold_does_not_cost_the_batch(store: Store) -> None:
    odd = Facts(tool="\ud800x", input={"big": 2**70, "half": "\udfff", "fine": 1}, join_keys=("k\ud800",))
    store.insert(batch(row(span(trace(1), 1), odd), row(span(trace(2), 1), Facts(tool="Bash"))))
    assert only(store).facts.input == {"big": str(2**70), "half": "\\udfff", "fine": 1}
    assert only(store, trace(2)).facts.tool == "Bash"
    assert store.query("SELECT tool FROM spans ORDER BY trace_id").rows == [("\\ud800x",), ("Bash",)]


def test_arguments_nested_beyond_reason_do_not_cost_the_batch(store: Store) -> None:
    deep: Any = 1
    for _ in range(5000):
        deep = [deep]
    store.insert(batch(row(span(trace(1), 1), Facts(tool="a", input=deep)), row(span(trace(2), 1))))
    assert only(store).facts.tool == "a"


def test_a_row_that_fits_no_column_comes_back_alone(store: Store) -> None:
    rows = [row(span(trace(1), n)) for n in range(1, 8)]
    bad = row(span(trace(1), 9, start_ns=2**64))
    (rejected,) = store.insert(Batch([*rows[:3], bad, *rows[3:]], []))
    assert rejected.row == bad
    assert rejected.reason
    assert len(store.read_units([KEY])[KEY].facts) == 7


@pytest.mark.parametrize(
    ("start_ns", "end_ns", "flag", "clamped"),
    [
        (0, 0, "absurd_time", 0),
        (0, BASE_NS, "absurd_time", 0),
        (2**64 - 1, 2**64 - 1, "absurd_time", 0),
        (BASE_NS // 1000, BASE_NS // 1000, "absurd_time", 0),  # microseconds taken for nanoseconds
        (BASE_NS, 2**64 - 1, "absurd_time", BASE_NS),
        (BASE_NS, 0, "absurd_time", BASE_NS),
        (BASE_NS, BASE_NS - 1, "end_before_start", BASE_NS),
    ],
)
def test_weird_times_are_kept_raw_clamped_and_flagged(
    store: Store, start_ns: int, end_ns: int, flag: str, clamped: int
) -> None:
    store.insert(batch(row(span(trace(1), 1, start_ns=start_ns, end_ns=end_ns))))
    found = only(store)
    assert (found.start_ns, found.end_ns, found.facts.flags) == (start_ns, end_ns, (flag,))
    asked = "toUnixTimestamp64Nano(start), duration_ns, toYYYYMM(start)"
    month = 202610 if clamped else 197001
    assert store.query(f"SELECT {asked} FROM spans").rows == [(clamped, 0, month)]


def test_a_batch_over_many_months_is_stored(store: Store) -> None:
    month = 31 * 86_400 * 10**9
    rows = [row(span(trace(1), n + 1, start_ns=BASE_NS - n * month, end_ns=BASE_NS - n * month)) for n in range(250)]
    assert store.insert(batch(*rows)) == []
    assert store.query("SELECT count(), uniqExact(toYYYYMM(start)) > 200 FROM spans").rows == [(250, True)]


def test_a_repeated_batch_changes_nothing(store: Store) -> None:
    rows = [row(span(trace(1), n)) for n in range(1, 4)]
    store.insert(batch(*rows))
    before = store.read_units([KEY])
    later = [row(span(trace(1), n), received_ns=BASE_NS + 10**9) for n in (2, 3)]
    store.insert(batch(*rows))
    store.insert(batch(*later))
    found = store.read_units([KEY])[KEY].facts
    assert [f.content_hash for f in found] == [f.content_hash for f in before[KEY].facts]
    assert [f.facts.flags for f in found] == [(), (), ()]
    assert store.query("SELECT count() FROM spans FINAL").rows == [(3,)]


@pytest.mark.parametrize("batches", [1, 2])
def test_of_two_versions_the_later_arrival_counts_and_is_flagged(store: Store, batches: int) -> None:
    first = row(span(trace(1), 1, attributes={"v": 1}))
    second = row(span(trace(1), 1, attributes={"v": 2}), received_ns=BASE_NS + 10**6 * (batches - 1))
    if batches == 1:
        store.insert(batch(first, second))
    else:
        store.insert(batch(second))
        store.insert(batch(first))  # an older delivery, stored late
    found = only(store)
    assert found.attributes == {"v": 2}
    assert found.facts.flags == ("id_conflict",)


def test_one_span_twice_in_a_batch_is_no_conflict(store: Store) -> None:
    """NaN equals nothing, itself included, and other words found other facts: the span is the same."""
    first = row(span(trace(1), 1, attributes={"x": math.nan}), Facts(tool="a"))
    again = row(span(trace(1), 1, attributes={"x": float("nan")}), Facts(tool="b"))
    store.insert(batch(first, again))
    assert (only(store).facts.flags, only(store).facts.tool) == ((), "b")


def test_the_older_of_two_versions_in_a_batch_may_come_last(store: Store) -> None:
    newer = row(span(trace(1), 1, attributes={"v": 2}), received_ns=BASE_NS + 10**9)
    store.insert(batch(newer, row(span(trace(1), 1, attributes={"v": 1}))))
    assert (only(store).attributes, only(store).facts.flags) == ({"v": 2}, ("id_conflict",))


def test_the_same_span_id_in_two_traces_is_two_spans(store: Store) -> None:
    store.insert(batch(row(span(trace(1), 1)), row(span(trace(2), 1))))
    assert store.query("SELECT count() FROM spans FINAL").rows == [(2,)]
    assert only(store).facts.flags == ()


def test_projects_are_apart(store: Store) -> None:
    store.insert(batch(row(span(trace(1), 1)), row(span(trace(1), 2), project="other")))
    units = store.read_units([KEY, ("other", trace(1))])
    assert [fact.span_id[-1] for key in units for fact in units[key].facts] == ["1", "2"]


def test_only_what_can_be_a_root_carries_attributes(store: Store) -> None:
    given = {"attributes": {"a": 1}}
    store.insert(
        batch(
            row(span(trace(1), 1, **given)),
            row(span(trace(1), 2, 1, **given)),
            row(span(trace(1), 3, 1, **given), Facts(operation="agent")),
            row(span(trace(1), 4, 1, **given), Facts(own=Identity(task_id="t"))),
        )
    )
    facts = store.read_units([KEY])[KEY].facts
    assert {fact.span_id[-1]: bool(fact.attributes) for fact in facts} == {"1": True, "2": False, "3": True, "4": True}


def log(**more: Any) -> LogRecord:
    given: dict[str, Any] = {
        "time_ns": BASE_NS, "observed_ns": BASE_NS + 1, "trace_id": "", "span_id": "", "event_name": "tool_result",
        "severity_number": 9, "severity_text": "INFO", "body": {"k": [1, b"x"]}, "attributes": {"a": 1},
        "resource": RESOURCE, "scope": SCOPE,
    }  # fmt: skip
    return LogRecord(**{**given, **more})


def test_logs_are_found_by_trace_or_by_their_join_key(store: Store) -> None:
    rows = [
        log_row("default", BASE_NS, log(trace_id=trace(1), span_id="a" * 16), Facts(operation="chat")),
        log_row("default", BASE_NS, log(), Facts(operation="tool", join_keys=("session-1",))),
        log_row("default", BASE_NS, log(body="lost"), Facts()),
    ]
    store.insert(Batch([], rows + rows))
    (of_trace,) = store.read_units([KEY])[KEY].facts
    assert (of_trace.signal, of_trace.span_id, of_trace.facts.operation) == ("log", "a" * 16, "chat")
    unit = store.read_units([("default", "session-1")])["default", "session-1"]
    assert [fact.name for fact in unit.facts] == ["tool_result"]
    assert unit.trace_ids == ()
    found = store.query("SELECT body, unit FROM logs FINAL ORDER BY unit, body").rows
    assert [unit for _, unit in found] == ["", trace(1), "session-1"]
    assert found[0][0] == '{"stringValue":"lost"}'


def test_arrivals_tell_what_came(store: Store) -> None:
    since = store.now_ns()
    ended = Facts(own=Identity(run_end=True))
    store.insert(batch(row(span(trace(1), 1)), row(span(trace(1), 2, 1)), row(span(trace(2), 2, 1), ended)))
    store.insert(Batch([], [log_row("default", BASE_NS, log(), Facts(join_keys=("s",), boundary="end"))]))
    found = {a.unit: (a.trace_id, a.spans, a.root, a.run_end) for a in store.arrivals_since(since)}
    assert found == {
        trace(1): (trace(1), 2, True, False),
        trace(2): (trace(2), 1, False, True),
        "s": ("", 1, False, True),
    }
    assert all(since <= a.first_stored_ns <= a.last_stored_ns <= store.now_ns() for a in store.arrivals_since(since))
    assert store.arrivals_since(store.now_ns()) == []
    assert store.touched_since(0) == []
