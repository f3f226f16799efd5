"""What was said, each thing once, although every request repeats what came before it."""

from __future__ import annotations

import pytest

from semconv.facts import Facts, Message, SpanFacts
from tests.collector.assemble.build import (
    TRACE,
    agent,
    asks,
    brief,
    chat,
    gives,
    log,
    own,
    run_of,
    runs_of,
    says,
    span,
    span_id,
    tool,
)

SYSTEM = says("system", "Be brief.")
OSLO = {"city": "Oslo"}


def turns(*heard_and_said: tuple[tuple[Message, ...], tuple[Message, ...]]) -> list[SpanFacts]:
    """An agent whose requests hear and say these, one after the other."""
    spans = [agent(1, None, 0, 1000)]
    for number, (heard, said) in enumerate(heard_and_said):
        start = 10 + number * 20
        spans.append(chat(10 + number, 1, start, start + 10, messages_in=heard, messages_out=said))
    return spans


def lines(spans: list[SpanFacts]) -> list[str]:
    return brief(run_of(spans).lines)[:-1]


def test_history_is_said_once() -> None:
    first = (SYSTEM, says("user", "Hi"))
    second = (*first, says("assistant", "Hello"), says("user", "Weather?"))
    third = (*second, says("assistant", "Mild."), says("user", "Thanks"))
    assert lines(
        turns(
            (first, (says("assistant", "Hello"),)),
            (second, (says("assistant", "Mild."),)),
            (third, (says("assistant", "Welcome."),)),
        )
    ) == [
        "system: Be brief.",
        "user: Hi",
        "assistant: Hello",
        "user: Weather?",
        "assistant: Mild.",
        "user: Thanks",
        "assistant: Welcome.",
    ]


def test_the_same_words_said_twice_are_two_lines() -> None:
    first = (says("user", "yes"),)
    second = (*first, says("assistant", "Sure?"), says("user", "yes"))
    third = (*second, says("assistant", "Sure?"), says("user", "yes"))
    spans = turns(
        (first, (says("assistant", "Sure?"),)),
        (second, (says("assistant", "Sure?"),)),
        (third, (says("assistant", "Done."),)),
    )
    assert lines(spans) == [*["user: yes", "assistant: Sure?"] * 2, "user: yes", "assistant: Done."]


def test_only_what_is_new_is_sent() -> None:
    """Copilot CLI: each request shows its new messages alone; a second "yes" is meant."""
    spans = turns(
        ((SYSTEM, says("user", "yes")), (says("assistant", "Sure?"),)),
        ((says("user", "yes"),), (asks("c1", "act", OSLO),)),
        ((gives("c1", "acted"),), (says("assistant", "Done."),)),
    )
    assert lines(spans) == [
        "system: Be brief.",
        "user: yes",
        "assistant: Sure?",
        "user: yes",
        "assistant act",
        "tool act",
        "assistant: Done.",
    ]


def test_a_window_that_forgets_the_beginning() -> None:
    spans = turns(
        ((says("user", "one"),), (says("assistant", "1"),)),
        ((says("user", "one"), says("assistant", "1"), says("user", "two")), (says("assistant", "2"),)),
        ((says("assistant", "1"), says("user", "two"), says("assistant", "2"), says("user", "three")), ()),
    )
    assert lines(spans) == ["user: one", "assistant: 1", "user: two", "assistant: 2", "user: three"]


def test_a_request_tried_again_asks_nothing_twice() -> None:
    heard = (SYSTEM, says("user", "Hi"))
    spans = turns((heard, ()), (heard, (says("assistant", "Hello"),)))
    assert lines(spans) == ["system: Be brief.", "user: Hi", "assistant: Hello"]


