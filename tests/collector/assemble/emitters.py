"""Where a recorded emitter's lines cannot be, or are not, what its script says (`expected` in meta.json), and why.

Everything else must be equal. A line is named by its number in `expected`, of the second run as "2/3".
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class Text(Struct, frozen=True):
    """A text of which only a part is the script's."""

    part: str


class Deviation(Struct, frozen=True):
    """`why` in words; the rest as data.

    `joined`: each request is a trace of its own, so the run's id is given on the resource, as the documentation says.
    `absent`: lines that are not on the wire. `changed`: what fields hold instead ("*" for every call or result).
    `added`: lines on the wire beyond the script, each after the numbered line ("0": at the start).
    `in_turn`: no request is reported, so calls of one message that were made in turn are told in turn.
    `paired`: the script lists a call and its result as one line.
    """

    why: str
    joined: bool = False
    absent: tuple[str, ...] = ()
    changed: dict[str, dict[str, Any]] = {}
    added: tuple[tuple[str, dict[str, Any]], ...] = ()
    in_turn: bool = False
    paired: bool = False


RESULTS = ("5", "6", "8", "10", "12")
REPLACE_ALL = {"replace_all": False}
ADK_SYSTEM = {"1": {"text": Text("You are a support agent. Use the tools. Be brief.\n\nYou are an agent.")}}
NO_INPUT = {"input": None}
OWN_SYSTEM = {"role": "system", "text": Text("")}

# Two scripts, one run: what is inside the caller's call is told inside its run.
NESTED: dict[str, str] = {
    "edge_pydantic_ai_multi": "nothing: the agent called as a tool is told inside its caller's run, one deeper",
    "claude_code_subagent": "as with all content flags; the subagent's prompt is in its call's arguments alone, "
    "its answer nowhere",
}

