"""Random runs that arrive bit by bit: an early `fail` stays one, and what was asked on the way changes nothing."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graders import CheckSet
from graders.defaults import ADVISORY, GATING
from semconv.run import Run
from semconv.trace_line import TraceLine

A, B, C = "call.tool == 'a'", "call.tool == 'b'", "call.tool == 'c'"
K = "call.input.k == 1"
CHECKS = CheckSet.compile(
    [
        *GATING,
        *ADVISORY,
        {"id": "absence", "kind": "absence", "of": A},
        {"id": "absence-arg", "kind": "absence", "of": f"{A} && {K}"},
        {"id": "absence-among", "kind": "absence", "of": A, "among": B},
        {"id": "absence-after", "kind": "absence", "of": A, "after": B},
        {"id": "absence-before", "kind": "absence", "of": A, "before": B},
        {"id": "absence-top", "kind": "absence", "of": A, "scope": "top"},
        {"id": "absence-when", "kind": "absence", "of": A, "when": "run.counts.calls < 3"},
        {"id": "absence-turn", "kind": "absence", "of": f"{A} && call.turn == 1"},
        {"id": "absence-said", "kind": "absence", "of": f"{A} && call.last_user == 'no'"},
        {"id": "absence-error", "kind": "absence", "of": "call.error != ''"},
        {"id": "absence-ok", "kind": "absence", "of": "!call.ok"},
        {"id": "absence-output", "kind": "absence", "of": "call.output_text.contains('x')"},
        {"id": "absence-tag", "kind": "absence", "of": "'test_edit' in call.tags"},
        {"id": "absence-final", "kind": "absence", "of": "final_answer && call.text == 'no'"},
        {"id": "absence-turns", "kind": "absence", "of": "user_turn && call.text == 'no'"},
        {"id": "existence", "kind": "existence", "of": A, "at_least": 2},
        {"id": "bounded", "kind": "bounded", "of": A, "at_most": 1, "at_least": 1},
        {"id": "bounded-per", "kind": "bounded", "of": A, "at_most": 1, "per": "call.input.k"},
        {"id": "bounded-per-turn", "kind": "bounded", "of": A, "at_most": 1, "per": "call.turn"},
        {"id": "bounded-tag", "kind": "bounded", "of": "write", "at_most": 1},
        {"id": "repeats", "kind": "repeats", "at_most": 1},
        {"id": "repeats-of", "kind": "repeats", "at_most": 1, "of": "call.ok"},
        {"id": "repeats-reset", "kind": "repeats", "at_most": 1, "reset": B},
        {"id": "loop", "kind": "loop", "period": [1, 2], "at_most": 1},
        {"id": "response", "kind": "response", "trigger": A, "response": B},
        {"id": "response-same", "kind": "response", "trigger": A, "response": B, "same": "input.k"},
        {"id": "precedence", "kind": "precedence", "first": A, "then": B},
        {"id": "precedence-path", "kind": "precedence", "first": "read", "then": "edit", "same": "path"},
        {"id": "order", "kind": "order", "tools": ["a", "b"]},
        {"id": "each", "kind": "each", "of": A, "assert": K},
        {"id": "each-ok", "kind": "each", "of": A, "assert": "call.ok"},
        {"id": "each-index", "kind": "each", "of": A, "assert": "call.index == 0"},
        {"id": "each-tag", "kind": "each", "of": "edit", "assert": "!test_edit"},
        {"id": "schema", "kind": "each", "of": A, "schema": {"type": "object", "required": ["k"]}},
        {"id": "assert", "kind": "assert", "assert": "run.counts.calls < 3"},
        {"id": "budget", "kind": "budget", "tool_calls": 3},
        {"id": "budget-tokens", "kind": "budget", "tokens": 50},
    ]
)

Unit = tuple[TraceLine, ...]
_paths = st.sampled_from(["src/a.py", "tests/test_a.py"])
_arguments = st.one_of(
    st.tuples(st.sampled_from(["a", "b", "c"]), st.sampled_from([{"k": 1}, {"k": 2}, {"k": "1"}, {}])),
    st.tuples(st.sampled_from(["Read", "Edit"]), st.builds(lambda path: {"file_path": path}, _paths)),
    st.tuples(
        st.just("Bash"),
        st.sampled_from(
            [{"command": c} for c in ("pytest -q", "sed -i s/a/b/ src/a.py && pytest", "ls", "pytest || true")]
        ),
    ),
    st.tuples(st.just("refund"), st.sampled_from([{"order_id": 1}, {"order_id": 2}])),
)
_ends = st.sampled_from(
    [
        None,
        {"output": "x"},
        {"output": "2 passed", "status": "ok"},
        {"output": "1 failed"},
        {"status": "error", "error": "boom"},
        {"output": '{"isError": true}'},
    ]
)
_states: Any = st.sampled_from(["object"] * 8 + ["truncated", "not_captured"])


@st.composite
def _call(draw: Any) -> Unit:
    tool, arguments = draw(_arguments)
    state, depth, end = draw(_states), draw(st.sampled_from([0, 0, 0, 1])), draw(_ends)
    tokens = draw(st.sampled_from([None, 20]))
    start = TraceLine(0, "assistant", tool=tool, input=arguments, input_state=state, depth=depth, input_tokens=tokens)
    return (start,) if end is None else (start, TraceLine(0, "tool", tool=tool, depth=depth, **end))


_unit: Any = st.one_of(
    _call(),
    _call(),
    _call(),
    st.builds(lambda text: (TraceLine(0, "user", text=text),), st.sampled_from(["no", "yes"])),
    st.builds(lambda text: (TraceLine(0, "assistant", text=text),), st.sampled_from(["no", "done"])),
)
_units: Any = st.lists(_unit, max_size=10)


def run_of(units: list[Unit], *, closed: bool) -> Run:
    lines = []
    for unit_number, unit in enumerate(units):
        for line in unit:
            kept = {name: getattr(line, name) for name in line.__struct_fields__}
            call_id = f"c{unit_number}" if line.tool else ""
            lines.append(TraceLine(**(kept | {"n": len(lines) + 1, "call_id": call_id})))
    return Run("p", "r", tuple(lines), closed_by="root" if closed else "", root_status="ok" if closed else "")


def statuses(run: Run) -> dict[str, str]:
    return {verdict.check_id: verdict.status for verdict in CHECKS.grade(run)}


def early_fails(units: list[Unit]) -> set[str]:
    found = statuses(run_of(units, closed=False))
    assert set(found.values()) <= {"pending", "fail"}
    return {check_id for check_id, status in found.items() if status == "fail"}


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_units)
def test_an_early_fail_is_not_taken_back_by_lines_that_follow(units: list[Unit]) -> None:
    final = statuses(run_of(units, closed=True))
    assert "error" not in final.values()
    for length in range(len(units) + 1):
        early = early_fails(units[:length])
        if length and len(units[length - 1]) == 2:  # the call has begun, its end has not arrived
            early |= early_fails([*units[: length - 1], units[length - 1][:1]])
        assert {check_id for check_id in early if final[check_id] != "fail"} == set()


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_units, st.data())
def test_an_early_fail_is_not_taken_back_by_lines_that_arrive_in_between(units: list[Unit], data: Any) -> None:
    final = statuses(run_of(units, closed=True))
    arrival = data.draw(st.permutations(range(len(units))))
    for count in range(len(units) + 1):
        early = early_fails([units[at] for at in sorted(arrival[:count])])
        assert {check_id for check_id in early if final[check_id] != "fail"} == set()


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_units)
def test_grading_on_the_way_changes_nothing(units: list[Unit]) -> None:
    run = run_of(units, closed=True)
    before = CHECKS.grade(run)
    for length in range(len(units)):
        CHECKS.grade(run_of(units[:length], closed=False))
    assert CHECKS.grade(run) == before


_json: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.tuples(st.sampled_from(["a", "b", "Edit", "Bash", "query", "apply_patch"]), _json, _json), max_size=4)
)
def test_no_value_breaks_a_check(calls: list[tuple[str, Any, Any]]) -> None:
    units: list[Unit] = [
        (TraceLine(0, "assistant", tool=tool, input=arguments), TraceLine(0, "tool", tool=tool, output=output))
        for tool, arguments, output in calls
    ]
    found = CHECKS.grade(run_of(units, closed=True))
    assert [verdict.reason for verdict in found if verdict.status == "error"] == []


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(max_size=60))
def test_no_command_line_breaks_a_check(command: str) -> None:
    unit: Unit = (TraceLine(0, "assistant", tool="Bash", input={"command": command}),)
    found = CHECKS.grade(run_of([unit], closed=True))
    assert [verdict.reason for verdict in found if verdict.status == "error"] == []
