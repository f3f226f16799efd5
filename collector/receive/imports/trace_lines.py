"""Numbered trace lines (`n`, `role`, `tool`, `input`, `output`, `text`, …), as passhat exports them and lessons write
them: one run a `run_id`, or one each time the numbers begin anew. A run's first line may say whose run it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from collector.receive.imports.build import (
    SECOND_NS,
    answer_part,
    attributes_of,
    call_part,
    id_of,
    message,
    nanoseconds,
    request_of,
    span_of,
    text_part,
)
from collector.receive.imports.line_scopes import Scopes
from semconv.evaluation import outcome_record, outcomes_request
from semconv.names import (
    ERROR_TYPE,
    EXPERIMENT_ID,
    INPUT_STATE,
    PROJECT,
    RETRY_OF,
    RUN_END,
    RUN_ID,
    TASK_CLASS,
    TASK_EXPECTED,
    TASK_ID,
    TASK_VERSION,
    TRIAL_ID,
    WORKSPACE_ID,
)

Json = dict[str, Any]
ROLES = {"user", "assistant", "tool", "result", "system"}
OK, ERROR = 1, 2
MS_NS = 1_000_000
# What a first line may say of its run, and the attribute that says it in telemetry.
IDENTITY = {
    "task_id": TASK_ID, "task_version": TASK_VERSION, "task_class": TASK_CLASS, "expected": TASK_EXPECTED,
    "trial_id": TRIAL_ID, "retry_of": RETRY_OF, "workspace_id": WORKSPACE_ID, "experiment_id": EXPERIMENT_ID,
}  # fmt: skip
RESOURCE = {
    "project": PROJECT, "service": "service.name", "service_version": "service.version",
    "environment": "deployment.environment.name",
}  # fmt: skip


def recognises(first: Json) -> bool:
    return isinstance(first.get("n"), int) and first.get("role") in ROLES


def converted(records: list[Json], name: str, at_ns: int) -> Iterator[Json]:
    """The requests of each run: its spans, and its outcomes. Lines without times are a second apart, up to `at_ns`."""
    for number, lines in enumerate(_runs(records)):
        yield from _Run(lines, f"{name}#{number}", at_ns).requests()


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
    """One run on its way to spans: a root, one for each agent within, each answer of a model and each call."""

    def __init__(self, lines: list[Json], name: str, at_ns: int) -> None:
        self._lines = lines
        self._first = lines[0]
        self._exported = "project" in lines[0]  # by passhat: what is not said there was not there
        self._run_id = str(lines[0].get("run_id") or "")
        self._trace = id_of(16, self._run_id or name, lines[0].get("project", ""))
        self._root_id = "" if lines[0].get("incomplete") else id_of(8, self._trace, "root")
        self._first_ns = at_ns - len(lines) * SECOND_NS
        self._answers = self._paired()
        self._scopes = Scopes(lines, self._root_id, lambda number: id_of(8, self._trace, "agent", number))

    def requests(self) -> Iterator[Json]:
        resource = {name: self._first.get(key) for key, name in RESOURCE.items()}
        resource["service.name"] = resource["service.name"] or ("" if self._exported else "trace-lines")
        if not self._root_id:
            resource |= self._identity()
        spans = [self._root()] if self._root_id else []
        spans += [self._agent(*one) for one in self._scopes.agents()]
        for turn in self._turns():
            if self._first.get("turns") != 0:  # 0: its calls were seen, and no answer of a model
                spans.append(self._chat(turn))
            spans += [self._tool(index) for index in turn if self._lines[index].get("tool")]
        yield request_of(resource, "trace_lines", [*spans, *self._silent()]) | self._origin()
        if self._first.get("outcomes"):
            outcomes = [self._outcome(one) for one in self._first["outcomes"]]
            yield outcomes_request(attributes_of(resource), outcomes) | self._origin()

    def _origin(self) -> Json:
        """Which run of which traces was exported, beside the request: where those are, it must not come again."""
        traces = sorted({str(line["trace_id"]) for line in self._lines if line.get("trace_id")})
        told = {"run_id": self._run_id, "project": str(self._first.get("project") or ""), "traces": traces}
        return {"origin": told} if self._run_id and traces else {}

    def _silent(self) -> Iterator[Json]:
        """Answers of models to the run's own agent of which no line tells, so that they are counted all the same."""
        told = sum(not self._lines[turn[0]].get("depth") for turn in self._turns())
        end = self._whole()[1]
        for number in range(max(0, self._first.get("turns", 0) - told)):
            ids = (self._trace, id_of(8, self._trace, "silent", number), self._root_id)
            yield span_of(ids, "chat", (end, end), {"gen_ai.operation.name": "chat"})

    def _turns(self) -> Iterator[list[int]]:
        """The lines of each answer of a model: neighbours of one message, else each alone."""
        turn: list[int] = []
        for index, line in enumerate(self._lines):
            is_said = line.get("role") == "assistant"
            if turn and not (is_said and self._of_one_message(turn, index)):
                yield turn
                turn = []
            if is_said:
                turn.append(index)
        if turn:
            yield turn

    def _of_one_message(self, turn: list[int], index: int) -> bool:
        """By message id; without one, a call that began after the one before it was answered and stands before that
        answer was asked for together with it."""
        before, line = self._lines[turn[-1]], self._lines[index]
        if before.get("agent") != line.get("agent") or before.get("depth") != line.get("depth"):
            return False
        if before.get("message_id") or line.get("message_id"):
            return bool(before.get("message_id") == line.get("message_id"))
        answer = self._answers.get(turn[-1])
        both = before.get("tool") and line.get("tool") and answer is not None and answer > index
        return bool(both and line.get("start") and self._times(index)[0] >= self._times(answer or 0)[0])

    def _outcome(self, told: Json) -> Json:
        place = (self._trace, self._root_id or id_of(8, self._trace, "none"))
        return outcome_record(
            place, self._run_id or self._trace, told, nanoseconds(told.get("time")) or self._whole()[1]
        )

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

    def _identity(self) -> Json:
        return {RUN_ID: self._run_id, **{name: self._first.get(key) for key, name in IDENTITY.items()}}

    def _root(self) -> Json:
        last = self._lines[-1]
        ended = last if last.get("role") == "result" else {}
        prompts = [message(line["role"], text_part(line.get("text", ""))) for line in self._before()]
        text = self._said()
        values: Json = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": last.get("agent") or ("" if self._exported else "agent"),
            "gen_ai.request.model": ended.get("model"),
            **{f"gen_ai.usage.{name}": count for name, count in self._first.get("usage", {}).items()},
            "gen_ai.usage.cost": ended.get("cost_usd"),
            "gen_ai.input.messages": prompts,
            "gen_ai.output.messages": [message("assistant", text_part(text))] if text else None,
            "passhat.run.subtype": ended.get("subtype"),
            "passhat.run.num_turns": ended.get("num_turns"),
            ERROR_TYPE: self._first.get("error_type"),
            RUN_END: True,
            **self._identity(),
        }
        subtype = ended.get("subtype", "success")
        failed = ended.get("status", "error" if subtype != "success" else "") == "error"
        error = (ended.get("error") or ("" if self._exported else subtype)) if failed else ""
        root = span_of((self._trace, self._root_id, ""), "invoke_agent", self._whole(), values, error)
        return _with_status(root, "error" if failed else ended.get("status", ""), error)

    def _whole(self) -> tuple[int, int]:
        """When the run began and ended: as its first line says, else with its lines."""
        lines = range(len(self._lines))
        first_ns = self._times(0)[0]
        start = nanoseconds(self._first.get("started")) or first_ns
        start = first_ns if first_ns // MS_NS == start // MS_NS else start  # told to the millisecond
        return start, nanoseconds(self._first.get("ended")) or max(self._times(index)[1] for index in lines)

    def _said(self) -> str:
        """What the run's own agent said last, where nothing says that it did more after."""
        own = [line for line in self._lines if line.get("role") == "assistant" and not line.get("depth")]
        if self._exported and own and own[-1].get("tool"):
            return ""
        return next((str(line["text"]) for line in reversed(own) if line.get("text")), "")

    def _before(self) -> list[Json]:
        """What was said before the agent's first line."""
        first = next((i for i, line in enumerate(self._lines) if line.get("role") == "assistant"), len(self._lines))
        return [line for line in self._lines[:first] if line.get("role") in ("user", "system")]

    def _agent(self, span_id: str, parent: str, indexes: list[int]) -> Json:
        """An agent within: from its first line to its last."""
        name = next((self._lines[index]["agent"] for index in indexes if self._lines[index].get("agent")), "")
        times = (min(self._times(i)[0] for i in indexes), max(self._times(i)[1] for i in indexes))
        values = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}
        return span_of((self._trace, span_id, parent), "invoke_agent", times, values)

    def _chat(self, turn: list[int]) -> Json:
        first = self._lines[turn[0]]
        parts = [
            call_part(self._call_id(index), self._lines[index]["tool"], self._asked(index))
            if self._lines[index].get("tool")
            else text_part(self._lines[index].get("text", ""))
            for index in turn
        ]
        heard = [
            message(said["role"], text_part(said.get("text", "")))
            if said["role"] != "tool"
            else message("tool", answer_part(said.get("call_id", ""), said.get("output")))
            for said in self._heard(turn[0])
        ]
        given = {
            name: next((self._lines[i][name] for i in turn if self._lines[i].get(name) is not None), None)
            for name in ("model", "input_tokens", "output_tokens")
        }
        values = {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": given["model"],
            "gen_ai.response.id": first.get("message_id"),
            "gen_ai.usage.input_tokens": given["input_tokens"],
            "gen_ai.usage.output_tokens": given["output_tokens"],
            "gen_ai.input.messages": heard or None,
            "gen_ai.output.messages": [message("assistant", *parts)],
        }
        start, end = self._times(turn[0])
        asked = [nanoseconds(said.get("start")) for said in self._heard(turn[0]) if said.get("start")]
        times = (min([start, *asked]), start if first.get("tool") else end)
        return span_of(self._ids("chat", turn[0]), "chat", times, values)

    def _heard(self, index: int) -> list[Json]:
        """What a user said since the agent's last line; answers of tools have spans of their own."""
        heard: list[Json] = []
        for line in reversed(self._lines[:index]):
            if line.get("role") == "assistant":
                break
            if line.get("role") in ("user", "system"):
                heard.insert(0, line)
        return heard

    def _arguments(self, index: int) -> Any:
        """None where they were not captured: checks must not take them for empty ones."""
        line = self._lines[index]
        if line.get("input_state") == "empty":
            return ""
        return line.get("input", None if line.get("input_state") else {})

    def _asked(self, index: int) -> Any:
        """The arguments as the message has them: of cut ones only the call's own span tells, and that they are cut."""
        return None if self._lines[index].get("input_state") == "truncated" else self._arguments(index)

    def _tool(self, index: int) -> Json:
        line = self._lines[index]
        answer = self._answers.get(index)
        result = self._lines[answer] if answer is not None else {}
        values: Json = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": line.get("tool_raw") or line["tool"],
            "gen_ai.tool.call.id": self._call_id(index),
            "gen_ai.tool.call.arguments": self._arguments(index),
            "gen_ai.tool.call.result": result.get("output"),
            "mcp.server.name": line.get("server"),
            INPUT_STATE: "truncated" if line.get("input_state") == "truncated" else None,
        }
        start = self._times(index)[0]
        end = self._times(answer)[1] if answer is not None else self._times(index)[1]
        failed = "error" in (result.get("status"), line.get("status"))
        error = result.get("error") or line.get("error") or ("" if self._exported or not failed else "error")
        span = span_of(self._ids("tool", index), f"execute_tool {line['tool']}", (start, end), values, error)
        empty: tuple[str, ...] = (
            ("gen_ai.tool.call.result",) if result.get("output") == "" else ()
        )  # an empty answer is one
        empty += ("gen_ai.tool.call.arguments",) if self._arguments(index) == "" else ()
        span["attributes"] += [{"key": key, "value": {"stringValue": ""}} for key in empty]
        return _with_status(span, "error" if failed else line.get("status", ""), error)

    def _call_id(self, index: int) -> str:
        return self._lines[index].get("call_id") or f"call_{self._lines[index].get('n', index)}"

    def _ids(self, kind: str, index: int) -> tuple[str, str, str]:
        return self._trace, id_of(8, self._trace, kind, index), self._scopes.of(index)


def _with_status(span: Json, status: str, error: str) -> Json:
    """The span with the status that its line says, in words of `status`: ok, error; else unset."""
    code = {"ok": OK, "error": ERROR}.get("error" if error else status)
    span["status"] = {"code": code, "message": error} if code else {}
    return span