DEVIATIONS: dict[str, Deviation] = {
    "agento11y_openai_agents": Deviation(
        "texts, arguments and call ids go to an ingest of its own; a failed tool is not flagged",
        joined=True,
        absent=("1", "2", "13"),
        changed={
            "*": {"input": None, "call_id": ""},
            "10": {
                "error": False,
                "call_id": "",
                "output": "An error occurred while running the tool. Please try again. "
                "Error: amount 900.0 exceeds order total 120.0",
            },
            "14": {"text": ""},
        },
    ),
    "autogen_native": Deviation("the system message is in no span", absent=("1",)),
    "claude_code_default": Deviation(
        "content is off; an edit that fails its check is in no event, of a failed command only the error's type",
        absent=("1", "4", "5", "8", "9", "11", "13", "14"),
        changed={"*": NO_INPUT, "7": {"output_contains": None}, "15": {"text": ""}},
    ),
    "claude_code_full": Deviation(
        "an edit that fails its check is in no span and no event; a failed command's output neither; Edit comes with "
        "its default replace_all",
        absent=("8", "9"),
        changed={"7": {"output_contains": None}, "10": {"input+": REPLACE_ALL}},
    ),
    "codex_cli": Deviation("no answer of the model is logged", absent=("14",), changed={"15": {"text": ""}}),
    "copilot_cli": Deviation(
        "its own system prompt is there too; the prompt comes with the time before it",
        changed={"1": {"text": Text("The tests in calc.py fail. Fix add() and run pytest.")}},
        added=(("0", {"role": "system", "text": Text("You are the GitHub Copilot CLI")}),),
    ),
    "edge_openinference_attr_count_limit": Deviation(
        "the SDK dropped the oldest attributes, the system message with them", absent=("1",)
    ),
    "edge_pydantic_ai_apierror": Deviation(
        "nothing; the script gives the error in its own words", changed={"2": {"text": Text("rate_limit_exceeded")}}
    ),
    "fastmcp_native": Deviation(
        "MCP spans carry names only, so there is no result but of the failed call; no agent reports its own calls",
        paired=True,
        absent=("1r", "2r", "3r", "5r"),
        changed={"*": NO_INPUT, "4r": {"output": Text("exceeds order total")}},
        added=(("5r", {"role": "result", "text": "", "subtype": "success"}),),
    ),
    "gemini_cli": Deviation("its own system prompt is there too", added=(("0", OWN_SYSTEM),)),
    "google_adk_default": Deviation(
        "content is off; failures are told in results alone",
        absent=("1", "2", *RESULTS, "13", "2/1", "2/2"),
        changed={"*": NO_INPUT, "14": {"text": ""}, "2/3": {"text": ""}},
    ),
    "google_adk_latest": Deviation("ADK adds to the instruction", changed=ADK_SYSTEM),
    "google_adk_v1_14_old": Deviation("ADK adds to the instruction", changed=ADK_SYSTEM),
    "langsmith_claude_agent_sdk": Deviation(
        "Edit comes with its default replace_all; it says 7 turns and shows 6",
        changed={
            "8": {"input+": REPLACE_ALL},
            "10": {"input+": REPLACE_ALL},
            "15": {"num_turns": 7},
        },
    ),
    "litellm_otel": Deviation("each request is a trace of its own", joined=True),
    "openllmetry_openai": Deviation("each request is a trace of its own", joined=True),
    "openllmetry_openai_old_indexed": Deviation("each request is a trace of its own", joined=True),
    "otel_genai_openai_span_and_event": Deviation("each request is a trace of its own", joined=True),
    "otel_genai_openai_default": Deviation(
        "each request is a trace of its own, and content is off: not even the tools' names",
        joined=True,
        absent=tuple(str(number) for number in range(1, 14)),
        changed={"14": {"text": ""}},
    ),
    "openinference_claude_agent_sdk": Deviation(
        "a failed command's output is told as its error; Edit comes with its default replace_all; each of two parallel "
        "calls is a message of its own, and so a turn; its token counts are wrong and left out",
        changed={
            "7": {"output_contains": None},
            "8": {"input+": REPLACE_ALL},
            "10": {"input+": REPLACE_ALL},
            "15": {"num_turns": 7},
        },
    ),
    "openinference_crewai": Deviation(
        "CrewAI writes its own prompts around the task",
        changed={"1": {"text": Text("Refund order A-1001 in full and tell me the weather in Paris.")}},
        added=(("0", {"role": "system", "text": Text("You are support_agent.")}),),
    ),
    "openinference_openai_agents_coding": Deviation(
        "the SDK hides a tool's error text",
        changed={"10": {"output": "An error occurred while running the tool. Please try again."}},
    ),
    "openinference_smolagents": Deviation(
        "smolagents writes its own system prompt, and answers by a tool",
        changed={"1": {"text": Text("Refund order A-1001 in full and tell me the weather in Paris.")}},
        added=(("0", OWN_SYSTEM),),
    ),
    "openllmetry_crewai": Deviation(
        "no requests and no tools: the crew's span tells its conversation once it is done; CrewAI writes its own words "
        "around the task and errors",
        changed={
            "1": {"text": Text("Refund order A-1001 in full and tell me the weather in Paris.")},
            "9": {"output": Text("amount 900.0 exceeds order total 120.0")},
        },
        added=(("0", {"role": "system", "text": Text("You are support_agent.")}),),
    ),
    "openllmetry_mcp": Deviation(
        "no agent reports its own calls",
        paired=True,
        added=(("5r", {"role": "result", "text": "", "subtype": "success"}),),
    ),
    "opencode": Deviation(
        "its own system prompt is there too, the user's text comes in quotes, its read tool numbers the lines; the "
        "last batch was lost with the process",
        absent=("12", "13", "14", "15"),
        changed={"4": {"output": Text("def add(a, b):")}, "5": {"output": Text("from calc import add")}},
        added=(("0", {"role": "system", "text": Text("You are opencode")}),),
    ),
    "otel_genai_llama_index": Deviation(
        "no requests to the model are reported", in_turn=True, changed={"14": {"num_turns": None}}
    ),
    "otel_genai_openai_agents": Deviation(
        "no requests to the model are reported, no texts and no call ids",
        absent=("1", "2", "13", "2/1", "2/2"),
        changed={
            "*": {"call_id": ""},
            "14": {"text": "", "num_turns": None},
            "2/3": {"text": "", "num_turns": None},
        },
    ),
    "otel_genai_openai_agents_nocontent": Deviation(
        "content is off; no requests to the model are reported and no call ids; of a failed tool there is the error",
        absent=("1", "2", "5", "6", "8", "12", "13", "2/1", "2/2"),
        changed={
            "*": {"call_id": "", "input": None},
            "10": {"call_id": "", "output": None},
            "14": {"text": "", "num_turns": None},
            "2/3": {"text": "", "num_turns": None},
        },
    ),
    "otel_genai_smolagents": Deviation(
        "one span, the agent's: its calls are not reported",
        absent=tuple(str(number) for number in range(2, 12)),
        changed={"13": {"num_turns": None}},
    ),
    "otel_contrib_openai_agents_v2_old": Deviation("the instructions are in no span", absent=("1",)),
    "otel_openai_v2_nocontent": Deviation(
        "content is off: names and ids of calls, no texts, arguments or results",
        absent=("1", "2", *RESULTS, "13"),
        changed={"*": NO_INPUT, "14": {"text": ""}},
    ),
    "qwen_code": Deviation(
        "its own system prompt is there too", added=(("0", {"role": "system", "text": Text("You are Qwen Code")}),)
    ),
}

# Input and output tokens of the first run, where they are not those of its script.
TOKENS: dict[str, tuple[int, int]] = {
    "claude_code_default": (1700, 135),  # input is told without what was cached: added
    "claude_code_full": (1700, 135),
    "claude_code_subagent": (2044, 176),
    "edge_pydantic_ai_crash": (700, 86),  # as far as it got
    "edge_pydantic_ai_multi": (1250, 151),  # both agents
    "langsmith_claude_agent_sdk": (1670, 135),  # what was cached is added, what was written to the cache is not told
    "opencode": (700, 86),  # the last batch was lost
    "openinference_anthropic": (1286, 110),  # as for Claude Code
    "openllmetry_anthropic": (1286, 110),
}

