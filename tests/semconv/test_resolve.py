"""Identity, joins, evidence and losses: what is found on any span, whichever dialect reads it."""

from __future__ import annotations

from typing import Any

import pytest

from semconv.facts import Evaluation, Facts, Identity
from semconv.resolve import facts_of, facts_of_log
from semconv.words import Words
from tests.semconv.build import event, log, span
from tests.semconv.recorded import ready_input

WORDS = Words()
TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "refund"}


def test_every_attribute_of_the_contract_is_read() -> None:
    sent = {
        "passhat.run.id": "r-1",
        "passhat.task.id": "refund",
        "passhat.task.version": 2,
        "passhat.task.class": "shop",
        "passhat.task.expected": "done",
        "passhat.trial.id": 0,
        "passhat.trial.retry_of": "t-0",
        "passhat.outcome": "pass",
        "passhat.outcome.reason": "all well",
        "passhat.workspace.id": "/w",
        "passhat.experiment.id": "e-1",
        "passhat.run.end": True,
    }
    expected = Identity(
        run_id="r-1",
        task_id="refund",
        task_version="2",
        task_class="shop",
        expected="done",
        trial_id="0",
        retry_of="t-0",
        outcome="pass",
        outcome_reason="all well",
        workspace_id="/w",
        experiment_id="e-1",
        run_end=True,
    )
    assert facts_of(span(sent), WORDS).own == expected
    assert facts_of(span(resource=sent), WORDS).resource == expected
    assert facts_of_log(log(sent), WORDS).own == expected


@pytest.mark.parametrize(
    ("sent", "field", "value"),
    [
        ({"test.case.id": "c-1"}, "task_id", "c-1"),
        ({"test.case.name": "n-1"}, "task_id", "n-1"),
        ({"test.case.id": "c-1", "test.case.name": "n-1"}, "task_id", "c-1"),
        ({"passhat.task.id": "t-1", "test.case.id": "c-1"}, "task_id", "t-1"),
        ({"test.suite.name": "s-1"}, "task_class", "s-1"),
        ({"test.case.result.status": "pass"}, "outcome", "pass"),
        ({"test.case.result.status": "fail"}, "outcome", "fail"),
        ({"cicd.pipeline.run.id": "42"}, "experiment_id", "42"),
        ({"passhat.outcome": "PASSED"}, "outcome", "pass"),
        ({"passhat.outcome": "perhaps"}, "outcome", "perhaps"),
        ({"passhat.run.end": "true"}, "run_end", True),
        ({"ai.telemetry.metadata.passhat.task.id": "t-1"}, "task_id", "t-1"),
        ({"traceloop.association.properties.passhat.trial.id": "3"}, "trial_id", "3"),
        ({"langfuse.trace.metadata.passhat.task.id": '"t-1"'}, "task_id", "t-1"),
    ],
)
def test_aliases_and_carriers(sent: dict[str, Any], field: str, value: object) -> None:
    own = facts_of(span(sent), WORDS).own
    assert own is not None
    assert getattr(own, field) == value


def test_nothing_said_is_no_identity() -> None:
    facts = facts_of(span({"passhat.task.id": "", "passhat.run.end": False, "test.case.result.status": "??"}), WORDS)
    assert facts.own is None
    assert facts.resource is None


def test_added_task_attributes_come_after_the_contracts() -> None:
    words = Words(task=["eval.task_id", "root.attributes['x']"], task_class=["eval.suite"])
    own = facts_of(span({"eval.task_id": "a", "eval.suite": "b"}), words).own
    assert own == Identity(task_id="a", task_class="b")
    both = facts_of(span({"eval.task_id": "a", "passhat.task.id": "c"}), words).own
    assert both == Identity(task_id="c")


def test_join_keys_are_the_run_id_nearest_to_the_span_and_the_group() -> None:
    words = Words(group_by="session.id")
    resource = {"passhat.run.id": "outer", "session.id": "s-1"}
    assert facts_of(span(resource=resource), words).join_keys == ("passhat.run.id=outer", "session.id=s-1")
    own = {"passhat.run.id": "inner", "session.id": "s-2"}
    assert facts_of(span(own, resource=resource), words).join_keys == ("passhat.run.id=inner", "session.id=s-2")
    assert facts_of(span({"session.id": "s-1"}), WORDS).join_keys == ()


def test_the_same_words_read_spans_of_many_resources() -> None:
    spans = [span(resource={"passhat.task.id": name}) for name in ("a", "b", "a")]
    assert [facts.resource and facts.resource.task_id for facts in (facts_of(one, WORDS) for one in spans)] == [
        "a",
        "b",
        "a",
    ]


