"""`same` and `where`: which first belongs to which then, which response to which trigger."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from graders.actions import same_path
from graders.call import Call
from graders.cel import Expression, Failure
from graders.checks.spec import Spec
from graders.errors import CheckBroke, CheckError
from graders.fields import CALL_FIELDS
from graders.predicate import Predicate
from graders.values import Key, key_of

_ABSENT = object()
_MOST_PAIRS = 50_000


class TooManyPairs(CheckBroke):
    """A `where` that would have to be asked too often: an error of the check, not of the agent."""


class Marked(Struct, frozen=True):
    """An event with one value of `same`: `key` without paths, and the path, where `same` names it."""

    event: Call
    key: Key
    path: str = ""


class Correlation:
    """Pairs events of two expressions. Without `same` and `where` all pairs belong together."""

    def __init__(self, fields: tuple[str, ...], where: Expression | None, names: tuple[str, str]) -> None:
        self._fields = tuple(field for field in fields if field != "path")
        self._by_path = "path" in fields
        self._where = where
        self._names = names
        self._wanted = where.wants(CALL_FIELDS) if where is not None else ()
        self.asks = where is not None
        self.is_free = not fields and where is None  # any event goes with any other

    @classmethod
    def read(cls, spec: Spec, names: tuple[str, str]) -> Correlation:
        fields = spec.texts("same")
        for field in fields:
            if field not in ("path", "tool", "agent") and not (field.startswith("input.") and field[6:]):
                raise spec.error("same", f"'{field}' is neither path, tool, agent nor input.<field>")
        where = None
        if spec.has("where"):
            try:
                where = spec.tags.compiler.predicate(spec.get("where"), "pair", names)
            except CheckError as error:
                raise error.at(check_id=spec.id, key="where") from None
            spec.uses(spec.get("where"))
        return cls(fields, where, names)

    def marked(self, events: tuple[Call, ...], predicate: Predicate) -> tuple[list[Marked], list[Call]]:
        """Each event once for every path it is about; events whose value is lost apart."""
        found: list[Marked] = []
        lost: list[Call] = []
        for event in events:
            values = [_value(event, field) for field in self._fields]
            needs = ["path"] * self._by_path + [field.split(".")[0] for field in self._fields]
            if event.missing.intersection(needs):
                lost.append(event)
                continue
            # what is not there equals nothing, not even another absence
            key = tuple((id(event), "absent") if value is _ABSENT else key_of(value) for value in values)
            if self._by_path:
                found += [Marked(event, key, path) for path in predicate.paths(event)]
            else:
                found.append(Marked(event, key))
        return found, lost

    def bucket(self, marked: Marked) -> Key:
        """Events in different buckets never belong together."""
        return (marked.key, marked.path.rsplit("/", 1)[-1])

    def same(self, a: Marked, b: Marked) -> bool:
        return a.key == b.key and (not self._by_path or same_path(a.path, b.path))

    def where(self, first: Call, second: Call) -> bool | None:
        """Whether `where` holds for the pair; None where evidence it reads is missing."""
        if self._where is None:
            return True
        data: dict[str, Any] = {self._names[0]: first.view(self._wanted), self._names[1]: second.view(self._wanted)}
        value = self._where.value(data)
        if isinstance(value, Failure):
            lacking = first.missing.union(second.missing).intersection(self._wanted)
            return None if lacking else False
        return value is True


class Budget:
    """How often `where` may still be asked."""

    def __init__(self) -> None:
        self.left = _MOST_PAIRS

    def spend(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise TooManyPairs(f"where was asked of more than {_MOST_PAIRS:,} pairs of events")


def _value(event: Call, field: str) -> Any:
    if field == "tool":
        return event.tool
    if field == "agent":
        return event.line.agent
    value: Any = event.input
    for name in field.split(".")[1:]:
        if not isinstance(value, dict) or name not in value:
            return _ABSENT
        value = value[name]
    return value
