"""The `call` view: one object per logical call of a run, the same for every harness.

Assistant and tool lines are paired by call id, else by position. What was not captured whole is in `missing`: an
expression that needs it cannot be evaluated, so a check says `unknown` and neither `pass` nor `fail`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, Literal

import msgspec

from graders.actions import Action, ActionTable, Kind, is_test_path
from graders.actions.custom import Done
from graders.actions.evidence import exit_code, reported_error
from graders.actions.paths import SOURCE
from graders.actions.summaries import Summary, summary_of
from graders.fields import CALL_FIELDS
from graders.lazy import lazy
from graders.values import Key, key_of
from semconv.trace_line import TraceLine
from semconv.values import JsonValue

EventKind = Literal["call", "user_turn", "assistant_turn"]
LOSSY_INPUT = frozenset({"truncated", "not_captured"})
WRITE_KINDS: frozenset[Kind] = frozenset({"edit", "delete", "sql_write", "message_send", "payment"})
# Attempts count whether or not they succeed: a red test run is a test run.
_ATTEMPTS: frozenset[Kind] = frozenset({"test_run", "network"})

_ARGUMENTS = frozenset({"input", "input_text", "command", "commands", "path", "paths", "tags"})
_RESULT = frozenset({"output_text", "output_json"})
_SUCCESS = frozenset({"ok", "error", "status", "duration_ms"})  # error and status are '' and unset where unknown
_NOT_RUN = re.compile(
    r"""user\ (?:doesn't\ want|does\ not\ want|rejected|denied|declined|cancelled|canceled)
    |(?:rejected|denied|declined|blocked)\ by\ (?:the\ )?(?:user|policy|hook|sandbox)
    |Permission\ to\ use\ .{1,60}\ (?:has\ been\ )?denied|requires\ approval|tool\ call\ was\ rejected""",
    re.VERBOSE | re.IGNORECASE,
)
_REDACTED = re.compile(r"\[?REDACTED|<redacted|\u2588{3}", re.IGNORECASE)
_encode = msgspec.json.Encoder(enc_hook=str).encode


class Call:
    """A tool call, or a turn of the conversation, which is an event too (`event` tells, its `tool` is '')."""

    # Where it stands: `order` among all events, `index` among the calls; what was said before it.
    order = 0
    index = -1
    turn = 0
    last_user = ""
    last_assistant = ""
    final = False  # the run's final answer
    closed = True  # whether the run is
    cut = False  # whether values of the run are known to have been cut
    inner = False  # of an open run: what is missing above it may turn out to be the outside of this very call

    def __init__(self, line: TraceLine, event: EventKind, result: TraceLine | None, table: ActionTable) -> None:
        self.line = line
        self.event = event
        self.result = result
        self.n = line.n
        self.tool = line.tool
        self.server = line.server
        self._table = table
        self._tags: dict[str, bool | None] = {}

    # What was called

    @lazy
    def input(self) -> JsonValue:
        return {} if self.line.input is None else self.line.input

    @lazy
    def input_text(self) -> str:
        return as_text(self.line.input)

    @lazy
    def identity(self) -> Key:
        """Equal for calls of one tool with equal arguments."""
        return (self.tool, self.server, key_of(self.input))

    @property
    def input_is_whole(self) -> bool:
        return self.line.input_state not in LOSSY_INPUT and self.line.role != "tool"

    @lazy
    def done(self) -> Done:
        if self.event != "call":
            return _NOTHING
        return self._table.done(self.tool, self.server, self.line.input, captured=self.input_is_whole)

    @lazy
    def commands(self) -> list[str]:
        return list(self.done.line.commands)

    @lazy
    def paths(self) -> list[str]:
        return list(self.done.paths or dict.fromkeys(path for effect in self.done.effects for path in effect.paths))

    # How it went

    @property
    def has_result(self) -> bool:
        """Whether anything is known of how it ended."""
        return self.result is not None or self.line.status != "unset"

    @property
    def is_mute(self) -> bool:
        """The name alone was captured: neither arguments nor how it ended, so it may as well have failed."""
        return not (self.input_is_whole or self.has_result or self.line.error)

    @lazy
    def status(self) -> str:
        if self.result is not None and self.result.status != "unset":
            return self.result.status
        return self.line.status

    @lazy
    def output(self) -> JsonValue:
        return self.result.output if self.result is not None else None

    @lazy
    def output_text(self) -> str:
        return as_text(self.output)

    @lazy
    def output_json(self) -> JsonValue:
        if not isinstance(self.output, str):
            return self.output
        if self.output[:1] not in ("{", "[") and self.output.lstrip()[:1] not in ("{", "["):
            return None
        try:
            return msgspec.json.decode(self.output)
        except (msgspec.DecodeError, RecursionError, ValueError):
            return None

    @property
    def _output_is_cut(self) -> bool:
        """JSON that does not end, in a run of which values were cut."""
        return self.cut and self.output_text[:1] in ("{", "[") and self.output_json is None

    @lazy
    def exit_code(self) -> int | None:
        """What the result of a command line says of its exit code; for a failed call without one, 1."""
        code = None
        if self.done.command:
            error = self.line.error or (self.result.error if self.result is not None else "")
            code = exit_code(self.output_text, self.output_json, error)
        return 1 if code is None and self.status == "error" else code

    @lazy
    def error(self) -> str:
        """Why it failed, '' when it is not known to have failed."""
        told = (self.result.error if self.result is not None else "") or self.line.error
        if self.status == "error":
            return told or (self.output_text.strip().splitlines() or ["error"])[0][:500]
        reported = told or reported_error(self.output_text, self.output_json)
        if not reported and self.done.command and self.exit_code:
            return f"exit code {self.exit_code}"
        return reported

    @property
    def ok(self) -> bool:
        """Seen to have worked: no error, and a status `ok` or a captured result. Unset alone is not success."""
        return not self.error and (self.status == "ok" or self.output is not None)

    @lazy
    def succeeded(self) -> bool | None:
        """For actions: True where an exit status or a span status says so, None where nothing does."""
        if self.error:
            return False
        if self.exit_code is not None:
            return self.exit_code == 0
        return True if self.status == "ok" else None

    @property
    def duration_ms(self) -> int:
        return max(0, (self.line.end_ns - self.line.start_ns) // 1_000_000) if self.line.end_ns else 0

    # What it amounts to

    @lazy
    def settled(self) -> bool:
        """False for a call of an open run whose end has not arrived: whether it did anything is not known yet."""
        return self.has_result or self.closed

    @lazy
    def actions(self) -> tuple[Action, ...]:
        """What it did, in order; parts that are known not to have worked have `ok` False."""
        refused = bool(self.error) and bool(_NOT_RUN.search(self.error) or _NOT_RUN.search(self.output_text[:2_000]))
        found: list[Action] = []
        for effect in self.done.effects:
            ok: bool | None = None
            if refused or (self.succeeded is False and effect.nonzero_is_failure):
                ok = False
            elif self.succeeded and effect.zero_is_success:
                ok = True
            if effect.kind == "test_run" and (refused or (self.exit_code in (126, 127) and effect.nonzero_is_failure)):
                continue  # nothing ran
            found.append(Action(effect.kind, effect.paths, ok, effect.at))
        return tuple(found)

    def did(self, kind: Kind) -> list[Action]:
        """The actions of a kind that count: a failed edit is no edit, a red test run is a test run."""
        return self._done_by_kind.get(kind, [])

    @lazy
    def _done_by_kind(self) -> dict[Kind, list[Action]]:
        found: dict[Kind, list[Action]] = {}
        for action in self.actions:
            if action.ok is not False or action.kind in _ATTEMPTS:
                found.setdefault(action.kind, []).append(action)
        return found

    @lazy
    def summary(self) -> Summary:
        return summary_of(self.output_text)

    def green(self, run: Action) -> bool:
        """Whether this test run was seen green. A failure in its output beats an exit status of 0."""
        if self.summary in ("red", "none"):
            return False
        return run.ok is True or (run.ok is None and self.summary == "green")

    def tag(self, name: str) -> bool | None:
        """Whether a built-in tag holds; None where the evidence does not tell."""
        tags = self._tags
        if name in tags:
            return tags[name]
        if name in TURN_TAGS:
            held = _BUILT_IN[name](self)
        elif self.event != "call" or (not self.done.effects and self.done.certain):
            held = False  # most calls: a question, a search, a lookup
        else:
            held = _BUILT_IN[name](self)
        tags[name] = held
        return held

    @lazy
    def missing(self) -> frozenset[str]:
        """The fields for which the evidence is not whole."""
        gone: set[str] = set()
        if self.event != "call":
            return frozenset()
        if not self.input_is_whole:
            gone |= _ARGUMENTS
        if not self.done.certain:
            gone.add("actions")
        if self.output is None or self._output_is_cut:
            gone |= _RESULT
        if self.output is None and self.status == "unset":
            gone.add("ok")
        if not self.settled:
            gone |= {"actions", "tags", *_SUCCESS}
        return frozenset(gone)

    @property
    def redacted(self) -> bool:
        marked = "redacted" in self.line.flags or (self.result is not None and "redacted" in self.result.flags)
        return marked or bool(_REDACTED.search(self.input_text))

    def field(self, name: str) -> Any:
        """A field of the view by the name expressions use."""
        return _FIELDS[name](self)

    def view(self, names: tuple[str, ...]) -> dict[str, Any]:
        """The named fields, without those that are missing."""
        gone = self.missing
        if not gone:
            return {name: _FIELDS[name](self) for name in names}
        return {name: _FIELDS[name](self) for name in names if name not in gone}


_NOTHING = Done(())


def as_text(value: JsonValue) -> str:
    """Text as it is, anything else as compact JSON, nothing as ''."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    try:
        return _encode(value).decode()
    except UnicodeEncodeError:  # a lone surrogate, which JSON allows and UTF-8 does not
        return json.dumps(value, separators=(",", ":"), default=str)


def _kind(kind: Kind) -> Callable[[Call], bool | None]:
    def holds(call: Call) -> bool | None:
        if call.did(kind):
            return True if kind in _ATTEMPTS or (call.settled and not call.is_mute) else None
        return None if not call.done.certain else False

    return holds


def _write(call: Call) -> bool | None:
    values = [call.tag(kind) for kind in WRITE_KINDS]
    return True if True in values else None if None in values else False


def _test_pass(call: Call) -> bool | None:
    runs = call.did("test_run")
    if not runs:
        return None if not call.done.certain else False
    if any(call.green(run) for run in runs):
        return True if call.settled else None
    return None if "ok" in call.missing or (call.output is None and call.succeeded is None) else False


def _test_edit(call: Call) -> bool | None:
    edits = call.did("edit") + [a for a in call.did("delete") if any(SOURCE.search(path) for path in a.paths)]
    if any(is_test_path(path) for action in edits for path in action.paths):
        return True if call.settled else None
    if call.input_is_whole:
        return False
    return None if edits or not call.done.certain else False


_BUILT_IN: dict[str, Callable[[Call], bool | None]] = {
    **{kind: _kind(kind) for kind in ("edit", "test_run", "read", "delete", "vcs", "network", "install")},
    **{kind: _kind(kind) for kind in ("sql_read", "sql_write", "ask_user", "message_send", "payment")},
    "test_pass": _test_pass,
    "test_edit": _test_edit,
    "write": _write,
    "user_turn": lambda call: call.event == "user_turn",
    "assistant_turn": lambda call: call.event == "assistant_turn",
    "final_answer": lambda call: call.final,
}
BUILT_IN_TAGS = tuple(_BUILT_IN)
TURN_TAGS = frozenset({"user_turn", "assistant_turn", "final_answer"})
CALL_TAGS = tuple(tag for tag in BUILT_IN_TAGS if tag not in TURN_TAGS)

_FIELDS: dict[str, Callable[[Call], Any]] = {
    "n": lambda call: call.n,
    "index": lambda call: call.index,
    "tool": lambda call: call.tool,
    "tool_raw": lambda call: call.line.tool_raw or call.tool,
    "server": lambda call: call.server,
    "input": lambda call: call.input,
    "input_text": lambda call: call.input_text,
    "output_text": lambda call: call.output_text,
    "output_json": lambda call: call.output_json,
    "command": lambda call: call.done.command,
    "commands": lambda call: call.commands,
    "path": lambda call: call.paths[0] if call.paths else "",
    "paths": lambda call: call.paths,
    "actions": lambda call: list(dict.fromkeys(action.kind for action in call.actions if call.did(action.kind))),
    "tags": lambda call: [tag for tag in BUILT_IN_TAGS if call.tag(tag)],
    "ok": lambda call: call.ok,
    "error": lambda call: call.error,
    "status": lambda call: call.status,
    "agent": lambda call: call.line.agent,
    "depth": lambda call: call.line.depth,
    "turn": lambda call: call.turn,
    "duration_ms": lambda call: call.duration_ms,
    "input_state": lambda call: call.line.input_state,
    "last_user": lambda call: call.last_user,
    "last_assistant": lambda call: call.last_assistant,
    "redacted": lambda call: call.redacted,
    "text": lambda call: call.line.text,
}
assert _FIELDS.keys() == CALL_FIELDS.keys()
