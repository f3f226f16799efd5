"""A run as graders see it: its events in order, and its totals."""

from __future__ import annotations

from collections import deque
from typing import Any

from graders.actions import ActionTable
from graders.call import CALL_TAGS, Call, EventKind
from graders.lazy import lazy
from graders.values import Key, key_of
from semconv.facts import CUT_VALUE, LEFT_OUT
from semconv.run import Run
from semconv.trace_line import TraceLine

_UNPLACED = frozenset({"missing_parent", "server_side"})  # flags of lines whose call may have an outside yet to come


class Trace:
    """The events of one run. `calls` are its tool calls, `events` also the turns of the conversation."""

    def __init__(self, run: Run, table: ActionTable) -> None:
        self.run = run
        self.open = run.is_open
        # a value that was cut is seen on its own call: no event is missing because of it, unlike cut messages
        self.lossy = tuple(loss for loss in run.lossy if loss != CUT_VALUE)
        self.picked: dict[str, Any] = {}  # what each expression picks, for the checks that share it
        self.events = _events_of(run, table)
        self.calls = [event for event in self.events if event.event == "call"]
        self.doubtful = _doubles(self.calls) if self.open else frozenset()
        _mark_final(self.events, closed=not self.open)

    @lazy
    def evidence(self) -> dict[str, list[int]]:
        """The line numbers of edits and of test runs."""
        return {
            "edits": [call.n for call in self.calls if call.tag("edit")],
            "test_runs": [call.n for call in self.calls if call.tag("test_run")],
        }

    @lazy
    def final_text(self) -> str:
        """What the run answered: as the harness says, else the last text of its own agent."""
        if self.run.final_text:
            return self.run.final_text
        said = [e.line.text for e in self.events if e.event == "assistant_turn" and e.line.depth == 0]
        results = [line.text for line in self.run.lines if line.role == "result" and line.text]
        return (results or said or [""])[-1]

    @lazy
    def counts(self) -> dict[str, int]:
        """How many calls carry each built-in tag; a tag that lossy evidence leaves open is left out."""
        totals = {"calls": len(self.calls), "errors": sum(1 for call in self.calls if call.error)}
        for tag in CALL_TAGS:
            values = [call.tag(tag) for call in self.calls]
            if None not in values:
                totals[tag] = sum(1 for value in values if value)
        totals["user_turn"] = sum(1 for event in self.events if event.event == "user_turn")
        totals["assistant_turn"] = sum(1 for event in self.events if event.event == "assistant_turn")
        return totals

    def total(self, name: str) -> float | int | None:
        """A total of the run as it is said, else as its lines tell; None when neither knows."""
        run = self.run
        match name:
            case "tool_calls":
                return run.tool_calls or len(self.calls)
            case "turns":
                turns = [line.num_turns for line in run.lines if line.num_turns is not None]
                return run.turns or (turns[-1] if turns else None)
            case "input_tokens" | "output_tokens" | "cost_usd":
                # of an open run an agent's own sum may still give way to what its requests tell
                value: float | int | None = None if self.open else getattr(run, name)
                return value if value is not None else _sum_of(run.lines, name)
            case "tokens":
                parts = [self.total("input_tokens"), self.total("output_tokens")]
                known = [part for part in parts if part is not None]
                return sum(known) if known else None
            case "seconds":
                start, end = run.started_ns, run.ended_ns
                if not start or not end:
                    starts = [line.start_ns for line in run.lines if line.start_ns]
                    ends = [line.end_ns or line.start_ns for line in run.lines if line.start_ns]
                    start, end = (min(starts), max(ends)) if starts else (0, 0)
                return (end - start) / 1e9 if end >= start > 0 else None
        return None

    def field(self, name: str) -> Any:
        """A field of the `run` view, None when it is not known."""
        match name:
            case "final_text":
                return _known(self.final_text)
            case "subtype":
                return self.run.subtype or next((line.subtype for line in self.run.lines if line.role == "result"), "")
            case "status":
                return self.run.root_status
            case "error":
                return self.run.root_error
            case "error_type":
                return self.run.root_error_type
            case "first_user" | "last_user":
                said = [event.line.text for event in self.events if event.event == "user_turn"]
                return "" if not said else _known(said[0 if name == "first_user" else -1])
            case "turns" | "tool_calls" | "input_tokens" | "output_tokens" | "cost_usd" | "seconds":
                return self.total(name)
            case "counts":
                return self.counts
            case "flags":
                return list(self.run.flags)
        return getattr(self.run, name)


