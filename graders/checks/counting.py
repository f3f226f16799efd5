"""absence, existence, bounded: how many events match."""

from __future__ import annotations

from msgspec import Struct

from graders.call import Call
from graders.checks.scene import Finding, Picked, Scene, at_lines, cannot_tell, lines_of
from graders.checks.spec import Spec
from graders.predicate import Grouping, Predicate
from graders.values import Key


class Absence(Struct, frozen=True):
    """Holds when no event matches `of`. Never not_applicable by itself: `among` makes it so."""

    of: Predicate

    @classmethod
    def read(cls, spec: Spec) -> Absence:
        return cls(spec.predicate("of"))

    def judge(self, scene: Scene) -> Finding:
        found = scene.pick(self.of)
        if found.sure:
            lines = lines_of(found.sure)
            return Finding("fail", f"There is {self.of.a_noun} at {at_lines(lines)}.", lines, self.of.stable)
        if found.unsure:
            return cannot_tell(found.unsure)
        if scene.lossy:
            return Finding("unknown", f"Evidence is incomplete: {scene.lossy_because()}.")
        return Finding("pass", f"There is no {self.of.noun}.")


class Existence(Struct, frozen=True):
    """Holds when at least `at_least` (1) events match `of`."""

    of: Predicate
    at_least: int

    @classmethod
    def read(cls, spec: Spec) -> Existence:
        return cls(spec.predicate("of"), spec.integer("at_least", 1, least=1))

    def judge(self, scene: Scene) -> Finding:
        found = scene.pick(self.of)
        if len(found.sure) >= self.at_least:
            return Finding("pass", f"There is {self.of.a_noun} at {at_lines(found.lines)}.", found.lines)
        if len(found.sure) + len(found.unsure) >= self.at_least:
            return cannot_tell(found.unsure)
        if scene.lossy:
            return Finding("unknown", f"Evidence is incomplete: {scene.lossy_because()}.", found.lines)
        have = f"only {len(found.sure)} of {self.at_least}" if self.at_least > 1 else "no"
        return Finding("fail", f"There is {have} {self.of.noun}.", found.lines)


class Bounded(Struct, frozen=True):
    """Holds when the count of matching events, in each group of `per`, is within bounds."""

    of: Predicate
    at_most: int | None
    at_least: int
    per: Grouping | None

    @classmethod
    def read(cls, spec: Spec) -> Bounded:
        at_most = spec.integer("at_most") if spec.has("at_most") else None
        at_least = spec.integer("at_least", 0)
        if at_most is None and not at_least:
            raise spec.error("at_most", "at_most or at_least is missing")
        if at_most is not None and at_least > at_most:
            raise spec.error("at_least", "is more than at_most: nothing can hold")
        return cls(spec.predicate("of"), at_most, at_least, spec.grouping("per"))

    def judge(self, scene: Scene) -> Finding:
        found = scene.pick(self.of)
        groups, loose = self._groups(found)
        for events in groups.values():
            if self.at_most is not None and len(events) > self.at_most:
                return self._too_many(events)
        doubt = (*found.unsure, *loose)
        if self.at_most is not None and doubt:
            most = max((len(events) for events in groups.values()), default=0)
            if most + len(doubt) > self.at_most:
                return cannot_tell(doubt)
        return self._few(scene, groups, doubt)

    def _groups(self, found: Picked) -> tuple[dict[Key, list[Call]], tuple[Call, ...]]:
        groups: dict[Key, list[Call]] = {}
        loose: list[Call] = []
        for event in found.sure:
            key, certain = self.per.key(event) if self.per is not None else ("all", True)
            if certain:
                groups.setdefault(key, []).append(event)
            else:
                loose.append(event)
        return groups, tuple(loose)

    def _too_many(self, events: list[Call]) -> Finding:
        lines = lines_of(events)
        per = f" for one {self.per.source}" if self.per is not None else ""
        stable = self.of.stable and (self.per is None or self.per.stable)
        reason = f"There are {len(events)} of {self.of.noun}{per}, at most {self.at_most} allowed ({at_lines(lines)})."
        return Finding("fail", reason, lines, stable)

    def _few(self, scene: Scene, groups: dict[Key, list[Call]], doubt: tuple[Call, ...]) -> Finding:
        counted = groups or {"all": []}
        short = [events for events in counted.values() if len(events) < self.at_least]
        lines = lines_of(event for events in groups.values() for event in events)
        if short and doubt:
            return cannot_tell(doubt)
        if scene.lossy and (short or self.at_most is not None):
            return Finding("unknown", f"Evidence is incomplete: {scene.lossy_because()}.", lines)
        if short:
            return Finding(
                "fail", f"There are {len(short[0])} of {self.of.noun}, at least {self.at_least} wanted.", lines
            )
        return Finding("pass", f"The number of {self.of.noun} is within bounds.", lines)
