"""Coding agents' log events: attempts and their bounds, calls, exit codes, tokens, and what ties records together."""

from __future__ import annotations

from typing import Any

import pytest

from semconv.facts import Facts
from semconv.resolve import event_name_of, facts_of, facts_of_log
from semconv.words import Words
from tests.semconv.build import log, span
from tests.semconv.recorded import capture

WORDS = Words()
CLAUDE, CODEX = "com.anthropic.claude_code.events", "codex_otel.log_only"


def claude(name: str, **attributes: Any) -> Facts:
    sent = {"event.name": name, "session.id": "s-1", "prompt.id": "p-1", "event.sequence": 4, **attributes}
    return facts_of_log(log(sent, scope=CLAUDE, body=f"claude_code.{name}"), WORDS)


def test_claude_code_prompts_begin_and_answers_end_an_attempt() -> None:
    asked = claude("user_prompt", prompt="Fix it")
    assert (asked.operation, asked.boundary, asked.attempt, asked.sequence) == ("agent", "start", "p-1", 4)
    assert (asked.agent, asked.conversation_id, asked.join_keys) == ("claude-code", "s-1", ("claude_code=p-1",))
    assert [part.text for message in asked.messages_in for part in message.parts] == ["Fix it"]
    said = claude("assistant_response", response="Fixed.")
    assert (said.operation, said.boundary) == ("chat", "end")
    assert [part.text for message in said.messages_out for part in message.parts] == ["Fixed."]


def test_claude_code_withheld_text_is_no_text() -> None:
    assert claude("user_prompt", prompt="<REDACTED>", prompt_text="<REDACTED>").messages_in == ()


def test_claude_code_tool_results_say_success_as_text() -> None:
    sent = {"tool_name": "Bash", "tool_use_id": "c-1", "tool_input": '{"command": "pytest"}', "duration_ms": "364"}
    failed = claude("tool_result", success="false", error="Shell command failed", error_type="ShellError", **sent)
    assert (failed.operation, failed.tool, failed.call_id, failed.input) == (
        "tool",
        "Bash",
        "c-1",
        {"command": "pytest"},
    )
    assert (failed.status, failed.error, failed.error_type) == ("error", "Shell command failed", "ShellError")
    assert (failed.duration_ns, failed.output) == (364_000_000, None)
    assert claude("tool_result", success="true", **sent).status == "ok"


def test_claude_code_counts_cached_tokens_as_input() -> None:
    sent = {"input_tokens": 100, "output_tokens": 20, "cache_read_tokens": 64, "cache_creation_tokens": 30}
    facts = claude("api_request", model="claude", cost_usd=0.5, **sent)
    assert (facts.input_tokens, facts.output_tokens, facts.cost_usd, facts.model) == (194, 20, 0.5, "claude")


def test_claude_code_subagents_are_tied_to_what_started_them() -> None:
    inner = claude("assistant_response", response="done", agent_id="a-1", query_source="agent:builtin:x")
    assert (inner.boundary, inner.join_keys) == ("", ("claude_code=p-1", "claude_code.agent=a-1"))
    notice = "<task-notification>\n<task-id>a-1</task-id>\n<tool-use-id>c-1</tool-use-id>"
    told = claude("user_prompt", prompt=notice)
    assert (told.boundary, told.flags, told.join_keys[1:]) == ("", ("continuation",), ("claude_code.agent=a-1",))
    sent = {"span.type": "interaction", "user_prompt": notice}
    interaction = facts_of(span(sent, scope="com.anthropic.claude_code.tracing"), WORDS)
    assert (interaction.join_keys, interaction.flags) == (("claude_code.agent=a-1",), ("continuation",))


def test_claude_code_events_of_no_step_are_known() -> None:
    assert (claude("plugin_loaded").dialect, claude("plugin_loaded").operation) == ("claude_code", "other")


def codex(name: str, **attributes: Any) -> Facts:
    sent = {"event.name": name, "conversation.id": "c-9", **attributes}
    return facts_of_log(log(sent, scope=CODEX, event_name="event otel/src/events.rs:12", time_ns=0), WORDS)