# Emitters that send no tokens, or (openinference_claude_agent_sdk) wrong ones.
NO_TOKENS = (
    "edge_pydantic_ai_apierror",
    "fastmcp_native",
    "handmade_gen_ai_evaluation",
    "openinference_claude_agent_sdk",
    "openllmetry_mcp",
    "otel_genai_llama_index",
    "otel_genai_openai_agents",
    "otel_genai_openai_agents_nocontent",
    "otel_genai_smolagents",
)

# The package whose version counts.
PACKAGES: dict[str, str] = {
    "agent_framework": "agent-framework-core",
    "agento11y_openai_agents": "agento11y",
    "ai_sdk_v5": "ai",
    "ai_sdk_v6": "ai",
    "ai_sdk_v7_otel": "ai",
    "autogen_native": "autogen-core",
    "claude_code_default": "@anthropic-ai/claude-code",
    "claude_code_full": "@anthropic-ai/claude-code",
    "claude_code_subagent": "@anthropic-ai/claude-code",
    "codex_cli": "@openai/codex",
    "copilot_cli": "@github/copilot",
    "edge_openinference_attr_count_limit": "openinference-instrumentation-openai",
    "edge_pydantic_ai_apierror": "pydantic-ai-slim",
    "edge_pydantic_ai_crash": "pydantic-ai-slim",
    "edge_pydantic_ai_grpc": "pydantic-ai-slim",
    "edge_pydantic_ai_multi": "pydantic-ai-slim",
    "edge_pydantic_ai_split": "pydantic-ai-slim",
    "fastmcp_native": "fastmcp",
    "gemini_cli": "@google/gemini-cli",
    "google_adk_default": "google-adk",
    "google_adk_latest": "google-adk",
    "google_adk_v1_14_old": "google-adk",
    "langfuse_openai": "langfuse",
    "langsmith_claude_agent_sdk": "langsmith",
    "langsmith_otel_wrappers": "langsmith",
    "litellm_otel": "litellm",
    "lmnr_openai": "lmnr",
    "logfire_openai_agents": "logfire",
    "logfire_pydantic_ai": "logfire",
    "mastra_otel": "@mastra/core",
    "mlflow_langgraph": "mlflow",
    "opencode": "opencode-ai",
    "openinference_anthropic": "openinference-instrumentation-anthropic",
    "openinference_claude_agent_sdk": "openinference-instrumentation-claude-agent-sdk",
    "openinference_crewai": "openinference-instrumentation-crewai",
    "openinference_langchain": "openinference-instrumentation-langchain",
    "openinference_openai": "openinference-instrumentation-openai",
    "openinference_openai_agents": "openinference-instrumentation-openai-agents",
    "openinference_openai_agents_coding": "openinference-instrumentation-openai-agents",
    "openinference_processor_pydantic_ai": "openinference-instrumentation-pydantic-ai",
    "openinference_smolagents": "openinference-instrumentation-smolagents",
    "openlit_openai": "openlit",
    "openllmetry_anthropic": "opentelemetry-instrumentation-anthropic",
    "openllmetry_crewai": "opentelemetry-instrumentation-crewai",
    "openllmetry_langchain": "opentelemetry-instrumentation-langchain",
    "openllmetry_mcp": "opentelemetry-instrumentation-mcp",
    "openllmetry_openai": "opentelemetry-instrumentation-openai",
    "openllmetry_openai_old_indexed": "opentelemetry-instrumentation-openai",
    "openllmetry_traceloop_sdk": "traceloop-sdk",
    "otel_contrib_openai_agents_v2_old": "opentelemetry-instrumentation-openai-agents-v2",
    "otel_genai_langchain": "opentelemetry-instrumentation-genai-langchain",
    "otel_genai_llama_index": "opentelemetry-instrumentation-genai-llama-index",
    "otel_genai_openai_agents": "opentelemetry-instrumentation-genai-openai-agents",
    "otel_genai_openai_agents_nocontent": "opentelemetry-instrumentation-genai-openai-agents",
    "otel_genai_openai_default": "opentelemetry-instrumentation-genai-openai",
    "otel_genai_openai_span_and_event": "opentelemetry-instrumentation-genai-openai",
    "otel_genai_smolagents": "opentelemetry-instrumentation-genai-smolagents",
    "otel_openai_v2_events": "opentelemetry-instrumentation-openai-v2",
    "otel_openai_v2_nocontent": "opentelemetry-instrumentation-openai-v2",
    "pydantic_ai_v1_ver1": "pydantic-ai",
    "pydantic_ai_v1_ver3": "pydantic-ai",
    "pydantic_ai_v2_default": "pydantic-ai-slim",
    "qwen_code": "@qwen-code/qwen-code",
    "semantic_kernel": "semantic-kernel",
    "strands_default": "strands-agents",
    "strands_latest": "strands-agents",
}
