"""Every recorded emitter gives the lines its script says: tool, arguments, output, error, text, in order.

Where the wire does not hold one, `emitters.DEVIATIONS` says so and why; the test fails as well when it does hold it.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from collector.assemble import Policy
from semconv.facts import Identity, SpanFacts
from semconv.run import Run
from semconv.trace_line import TraceLine
from tests.collector.assemble.build import runs_of
from tests.collector.assemble.emitters import DEVIATIONS, NESTED, NO_TOKENS, TOKENS, Deviation, Text
from tests.collector.assemble.recorded import of_capture
from tests.semconv.recorded import CAPTURES, meta

Line = dict[str, Any]
NO_LINES = ("handmade_gen_ai_evaluation",)
PLAIN = Deviation("")


def unit(name: str) -> list[SpanFacts]:
    """The facts of a capture. Where each request is a trace of its own the resource carries the run's id."""
    facts = list(of_capture(name))
    if not DEVIATIONS.get(name, PLAIN).joined:
        return facts
    given = Identity(run_id="run-1")
    return [replace(one, facts=replace(one.facts, resource=given)) for one in facts]


def script(name: str) -> list[list[Line]]:
    """The lines each run must have, after what is not on the wire."""
    known = meta(name)
    deviation = DEVIATIONS.get(name, PLAIN)
    runs = known.get("expected_runs") or [known["expected"]]
    return [_adapted(lines, deviation, "" if number == 0 else f"{number + 1}/") for number, lines in enumerate(runs)]


def _adapted(lines: list[Line], deviation: Deviation, prefix: str) -> list[Line]:
    named = [(f"{prefix}{line['n']}", dict(line)) for line in lines]
    if deviation.paired:
        named = [part for name, line in named for part in _pair(name, line)]
    found: list[Line] = []
    added = dict(deviation.added)
    if not prefix and "0" in added:
        found.append(added["0"])
    for name, line in named:
        if name not in deviation.absent:
            found.append(_changed(name, line, deviation))
        if name in added and name != "0":
            found.append(added[name])
    return _in_turn(found) if deviation.in_turn else found


def _pair(name: str, line: Line) -> list[tuple[str, Line]]:
    call = {"role": "assistant", "tool": line["tool"], "input": line["input"]}
    result = {key: value for key, value in line.items() if key not in ("input", "n")}
    return [(name, call), (f"{name}r", result)]


def _changed(name: str, line: Line, deviation: Deviation) -> Line:
    changes = dict(deviation.changed.get("*", {}))
    changes = {key: value for key, value in changes.items() if key in line and line.get("tool")}
    changes.update(deviation.changed.get(name, {}))
    extra = changes.pop("input+", None)
    line = {**line, **changes}
    return {**line, "input": {**line["input"], **extra}} if extra else line


def _in_turn(lines: list[Line]) -> list[Line]:
    """Each result directly after its call."""
    results = {line.get("call_id"): line for line in lines if line["role"] == "tool"}
    found: list[Line] = []
    for line in lines:
        if line["role"] == "tool":
            continue
        found.append(line)
        if line.get("tool"):
            found.append(results[line["call_id"]])
    return found


def by_results(lines: list[Any], key: Any) -> list[Any]:
    """Lines with each block of results in a fixed order: those of parallel calls come as they ended."""
    found: list[Any] = []
    block: list[Any] = []
    for line in lines:
        role = line["role"] if isinstance(line, dict) else line.role
        if role == "tool":
            block.append(line)
            continue
        found.extend(sorted(block, key=key))
        block = []
        found.append(line)
    return found + sorted(block, key=key)


def as_value(output: Any) -> Any:
    """JSON text as its value: some send one, some the other."""
    try:
        return json.loads(output) if isinstance(output, str) else output
    except ValueError:
        return output


def as_text(output: Any) -> str:
    if isinstance(output, Text):
        return output.part
    return output if isinstance(output, str) else json.dumps(output)


def agrees(want: Any, got: Any) -> bool:
    if isinstance(want, Text):
        return want.part in as_text(got)
    return bool(as_value(want) == as_value(got))


def differences(want: Line, got: TraceLine) -> list[str]:
    """What of `want` the line does not have."""
    found = [
        f"{key} {getattr(got, key)!r}"
        for key in ("role", "text", "subtype", "num_turns", "call_id")
        if key in want and not agrees(want[key], getattr(got, key))
    ]
    if want.get("tool", "") != got.tool:
        found.append(f"tool {got.tool!r}")
    if want["role"] == "assistant" and "input" in want and want["input"] != got.input:
        found.append(f"input {got.input!r} ({got.input_state})")
    if want["role"] == "assistant" and "input" in want and want["input"] is None and got.input_state != "not_captured":
        found.append(f"input_state {got.input_state}")
    if want["role"] == "tool":
        found.extend(result_differences(want, got))
    return found


def result_differences(want: Line, got: TraceLine) -> list[str]:
    found = []
    if want["error"] != (got.status == "error"):
        found.append(f"status {got.status}")
    part = want.get("output_contains")
    if part is not None and part not in as_text(got.output):
        found.append(f"output {got.output!r}")
    if "output" in want and not agrees(want["output"], got.output):
        # Of a failure, the framework's own text may be the result, and what the tool raised the error.
        told = want["error"] and want["output"] is not None and as_text(want["output"]) in got.error
        if not told and got.output != want.get("model_saw"):
            found.append(f"output {got.output!r}, error {got.error!r}")
    return found


