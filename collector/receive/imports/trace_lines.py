"""Numbered trace lines (`n`, `role`, `tool`, `input`, `output`, `text`, …), as passhat exports them and lessons write
them: one run a `run_id`, or one each time the numbers begin anew."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from collector.receive.imports.build import (
    SECOND_NS,
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
ROLES = {"user", "assistant", "tool", "result", "system"}
IDENTITY = ("task_id", "task_version", "task_class", "trial_id")


def recognises(first: Json) -> bool:
    return isinstance(first.get("n"), int) and first.get("role") in ROLES


def converted(records: list[Json], name: str, at_ns: int) -> Iterator[Json]:
    """One request a run. Lines without times are a second apart, the last one at `at_ns`."""
    for number, lines in enumerate(_runs(records)):
        yield _Run(lines, f"{name}#{number}", at_ns).request()


def _runs(records: list[Json]) -> Iterator[list[Json]]:
    run: list[Json] = []
    for line in records:
        if run and (line.get("run_id") != run[-1].get("run_id") or line.get("n", 0) <= run[-1].get("n", 0)):
            yield run
            run = []
        run.append(line)
    if run:
        yield run


class _Run:
    """One run on its way to spans: a root, a chat span for each thing said or asked for, a tool span for each call."""

    def __init__(self, lines: list[Json], name: str, at_ns: int) -> None:
        self._lines = lines
        self._run_id = str(lines[0].get("run_id") or "")
        self._trace = id_of(16, self._run_id or name)
        self._first_ns = at_ns - len(lines) * SECOND_NS
        self._answers = self._paired()

    def request(self) -> Json:
        spans = [self._root()]
        for index, line in enumerate(self._lines):
            if line.get("role") == "assistant":
                spans.append(self._chat(index, line))
                if line.get("tool"):
                    spans.append(self._tool(index, line))
        resource = {"service.name": "trace-lines"}
        return request_of(resource, "trace_lines", spans)

    def _paired(self) -> dict[int, int]:
        """The place of the tool line that answers each call: by call id, else the next one of the tool."""
        open_calls: list[int] = []
        found: dict[int, int] = {}
        for index, line in enumerate(self._lines):
            if line.get("role") == "assistant" and line.get("tool"):
                open_calls.append(index)
            elif line.get("role") == "tool":
                mine = [call for call in open_calls if self._answers_to(self._lines[call], line)]
                if mine:
                    found[mine[-1]] = index
                    open_calls.remove(mine[-1])
        return found

    @staticmethod
    def _answers_to(call: Json, line: Json) -> bool:
        if line.get("call_id") and call.get("call_id"):
            return bool(line["call_id"] == call["call_id"])
        return bool(line.get("tool") == call.get("tool"))

    def _times(self, index: int) -> tuple[int, int]:
        line = self._lines[index]
        start = nanoseconds(line.get("start")) or self._first_ns + index * SECOND_NS
        return start, nanoseconds(line.get("end")) or start

    def _root(self) -> Json:
        last = self._lines[-1]
        said = [line for line in self._lines if line.get("role") == "assistant" and line.get("text")]
        ended = last if last.get("role") == "result" else {}
        prompts = [message(line["role"], text_part(line.get("text", ""))) for line in self._before()]
        values: Json = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": last.get("agent") or "agent",
            "gen_ai.usage.cost": ended.get("cost_usd"),
            "gen_ai.input.messages": prompts,
            "gen_ai.output.messages": [message("assistant", text_part(said[-1]["text"]))] if said else None,
            "passhat.run.id": self._run_id,
            "passhat.run.end": True,
        }
        for name in IDENTITY:
            values[f"passhat.{name.replace('_', '.', 1)}"] = self._lines[0].get(name)
        subtype = ended.get("subtype", "success")
        error = "" if subtype == "success" else ended.get("error") or subtype
        times = (self._times(0)[0], max(self._times(index)[1] for index in range(len(self._lines))))
        return span_of((self._trace, id_of(8, self._trace, "root"), ""), "invoke_agent", times, values, error)

    def _before(self) -> list[Json]:
        """What was said before the agent's first line."""
        first = next((i for i, line in enumerate(self._lines) if line.get("role") == "assistant"), len(self._lines))
        return [line for line in self._lines[:first] if line.get("role") in ("user", "system")]

    def _chat(self, index: int, line: Json) -> Json:
        part = text_part(line.get("text", ""))
        if line.get("tool"):
            part = call_part(self._call_id(index), line["tool"], line.get("input", {}))
        heard = [
            message(said["role"], text_part(said.get("text", "")))
            if said["role"] != "tool"
            else message("tool", answer_part(said.get("call_id", ""), said.get("output")))
            for said in self._heard(index)
        ]
        values = {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": line.get("model"),
            "gen_ai.usage.input_tokens": line.get("input_tokens"),
            "gen_ai.usage.output_tokens": line.get("output_tokens"),
            "gen_ai.input.messages": heard or None,
            "gen_ai.output.messages": [message("assistant", part)],
        }
        start = self._times(index)[0]
        return span_of(self._ids("chat", index), "chat", (start, start), values)

    def _heard(self, index: int) -> Iterator[Json]:
        """What a user said since the agent's last line; answers of tools have spans of their own."""
        for line in reversed(self._lines[:index]):
            if line.get("role") == "assistant":
                return
            if line.get("role") in ("user", "system"):
                yield line

    def _tool(self, index: int, line: Json) -> Json:
        answer = self._answers.get(index)
        result = self._lines[answer] if answer is not None else {}
        values: Json = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": line["tool"],
            "gen_ai.tool.call.id": self._call_id(index),
            "gen_ai.tool.call.arguments": line.get("input", {}),
            "gen_ai.tool.call.result": result.get("output"),
        }
        times = (self._times(index)[0], self._times(answer if answer is not None else index)[1])
        failed = "error" in (result.get("status"), line.get("status"))
        error = result.get("error") or line.get("error") or ("error" if failed else "")
        return span_of(self._ids("tool", index), f"execute_tool {line['tool']}", times, values, error)

    def _call_id(self, index: int) -> str:
        return self._lines[index].get("call_id") or f"call_{self._lines[index].get('n', index)}"

    def _ids(self, kind: str, index: int) -> tuple[str, str, str]:
        return self._trace, id_of(8, self._trace, kind, index), id_of(8, self._trace, "root")