def _known(text: str) -> str | None:
    """The text; None when `redact.content: off` left only a mark of it."""
    return None if LEFT_OUT in text else text


def _sum_of(lines: tuple[TraceLine, ...], name: str) -> float | int | None:
    known = [value for line in lines if (value := getattr(line, name)) is not None]
    return sum(known) if known else None


def _events_of(run: Run, table: ActionTable) -> list[Call]:
    results = _pair(run.lines)
    events: list[Call] = []
    closed, cut = not run.is_open, CUT_VALUE in run.lossy
    calls = turn = 0
    last_user = last_assistant = ""
    for line in run.lines:
        if line.role == "user" and line.depth == 0:
            turn += 1
            last_user = line.text
        said = line.role == "assistant" and bool(line.text)
        if said and line.depth == 0:
            last_assistant = line.text
        for kind in _kinds(line, results, last_assistant):
            event = Call(line, kind, results.get(id(line)), table)
            event.order, event.turn, event.closed, event.cut = len(events), turn, closed, cut
            event.last_user, event.last_assistant = last_user, last_assistant
            event.inner = not closed and not _UNPLACED.isdisjoint(line.flags)
            if kind == "call":
                event.index = calls
                calls += 1
            events.append(event)
    return events


def _doubles(calls: list[Call]) -> frozenset[int]:
    """Calls of an open run that may turn out to be others of it: counted too, they would have to be taken back."""
    known: dict[str, _Seen] = {}
    doubles: set[int] = set()
    for call in sorted(calls, key=lambda call: call.inner):  # each that stands by itself first
        seen = known.setdefault(call.tool, _Seen())
        if call.inner and seen.may_hold(call):
            doubles.add(id(call))
        seen.add(call)
    return frozenset(doubles)


class _Seen:
    """Calls of one tool."""

    def __init__(self) -> None:
        self._inputs: set[Key] = set()
        self._ids: set[str] = set()
        self._vague = False

    def add(self, call: Call) -> None:
        self._ids.add(call.line.call_id)
        if call.input_is_whole:
            self._inputs.add(key_of(call.input))
        else:
            self._vague = True

    def may_hold(self, call: Call) -> bool:
        """Whether one of them may be this one: one id, equal arguments, or arguments that nobody knows."""
        if not self._ids:
            return False
        same_id = bool(call.line.call_id) and call.line.call_id in self._ids
        return same_id or self._vague or not call.input_is_whole or key_of(call.input) in self._inputs


def _kinds(line: TraceLine, results: dict[int, TraceLine], last_assistant: str) -> list[EventKind]:
    match line.role:
        case "user":
            return ["user_turn"] if line.depth == 0 else []  # what one agent tells another is no word of the user
        case "assistant":
            kinds: list[EventKind] = ["assistant_turn"] if line.text else []
            return [*kinds, "call"] if line.tool else kinds
        case "tool" if results.get(id(line)) is line:
            return ["call"]
        case "result" if line.text and line.text != last_assistant:
            return ["assistant_turn"]
    return []


def _pair(lines: tuple[TraceLine, ...]) -> dict[int, TraceLine]:
    """For each assistant line with a tool its tool line; a tool line without a call stands for the call itself."""
    by_id: dict[str, deque[TraceLine]] = {}
    by_tool: dict[str, deque[TraceLine]] = {}
    pairs: dict[int, TraceLine] = {}
    for line in lines:
        if line.role == "assistant" and line.tool:
            waiting = (
                by_id.setdefault(line.call_id, deque()) if line.call_id else by_tool.setdefault(line.tool, deque())
            )
            waiting.append(line)
        elif line.role == "tool":
            queue = by_id.get(line.call_id) if line.call_id else by_tool.get(line.tool)
            pairs[id(queue.popleft() if queue else line)] = line
    return pairs


def _mark_final(events: list[Call], *, closed: bool) -> None:
    """The final answer: in a closed run the last text of its own agent that no call of it follows."""
    if not closed:
        return
    for event in reversed(events):
        if event.line.depth > 0:
            continue
        if event.event == "assistant_turn":
            event.final = True
        return
