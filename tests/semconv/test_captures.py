"""Every recorded emitter: what its spans and logs hold of the expected lines is found; what it does not send is said.

Lines are put together by assembly; here each expected call, result, error and text must be among the facts.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

import pytest

from semconv.facts import Facts
from semconv.resolve import facts_of, facts_of_log
from semconv.words import Words
from tests.semconv.recorded import CAPTURES, capture, meta

WORDS = Words()

NO_CONTENT = {"inputs", "outputs", "texts"}
# What the emitters do not send, with the reason; anything missing beyond it is a fault of ours, anything less too.
NOT_SENT: dict[str, tuple[set[str], str]] = {
    "agento11y_openai_agents": ({"inputs", "ids", "errors", "texts"}, "generations go to an ingest of its own"),
    "autogen_native": ({"texts"}, "the system message is in no span"),
    "claude_code_default": ({*NO_CONTENT, "ids", "errors"}, "content off; a rejected edit emits nothing"),
    "claude_code_full": (
        {"inputs", "outputs", "ids", "errors"},
        "a rejected edit emits nothing, a failing shell command no output; Edit is sent with its default replace_all",
    ),
    "claude_code_subagent": (
        {"inputs", "outputs", "ids", "errors", "texts"},
        "as claude_code_full; the subagent's prompt is in the arguments of its call alone",
    ),
    "codex_cli": ({"texts"}, "no answer of the model is logged"),
    "edge_openinference_attr_count_limit": ({"texts"}, "the SDK dropped the oldest attributes"),
    "fastmcp_native": ({"outputs"}, "MCP spans carry names only"),
    "google_adk_default": ({*NO_CONTENT, "errors"}, "content off; failures are told in results alone"),
    "langsmith_claude_agent_sdk": ({"inputs"}, "Edit is sent with its default replace_all"),
    "logfire_openai_agents": ({"outputs"}, "the SDK redacts a tool's error text"),
    "opencode": ({"outputs", "ids", "texts"}, "files come with line numbers; the process ended before its last flush"),
    "openinference_claude_agent_sdk": ({"inputs"}, "Edit is sent with its default replace_all"),
    "openinference_openai_agents": ({"outputs"}, "the SDK redacts a tool's error text"),
    "openinference_openai_agents_coding": ({"outputs"}, "the SDK redacts a tool's error text"),
    "otel_contrib_openai_agents_v2_old": ({"outputs", "texts"}, "no instructions; the SDK redacts error text"),
    "otel_genai_openai_agents": ({"outputs", "ids", "texts"}, "no chat spans, no call ids; the SDK redacts error text"),
    "otel_genai_openai_agents_nocontent": ({*NO_CONTENT, "ids"}, "content off, no chat spans, no call ids"),
    "otel_genai_openai_default": ({*NO_CONTENT, "tools", "ids", "errors"}, "content off, and calls are content"),
    "otel_genai_smolagents": ({"tools", "inputs", "outputs", "ids", "errors"}, "only the agent's span is sent"),
    "otel_openai_v2_nocontent": ({*NO_CONTENT, "errors"}, "content off: ids and names are left"),
}


class Call(NamedTuple):
    tool: str
    call_id: str
    value: Any


class Answer(NamedTuple):
    tool: str
    call_id: str
    value: Any
    failed: bool
    error: str


class Told(NamedTuple):
    """All that the facts of a capture hold."""

    calls: list[Call]
    answers: list[Answer]
    texts: list[str]


def facts_in(name: str) -> list[Facts]:
    spans, logs = capture(name)
    return [*(facts_of(span, WORDS) for span in spans), *(facts_of_log(log, WORDS) for log in logs)]


def told_in(name: str) -> Told:
    calls: list[Call] = []
    answers: list[Answer] = []
    texts: list[str] = []
    for facts in facts_in(name):
        if facts.operation == "tool":
            calls.append(Call(facts.tool, facts.call_id, plain(facts.input)))
            failed = facts.status == "error"
            answers.append(Answer(facts.tool, facts.call_id, plain(facts.output), failed, facts.error))
        texts.append(facts.final_text)
        for message in (*facts.messages_in, *facts.messages_out):
            for part in message.parts:
                if part.kind == "tool_call":
                    calls.append(Call(part.tool, part.call_id, plain(part.value)))
                elif part.kind == "tool_result":
                    tool = part.tool or next((call.tool for call in calls if call.call_id == part.call_id), "")
                    answers.append(Answer(tool, part.call_id, plain(part.value), part.error, ""))
                elif part.kind == "text":
                    texts.append(part.text)
    return Told(calls, answers, texts)


def plain(value: Any) -> Any:
    """JSON text as its value and 900.0 as 900: emitters differ in both."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return plain(json.loads(value))
        except ValueError:
            return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


