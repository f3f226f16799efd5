"""One compiled check: when it applies, what it looks at, what it says."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

import msgspec

from graders.checks import EXTERNAL_KINDS, KINDS, External, Judge, Kind
from graders.checks.external import Runner, judge
from graders.checks.judge import PROMPT_VERSION
from graders.checks.scene import Finding, Scene
from graders.checks.spec import Spec
from graders.checks.totals import RunPredicate
from graders.errors import CheckBroke, CheckError, did_you_mean
from graders.predicate import Predicate, Tags
from graders.trace import Trace
from graders.verdict import Axis, Verdict, VerdictStatus
from semconv.run import Run

# Reworded or moved to another alarm, a check still says the same of the same runs.
READABLE = 20  # characters of an expression
_NOT_MEANING = frozenset({"description", "fix", "severity", "gate"})


class Check:
    """A check of the set in force. `named` is False for those that are there without being asked for."""

    def __init__(self, written: Mapping[str, Any], tags: Tags, *, named: bool = True) -> None:
        spec = Spec(written, tags)
        self.id = _id_of(spec)
        self.kind = _kind_of(spec)
        self.definition: Mapping[str, Any] = written
        self.gate = spec.flag("gate")
        # what a model says moves neither result nor trajectory of a trial, unless it is told to gate
        self.named = named and (self.kind != "judge" or self.gate)
        self.tasks = spec.texts("tasks")
        self.classes = spec.texts("classes")
        default_axis = "calls" if self.kind == "each" else "trajectory"
        self.axis: Axis = spec.choice("axis", ("trajectory", "calls", "outcome"), default_axis)  # type: ignore[assignment]
        self.on_fail = spec.choice("on_fail", ("fail", "invalid", "error"), "fail")
        self.severity = spec.text("severity")
        self.description = spec.text("description")
        self.fix = spec.text("fix")
        self.scope = spec.choice("scope", ("all", "top"), "all")
        self.when = RunPredicate.read(spec, "when") if spec.has("when") else None
        self.among, self.after, self.before = (spec.optional(key) for key in ("among", "after", "before"))
        self.external = External.read(spec) if self.kind in EXTERNAL_KINDS else None
        self._kind: Kind | None = None if self.external is not None else KINDS[self.kind](spec)
        spec.refuse_unknown()
        definitions = tags.definitions_for(spec.names)
        for source in definitions.values():
            spec.uses(source)
        self.names = frozenset(spec.names)
        over_trace = self.external is not None and self.external.is_over_trace
        self.fields = frozenset(spec.fields) | ({"tags"} if over_trace else frozenset())
        self.tools: tuple[str, ...] = getattr(self._kind, "tools", ())
        self.version = _digest({"check": self.meaning, "tags": definitions})
        # a check that states the outcome decides as one that gates does; a case only where it gates
        self.decides = self.gate or (self.axis == "outcome" and not self.id.startswith("case:"))

    @property
    def judge(self) -> Judge | None:
        """What a model is asked, for a check that asks one."""
        return self._kind if isinstance(self._kind, Judge) else None

    @property
    def meaning(self) -> dict[str, Any]:
        """What of the definition changes what the check says."""
        told = {key: value for key, value in self.definition.items() if key not in _NOT_MEANING and value is not None}
        if self.external is not None and self.external.function:
            told["function"] = self.external.function
        if self.judge is not None:
            told = {key: value for key, value in told.items() if key != "sample"} | {"prompt": PROMPT_VERSION}
        return told

    def applies_to(self, task_id: str, task_class: str) -> bool:
        """Whether the check is for runs of this task at all."""
        return _matches(self.tasks, task_id) and _matches(self.classes, task_class)

    def grade(self, trace: Trace, runner: Runner | None = None) -> Verdict:
        """What this check says of a run. A check that breaks says `error` and costs no other check."""
        try:
            finding, early = self._judge(trace, runner)
        except RecursionError:
            return self.verdict("error", "The check broke: a value is nested too deeply.")
        except Exception as error:  # whatever a user's check raises is that check's own error
            return self.verdict("error", f"The check broke: {_one_line(error)}")
        if not trace.open or early:
            reason = self._worded(finding.reason) if finding.status == "fail" else finding.reason
            return self.verdict(finding.status, reason, finding.lines)
        return self.verdict("pending", "The run is still open.", finding.lines)

    def _worded(self, reason: str) -> str:
        """A reason that quotes an expression, with the check's own words before it: not everybody reads CEL."""
        if not self.description or not any(
            f"'{text}'" in reason for text in self.definition.values() if _is_long(text)
        ):
            return reason
        return f"{self.description.rstrip('.')}. {reason}"

    def _judge(self, trace: Trace, runner: Runner | None) -> tuple[Finding, bool]:
        """(finding, whether it stands although the run is open)."""
        whole = Scene(trace, trace.events)
        if self.when is not None:
            held, why = self.when.holds(whole)
            if held is None:
                return Finding("unknown", f"Whether it applies cannot be told: {why}."), False
            if not held:
                return Finding("not_applicable", f"'{self.when.source}' does not hold."), False
        scene = self._scene(trace)
        if isinstance(scene, Finding):
            return scene, False
        if self.among is not None:
            members = scene.pick(self.among)
            if not members.sure:
                return _without(members.unsure, self.among, scene), False
        if self.external is not None:
            if trace.open:
                return Finding("unknown", ""), False
            return judge(self.external, trace, runner), True
        assert self._kind is not None
        finding = self._kind.judge(scene)
        return finding, finding.status == "fail" and finding.permanent and self._settled

    @property
    def _settled(self) -> bool:
        """Whether what the check looks at cannot shift while the run grows."""
        stable = (self.when is None or self.when.stable) and (self.among is None or self.among.stable)
        return stable and self.after is None and self.before is None and self.scope == "all"

    def _scene(self, trace: Trace) -> Scene | Finding:
        events = trace.events if self.scope == "all" else [e for e in trace.events if e.line.depth == 0]
        scene = Scene(trace, events)
        doubtful: set[int] = set()
        if self.after is not None:
            marks = scene.pick(self.after)
            if not marks.sure:
                return _without(marks.unsure, self.after, scene)
            last = marks.sure[-1].order
            maybe = max((event.order for event in marks.unsure), default=last)
            events = [event for event in events if event.order > last]
            doubtful |= {id(event) for event in events if event.order <= maybe}
        if self.before is not None:
            marks = scene.pick(self.before)
            end = marks.sure[0].order if marks.sure else len(trace.events)
            maybe = min((event.order for event in marks.unsure), default=end)
            events = [event for event in events if event.order < end]
            doubtful |= {id(event) for event in events if event.order >= maybe}
        return Scene(trace, events, frozenset(doubtful))

    def verdict(self, status: VerdictStatus, reason: str, lines: tuple[int, ...] = ()) -> Verdict:
        return Verdict(
            check_id=self.id,
            kind=self.kind,
            status=status,
            reason=reason,
            lines=lines,
            axis=self.axis,
            gate=self.gate,
            severity=self.severity,
            on_fail=self.on_fail,
            check_version=self.version,
            fix=self.fix,
            named=self.named,
        )


