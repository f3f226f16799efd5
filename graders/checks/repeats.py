"""repeats and loop: the same call again and again, alone or in a circle."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from graders.call import Call
from graders.checks.scene import Finding, Picked, Scene, at_lines, cannot_tell, lines_of
from graders.checks.spec import Spec
from graders.predicate import Grouping, Predicate
from graders.values import Key


class Repeats(Struct, frozen=True):
    """Holds when no call with the same tool and input comes more than `at_most` (2) times.

    An event that matches `reset` starts the counts again, but not that of its own repetitions. not_applicable
    without a matching call.
    """

    of: Predicate
    at_most: int
    reset: Predicate | None
    per: Grouping | None

    @classmethod
    def read(cls, spec: Spec) -> Repeats:
        return cls(
            spec.any_call("of"), spec.integer("at_most", 2, least=1), spec.optional("reset"), spec.grouping("per")
        )

    def judge(self, scene: Scene) -> Finding:
        counted = scene.pick(self.of)
        resets = scene.pick(self.reset) if self.reset is not None else Picked((), ())
        if not counted.sure and not counted.unsure:
            return self._none(scene)
        worst = self._count(counted.sure, (*resets.sure, *resets.unsure), generous=False)
        if worst:
            return self._too_often(worst)
        if counted.unsure or resets.unsure or not all(event.input_is_whole for event in counted.sure) or self.per:
            worst = self._count(counted.all, resets.sure, generous=True)
        if worst:
            return cannot_tell(worst)
        if scene.lossy:
            return Finding("unknown", f"Evidence is incomplete: {scene.lossy_because()}.")
        return Finding("pass", f"No call is repeated more than {self.at_most} times.")

    def _count(self, counted: Sequence[Call], resets: Sequence[Call], *, generous: bool) -> tuple[Call, ...]:
        count = _Count(self, generous=generous)
        counts, starts = {id(event) for event in counted}, {id(event) for event in resets}
        for event in sorted({id(e): e for e in (*counted, *resets)}.values(), key=lambda event: event.order):
            count.see(event, counted=id(event) in counts, reset=id(event) in starts)
        return count.worst

    def _none(self, scene: Scene) -> Finding:
        if scene.lossy:
            return Finding("unknown", f"Evidence is incomplete: {scene.lossy_because()}.")
        return Finding("not_applicable", f"There is no {self.of.noun}.")

    def _too_often(self, events: tuple[Call, ...]) -> Finding:
        lines = lines_of(events)
        stable = self.reset is None and self.of.stable and (self.per is None or self.per.stable)
        reason = (
            f"{events[0].tool} is called {len(events)} times with the same input ({at_lines(lines)}), "
            f"at most {self.at_most} allowed."
        )
        return Finding("fail", reason, lines, stable)


class _Count:
    """Counts of equal calls. The generous one takes a call whose input is not known for any of its tool."""

    def __init__(self, check: Repeats, *, generous: bool = False) -> None:
        self._check = check
        self._generous = generous
        self._groups: dict[Key, list[Call]] = {}
        self._wild: dict[Key, list[Call]] = {}
        self.worst: tuple[Call, ...] = ()

    def see(self, event: Call, *, counted: bool, reset: bool) -> None:
        key = self._key(event) if event.event == "call" else None
        if reset:
            own = self._groups.get(key) if key is not None else None
            self._groups = {key: own} if own is not None else {}
            self._wild = {}
        if not counted:
            return
        tool = (event.tool, event.server)
        if key is None:
            if self._generous:
                self._wild.setdefault(tool, []).append(event)
                self._look([e for k, es in self._groups.items() if k[1] == event.tool for e in es][-1:], tool)
            return
        group = self._groups.setdefault(key, [])
        group.append(event)
        self._look(group, tool)

    def _look(self, group: list[Call], tool: Key) -> None:
        together = [*group, *self._wild.get(tool, [])]
        if self._generous and group:
            full = self._groups.get(self._key(group[-1]), group)
            together = [*full, *self._wild.get(tool, [])]
        if len(together) > self._check.at_most and len(together) > len(self.worst):
            self.worst = tuple(together)

    def _key(self, event: Call) -> Key:
        if event.event != "call":
            return (event.event, "", event.line.text)
        if not event.input_is_whole:
            return None
        if self._check.per is None:
            return ("", event.tool, event.identity)
        group, certain = self._check.per.key(event)
        return (group, event.tool, event.identity) if certain else None


class Loop(Struct, frozen=True):
    """Holds when no cycle of `period` calls (same tools, same inputs) comes more than `at_most` (2) times in a row.

    A cycle that is itself a shorter cycle repeated is left to that length. not_applicable without a call.
    """

    periods: tuple[int, ...]
    at_most: int

    @classmethod
    def read(cls, spec: Spec) -> Loop:
        period = spec.get("period")
        periods = [2] if period is None else period if isinstance(period, list | tuple) else [period]
        for value in periods:
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 100:
                raise spec.error("period", f"must be a number of calls from 1 to 100, not {value!r}")
        return cls(tuple(periods), spec.integer("at_most", 2, least=1))

    def judge(self, scene: Scene) -> Finding:
        calls = scene.calls
        if not calls:
            if scene.lossy:
                return Finding("unknown", f"Evidence is incomplete: {scene.lossy_because()}.")
            return Finding("not_applicable", "There is no tool call.")
        doubtful = scene.doubtful
        for period in self.periods:
            found = self._cycle(calls, period, doubtful, generous=False)
            if found:
                lines = lines_of(found)
                times = len(found) // period
                names = " → ".join(call.tool for call in found[:period])
                reason = f"The cycle {names} comes {times} times in a row (lines {lines[0]} to {lines[-1]})."
                return Finding("fail", reason, lines)
        unclear = bool(doubtful) or not all(call.input_is_whole for call in calls)
        for period in self.periods if unclear else ():
            found = self._cycle(calls, period, doubtful, generous=True)
            if found:
                return cannot_tell(call for call in found if not call.input_is_whole or id(call) in doubtful)
        if scene.lossy:
            return Finding("unknown", f"Evidence is incomplete: {scene.lossy_because()}.")
        return Finding("pass", "No cycle of calls is repeated too often.")

    def _cycle(self, calls: list[Call], period: int, doubtful: frozenset[int], *, generous: bool) -> list[Call]:
        """The longest run of repeated cycles that is too long, else nothing."""
        best: list[Call] = []
        equal = 0
        for at in range(period, len(calls)):
            equal = equal + 1 if _equal(calls[at], calls[at - period], doubtful, generous=generous) else 0
            length = equal + period
            times = length // period
            if times > self.at_most and times * period > len(best):
                found = calls[at + 1 - length : at + 1 - length + times * period]
                unclear = any(not call.input_is_whole or id(call) in doubtful for call in found)
                if unclear if generous else _is_primitive(found[:period]):
                    best = found
        return best


def _equal(a: Call, b: Call, doubtful: frozenset[int], *, generous: bool) -> bool:
    if a.tool != b.tool or a.server != b.server:
        return False
    if not (a.input_is_whole and b.input_is_whole) or (doubtful and (id(a) in doubtful or id(b) in doubtful)):
        return generous
    return bool(a.identity == b.identity)


def _is_primitive(cycle: list[Call]) -> bool:
    keys = [call.identity for call in cycle]
    return not any(len(keys) % part == 0 and keys[:part] * (len(keys) // part) == keys for part in range(1, len(keys)))