def test_an_answer_told_in_other_words_is_the_same_answer() -> None:
    """Some reformat an answer, or give its calls new ids, when they repeat it (fc_ for call_)."""
    first = (says("user", "Weather?"),)
    second = (*first, says("assistant", "I will look"), asks("fc_1", "weather", OSLO), gives("fc_1", "4 C"))
    spans = turns(
        (first, (asks("call_1", "weather", OSLO, text="I will look."),)),
        (second, (says("assistant", "Mild."),)),
    )
    run = run_of(spans)
    assert brief(run.lines)[:-1] == [
        "user: Weather?",
        "assistant: I will look.",
        "assistant weather",
        "tool weather",
        "assistant: Mild.",
    ]
    assert {line.call_id for line in run.lines if line.tool} == {"call_1"}


def test_an_answer_repeated_at_the_end_of_what_was_asked() -> None:
    heard = (says("user", "Hi"), says("assistant", "Hello"))
    assert lines(turns((heard, heard[1:]))) == ["user: Hi", "assistant: Hello"]


def test_a_call_twice_in_one_message_is_one() -> None:
    parts = asks("c1", "act", OSLO).parts
    assert lines(turns(((), (Message("assistant", (*parts, *parts)),)))) == ["assistant act"]


def test_a_lost_answer_is_told_by_the_next_request() -> None:
    second = (says("user", "Weather?"), asks("c1", "weather", OSLO, text="I look."), gives("c1", "4 C"))
    spans = turns(((says("user", "Weather?"),), ()), (second, (says("assistant", "Mild."),)))
    assert lines(spans) == [
        "user: Weather?",
        "assistant: I look.",
        "assistant weather",
        "tool weather",
        "assistant: Mild.",
    ]


def test_text_beside_a_call_comes_before_it() -> None:
    spans = turns(((says("user", "?"),), (asks("c1", "act", OSLO, text="I act."),)))
    assert lines(spans) == ["user: ?", "assistant: I act.", "assistant act"]


class TestEarlierRuns:
    history = (
        SYSTEM,
        says("user", "Refund A."),
        asks("c1", "refund", {"order": "A"}),
        gives("c1", "ok"),
        says("assistant", "Refunded."),
    )

    def test_what_was_said_before_this_run_is_not_of_it(self) -> None:
        spans = turns(((*self.history, says("user", "thanks")), (says("assistant", "Welcome."),)))
        assert lines(spans) == ["user: thanks", "assistant: Welcome."]

    def test_not_even_by_the_agents_own_span(self) -> None:
        heard = (*self.history, says("user", "thanks"))
        spans = turns((heard, (says("assistant", "Welcome."),)))
        spans[0] = agent(1, None, 0, 1000, messages_in=(SYSTEM, says("user", "thanks")))
        assert lines(spans) == ["user: thanks", "assistant: Welcome."]

    def test_instructions_around_a_first_prompt_stay(self) -> None:
        heard = (SYSTEM, says("user", "context"), says("user", "Weather?"))
        assert lines(turns((heard, ()))) == ["system: Be brief.", "user: context", "user: Weather?"]

    def test_two_turns_of_one_run(self) -> None:
        """Two agent spans of one trace: the second repeats the first, and is no run of its own."""
        first = (SYSTEM, says("user", "Hi"))
        spans = [
            span(1, None, 0, 99),
            agent(2, 1, 1, 20),
            chat(3, 2, 2, 10, messages_in=first, messages_out=(says("assistant", "Hello"),)),
            agent(4, 1, 30, 50),
            chat(
                5,
                4,
                31,
                40,
                messages_in=(*first, says("assistant", "Hello"), says("user", "thanks")),
                messages_out=(says("assistant", "Welcome."),),
            ),
        ]
        assert lines(spans) == [
            "system: Be brief.",
            "user: Hi",
            "assistant: Hello",
            "user: thanks",
            "assistant: Welcome.",
        ]