def test_a_span_nobody_knows_is_unmapped_and_keeps_what_is_known_of_it() -> None:
    assert facts_of(span({"http.method": "GET"}), WORDS) == Facts()
    broken = facts_of(span({"http.method": "GET"}, status=(2, "refused")), WORDS)
    assert (broken.operation, broken.status, broken.error) == ("", "error", "refused")
    assert facts_of_log(log(body="hello"), WORDS) == Facts()


@pytest.mark.parametrize(
    ("given", "status", "error", "flag"),
    [
        ({}, "unset", "", None),
        ({"status": (1, "")}, "ok", "", None),
        ({"status": (2, "no stock")}, "error", "no stock", "status"),
        ({"status": (2, "")}, "error", "", "status"),
        ({"events": (event("exception", exception__type="E", exception__message="m"),)}, "error", "m", "exception"),
        (
            {
                "status": (2, "E: m"),
                "events": (event("exception", exception__type="E", exception__message="m"),),
            },
            "error",
            "m",
            "status",
        ),
        # LangSmith's failed tools: the span ended OK, the tool did not
        ({"status": (1, ""), "events": (event("exception", exception__message="m"),)}, "error", "m", "exception"),
        ({"attributes": {"error.type": "timeout"}}, "error", "timeout", "error_type"),
        ({"attributes": {"gen_ai.tool.status": "error"}}, "error", "", "attribute"),
        ({"attributes": {"gen_ai.tool.status": "success"}}, "ok", "", None),
        ({"attributes": {"process.exit.code": 1}}, "error", "", "exit_code"),
        ({"attributes": {"process.exit.code": 0}}, "unset", "", None),
        (
            {"attributes": {"gen_ai.tool.call.result": '{"status": "error", "error_message": "m"}'}},
            "error",
            "m",
            "result",
        ),
        ({"attributes": {"gen_ai.tool.call.result": '{"error": "m"}'}}, "error", "m", "result"),
        ({"attributes": {"gen_ai.tool.call.result": '{"error": null, "rows": 3}'}}, "unset", "", None),
        ({"attributes": {"gen_ai.tool.call.result": '{"errors": [], "rows": 3}'}}, "unset", "", None),
        (
            {
                "attributes": {
                    "gen_ai.tool.call.result": '{"content": [{"type": "text", "text": "m"}], "isError": true}'
                }
            },
            "error",
            "m",
            "result",
        ),
        ({"attributes": {"gen_ai.tool.call.result": "Error: m"}}, "error", "Error: m", "result"),
        ({"attributes": {"gen_ai.tool.call.result": "ValueError: m"}}, "error", "ValueError: m", "result"),
        ({"attributes": {"gen_ai.tool.call.result": "0 errors: all well"}}, "unset", "", None),
        ({"attributes": {"gen_ai.tool.call.result": "Error: m"}, "status": (1, "")}, "ok", "", None),
    ],
)
def test_b106_evidence_of_how_a_call_went(given: dict[str, Any], status: str, error: str, flag: str | None) -> None:
    attributes = {**TOOL, **given.get("attributes", {})}
    facts = facts_of(span(attributes, **{key: value for key, value in given.items() if key != "attributes"}), WORDS)
    assert (facts.status, facts.error) == (status, error)
    assert facts.flags == (() if flag is None else (f"error_from:{flag}",))


def test_an_agent_that_ended_ok_handled_the_exception_it_recorded() -> None:
    one = event("exception", exception__message="m")
    facts = facts_of(span({"gen_ai.operation.name": "invoke_agent"}, status=(1, ""), events=(one,)), WORDS)
    assert (facts.status, facts.error) == ("ok", "")


def test_the_type_of_an_error_is_the_conventions_before_the_exceptions() -> None:
    raised = (event("exception", exception__type="pkg.ValueError", exception__message="m"),)
    assert facts_of(span(TOOL, status=(2, ""), events=raised), WORDS).error_type == "pkg.ValueError"
    both = facts_of(span({**TOOL, "error.type": "ValueError"}, status=(2, ""), events=raised), WORDS)
    assert both.error_type == "ValueError"