def check(want: list[Line], run: Run) -> None:
    lines = list(run.lines)
    shape = [(line["role"], line.get("tool", "")) for line in by_results(want, lambda line: line.get("tool"))]
    assert [(line.role, line.tool) for line in by_results(lines, lambda line: line.tool)] == shape
    wanted = by_results(want, lambda line: (line["tool"], str(line.get("call_id")), as_text(line.get("output"))))
    given = by_results(lines, lambda line: (line.tool, line.call_id, as_text(line.output)))
    wrong = {number: differences(*pair) for number, pair in enumerate(zip(wanted, given, strict=True), 1)}
    assert {number: what for number, what in wrong.items() if what} == {}


@pytest.mark.parametrize("name", [name for name in CAPTURES if name not in (*NESTED, *NO_LINES)])
def test_recorded_emitters_give_their_lines(name: str) -> None:
    wanted = script(name)
    runs = runs_of(unit(name))
    assert len(runs) == len(wanted)
    for want, run in zip(wanted, runs, strict=True):
        check(want, run)


@pytest.mark.parametrize("name", sorted(DEVIATIONS))
def test_deviations_are_of_recorded_emitters_and_say_why(name: str) -> None:
    assert name in CAPTURES
    assert DEVIATIONS[name].why


def test_an_agent_called_as_a_tool_is_told_inside_its_callers_run() -> None:
    """Two scripts, one run: the inner agent's lines are one deeper, and the run ends once."""
    (run,) = runs_of(unit("edge_pydantic_ai_multi"))
    outer, inner = meta("edge_pydantic_ai_multi")["expected_runs"]
    own = [line for line in run.lines if line.depth == 0]
    # The script leaves out the outer agent's instructions and its last words.
    assert [(line.role, line.text) for line in (own[0], own[4])] == [
        ("system", "Delegate refunds."),
        ("assistant", "The billing agent refunded order A-1001."),
    ]
    check(outer, replace(run, lines=tuple(own[1:4] + own[5:])))
    check(inner[:-1], replace(run, lines=tuple(line for line in run.lines if line.depth == 1)))
    assert {line.agent for line in own} == {"triage_agent"}
    assert {line.agent for line in run.lines if line.depth} == {"support_agent"}
    call = next(line.n for line in run.lines if line.tool == "delegate_refund")
    assert [line.depth for line in run.lines[call : call + 13]] == [1] * 13


def test_claude_codes_subagent_works_in_the_background() -> None:
    """Its requests and calls are below the call that began it and go on after the prompt was answered; the notice that
    it is done is a prompt of its own. What it was told is in the arguments of the call alone."""
    run, notice = runs_of(unit("claude_code_subagent"))
    outer, inner = meta("claude_code_subagent")["expected_runs"]
    own = [line for line in run.lines if line.depth == 0]
    assert [(line.role, line.tool or line.text) for line in own] == [
        ("user", outer[0]["text"]),
        ("assistant", "Agent"),
        ("assistant", outer[3]["text"]),
        ("result", outer[3]["text"]),
    ]
    assert (own[1].input, own[1].call_id) == (outer[1]["input"], outer[1]["call_id"])
    changed = {"7": {"output_contains": None}, "10": {"input+": {"replace_all": False}}}
    want = _adapted(inner, Deviation("", absent=("1", "8", "9", "15"), changed=changed), "")
    check(want, replace(run, lines=tuple(line for line in run.lines if line.depth == 1)))
    assert notice.lines[0].text.startswith("<task-notification>")


def test_evaluations_of_other_names_are_no_outcomes() -> None:
    (run,) = runs_of(unit("handmade_gen_ai_evaluation"))
    assert run.outcomes == ()
    assert [line.role for line in run.lines] == ["result"]


def test_evaluations_may_be_agreed_to_be_outcomes() -> None:
    policy = Policy(outcome_events=frozenset(("resolved", "tool_use")))
    (run,) = runs_of(unit("handmade_gen_ai_evaluation"), policy=policy)
    assert [(outcome.result, outcome.score) for outcome in run.outcomes] == [("pass", 0.5), ("pass", 1.0)]


def test_a_crash_is_told_as_far_as_it_got() -> None:
    (run,) = runs_of(unit("edge_pydantic_ai_crash"), closed_by="idle")
    assert (run.closed_by, run.root_status) == ("idle", "")
    assert "missing_parent" in run.lossy
    assert run.lines[-1].tool == "refund_order"


@pytest.mark.parametrize("name", [name for name in CAPTURES if name not in NO_TOKENS])
def test_tokens_are_counted_once(name: str) -> None:
    """Whoever reports them, and however often: the script's stub model used as many each time."""
    run = runs_of(unit(name))[0]
    coding = meta(name)["what_the_agent_did"].startswith("Coding")
    assert (run.input_tokens, run.output_tokens) == TOKENS.get(name, (1350, 135) if coding else (1000, 110))
    assert sum(line.input_tokens or 0 for line in run.lines) <= (run.input_tokens or 0)


@pytest.mark.parametrize("name", sorted(NO_TOKENS))
def test_tokens_that_nobody_sent_are_none(name: str) -> None:
    assert {(run.input_tokens, run.cost_usd) for run in runs_of(unit(name))} == {(None, None)}


@pytest.mark.parametrize(
    "name",
    ["litellm_otel", "openllmetry_openai", "openllmetry_openai_old_indexed", "otel_genai_openai_span_and_event"],
)
def test_where_each_request_is_a_trace_the_last_tells_all(name: str) -> None:
    """Without a run id each trace is a run; the last of them repeats what the others said."""
    (want,) = script(name)
    runs = runs_of(of_capture(name))
    assert len(runs) == 5
    check(want, runs[-1])
