"""The ready inputs of tests/cases, as far as assembly answers for them."""

from __future__ import annotations

from itertools import permutations

import pytest
from msgspec.structs import replace

from semconv.facts import SpanFacts
from tests.collector.assemble.build import brief, bytes_of, calls, run_of, runs_of
from tests.collector.assemble.recorded import of_case
from tests.semconv.recorded import ready_input


def expected(name: str) -> dict:  # type: ignore[type-arg]
    return ready_input(name)[1]


def by_trace(facts: list[SpanFacts]) -> dict[str, list[SpanFacts]]:
    traces: dict[str, list[SpanFacts]] = {}
    for one in facts:
        traces.setdefault(one.trace_id, []).append(one)
    return traces


def test_i05_a_batch_sent_twice_is_one_trial() -> None:
    facts = of_case("I05")
    assert len(facts) == 7
    run = run_of(facts)
    assert run.span_count == expected("I05")["stored_spans_seen_by_any_query"]
    assert run.tool_calls == expected("I05")["tool_calls"]
    assert run == run_of(facts[:3])


def test_i06_the_later_version_of_a_span_counts() -> None:
    spans, _ = ready_input("I06")
    facts = [replace(one, received_ns=number) for number, one in enumerate(of_case("I06"), 1)]
    latest = {(one.trace_id, one.span_id): one for one in facts}
    assert len(spans) == len(facts) > len(latest)
    assert runs_of(facts) == runs_of(facts[::-1]) == runs_of(latest.values())


def test_i07_children_before_their_root_in_any_order() -> None:
    facts = of_case("I07")
    assert len({bytes_of(order) for order in permutations(facts)}) == 1
    run = run_of(facts)
    assert [line.tool for line in calls(run)] == ["get_order", "refund"]
    assert (run.task_id, run.trial_id, run.closed_by) == ("refund-order", "trial-1", "root")


def test_i07_before_the_root_the_run_is_open_under_the_same_id() -> None:
    facts = of_case("I07")
    run = run_of(facts[:2], closed_by="")
    assert (run.run_id, run.is_open) == (run_of(facts).run_id, True)


def test_i09_b073_cycles_lose_nothing() -> None:
    run = run_of(of_case("I09"))
    want = expected("I09")
    assert run.tool_calls == want["tool_calls_in_trace"]
    assert {line.span_id: line.flags[0] for line in calls(run)} == want["flags"]


def test_i10_weird_times_bend_nothing() -> None:
    facts = of_case("I10")
    run = run_of(facts)
    assert run.span_count == expected("I10")["stored_spans"]
    assert all(0 <= line.start_ns <= line.end_ns < 2**63 for line in run.lines)
    assert 0 <= run.started_ns <= run.ended_ns < 2**63


def test_i13_b083_b084_b085_b086_one_call_in_many_encodings() -> None:
    want = expected("I13")
    run = run_of(of_case("I13"))
    by_name = {line.call_id.removeprefix("call-"): line for line in calls(run)}
    assert len(by_name) == run.tool_calls == want["tool_calls"]
    for name in want["equal_to_canonical"]:
        assert by_name[name].input == want["canonical_arguments"], name
        assert by_name[name].input_state in ("object", "decoded", "from_messages"), name
    for name in want["arguments_unparsed_raw_kept"]:
        assert isinstance(by_name[name].input, str), name
        assert by_name[name].input_state in ("truncated", "text"), name
    for name in want["arguments_empty"]:
        assert by_name[name].input_state == "empty", name
    assert "truncated" in run.lossy


def test_i14_b090_b109_the_same_call_in_six_conventions() -> None:
    want = expected("I14")
    run = run_of(of_case("I14"))
    assert run.tool_calls == want["tool_calls"]
    for line in calls(run):
        assert (line.tool, line.input) == (want["every_tool_call"]["name"], want["every_tool_call"]["arguments"])
        assert line.dialect
    outputs = [line.output for line in run.lines if line.role == "tool"]
    assert outputs == [want["every_tool_call"]["result"]] * 6


def test_i16_b102_equal_starts_in_any_order() -> None:
    facts = of_case("I16")
    assert len({bytes_of(order) for order in permutations(facts)}) == 1
    assert [line.span_id for line in calls(run_of(facts))] == expected("I16")["line_order"]


def test_i17_three_trials_in_one_trace() -> None:
    runs = runs_of(of_case("I17"))
    assert [run.trial_id for run in runs] == ["trial-1", "trial-2", "trial-3"]
    assert {run.task_id for run in runs} == {"refund-order"}
    assert len({run.run_id for run in runs}) == expected("I17")["trials"]
    assert [[line.tool for line in calls(run)] for run in runs] == [
        ["get_order", "refund"],
        ["get_order"],
        ["get_order", "refund"],
    ]


def test_i18_b105_calls_belong_to_the_nearest_agent() -> None:
    want = expected("I18")
    (run,) = runs_of(of_case("I18"))
    found: dict[str, list[str]] = {}
    for line in calls(run):
        found.setdefault(line.agent, []).append(line.tool)
    assert found == want["tool_calls_by_agent"]
    assert [line.tool for line in calls(run)] == want["full_trajectory"]
    assert [line.tool for line in calls(run) if line.depth == 0] == want["top_level_trajectory"]


@pytest.mark.parametrize("trial", [1, 2, 3, 4])
def test_i19_how_each_trial_ended(trial: int) -> None:
    runs = [run_of(facts) for facts in by_trace(of_case("I19")).values()]
    (run,) = [run for run in runs if run.trial_id == f"trial-{trial}"]
    if trial == 3:
        assert (run.root_status, run.root_error_type) == ("error", "rate_limit")
        assert [outcome.result for outcome in run.outcomes] == ["error"]
        assert brief(run.lines)[-1] == "result: provider overloaded"
    else:
        assert (run.root_status, run.outcomes) == ("unset", ())


def test_i21_markup_is_data() -> None:
    run = run_of(of_case("I21"))
    assert run.lines