def expected_of(name: str) -> list[dict[str, Any]]:
    found = meta(name)
    runs = found.get("expected_runs") or [found.get("expected", [])]
    return [line for run in runs for line in run]


def missing_in(name: str) -> set[str]:
    told = told_in(name)
    missing: set[str] = set()
    for line in expected_of(name):
        if line["role"] == "assistant" and line.get("tool"):
            missing |= _missing_of_call(line, told)
        elif line["role"] == "tool":
            missing |= _missing_of_answer(line, told)
        elif (
            line["role"] != "result" and line.get("text") and not any(line["text"].strip() in one for one in told.texts)
        ):
            missing.add("texts")
    return missing


def _missing_of_call(line: dict[str, Any], told: Told) -> set[str]:
    named = [call for call in told.calls if call.tool == line["tool"]]
    missing = set() if named else {"tools"}
    if not any(call.value == plain(line["input"]) for call in named):
        missing.add("inputs")
    if line.get("call_id") and not any(call.call_id == line["call_id"] for call in named):
        missing.add("ids")
    return missing


def _missing_of_answer(line: dict[str, Any], told: Told) -> set[str]:
    answers = [one for one in told.answers if one.tool == line["tool"]]
    missing = set()
    wanted = line.get("output", line.get("output_contains"))
    if wanted is not None and not any(_says(one, wanted) for one in answers):
        missing.add("outputs")
    mine = [one for one in answers if not one.call_id or one.call_id == line.get("call_id")] or answers
    if line["error"] and not any(one.failed for one in mine):
        missing.add("errors")
    return missing


def _says(answer: Answer, wanted: Any) -> bool:
    if answer.value == plain(wanted):
        return True
    text = answer.value if isinstance(answer.value, str) else json.dumps(answer.value)
    return isinstance(wanted, str) and (wanted.strip() in text or (answer.failed and wanted in answer.error))


@pytest.mark.parametrize("name", CAPTURES)
def test_all_that_an_emitter_sends_is_found(name: str) -> None:
    assert missing_in(name) == NOT_SENT.get(name, (set(), ""))[0]


@pytest.mark.parametrize("name", CAPTURES)
def test_what_worked_is_no_failure(name: str) -> None:
    worked = {line.get("call_id") for line in expected_of(name) if line["role"] == "tool" and not line["error"]}
    wrong = [one for one in told_in(name).answers if one.failed and one.call_id and one.call_id in worked]
    assert wrong == []


@pytest.mark.parametrize("name", CAPTURES)
def test_no_dialect_breaks_on_what_is_really_sent(name: str) -> None:
    assert [facts for facts in facts_in(name) if "dialect_error" in facts.flags] == []


