"""budget and assert: what holds of a run as a whole."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from graders.cel import Expression, Failure
from graders.checks.scene import Finding, Scene
from graders.checks.spec import Spec
from graders.errors import CheckError
from graders.fields import CALL_FIELDS, RUN_FIELDS, STABLE_RUN_FIELDS
from graders.predicate import Tags

_LIMITS = ("tool_calls", "turns", "tokens", "input_tokens", "output_tokens", "cost_usd", "seconds")
# Of a run that goes on. A root that arrives may say that it took less time, and that turns were those of another agent.
_GROWING = frozenset(_LIMITS) - {"seconds", "turns"}
_EVENTS = frozenset({"calls", "counts"})


class Budget(Struct, frozen=True):
    """Holds when each total is at most its limit. unknown where a total was not captured. Never not_applicable."""

    limits: dict[str, float]

    @classmethod
    def read(cls, spec: Spec) -> Budget:
        limits = {name: limit for name in _LIMITS if (limit := spec.number(name)) is not None}
        if not limits:
            raise spec.error("tool_calls", f"one of {', '.join(_LIMITS)} must be given")
        return cls(limits)

    def judge(self, scene: Scene) -> Finding:
        missing: list[str] = []
        for name, limit in self.limits.items():
            total = scene.sure_calls if name == "tool_calls" else scene.trace.total(name)
            if total is None:
                missing.append(name)
            elif total > limit:
                said = f"{_plain(name)}: {total:g}, at most {limit:g} allowed."
                return Finding("fail", said, (), permanent=name in _GROWING)
        if missing:
            return Finding("unknown", f"Not captured: {', '.join(_plain(name) for name in missing)}.")
        if scene.lossy:
            return Finding("unknown", f"Evidence is incomplete: {scene.lossy_because()}.")
        return Finding("pass", "All totals are within the budget.")


def _plain(name: str) -> str:
    return {"cost_usd": "cost in USD"}.get(name, name.replace("_", " "))


class RunPredicate:
    """A CEL expression over `run`; a tag in it is true when some event of the run carries it."""

    def __init__(self, expression: Expression, tags: Tags) -> None:
        self.source = expression.source
        self._expression = expression
        self._fields = expression.wants(RUN_FIELDS)
        self._call_fields = tuple(CALL_FIELDS) if expression.bare else expression.wants(CALL_FIELDS)
        self._tags = {name: tags.predicate(name) for name in expression.names if name in tags}
        self.about_events = bool(_EVENTS.intersection(self._fields) or self._tags)
        self.stable = not self._tags and not expression.bare and STABLE_RUN_FIELDS.issuperset(self._fields)

    @classmethod
    def read(cls, spec: Spec, key: str) -> RunPredicate:
        try:
            expression = spec.tags.compiler.predicate(spec.get(key), "run")
        except CheckError as error:
            raise error.at(check_id=spec.id, key=key) from None
        spec.uses(spec.get(key))
        return cls(expression, spec.tags)

    def holds(self, scene: Scene) -> tuple[bool | None, str]:
        """(held, why it could not be evaluated): None where evidence it reads is missing."""
        data, lacking = self._data(scene)
        value = self._expression.value(data)
        if isinstance(value, Failure):
            return (None, value.why) if lacking else (False, value.why)
        if scene.lossy and self.about_events:
            return None, scene.lossy_because()
        return value is True, ""

    def _data(self, scene: Scene) -> tuple[dict[str, Any], bool]:
        run: dict[str, Any] = {}
        data: dict[str, Any] = {"run": run}
        lacking = False
        for name in self._fields:
            if name == "calls":
                run["calls"] = [call.view(self._call_fields) for call in scene.calls]
                lacking = lacking or any(call.missing.intersection(self._call_fields) for call in scene.calls)
                continue
            value = scene.trace.field(name)
            lacking = lacking or value is None or (name == "counts" and any(call.missing for call in scene.calls))
            if value is not None:
                run[name] = value
        for tag, predicate in self._tags.items():
            found = scene.pick(predicate)
            if found.sure or not found.unsure:
                data[tag] = bool(found.sure)
            else:
                lacking = True
        return data, lacking


class Assert(Struct, frozen=True):
    """Holds when a CEL expression over `run` is true. Never not_applicable."""

    condition: RunPredicate

    @classmethod
    def read(cls, spec: Spec) -> Assert:
        if not spec.has("assert"):
            raise spec.error("assert", "is missing")
        return cls(RunPredicate.read(spec, "assert"))

    def judge(self, scene: Scene) -> Finding:
        held, why = self.condition.holds(scene)
        if held is None:
            return Finding("unknown", f"'{self.condition.source}' cannot be told: {why}.")
        if why:
            reason = f"'{self.condition.source}' cannot be evaluated: {why} (missing or of another type)."
            return Finding("fail", reason)
        if held:
            return Finding("pass", "The condition holds.")
        return Finding("fail", f"'{self.condition.source}' does not hold.")
