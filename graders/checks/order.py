"""order: all steps occur, their first occurrences one after the other."""

from __future__ import annotations

from itertools import pairwise

from msgspec import Struct

from graders.call import Call
from graders.checks.place import before, side_by_side
from graders.checks.scene import Finding, Scene, at_lines, cannot_tell, lines_of
from graders.checks.spec import Spec
from graders.predicate import Predicate


class Order(Struct, frozen=True):
    """Holds when all steps occur and their first occurrences come in this order; other calls may lie between.

    A step written twice stands for its first and its second occurrence. Never not_applicable.
    """

    steps: tuple[Predicate, ...]
    tools: tuple[str, ...] = ()

    @classmethod
    def read(cls, spec: Spec) -> Order:
        if spec.has("steps") == spec.has("tools"):
            raise spec.error("steps", "either steps or tools must be given")
        key = "tools" if spec.has("tools") else "steps"
        values = spec.get(key)
        if not isinstance(values, list | tuple) or not values:
            raise spec.error(key, "must be a list with at least one entry")
        if key == "tools":
            return cls(tuple(spec.tool("tools", value) for value in values), tuple(values))
        return cls(tuple(spec.expression("steps", value) for value in values))

    def judge(self, scene: Scene) -> Finding:
        firsts: list[Call] = []
        doubt: list[Call] = []
        seen: dict[str, int] = {}
        for step in self.steps:
            nth = seen.get(step.source, 0)
            seen[step.source] = nth + 1
            found = scene.pick(step)
            if len(found.sure) <= nth:
                if len(found.sure) + len(found.unsure) > nth:
                    return cannot_tell(found.unsure)
                return self._absent(scene, step, nth, firsts)
            first = found.sure[nth]
            firsts.append(first)
            doubt += [event for event in found.unsure if event.order < first.order]
        if doubt:
            return cannot_tell(doubt)
        return self._ordered(scene, firsts)

    def _absent(self, scene: Scene, step: Predicate, nth: int, firsts: list[Call]) -> Finding:
        lines = lines_of(firsts)
        if scene.lossy:
            return Finding("unknown", f"Evidence is incomplete: {scene.lossy_because()}.", lines)
        times = "" if nth == 0 else " once more"
        return Finding("fail", f"There is no {step.noun}{times}.", lines)

    def _ordered(self, scene: Scene, firsts: list[Call]) -> Finding:
        pairs = list(zip(self.steps, firsts, strict=True))
        tied: Finding | None = None
        for (earlier, one), (later, other) in pairwise(pairs):
            lines = (other.n, one.n)
            if side_by_side(one, other):
                what = (
                    f"The first {earlier.noun} and the first {later.noun} started at the same time ({at_lines(lines)})."
                )
                tied = tied or Finding("unknown", what, tuple(sorted(lines)))
            elif not before(one, earlier, other, later):
                reason = (
                    f"The first {later.noun} (line {lines[0]}) comes before the first {earlier.noun} (line {lines[1]})."
                )
                return Finding("unknown" if scene.lossy else "fail", reason, tuple(sorted(set(lines))))
        if tied is not None:
            return tied
        all_lines = lines_of(firsts)
        return Finding("pass", f"All steps occur in order ({at_lines(all_lines)}).", all_lines)
