"""What a check sees of a run: the events it may look at, and how far their absence proves anything."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from graders.call import Call
from graders.predicate import Predicate
from graders.trace import Trace

Status = Literal["pass", "fail", "unknown", "not_applicable"]


class Finding(Struct, frozen=True):
    """What a kind finds, as if the run were over. `permanent`: no further line can mend this failure."""

    status: Status
    reason: str
    lines: tuple[int, ...] = ()
    permanent: bool = False


class Picked(Struct, frozen=True):
    """Events that an expression picks: `sure` ones, and those for which the evidence does not tell."""

    sure: tuple[Call, ...]
    unsure: tuple[Call, ...]

    @property
    def all(self) -> tuple[Call, ...]:
        return tuple(sorted((*self.sure, *self.unsure), key=lambda event: event.order))

    @property
    def lines(self) -> tuple[int, ...]:
        return lines_of(self.sure)


class Scene:
    """The events in view of one check. `doubtful` are events that may lie outside its `after` or `before`."""

    def __init__(self, trace: Trace, events: list[Call], doubtful: frozenset[int] = frozenset()) -> None:
        self.trace = trace
        self.events = events
        self.doubtful = doubtful | trace.doubtful
        self.lossy = bool(trace.lossy)
        self._is_whole = events is trace.events

    def pick(self, predicate: Predicate) -> Picked:
        """The events that an expression picks; over a whole run looked for once for all checks."""
        if not self._is_whole:
            return self._pick(predicate)
        found = self.trace.picked.get(predicate.source)
        if found is None:
            found = self.trace.picked[predicate.source] = self._pick(predicate)
        return found

    def _pick(self, predicate: Predicate) -> Picked:
        sure: list[Call] = []
        unsure: list[Call] = []
        doubtful, match = self.doubtful, predicate.match
        for event in self.events if predicate.on_turns else self.calls:
            held = match(event)
            if held is None or (held and doubtful and id(event) in doubtful):
                unsure.append(event)
            elif held:
                sure.append(event)
        return Picked(tuple(sure), tuple(unsure))

    @property
    def calls(self) -> list[Call]:
        if self._is_whole:
            return self.trace.calls
        return [event for event in self.events if event.event == "call"]

    @property
    def sure_calls(self) -> int:
        """How many calls there are at least."""
        return sum(id(call) not in self.doubtful for call in self.calls) if self.doubtful else len(self.calls)

    def lossy_because(self) -> str:
        """Why absence proves nothing here, for a reason sentence."""
        return ", ".join(self.trace.lossy) or "evidence is missing"


def lines_of(events: Iterable[Call]) -> tuple[int, ...]:
    """Line numbers, each once, ascending."""
    return tuple(sorted({event.n for event in events}))


def at_lines(lines: Iterable[int]) -> str:
    """`line 3`, `lines 3 and 6`, `lines 3, 6, 9 and 4 more`."""
    numbers = list(lines)
    if len(numbers) == 1:
        return f"line {numbers[0]}"
    if len(numbers) > 6:
        return f"lines {', '.join(map(str, numbers[:5]))} and {len(numbers) - 5} more"
    return f"lines {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"


def cannot_tell(events: Iterable[Call]) -> Finding:
    """The finding for events whose evidence is cut or was not captured."""
    lines = lines_of(events)
    states = sorted({event.line.input_state for event in events if not event.input_is_whole} - {""})
    why = " or ".join(state.replace("_", " ") for state in states) or "not captured"
    return Finding("unknown", f"The evidence at {at_lines(lines)} is {why}, so this cannot be told.", lines)
