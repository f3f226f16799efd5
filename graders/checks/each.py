"""each: every matching call satisfies an expression, or a JSON Schema."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from graders.call import Call
from graders.cel import Failure
from graders.checks.scene import Finding, Scene, at_lines, cannot_tell, lines_of
from graders.checks.spec import Spec
from graders.errors import CheckError
from graders.predicate import CelPredicate, Predicate
from graders.schema import check_schema, schema_error


class Schema(Struct, frozen=True):
    """A JSON Schema for the input or the output of a call."""

    rules: Any
    part: str
    source: str = "the schema"
    stable: bool = True

    def holds(self, event: Call) -> tuple[bool | None, str]:
        """(held, what is wrong): None where the part is cut or was not captured."""
        field = "input" if self.part == "input" else "output_json"
        if field in event.missing:
            return None, ""
        value = event.input if self.part == "input" else event.output_json
        if value is None and self.part == "output":
            value = event.output_text
        error = schema_error(value, self.rules)
        return not error, error


class Each(Struct, frozen=True):
    """Holds when every call that matches `of` (any call) satisfies `assert`, or its input keeps `schema`.

    `schema_of: output` looks at the result instead. not_applicable without such a call.
    """

    of: Predicate
    condition: Predicate | Schema

    @classmethod
    def read(cls, spec: Spec) -> Each:
        if spec.has("schema") == spec.has("assert"):
            raise spec.error("assert", "either assert or schema must be given")
        part = spec.choice("schema_of", ("input", "output"), "input")
        if not spec.has("schema"):
            return cls(spec.any_call("of"), spec.predicate("assert"))
        try:
            check_schema(spec.get("schema"))
        except CheckError as error:
            raise error.at(check_id=spec.id, key="schema") from None
        return cls(spec.any_call("of"), Schema(spec.get("schema"), part))

    def judge(self, scene: Scene) -> Finding:
        found = scene.pick(self.of)
        failed: list[Call] = []
        doubt: list[Call] = list(found.unsure)
        why = ""
        for event in found.sure:
            held, problem = self._holds(event)
            if held is None:
                doubt.append(event)
            elif not held:
                failed.append(event)
                why = why or problem
        if failed:
            lines = lines_of(failed)
            reason = f"The {failed[0].tool or 'turn'} at {at_lines(lines)} does not satisfy '{self.condition.source}'"
            stable = self.of.stable and self.condition.stable
            return Finding("fail", f"{reason}{': ' + why if why else ''}.", lines, stable)
        if doubt:
            return cannot_tell(doubt)
        if scene.lossy:
            return Finding("unknown", f"Evidence is incomplete: {scene.lossy_because()}.", found.lines)
        if not found.sure:
            return Finding("not_applicable", f"There is no {self.of.noun}.")
        return Finding("pass", f"Each {self.of.noun} satisfies the condition.", found.lines)

    def _holds(self, event: Call) -> tuple[bool | None, str]:
        """(held, why not evaluated). An assert that cannot be evaluated on whole evidence does not hold."""
        if isinstance(self.condition, Schema):
            return self.condition.holds(event)
        if not isinstance(self.condition, CelPredicate):
            return self.condition.match(event), ""
        value = self.condition.value(event)
        if not isinstance(value, Failure):
            return value is True, ""
        if self.condition.lacks(event):
            return None, ""
        return False, f"it cannot be evaluated, {value.why} (an argument is missing or of another type)"
