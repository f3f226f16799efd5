"""response and precedence: what must follow, and what must have come before."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from graders.call import Call
from graders.checks.correlate import Budget, Correlation, Marked
from graders.checks.place import after_last, before
from graders.checks.scene import Finding, Picked, Scene, at_lines, cannot_tell, lines_of
from graders.checks.spec import Spec
from graders.predicate import Predicate
from graders.values import Key

Fits = Callable[[Call, Call], bool]  # (partner, event): whether the partner stands on the right side of the event


class Response(Struct, frozen=True):
    """Holds when each `trigger` is followed later by a `response`. not_applicable without a trigger."""

    trigger: Predicate
    response: Predicate
    pairs: Correlation

    @classmethod
    def read(cls, spec: Spec) -> Response:
        trigger, response = spec.predicate("trigger"), spec.predicate("response")
        return cls(trigger, response, Correlation.read(spec, ("trigger", "response")))

    def judge(self, scene: Scene) -> Finding:
        def fits(partner: Call, event: Call) -> bool:
            return after_last(partner, self.response, event, self.trigger)

        events, partners = scene.pick(self.trigger), scene.pick(self.response)
        search = _Search(self.pairs, self.trigger, self.response, fits, nearest_last=True)
        result = search.run(events, partners, swap=False)
        missing = f"No {self.response.noun} follows the {self.trigger.noun}"
        if (without := _without_partner(scene, result, missing)) is not None:
            return without
        if not events.sure:
            return _nothing(scene, self.trigger)
        last = events.sure[-1]
        lines = lines_of((last, result.partner_of.get(id(last), last)))
        return Finding(
            "pass", f"Each {self.trigger.noun} is followed by {self.response.a_noun} ({at_lines(lines)}).", lines
        )


class Precedence(Struct, frozen=True):
    """Holds when each `then` has an earlier `first`. not_applicable without a `then`."""

    first: Predicate
    then: Predicate
    pairs: Correlation

    @classmethod
    def read(cls, spec: Spec) -> Precedence:
        first, then = spec.predicate("first"), spec.predicate("then")
        return cls(first, then, Correlation.read(spec, ("first", "then")))

    def judge(self, scene: Scene) -> Finding:
        def fits(partner: Call, event: Call) -> bool:
            return before(partner, self.first, event, self.then)

        events, partners = scene.pick(self.then), scene.pick(self.first)
        search = _Search(self.pairs, self.then, self.first, fits, nearest_last=False)
        result = search.run(events, partners, swap=True)
        missing = f"No {self.first.noun} comes before the {self.then.noun}"
        if (without := _without_partner(scene, result, missing)) is not None:
            return without
        if not events.sure:
            return _nothing(scene, self.then)
        lines = lines_of((*events.sure, *(result.partner_of.get(id(event), event) for event in events.sure)))
        return Finding("pass", f"Each {self.then.noun} has {self.first.a_noun} before it ({at_lines(lines)}).", lines)


def _without_partner(scene: Scene, result: _Result, missing: str) -> Finding | None:
    """The finding where an event has no partner, or may have none; None where each has one."""
    if result.alone:
        lines = lines_of(result.alone)
        return Finding("unknown" if scene.lossy else "fail", f"{missing} at {at_lines(lines)}.", lines)
    return cannot_tell(result.doubt) if result.doubt else None


def _nothing(scene: Scene, wanted: Predicate) -> Finding:
    if scene.lossy:
        return Finding("unknown", f"Evidence is incomplete: {scene.lossy_because()}.")
    return Finding("not_applicable", f"There is no {wanted.noun}.")


class _Result:
    def __init__(self) -> None:
        self.alone: list[Call] = []  # surely without a partner
        self.doubt: list[Call] = []
        self.partner_of: dict[int, Call] = {}


class _Search:
    """Finds for each event a partner on the right side. `nearest_last`: the last partner is the likeliest."""

    def __init__(
        self, pairs: Correlation, by_event: Predicate, by_partner: Predicate, fits: Fits, *, nearest_last: bool
    ) -> None:
        self._pairs = pairs
        self._by_event = by_event
        self._by_partner = by_partner
        self._fits = fits
        self._nearest_last = nearest_last
        self._budget = Budget()
        self._swap = False
        self._sure: dict[Key, list[Marked]] = {}
        self._unsure: dict[Key, list[Marked]] = {}
        self._wild: list[Call] = []  # partners of anything: what `same` reads of them is lost

    def run(self, events: Picked, partners: Picked, *, swap: bool) -> _Result:
        """Events with and without a partner. `swap`: the partner is the first of the pair."""
        if self._pairs.is_free:
            return self._run_freely(events, partners)
        self._swap = swap
        sure, lost = self._pairs.marked(partners.sure, self._by_partner)
        unsure, lost_too = self._pairs.marked(partners.unsure, self._by_partner)
        self._sure, self._unsure = self._buckets(sure), self._buckets(unsure)
        self._wild = [*lost, *lost_too]
        result = _Result()
        certain = {id(event) for event in events.sure}
        marked, unmarked = self._pairs.marked(events.all, self._by_event)
        result.doubt += unmarked
        for event in marked:
            self._judge(event, result, sure=id(event.event) in certain)
        return result

    def _run_freely(self, events: Picked, partners: Picked) -> _Result:
        """Where any partner will do, the outermost one tells."""
        best = -1 if self._nearest_last else 0
        sure, unsure = partners.sure, partners.unsure
        result = _Result()
        for event in events.sure:
            if sure and self._fits(sure[best], event):
                result.partner_of[id(event)] = sure[best]
            elif unsure and self._fits(unsure[best], event):
                result.doubt.append(event)
            else:
                result.alone.append(event)
        result.doubt += [event for event in events.unsure if not (sure and self._fits(sure[best], event))]
        return result

    def _judge(self, event: Marked, result: _Result, *, sure: bool) -> None:
        found, maybe = self._partner(event, self._sure.get(self._pairs.bucket(event), []))
        if found is not None:
            result.partner_of[id(event.event)] = found
            return
        if not maybe:
            partner, maybe = self._partner(event, self._unsure.get(self._pairs.bucket(event), []))
            maybe = maybe or partner is not None
        maybe = maybe or any(self._fits(partner, event.event) for partner in self._wild)
        if maybe or not sure:
            result.doubt.append(event.event)
        else:
            result.alone.append(event.event)

    def _partner(self, event: Marked, candidates: list[Marked]) -> tuple[Call | None, bool]:
        """(a partner, whether there might be one)."""
        maybe = False
        for candidate in candidates:
            if not self._fits(candidate.event, event.event):
                if self._is_hopeless(candidate, event):
                    break
                continue
            if not self._pairs.same(candidate, event):
                continue
            if self._pairs.asks:
                self._budget.spend()
            pair = (candidate.event, event.event) if self._swap else (event.event, candidate.event)
            held = self._pairs.where(*pair)
            if held:
                return candidate.event, False
            maybe = maybe or held is None
        return None, maybe

    def _is_hopeless(self, candidate: Marked, event: Marked) -> bool:
        """Candidates come from the promising end: one beyond the event ends the search."""
        gap = candidate.event.order - event.event.order
        return gap < 0 if self._nearest_last else gap > 0

    def _buckets(self, marked: list[Marked]) -> dict[Key, list[Marked]]:
        buckets: dict[Key, list[Marked]] = {}
        for one in reversed(marked) if self._nearest_last else marked:
            buckets.setdefault(self._pairs.bucket(one), []).append(one)
        return buckets