class TestAgents:
    def test_a_handed_over_conversation_is_not_said_again(self) -> None:
        first = (says("system", "You are A."), says("user", "Help"))
        handed = (
            says("system", "You are B."),
            says("user", "Help"),
            asks("c1", "transfer_to_b", {}),
            gives("c1", "transferred"),
        )
        spans = [
            span(1, None, 0, 99, Facts(operation="workflow")),
            agent(2, 1, 1, 20, name="A"),
            chat(3, 2, 2, 10, messages_in=first, messages_out=(asks("c1", "transfer_to_b", {}),)),
            tool(4, 2, 11, 12, "transfer_to_b", call_id="c1", input={}, output="transferred"),
            agent(5, 1, 30, 50, name="B"),
            chat(6, 5, 31, 40, messages_in=handed, messages_out=(says("assistant", "I help."),)),
        ]
        run = run_of(spans)
        assert brief(run.lines)[:-1] == [
            "system: You are A.",
            "user: Help",
            "assistant transfer_to_b",
            "tool transfer_to_b",
            "system: You are B.",
            "assistant: I help.",
        ]
        assert [(line.agent, line.depth) for line in run.lines[3:6]] == [("A", 0), ("B", 0), ("B", 0)]

    def test_an_agent_called_as_a_tool_has_its_own_conversation(self) -> None:
        spans = [
            agent(1, None, 0, 99, name="boss"),
            chat(2, 1, 1, 5, messages_in=(says("user", "Go"),), messages_out=(asks("c1", "ask", {"q": "x"}),)),
            tool(3, 1, 6, 60, "ask", call_id="c1", input={"q": "x"}, output="42"),
            agent(4, 3, 7, 59, name="worker"),
            chat(5, 4, 8, 10, messages_in=(says("user", "x"),), messages_out=(says("assistant", "42"),)),
            chat(6, 1, 70, 80, messages_in=(gives("c1", "42"),), messages_out=(says("assistant", "It is 42."),)),
        ]
        run = run_of(spans)
        assert [(line.role, line.text or line.tool, line.agent, line.depth) for line in run.lines] == [
            ("user", "Go", "boss", 0),
            ("assistant", "ask", "boss", 0),
            ("user", "x", "worker", 1),
            ("assistant", "42", "worker", 1),
            ("tool", "ask", "boss", 0),
            ("assistant", "It is 42.", "boss", 0),
            ("result", "It is 42.", "boss", 0),
        ]
        assert (run.turns, run.final_text) == (2, "It is 42.")

    def test_a_model_asked_inside_a_tool_is_a_deeper_agent(self) -> None:
        """Claude Code's subagents have no agent span: their requests and calls are below the call that began them."""
        spans = [
            agent(1, None, 0, 99, name="cli"),
            chat(2, 1, 1, 5, messages_out=(asks("t0", "Agent", {"p": "x"}),)),
            tool(3, 1, 6, 10, "Agent", call_id="t0", input={"p": "x"}),
            tool(4, 3, 7, 9, "", call_id="t0"),
            chat(5, 4, 20, 25, messages_out=(asks("t0", "Bash", OSLO),)),
            tool(6, 4, 26, 30, "Bash", call_id="t0", input=OSLO, output="ok"),
        ]
        run = run_of(spans)
        assert [(line.tool, line.depth) for line in run.lines if line.tool] == [("Agent", 0), ("Bash", 1), ("Bash", 1)]
        assert run.turns == 1

    def test_wrappers_do_not_deepen(self) -> None:
        """A workflow, an agent that only starts another, the same agent reported twice."""
        spans = [
            span(1, None, 0, 99, Facts(operation="workflow", agent="flow")),
            agent(2, 1, 1, 98, name="flow"),
            span(3, 2, 2, 97, Facts(operation="other")),
            agent(4, 3, 3, 96, name="worker"),
            agent(5, 4, 4, 95, name="worker"),
            agent(6, 5, 5, 94, name=""),
            tool(7, 6, 10, 20),
        ]
        run = run_of(spans)
        assert [(line.agent, line.depth) for line in run.lines if line.tool] == [("worker", 0)]

    def test_the_runs_agent_is_the_one_that_worked(self) -> None:
        """Some wrap each run in an agent span named after the trace."""
        wrapped = [agent(1, None, 0, 99, name="support workflow"), agent(2, 1, 1, 98, name="Support agent")]
        run = run_of([*wrapped, tool(3, 2, 2, 3)])
        assert (run.agent, run.task_id, run.lines[-1].agent) == ("Support agent", "demo/Support agent", "Support agent")
        both = [*wrapped, tool(3, 2, 2, 3), agent(4, 1, 50, 60, name="Billing agent"), tool(5, 4, 51, 52)]
        assert run_of(both).agent == "support workflow"

    def test_an_agent_inside_a_working_agent_is_deeper(self) -> None:
        spans = [
            agent(1, None, 0, 99, name="lead"),
            tool(2, 1, 1, 5, "plan"),
            span(3, 1, 10, 50),
            agent(4, 3, 11, 49, name="researcher"),
            span(5, 4, 12, 48),
            tool(6, 5, 20, 30, "web"),
        ]
        run = run_of(spans)
        assert [(line.tool, line.agent, line.depth) for line in run.lines if line.tool] == [
            ("plan", "lead", 0),
            ("web", "researcher", 1),
        ]