def _is_long(value: object) -> bool:
    """An expression that says more than its check's words: `call.ok` reads well by itself."""
    return isinstance(value, str) and len(value) > READABLE


def _without(unsure: tuple[Any, ...], wanted: Predicate, scene: Scene) -> Finding:
    if unsure or scene.lossy:
        return Finding("unknown", f"Whether there is {wanted.a_noun} cannot be told: evidence is missing.")
    return Finding("not_applicable", f"There is no {wanted.noun}.")


def _id_of(spec: Spec) -> str:
    if not spec.id:
        raise CheckError("a check has no id", key="id")
    if len(spec.id) > 200 or any(character.isspace() for character in spec.id):
        raise CheckError("an id has no blanks and at most 200 characters", check_id=spec.id[:60], key="id")
    return spec.id


def _kind_of(spec: Spec) -> str:
    kind = spec.written.get("kind")
    known = (*KINDS, *EXTERNAL_KINDS)
    if kind is None:
        raise spec.error("kind", "is missing")
    if kind not in known:
        raise spec.error("kind", f"there is no kind '{kind}'{did_you_mean(str(kind), known)}")
    return str(kind)


def _matches(globs: tuple[str, ...], value: str) -> bool:
    return not globs or any(fnmatchcase(value, glob) for glob in globs)


def _one_line(error: Exception) -> str:
    text = " ".join(str(error).split())[:500] or type(error).__name__
    return f"{text.rstrip('.')}." if isinstance(error, CheckBroke) else f"{type(error).__name__}: {text.rstrip('.')}."


def _digest(value: Any) -> str:
    return hashlib.sha256(msgspec.json.encode(value, order="deterministic", enc_hook=str)).hexdigest()[:16]


def applies(checks: tuple[Check, ...], run: Run) -> tuple[Check, ...]:
    """Those of the checks that are for the run's task and class."""
    return tuple(check for check in checks if check.applies_to(run.task_id, run.task_class))