# The dialect that reads an emitter's spans, and the one that reads its log events where that is another.
DIALECTS = {
    "agent_framework": {"agent_framework"},
    "agento11y_openai_agents": {"otel_genai"},
    "ai_sdk_v5": {"ai_sdk"},
    "ai_sdk_v6": {"ai_sdk"},
    "ai_sdk_v7_otel": {"otel_genai"},
    "autogen_native": {"autogen"},
    "claude_code_default": {"claude_code"},
    "claude_code_full": {"claude_code"},
    "claude_code_subagent": {"claude_code"},
    "codex_cli": {"codex"},
    "copilot_cli": {"copilot"},
    "edge_openinference_attr_count_limit": {"openinference"},
    "fastmcp_native": {"mcp"},
    "gemini_cli": {"gemini_cli"},
    "google_adk_default": {"google_adk"},
    "google_adk_latest": {"google_adk"},
    "google_adk_v1_14_old": {"google_adk"},
    "handmade_gen_ai_evaluation": {"otel_genai"},
    "langfuse_openai": {"langfuse"},
    "langsmith_claude_agent_sdk": {"langsmith"},
    "langsmith_otel_wrappers": {"langsmith"},
    "litellm_otel": {"litellm"},
    "lmnr_openai": {"laminar"},
    "logfire_openai_agents": {"logfire_openai_agents"},
    "mastra_otel": {"mastra"},
    "mlflow_langgraph": {"mlflow"},
    "opencode": {"opencode"},
    "openinference_anthropic": {"openinference", "otel_genai"},
    "openlit_openai": {"openlit"},
    "otel_contrib_openai_agents_v2_old": {"openai_agents"},
    "openllmetry_anthropic": {"otel_genai"},
    "openllmetry_crewai": {"crewai"},
    "openllmetry_langchain": {"traceloop", "otel_genai"},
    "openllmetry_mcp": {"traceloop"},
    "openllmetry_openai": {"otel_genai"},
    "openllmetry_openai_old_indexed": {"openllmetry"},
    "openllmetry_traceloop_sdk": {"traceloop", "otel_genai"},
    "qwen_code": {"qwen_code"},
    "semantic_kernel": {"semantic_kernel"},
    "strands_default": {"strands"},
    "strands_latest": {"strands"},
}


def _dialects_for(name: str) -> set[str]:
    if "pydantic_ai" in name and "openinference" not in name:
        return {"pydantic-ai"}
    if name.startswith("openinference"):
        return DIALECTS.get(name, {"openinference"})
    return DIALECTS.get(name, {"otel_genai"})


@pytest.mark.parametrize("name", CAPTURES)
def test_each_emitter_is_read_by_its_own_dialect(name: str) -> None:
    read = {facts.dialect for facts in facts_in(name) if facts.operation not in ("", "other")}
    read |= {facts.dialect for facts in facts_in(name) if facts.evaluations}
    assert read == _dialects_for(name)


ORDERS = {(100, 20), (150, 21), (200, 22), (250, 23), (300, 24)}
CODING = {*ORDERS, (350, 25)}
# Anthropic counts cached tokens apart from the input; what is found is the sum, as the convention has it.
ANTHROPIC = {(130, 20), (214, 21), (264, 22), (314, 23), (364, 24)}
CLAUDE_CODE = {*ANTHROPIC, (414, 25)}
TOKENS = {
    **dict.fromkeys(
        ("copilot_cli", "codex_cli", "gemini_cli", "qwen_code", "openinference_openai_agents_coding"), CODING
    ),
    **dict.fromkeys(("openinference_anthropic", "openllmetry_anthropic"), ANTHROPIC),
    **dict.fromkeys(("claude_code_default", "claude_code_full", "claude_code_subagent"), CLAUDE_CODE),
    "langsmith_claude_agent_sdk": {(100, 20), *CLAUDE_CODE} - {(130, 20)},
    "edge_pydantic_ai_crash": ORDERS - {(300, 24)},
    "opencode": ORDERS - {(300, 24)},
}
NO_TOKENS = (
    *("edge_pydantic_ai_apierror", "fastmcp_native", "handmade_gen_ai_evaluation", "openinference_claude_agent_sdk"),
    *("openllmetry_crewai", "openllmetry_mcp", "otel_genai_llama_index", "otel_genai_openai_agents"),
    *("otel_genai_openai_agents_nocontent", "otel_genai_smolagents"),
)


@pytest.mark.parametrize("name", CAPTURES)
def test_tokens_of_model_calls_are_those_the_model_reported(name: str) -> None:
    chats = [facts for facts in facts_in(name) if facts.operation == "chat"]
    counted = {(facts.input_tokens, facts.output_tokens) for facts in chats if facts.input_tokens is not None}
    assert counted == (set() if name in NO_TOKENS else TOKENS.get(name, ORDERS))


@pytest.mark.parametrize("name", CAPTURES)
def test_an_agent_has_the_same_name_in_each_run(name: str) -> None:
    """Tasks that nobody named are called by their agent: a random id in it would make each run a task of its own."""
    agents = {facts.agent for facts in facts_in(name)}
    assert {agent for agent in agents if re.search(r"[0-9a-f]{8}|[0-9]{4}", agent)} == set()
