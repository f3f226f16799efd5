"""Logical calls: what is one call, what is two, and what is known of it (DESIGN.md decision 9; B083-B112 as they
reach assembly)."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from msgspec.structs import replace

from semconv.facts import Facts, Message, Part, SpanFacts
from tests.collector.assemble.build import (
    TRACE,
    agent,
    asks,
    brief,
    call,
    calls,
    chat,
    gives,
    log,
    run_of,
    says,
    span,
    span_id,
    tool,
)

OSLO = {"city": "Oslo"}


def nested(inner: dict[str, Any], **outer: Any) -> list[SpanFacts]:
    """A tool span in a tool span."""
    return [agent(1, None, 0, 99), tool(2, 1, 10, 30, **outer), tool(3, 2, 12, 28, **inner)]


class TestFolding:
    def test_a_message_and_a_span_of_one_id_are_one_call(self) -> None:
        run = run_of(
            [
                agent(1, None, 0, 99),
                chat(2, 1, 1, 5, messages_in=(says("user", "?"),), messages_out=(asks("c1", "weather", OSLO),)),
                tool(3, 1, 6, 8, "weather", call_id="c1", input=OSLO, output="4 C"),
            ]
        )
        assert brief(run.lines) == ["user: ?", "assistant weather", "tool weather", "result: "]
        assert run.tool_calls == 1

    @pytest.mark.parametrize(
        ("inner", "outer"),
        [
            ({"name": "search", "input": OSLO}, {"name": "search", "input": OSLO}),
            ({"name": "search"}, {"name": "search", "input": OSLO}),
            ({"name": "search", "input": OSLO, "output": "x"}, {"name": "search", "call_id": "c1"}),
            ({"name": "", "call_id": "c1", "status": "error"}, {"name": "search", "call_id": "c1", "input": OSLO}),
            ({"name": "search"}, {"name": "search"}),
            ({"name": "search", "input": {"n": 900}}, {"name": "search", "input": {"n": 900.0}}),
        ],
        ids=["equal", "one silent", "id on one side", "execution below", "both silent", "equal numbers"],
    )
    def test_nested_reports_of_one_call_are_one(self, inner: dict[str, Any], outer: dict[str, Any]) -> None:
        run = run_of(nested(inner, **outer))
        assert run.tool_calls == 1

    @pytest.mark.parametrize(
        ("inner", "outer"),
        [
            ({"name": "search", "input": {"city": "Rome"}}, {"name": "search", "input": OSLO}),
            ({"name": "fetch", "input": OSLO}, {"name": "search", "input": OSLO}),
            ({"name": "search", "call_id": "c2"}, {"name": "search", "call_id": "c1"}),
        ],
        ids=["other arguments", "other tool", "other id"],
    )
    def test_nested_calls_that_differ_are_two(self, inner: dict[str, Any], outer: dict[str, Any]) -> None:
        assert run_of(nested(inner, **outer)).tool_calls == 2

    def test_calls_side_by_side_are_never_one_by_name(self) -> None:
        """The same tool and arguments without ids, one after the other or at once: each was made."""
        run = run_of(
            [
                agent(1, None, 0, 99),
                tool(2, 1, 10, 20, "weather", input=OSLO),
                tool(3, 1, 10, 20, "weather", input=OSLO),
                tool(4, 1, 30, 40, "weather", input=OSLO),
            ]
        )
        assert run.tool_calls == 3

    def test_client_transport_and_server_of_one_call(self) -> None:
        """FastMCP: three spans, each inside the other, with a transport span that names no tool."""
        run = run_of(
            [
                agent(1, None, 0, 99),
                tool(2, 1, 10, 50, "lookup"),
                tool(3, 2, 12, 48, ""),
                tool(4, 3, 14, 40, "lookup", status="error", error="no such order"),
            ]
        )
        (one,) = calls(run)
        assert (one.tool, one.status, one.attempts) == ("lookup", "error", 1)

    def test_a_servers_side_beside_its_client(self) -> None:
        """Two calls at once and their servers as siblings: each goes to the client that waits for it."""
        rome = {"city": "Rome"}
        run = run_of(
            [
                agent(1, None, 0, 99),
                tool(2, 1, 10, 40, "weather", input=OSLO),
                tool(3, 1, 11, 41, "weather", input=rome),
                span(4, 1, 12, 30, Facts(operation="other")),
                tool(5, 4, 13, 29, "weather", input=OSLO, output="4 C", flags=("server_side",)),
                tool(6, 4, 14, 29, "weather", input=rome, output="20 C", flags=("server_side",)),
            ]
        )
        assert [(line.input, line.flags) for line in calls(run)] == [(OSLO, ()), (rome, ())]
        assert [line.output for line in run.lines if line.role == "tool"] == ["4 C", "20 C"]

    def test_a_server_without_a_client_is_a_call(self) -> None:
        spans = [agent(1, None, 0, 99), tool(2, 1, 10, 20, "weather", flags=("server_side",))]
        assert run_of(spans).tool_calls == 1

    def test_one_id_in_two_agents_is_two_calls(self) -> None:
        """Stub models and small servers count from zero in each conversation."""
        run = run_of(
            [
                agent(1, None, 0, 99, name="boss"),
                chat(2, 1, 1, 5, messages_out=(asks("call_0", "delegate", {"to": "x"}),)),
                tool(3, 1, 6, 60, "delegate", call_id="call_0", input={"to": "x"}),
                agent(4, 3, 7, 59, name="worker"),
                chat(5, 4, 8, 10, messages_out=(asks("call_0", "weather", OSLO),)),
                tool(6, 4, 11, 20, "weather", call_id="call_0", input=OSLO),
            ]
        )
        assert [(line.tool, line.agent, line.depth) for line in calls(run)] == [
            ("delegate", "boss", 0),
            ("weather", "worker", 1),
        ]


class TestAttempts:
    def retried(self, **last: Any) -> list[SpanFacts]:
        known = {"call_id": "c1", "input": OSLO}
        return [
            agent(1, None, 0, 99),
            chat(2, 1, 1, 5, messages_out=(asks("c1", "weather", OSLO),)),
            tool(3, 1, 10, 20, "weather", status="error", error="timeout", **known),
            tool(4, 1, 30, 40, "weather", status="error", error="timeout", **known),
            tool(5, 1, 50, 60, "weather", **known, **last),
        ]

    def test_b101_retries_are_one_call_with_the_last_result(self) -> None:
        run = run_of(self.retried(output="4 C", status="ok"))
        (one,) = calls(run)
        assert (one.attempts, one.status) == (3, "ok")
        assert [(line.output, line.error) for line in run.lines if line.role == "tool"] == [("4 C", "")]

    def test_a_retry_that_fails_again(self) -> None:
        (one,) = calls(run_of(self.retried(status="error", error="gone")))
        assert (one.attempts, one.status) == (3, "error")

    def test_an_id_answered_and_used_again_is_another_call(self) -> None:
        run = run_of(
            [
                agent(1, None, 0, 99),
                tool(2, 1, 10, 20, "weather", call_id="call_0", input=OSLO, output="4 C"),
                tool(3, 1, 30, 40, "weather", call_id="call_0", input=OSLO, output="5 C"),
            ]
        )
        assert [line.attempts for line in calls(run)] == [1, 1]

    @pytest.mark.parametrize("outputs", [("4 C", "4 C"), ("4 C", None), (None, "4 C")])
    def test_b109_a_call_told_again_later_is_the_same(self, outputs: tuple[str | None, str | None]) -> None:
        """A span beside it repeats the result (B109)."""
        known = {"call_id": "c1", "input": OSLO}
        told = [
            tool(2 + n, 1, 10 + 20 * n, 15 + 20 * n, "weather", output=one, **known) for n, one in enumerate(outputs)
        ]
        run = run_of([agent(1, None, 0, 99), *told])
        assert [line.output for line in run.lines if line.role == "tool"] == ["4 C"]
        assert [line.attempts for line in calls(run)] == [1]

    def test_silent_spans_of_one_id_at_two_times_are_two_calls(self) -> None:
        """Content is off and the model counts from zero: nothing shows that they are one."""
        silent = [tool(2 + n, 1, 10 + 20 * n, 15 + 20 * n, "weather", call_id="call_0") for n in range(2)]
        assert run_of([agent(1, None, 0, 99), *silent]).tool_calls == 2

    def test_an_id_asked_for_twice_is_two_calls(self) -> None:
        spans = [agent(1, None, 0, 99)]
        for turn, output in enumerate(("4 C", "5 C")):
            at = 10 + 40 * turn
            spans.append(chat(10 + turn, 1, at, at + 5, messages_out=(asks("call_0", "weather", OSLO),)))
            spans.append(
                tool(
                    20 + turn, 1, at + 6, at + 9, "weather", call_id="call_0", input=OSLO, status="error", error=output
                )
            )
        run = run_of(spans)
        assert [line.error for line in run.lines if line.role == "tool"] == ["4 C", "5 C"]
        assert run.tool_calls == 2

    def test_a_decision_and_its_result_in_the_log_are_one_attempt(self) -> None:
        known = {"dialect": "cli", "attempt": "p", "tool": "Bash", "call_id": "c1", "operation": "tool"}
        run = run_of(
            [
                log(10, Facts(**known)),
                log(
                    50, Facts(**known, status="error", error="exit 1", input=OSLO, input_state="object", duration_ns=35)
                ),
            ]
        )
        (one,) = calls(run)
        assert (one.attempts, one.status, one.input) == (1, "error", OSLO)


class TestMessagesAndSpans:
    def test_calls_without_spans_come_from_messages(self) -> None:
        """Client-library instrumentation: requests alone, with the history each repeats."""
        history: list[Message] = [says("system", "Be brief."), says("user", "Weather?")]
        spans = [span(1, None, 0, 99)]
        for turn, request in enumerate((asks("c1", "weather", OSLO), asks("c2", "weather", {"city": "Rome"}))):
            at = 10 + 20 * turn
            spans.append(chat(10 + turn, 1, at, at + 5, messages_in=tuple(history), messages_out=(request,)))
            history += [request, gives(f"c{turn + 1}", f"{turn} C")]
        spans.append(chat(20, 1, 60, 65, messages_in=tuple(history), messages_out=(says("assistant", "Mild."),)))
        run = run_of(spans)
        assert brief(run.lines) == [
            "system: Be brief.",
            "user: Weather?",
            "assistant weather",
            "tool weather",
            "assistant weather",
            "tool weather",
            "assistant: Mild.",
            "result: Mild.",
        ]
        assert [(line.input_state, line.call_id) for line in calls(run)] == [
            ("from_messages", "c1"),
            ("from_messages", "c2"),
        ]
        assert [line.output for line in run.lines if line.role == "tool"] == ["0 C", "1 C"]
        assert run.lines[-1].num_turns == 3

    def test_the_last_request_alone_tells_the_whole_run(self) -> None:
        """Where every request is a trace of its own, the last one repeats the others."""
        history = (
            says("system", "Be brief."),
            says("user", "Weather?"),
            Message("assistant", (call("c1", "weather", OSLO), call("c2", "time", {}))),
            gives("c1", "4 C"),
            gives("c2", "12:00"),
            asks("c3", "weather", OSLO),
            gives("c3", "5 C"),
        )
        run = run_of([chat(1, None, 0, 5, messages_in=history, messages_out=(says("assistant", "Mild."),))])
        assert brief(run.lines) == [
            "system: Be brief.",
            "user: Weather?",
            "assistant weather",
            "assistant time",
            "tool weather",
            "tool time",
            "assistant weather",
            "tool weather",
            "assistant: Mild.",
            "result: Mild.",
        ]
        assert run.lines[-1].num_turns == 3

    def test_spans_without_content_take_it_from_messages(self) -> None:
        run = run_of(
            [
                agent(1, None, 0, 99),
                chat(2, 1, 1, 5, messages_out=(asks("c1", "weather", OSLO),)),
                tool(3, 1, 6, 8, "weather", call_id="c1"),
                chat(4, 1, 9, 12, messages_in=(asks("c1", "weather", OSLO), gives("c1", "4 C"))),
            ]
        )
        (one,) = calls(run)
        assert (one.input, one.input_state, one.span_id) == (OSLO, "from_messages", span_id(3))
        assert [(line.output, line.span_id) for line in run.lines if line.role == "tool"] == [("4 C", span_id(3))]

    def test_content_switched_off_is_said(self) -> None:
        run = run_of(
            [
                agent(1, None, 0, 99),
                chat(2, 1, 1, 5, messages_out=(asks("c1", "weather"),)),
                tool(3, 1, 6, 8, "weather", call_id="c1"),
            ]
        )
        (one,) = calls(run)
        assert (one.input, one.input_state) == (None, "not_captured")
        assert [line.role for line in run.lines] == ["assistant", "result"]

    @pytest.mark.parametrize("state", ["truncated", "text", "not_captured"])
    def test_arguments_a_message_has_not_whole_keep_their_state(self, state: str) -> None:
        part = replace(call("c1", "weather"), value='{"ci', input_state=state)
        (one,) = calls(run_of([chat(1, None, 0, 5, messages_out=(Message("assistant", (part,)),))]))
        assert one.input_state == state

    def test_b094_a_call_without_result_has_no_tool_line(self) -> None:
        """A client-side tool in the last message (B094)."""
        run = run_of([agent(1, None, 0, 99), chat(2, 1, 1, 5, messages_out=(asks("c1", "confirm", {"a": 1}),))])
        assert [line.role for line in run.lines] == ["assistant", "result"]
        assert run.final_text == ""

    def test_a_result_without_content_is_none(self) -> None:
        told = Message("tool", (Part("tool_result", call_id="c1"),))
        run = run_of(
            [
                agent(1, None, 0, 99),
                chat(2, 1, 1, 5, messages_out=(asks("c1", "weather"),)),
                chat(3, 1, 6, 9, messages_in=(told,)),
            ]
        )
        assert [line.role for line in run.lines] == ["assistant", "result"]

    def test_an_empty_answer_is_an_answer(self) -> None:
        run = run_of([agent(1, None, 0, 99), tool(2, 1, 1, 2, output="")])
        assert [line.role for line in run.lines] == ["assistant", "tool", "result"]

    def test_ids_of_a_span_and_of_messages_may_differ(self) -> None:
        """A span without an id is the one asked for just before with its arguments."""
        spans = [agent(1, None, 0, 99)]
        for turn in range(2):
            at = 10 + 40 * turn
            spans.append(chat(10 + turn, 1, at, at + 5, messages_out=(asks(f"c{turn}", "weather", OSLO),)))
            spans.append(tool(20 + turn, 1, at + 6, at + 9, "weather", input=OSLO, output=f"{turn} C"))
        run = run_of(spans)
        assert [line.call_id for line in calls(run)] == ["c0", "c1"]
        assert [line.output for line in run.lines if line.role == "tool"] == ["0 C", "1 C"]

    def test_a_silent_span_is_the_one_asked_for_just_before(self) -> None:
        """Neither id nor arguments on the spans: their place between two requests is what tells them apart."""
        spans = [agent(1, None, 0, 99)]
        for turn in range(2):
            at = 10 + 40 * turn
            request = asks(f"c{turn}", "weather", {"day": turn})
            spans.append(chat(10 + turn, 1, at, at + 5, messages_out=(request,)))
            spans.append(tool(20 + turn, 1, at + 6, at + 9, "weather"))
        run = run_of(spans)
        assert [(line.input, line.span_id) for line in calls(run)] == [
            ({"day": 0}, span_id(20)),
            ({"day": 1}, span_id(21)),
        ]

    def test_a_denied_call_and_its_second_try_are_two(self) -> None:
        spans = [
            agent(1, None, 0, 99),
            chat(2, 1, 10, 15, messages_out=(asks("c0", "weather", OSLO),)),
            chat(3, 1, 20, 25, messages_in=(gives("c0", "denied"),), messages_out=(asks("c1", "weather", OSLO),)),
            tool(4, 1, 30, 35, "weather", input=OSLO, output="4 C"),
        ]
        run = run_of(spans)
        assert [(line.call_id, line.span_id) for line in calls(run)] == [("c0", span_id(2)), ("c1", span_id(4))]
        assert [line.output for line in run.lines if line.role == "tool"] == ["denied", "4 C"]

    def test_a_result_the_model_was_told_failed(self) -> None:
        run = run_of(
            [
                agent(1, None, 0, 99),
                chat(2, 1, 1, 5, messages_out=(asks("c1", "weather", OSLO),)),
                chat(3, 1, 6, 9, messages_in=(gives("c1", "boom", error=True),)),
            ]
        )
        assert [line.status for line in run.lines if line.tool] == ["error", "error"]

    def test_b107_unset_is_not_ok(self) -> None:
        (one,) = calls(run_of([agent(1, None, 0, 99), tool(2, 1, 1, 2, output="fine")]))
        assert one.status == "unset"


class TestLogsBesideSpans:
    def test_a_log_and_a_span_of_one_id_are_one_call_with_the_fuller_arguments(self) -> None:
        whole = {"command": "pytest", "description": "Run"}
        facts = Facts(operation="tool", tool="Bash", call_id="c1", input=whole, input_state="object")
        run = run_of(
            [
                agent(1, None, 0, 99),
                tool(2, 1, 10, 20, "Bash", call_id="c1", input={"command": "pytest"}),
                log(20, facts, trace_id=TRACE, span_id=span_id(1)),
            ]
        )
        (one,) = calls(run)
        assert one.input == whole

    def test_logs_without_ids_go_to_the_spans_of_the_same_call_in_order(self) -> None:
        facts = {"operation": "tool", "tool": "Bash", "input": OSLO, "input_state": "object"}
        run = run_of(
            [
                agent(1, None, 0, 99),
                tool(2, 1, 10, 20, "Bash", input=OSLO),
                tool(3, 1, 30, 40, "Bash", input=OSLO),
                log(20, Facts(**facts, output="first"), trace_id=TRACE, span_id=span_id(1)),
                log(40, Facts(**facts, output="second"), trace_id=TRACE, span_id=span_id(1)),
            ]
        )
        assert [line.output for line in run.lines if line.role == "tool"] == ["first", "second"]
        assert run.tool_calls == 2


def test_parallel_calls_are_asked_for_together_and_answered_as_they_end() -> None:
    """The slower one began first; what was asked for in one message stays together (CONTRACT.md section 4)."""
    request = Message("assistant", (call("c1", "slow", OSLO), call("c2", "fast", OSLO)))
    spans = [
        agent(1, None, 0, 99),
        chat(2, 1, 1, 5, messages_out=(request,)),
        tool(4, 1, 10, 30, "slow", call_id="c1", input=OSLO, output="s"),
        tool(3, 1, 10, 20, "fast", call_id="c2", input=OSLO, output="f"),
    ]
    for order in permutations(spans):
        assert brief(run_of(order).lines)[:4] == ["assistant slow", "assistant fast", "tool fast", "tool slow"]


def test_calls_of_one_message_made_in_turn_stay_together() -> None:
    request = Message("assistant", (call("c1", "one", OSLO), call("c2", "two", OSLO)))
    run = run_of(
        [
            agent(1, None, 0, 99),
            chat(2, 1, 1, 5, messages_out=(request,)),
            tool(3, 1, 10, 20, "one", call_id="c1", input=OSLO, output="1"),
            tool(4, 1, 30, 40, "two", call_id="c2", input=OSLO, output="2"),
        ]
    )
    assert brief(run.lines)[:4] == ["assistant one", "assistant two", "tool one", "tool two"]


def test_a_call_begun_while_the_model_still_speaks() -> None:
    """Streaming harnesses start a tool before the request ends."""
    run = run_of(
        [
            agent(1, None, 0, 99),
            chat(2, 1, 1, 50, messages_out=(asks("c1", "read", OSLO, text="I look."),)),
            tool(3, 1, 20, 30, "read", call_id="c1", input=OSLO, output="x"),
        ]
    )
    assert brief(run.lines)[:3] == ["assistant: I look.", "assistant read", "tool read"]