def test_losses_are_said() -> None:
    facts = facts_of(span(TOOL, dropped_attributes=3, dropped_events=1), WORDS)
    assert facts.lossy == ("dropped_attributes", "dropped_events")
    cut = facts_of(span({**TOOL, "gen_ai.tool.call.arguments": '{"a": "b'}), WORDS)
    assert (cut.input, cut.input_state, cut.lossy) == ('{"a": "b', "truncated", ("truncated",))
    answer = facts_of(span({**TOOL, "gen_ai.tool.call.result": '{"rows": [1, 2'}), WORDS)
    assert (answer.output, answer.lossy) == ('{"rows": [1, 2', ("truncated",))
    chat = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": '[{"role": "user", "parts": [{"ty'}
    assert facts_of(span(chat), WORDS).lossy == ("truncated_messages",)
    assert facts_of_log(log({}, dropped_attributes=1), WORDS).lossy == ("dropped_attributes",)


def test_no_result_is_not_an_empty_result() -> None:
    assert facts_of(span(TOOL), WORDS).output is None
    assert facts_of(span({**TOOL, "gen_ai.tool.call.result": ""}), WORDS).output == ""
    assert facts_of(span({**TOOL, "gen_ai.tool.call.result": "<REDACTED>"}), WORDS).output is None


def test_mcp_tools_go_by_their_own_name_and_server() -> None:
    facts = facts_of(span({**TOOL, "gen_ai.tool.name": "mcp__github__create_issue"}), WORDS)
    assert (facts.tool, facts.server, facts.tool_raw) == ("create_issue", "github", "mcp__github__create_issue")
    for name in ("mcp__github", "mcp____x", "my__own__tool"):
        assert facts_of(span({**TOOL, "gen_ai.tool.name": name}), WORDS).tool == name


def test_a_servers_side_of_a_call_is_marked() -> None:
    sent = {"mcp.method.name": "tools/call", "gen_ai.tool.name": "refund"}
    assert facts_of(span(sent, kind=2), WORDS).flags == ("server_side",)
    assert facts_of(span(sent, kind=3), WORDS).flags == ()


EVALUATION = {
    "gen_ai.evaluation.name": "outcome",
    "gen_ai.evaluation.score.label": "pass",
    "gen_ai.evaluation.score.value": 1,
    "gen_ai.evaluation.explanation": "the order is refunded",
    "gen_ai.response.id": "resp-1",
    "passhat.outcome.source": "environment",
}
FOUND = Evaluation("outcome", "pass", 1.0, "the order is refunded", "resp-1", "environment", 5_000)


def test_evaluations_come_as_log_records() -> None:
    facts = facts_of_log(log(EVALUATION, event_name="gen_ai.evaluation.result"), WORDS)
    assert facts.evaluations == (FOUND,)
    assert facts.join_keys == ("gen_ai.response.id=resp-1",)
    parented = log(EVALUATION, event_name="gen_ai.evaluation.result", trace_id="ab" * 16, span_id="cd" * 8)
    assert facts_of_log(parented, WORDS).join_keys == ()


def test_evaluations_come_as_span_events_on_any_span() -> None:
    told = event("gen_ai.evaluation.result", **{key.replace(".", "__"): value for key, value in EVALUATION.items()})
    nameless = event("gen_ai.evaluation.result", gen_ai__evaluation__score__value=1)
    for attributes in ({}, TOOL):
        facts = facts_of(span(attributes, events=(told, nameless)), WORDS)
        assert [(one.name, one.label, one.time_ns) for one in facts.evaluations] == [("outcome", "pass", 1_500)]


def test_one_call_in_six_conventions_is_one_call() -> None:
    spans, expected = ready_input("I14")
    calls = [facts for facts in (facts_of(one, WORDS) for one in spans) if facts.operation == "tool"]
    assert len(calls) == expected["tool_calls"]
    for facts in calls:
        assert facts.tool == expected["every_tool_call"]["name"]
        assert facts.input == expected["every_tool_call"]["arguments"]
        assert facts.output == expected["every_tool_call"]["result"]
        assert facts.input_state == "object"
    dialects = ["otel_genai", "pydantic-ai", "openinference", "traceloop", "ai_sdk", "otel_genai"]
    assert [facts.dialect for facts in calls] == dialects
    assert {facts.call_id for facts in calls} == {"w-1", "w-2", "w-3", "", "w-5", "w-6"}
    agents = [facts for facts in (facts_of(one, WORDS) for one in spans) if facts.operation == "agent"]
    assert [facts.tool for facts in agents] == [""]


def test_agents_and_their_tools_are_told_apart_from_middleware() -> None:
    spans, _ = ready_input("I18")
    found = [(facts.operation, facts.agent or facts.tool) for facts in (facts_of(one, WORDS) for one in spans)]
    assert found == [
        ("agent", "shop-agent"),
        ("tool", "delegate"),
        ("agent", "researcher"),
        ("", ""),
        ("tool", "web_search"),
        ("tool", "refund"),
    ]
