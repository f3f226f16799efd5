"""python and command: a function or a program of the user's own says so. Here only what is asked and answered.

Running a program, or a function under a time limit, is the collector's: it passes a `Runner` in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from graders.checks.scene import Finding
from graders.checks.spec import Spec
from graders.errors import CheckBroke
from graders.trace import Trace
from graders.verdict import Verdict
from semconv.run import Run

_STATUSES = ("pass", "fail", "unknown", "not_applicable")
PROTOCOL = 1


Function = Callable[[Any], Any]  # of a Run, or, where `over_trace`, of a Trace
F = TypeVar("F", bound=Function)


_OVER_TRACE = "__passhat_over_trace__"


def over_trace(function: F) -> F:
    """Mark a function of our own that takes the run with its actions; it is called here, never by a runner."""
    setattr(function, _OVER_TRACE, True)
    return function


class External(Struct, frozen=True):
    """What to run: `function` (as `module:name`) or `command` (its words), and for how long.

    `call` is the function itself, where it is at hand. `source` is its text: another text is another version.
    """

    id: str
    function: str = ""
    command: tuple[str, ...] = ()
    timeout_s: float = 10.0
    call: Function | None = None
    source: str = ""

    @property
    def is_over_trace(self) -> bool:
        return hasattr(self.call, _OVER_TRACE)

    @classmethod
    def read(cls, spec: Spec) -> External:
        timeout = spec.number("timeout_s")
        if timeout is not None and timeout <= 0:
            raise spec.error("timeout_s", "must be more than 0")
        if spec.written.get("kind") == "command":
            command = spec.get("command")
            words = tuple(command.split()) if isinstance(command, str) else spec.texts("command")
            if not words:
                raise spec.error("command", "is missing")
            return cls(spec.id, "", words, timeout or 10.0)
        function, source = spec.get("function"), spec.text("source")
        if callable(function):
            name = f"{function.__module__}:{function.__qualname__}"
            return cls(spec.id, name, (), timeout or 10.0, function, source)
        if not isinstance(function, str) or not function:
            raise spec.error("function", "must be module:name")
        return cls(spec.id, function, (), timeout or 10.0, None, source)


# Gets the JSON request, returns the JSON reply. Raises on a time limit, an exit code, a crash: that is `error`.
Runner = Callable[[External, bytes], bytes]


class CheckFailed(CheckBroke):
    """A check of the user's own that broke, or answered something that is no answer."""


def request_of(check_id: str, run: Run) -> bytes:
    """What a program gets on its standard input: one JSON object on one line."""
    return msgspec.json.encode({"protocol": PROTOCOL, "check": check_id, "run": run})


def answer(request: bytes, function: Function) -> bytes:
    """The reply of a Python function to a request: what a child process prints."""
    wanted = msgspec.json.decode(request)
    run = msgspec.convert(wanted["run"], Run)
    finding = finding_of(function(run))
    return msgspec.json.encode({"status": finding.status, "reason": finding.reason, "lines": finding.lines})


def judge(external: External, trace: Trace, runner: Runner | None) -> Finding:
    """Ask the runner, or, where there is none, call the function here and without a time limit."""
    run = trace.run
    if external.call is not None and external.is_over_trace:
        return finding_of(external.call(trace))
    if runner is not None:
        return finding_of(msgspec.json.decode(runner(external, request_of(external.id, run))))
    if external.call is None:
        raise CheckFailed("nothing here can run it")
    return finding_of(external.call(run))


def finding_of(said: Any) -> Finding:
    """A finding from what a function or program said: a status, true or false, (status, reason, lines), an object."""
    if isinstance(said, Verdict):
        if said.status not in _STATUSES:
            raise CheckFailed(f"it said '{said.status}'")
        return Finding(said.status, said.reason, said.lines)  # type: ignore[arg-type]
    if isinstance(said, bool):
        return Finding("pass" if said else "fail", "The check holds." if said else "The check does not hold.")
    if isinstance(said, str):
        said = {"status": said}
    elif isinstance(said, tuple | list) and 1 <= len(said) <= 3:
        said = dict(zip(("status", "reason", "lines"), said, strict=False))
    if not isinstance(said, dict):
        raise CheckFailed(f"it answered {type(said).__name__}, not a status")
    status: Any = said.get("status")
    if isinstance(status, bool):
        status = "pass" if status else "fail"
    if status not in _STATUSES:
        raise CheckFailed(f"it answered the status {status!r}, not one of {', '.join(_STATUSES)}")
    lines = said.get("lines") or ()
    if not isinstance(lines, list | tuple) or not all(type(line) is int for line in lines):
        raise CheckFailed("its lines are no list of numbers")
    return Finding(status, " ".join(str(said.get("reason") or "").split())[:2_000], tuple(sorted(set(lines))))