class TestWhereRequestsSayNothing:
    def test_the_agents_span_tells_prompt_and_answer(self) -> None:
        spans = [
            agent(
                1,
                None,
                0,
                99,
                messages_in=(SYSTEM, says("user", "Go")),
                messages_out=(says("assistant", "Gone."),),
                final_text="Gone.",
            ),
            chat(2, 1, 1, 5),
            tool(3, 1, 6, 9, "go", output="ok"),
        ]
        assert lines(spans) == ["system: Be brief.", "user: Go", "assistant go", "tool go", "assistant: Gone."]

    def test_an_agents_transcript_tells_calls_that_no_span_shows(self) -> None:
        whole = (
            says("user", "Go"),
            asks("c1", "go", OSLO, text="I go."),
            gives("c1", "gone"),
        )
        run = run_of([agent(1, None, 0, 99, messages_in=whole, messages_out=(says("assistant", "Done."),))])
        assert brief(run.lines) == [
            "user: Go",
            "assistant: I go.",
            "assistant go",
            "tool go",
            "assistant: Done.",
            "result: Done.",
        ]
        assert run.lines[-1].num_turns == 2

    def test_a_transcript_and_tool_spans_are_one(self) -> None:
        whole = (says("user", "Go"), asks("c1", "go", OSLO), gives("c1", "gone"))
        spans = [
            agent(1, None, 0, 99, messages_in=whole, messages_out=(says("assistant", "Done."),)),
            tool(2, 1, 10, 20, "go", call_id="c1", input=OSLO),
        ]
        run = run_of(spans)
        assert brief(run.lines)[:-1] == ["user: Go", "assistant go", "tool go", "assistant: Done."]
        assert run.lines[1].span_id == span_id(2)

    def test_a_wrapper_does_not_repeat_its_agent(self) -> None:
        told = {"messages_in": (says("user", "Go"),), "messages_out": (says("assistant", "Gone."),)}
        spans = [
            span(1, None, 0, 99, Facts(operation="workflow", **told)),  # type: ignore[arg-type]
            agent(2, 1, 1, 98, **told),
            chat(3, 2, 2, 10, **told),
        ]
        assert lines(spans) == ["user: Go", "assistant: Gone."]

    def test_two_agents_in_turn_each_tell_theirs(self) -> None:
        spans = [
            span(1, None, 0, 99, Facts(operation="workflow")),
            agent(2, 1, 1, 20, messages_in=(says("user", "a"),), messages_out=(says("assistant", "A"),)),
            agent(3, 1, 30, 50, messages_in=(says("user", "b"),), messages_out=(says("assistant", "B"),)),
        ]
        assert lines(spans) == ["user: a", "assistant: A", "user: b", "assistant: B"]

    def test_an_answer_that_is_only_a_final_text(self) -> None:
        spans = [agent(1, None, 0, 99, final_text="Gone."), tool(2, 1, 1, 2)]
        assert lines(spans) == ["assistant search", "assistant: Gone."]