@pytest.mark.parametrize(
    ("output", "status", "text"),
    [
        ("Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n2 passed\n", "ok", "2 passed\n"),
        ("Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 1\nOutput:\n1 failed\n", "error", "1 failed\n"),
        ("Exit code: 2\nWall time: 0 seconds\nOutput:\nno such file", "error", "no such file"),
        ("Success. Updated the following files:\nM calc.py", "ok", "Success. Updated the following files:\nM calc.py"),
        ("Process exited with code 0\nOutput:\n", "ok", ""),
        ("Process exited with code 0\nOutput:\nProcess exited with code 1\n", "ok", "Process exited with code 1\n"),
    ],
)
def test_codex_says_success_whatever_the_exit_status(output: str, status: str, text: str) -> None:
    facts = codex("codex.tool_result", tool_name="exec_command", call_id="1", success="true", output=output)
    assert (facts.operation, facts.status, facts.output) == ("tool", status, text)
    assert ("error_from:exit_code" in facts.flags) is (status == "error")


def test_codex_records_are_tied_by_their_conversation() -> None:
    asked = codex("codex.user_prompt", prompt="Fix it")
    assert (asked.operation, asked.boundary, asked.agent, asked.join_keys) == (
        "agent",
        "start",
        "codex",
        ("codex=c-9",),
    )


def test_codex_counts_a_response_once() -> None:
    done = {"event.kind": "response.completed"}
    assert codex("codex.sse_event", **done).operation == "other"
    counted = codex("codex.sse_event", **done, input_token_count="100", output_token_count="20")
    assert (counted.operation, counted.input_tokens, counted.output_tokens) == ("chat", 100, 20)


def test_codex_spans_are_no_steps_and_tie_nothing() -> None:
    spans, _ = capture("codex_cli")
    found = [facts_of(one, WORDS) for one in spans]
    assert {(facts.dialect, facts.operation, facts.join_keys) for facts in found} == {("codex", "other", ())}


@pytest.mark.parametrize(
    ("scope", "prefix", "dialect"),
    [("gemini-cli", "gemini_cli", "gemini_cli"), ("qwen-code", "qwen-code", "qwen_code")],
)
def test_gemini_and_its_fork(scope: str, prefix: str, dialect: str) -> None:
    common = {"session.id": "s-1", "prompt_id": "s-1########2"}
    asked = facts_of_log(log({**common, "event.name": f"{prefix}.user_prompt", "prompt": "Fix it"}, scope=scope), WORDS)
    assert (asked.dialect, asked.operation, asked.boundary, asked.attempt) == (
        dialect,
        "agent",
        "start",
        "s-1########2",
    )
    tied = {"gemini_cli": "gemini_cli=s-1", "qwen_code": "qwen_code=s-1########2"}
    assert asked.join_keys == (tied[dialect],)
    call = {
        **common,
        "event.name": f"{prefix}.tool_call",
        "function_name": "run_shell_command",
        "function_args": '{\n  "command": "pytest"\n}',
        "success": True,
        "metadata": '{"exitCode": 1, "isError": true}',
        "duration_ms": 9,
    }
    ran = facts_of_log(log(call, scope=scope), WORDS)
    assert (ran.operation, ran.tool, ran.input) == ("tool", "run_shell_command", {"command": "pytest"})
    assert (ran.status, ran.duration_ns) == ("error", 9_000_000)


def test_gemini_says_what_the_model_answered_in_the_models_role() -> None:
    sent = {
        "event.name": "gemini_cli.api_response",
        "model": "gemini",
        "input_token_count": 100,
        "response_text": '[{"candidates": [{"content": {"role": "model", "parts": [{"text": "Fixed."}]}}]}]',
    }
    facts = facts_of_log(log(sent, scope="gemini-cli"), WORDS)
    assert [(one.role, one.parts[0].text) for one in facts.messages_out] == [("assistant", "Fixed.")]


def test_the_name_of_an_event_is_the_attribute_before_the_field_before_the_body() -> None:
    assert event_name_of(log({"event.name": "a"}, event_name="b", body="c")) == "a"
    assert event_name_of(log({}, event_name="b", body="c")) == "b"
    assert event_name_of(log({}, body="c")) == "c"
    assert event_name_of(log({}, body="x" * 300)) == ""
    assert event_name_of(log({"event.name": 3}, body={"a": 1})) == ""


def test_message_events_of_older_instrumentations_belong_to_their_spans() -> None:
    _, logs = capture("otel_openai_v2_events")
    found = [facts_of_log(one, WORDS) for one in logs]
    assert {facts.operation for facts in found} == {"chat"}
    assert all(bool(facts.messages_in) != bool(facts.messages_out) for facts in found)
    roles = {message.role for facts in found for message in (*facts.messages_in, *facts.messages_out)}
    assert roles == {"system", "user", "assistant", "tool"}
