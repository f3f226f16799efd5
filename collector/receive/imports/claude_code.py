"""Claude Code's session files (~/.claude/projects/*/*.jsonl): one run a prompt, as its telemetry tells them.

One JSON object a line: `type` user or assistant, `message` as the Messages API has it, `uuid`, `timestamp`,
`sessionId`, `version`. An answer is written block by block under one `message.id`; results of tools come as user
lines. Lines of sub-agents are marked `isSidechain`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from collector.receive.imports.build import (
    answer_part,
    call_part,
    id_of,
    message,
    nanoseconds,
    request_of,
    span_of,
    text_part,
)

Json = dict[str, Any]
TYPES = {"user", "assistant", "system", "summary", "attachment", "progress", "file-history-snapshot", "queue-operation"}
AGENT = "claude-code"


def recognises(first: Json) -> bool:
    known = first.get("type") in TYPES
    return known and bool({"sessionId", "parentUuid", "leafUuid", "messageId", "snapshot"} & first.keys())


def converted(records: list[Json], name: str, at_ns: int) -> Iterator[Json]:
    """One request a prompt. What comes before the first prompt belongs to none."""
    del name, at_ns  # sessions have ids and times of their own
    attempt: _Attempt | None = None
    for record in records:
        if record.get("type") not in ("user", "assistant") or not isinstance(record.get("message"), dict):
            continue
        if _is_prompt(record):
            if attempt is not None:
                yield attempt.request()
            attempt = _Attempt(record)
        elif attempt is not None:
            attempt.add(record)
    if attempt is not None:
        yield attempt.request()


def _is_prompt(record: Json) -> bool:
    if record["type"] != "user" or record.get("isMeta") or record.get("isSidechain"):
        return False
    return not any(block.get("type") == "tool_result" for block in _blocks(record))


def _blocks(record: Json) -> list[Json]:
    content = record["message"].get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content or () if isinstance(block, dict)]


def _text(blocks: list[Json]) -> str:
    return "\n".join(str(block.get("text", "")) for block in blocks if block.get("type") == "text")


class _Attempt:
    """A prompt and the work it set off."""

    def __init__(self, prompt: Json) -> None:
        self._prompt = prompt
        self._session = str(prompt.get("sessionId") or "")
        self._trace = id_of(16, self._session, prompt.get("uuid"))
        self._root = id_of(8, self._trace, "root")
        self._answers: dict[str, list[Json]] = {}  # lines by message id, in order
        self._results: dict[str, tuple[Json, Json]] = {}  # block and line by tool_use id
        self._sidechain: dict[str, bool] = {}
        self._last_ns = self._first_ns = nanoseconds(prompt.get("timestamp"))

    def add(self, record: Json) -> None:
        self._last_ns = max(self._last_ns, nanoseconds(record.get("timestamp")))
        if record["type"] == "assistant":
            key = str(record["message"].get("id") or record.get("uuid"))
            self._answers.setdefault(key, []).append(record)
            self._sidechain[key] = bool(record.get("isSidechain"))
            return
        for block in _blocks(record):
            if block.get("type") == "tool_result":
                self._results[str(block.get("tool_use_id"))] = (block, record)

    def request(self) -> Json:
        spans = [self._root_span()]
        before_ns = self._first_ns
        heard = [message("user", text_part(_text(_blocks(self._prompt))))]
        for key, lines in self._answers.items():
            ends_ns = nanoseconds(lines[-1].get("timestamp")) or before_ns
            spans.append(self._chat(key, lines, (min(before_ns, ends_ns), ends_ns), heard))
            calls = [block for line in lines for block in _blocks(line) if block.get("type") == "tool_use"]
            spans += [self._tool(key, call, ends_ns) for call in calls]
            answered = [self._results[str(call.get("id"))] for call in calls if str(call.get("id")) in self._results]
            heard = [message("tool", answer_part(str(b.get("tool_use_id")), _result(b))) for b, _ in answered]
            before_ns = max([ends_ns, *(nanoseconds(line.get("timestamp")) for _, line in answered)])
        if any(self._sidechain.values()):
            times = (self._first_ns, self._last_ns)
            values = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "subagent"}
            spans.append(span_of((self._trace, self._parent(True), self._root), "invoke_agent", times, values))
        resource = {"service.name": AGENT, "service.version": self._prompt.get("version")}
        return request_of(resource, "claude_code.session", spans)

    def _parent(self, sidechain: bool) -> str:
        return id_of(8, self._trace, "subagent") if sidechain else self._root

    def _root_span(self) -> Json:
        mine = [lines for key, lines in self._answers.items() if not self._sidechain[key]]
        final = _text([block for line in mine[-1] for block in _blocks(line)]) if mine else ""
        failed = bool(mine) and bool(mine[-1][-1].get("isApiErrorMessage"))
        values = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": AGENT,
            "gen_ai.conversation.id": self._session,
            "gen_ai.input.messages": [message("user", text_part(_text(_blocks(self._prompt))))],
            "gen_ai.output.messages": [message("assistant", text_part(final))] if final else None,
            "passhat.run.end": True,
        }
        times = (self._first_ns, self._last_ns)
        ids = (self._trace, self._root, "")
        return span_of(ids, f"invoke_agent {AGENT}", times, values, final if failed else "")

    def _chat(self, key: str, lines: list[Json], times: tuple[int, int], heard: list[Json]) -> Json:
        parts = []
        for block in (block for line in lines for block in _blocks(line)):
            if block.get("type") == "text":
                parts.append(text_part(str(block.get("text", ""))))
            elif block.get("type") == "tool_use":
                parts.append(call_part(str(block.get("id")), str(block.get("name")), block.get("input", {})))
        said = lines[-1]["message"]
        usage = said.get("usage") or {}
        cached = (usage.get("cache_read_input_tokens") or 0) + (usage.get("cache_creation_input_tokens") or 0)
        values = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "anthropic",
            "gen_ai.request.model": said.get("model"),
            "gen_ai.response.id": said.get("id"),
            "gen_ai.usage.input_tokens": (usage.get("input_tokens") or 0) + cached if usage else None,
            "gen_ai.usage.output_tokens": usage.get("output_tokens"),
            "gen_ai.input.messages": heard,
            "gen_ai.output.messages": [message("assistant", *parts)],
        }
        ids = (self._trace, id_of(8, self._trace, key), self._parent(self._sidechain[key]))
        return span_of(ids, f"chat {said.get('model')}", times, values)

    def _tool(self, key: str, call: Json, start_ns: int) -> Json:
        call_id = str(call.get("id"))
        block, line = self._results.get(call_id, ({}, {}))
        values = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": call.get("name"),
            "gen_ai.tool.call.id": call_id,
            "gen_ai.tool.call.arguments": call.get("input", {}),
            "gen_ai.tool.call.result": _result(block) if block else None,
        }
        end_ns = nanoseconds(line.get("timestamp")) if line else start_ns
        ids = (self._trace, id_of(8, self._trace, call_id), self._parent(self._sidechain[key]))
        error = str(_result(block)) or "error" if block.get("is_error") else ""
        return span_of(ids, f"execute_tool {call.get('name')}", (start_ns, end_ns), values, error)


def _result(block: Json) -> object:
    """What a tool gave: its text, where it is nothing but text."""
    content = block.get("content", "")
    if isinstance(content, list) and all(isinstance(one, dict) and one.get("type") == "text" for one in content):
        return "\n".join(str(one.get("text", "")) for one in content)
    return content