class TestLogs:
    def test_events_of_a_request_tell_what_its_span_does_not(self) -> None:
        """One event a message, the whole history at each request (GenAI conventions up to 1.36)."""

        def event(at: float, number: int, **facts: tuple[Message, ...]) -> SpanFacts:
            return log(at, Facts(operation="chat", **facts), trace_id=TRACE, span_id=span_id(number))  # type: ignore[arg-type]

        hi, hello, weather = says("user", "Hi"), says("assistant", "Hello"), says("user", "Weather?")
        spans = [
            span(1, None, 0, 99),
            chat(2, 1, 1, 10),
            event(2, 2, messages_in=(SYSTEM,)),
            event(3, 2, messages_in=(hi,)),
            event(9, 2, messages_out=(hello,)),
            chat(3, 1, 20, 30),
            *(event(21 + n, 3, messages_in=(message,)) for n, message in enumerate((SYSTEM, hi, hello, weather))),
            event(29, 3, messages_out=(says("assistant", "Mild."),)),
        ]
        assert lines(spans) == [
            "system: Be brief.",
            "user: Hi",
            "assistant: Hello",
            "user: Weather?",
            "assistant: Mild.",
        ]

    def test_content_on_span_and_event_is_said_once(self) -> None:
        told = {"messages_in": (says("user", "Hi"),), "messages_out": (says("assistant", "Hello"),)}
        event = log(9, Facts(operation="chat", **told), trace_id=TRACE, span_id=span_id(2))  # type: ignore[arg-type]
        assert lines([span(1, None, 0, 99), chat(2, 1, 1, 10, **told), event]) == ["user: Hi", "assistant: Hello"]

    def test_a_prompt_logged_beside_its_request(self) -> None:
        """Harnesses wrap the prompt in reminders of their own: it is the same prompt, and said after the system."""
        wrapped = says("user", "<reminder>", "Fix it.")
        spans = [
            log(1, Facts(operation="other", messages_in=(says("user", "Fix it."),)), trace_id=TRACE),
            agent(1, None, 0, 99),
            chat(2, 1, 5, 10, messages_in=(SYSTEM, wrapped), messages_out=(says("assistant", "Fixed."),)),
            log(
                11,
                Facts(operation="other", messages_out=(says("assistant", "Fixed."),)),
                trace_id=TRACE,
                span_id=span_id(1),
            ),
        ]
        assert lines(spans) == ["system: Be brief.", "user: Fix it.", "assistant: Fixed."]

    def test_records_of_one_time_keep_their_emitters_order(self) -> None:
        facts = {"operation": "tool", "attempt": "p", "status": "ok"}
        records = [log(5, Facts(tool=name, call_id=name, sequence=n, **facts)) for n, name in enumerate("dcba")]  # type: ignore[arg-type]
        for given in (records, records[::-1]):
            assert [line.tool for line in run_of(given).lines if line.tool] == list("dcba")


@pytest.mark.parametrize("order", [1, -1])
def test_runs_of_one_trace_do_not_hear_each_other(order: int) -> None:
    spans = [span(1, None, 0, 99)]
    for number in (10, 20):
        spans.append(agent(number, 1, number, number + 9, own=own(trial_id=str(number))))
        told = {"messages_in": (SYSTEM, says("user", "Go")), "messages_out": (says("assistant", "Gone."),)}
        spans.append(chat(number + 1, number, number + 1, number + 2, **told))
    first, second = runs_of(spans[::order])
    assert (
        brief(first.lines)
        == brief(second.lines)
        == [
            "system: Be brief.",
            "user: Go",
            "assistant: Gone.",
            "result: Gone.",
        ]
    )
