"""One check as written in the configuration, read key by key. What nobody read is an unknown key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graders.errors import CheckError, did_you_mean
from graders.predicate import AnyCall, Grouping, Predicate, Tags, ToolNamed

COMMON_KEYS = (
    "id",
    "kind",
    "gate",
    "when",
    "tasks",
    "classes",
    "scope",
    "among",
    "after",
    "before",
    "axis",
    "on_fail",
    "severity",
    "description",
    "fix",
)


class Spec:
    """The keys of one check. Every reader raises `CheckError` naming the check and the key."""

    def __init__(self, written: Mapping[str, Any], tags: Tags) -> None:
        self.written = written
        self.tags = tags
        self.id = str(written.get("id", ""))
        self._read: set[str] = set(COMMON_KEYS)
        self.names: set[str] = set()  # variables that its expressions use
        self.fields: set[str] = set()

    def error(self, key: str, problem: str) -> CheckError:
        return CheckError(problem, check_id=self.id, key=key)

    def get(self, key: str) -> Any:
        self._read.add(key)
        return self.written.get(key)

    def has(self, key: str) -> bool:
        return self.get(key) is not None

    def predicate(self, key: str) -> Predicate:
        """A required expression over `call`."""
        value = self.get(key)
        if value is None:
            raise self.error(key, "is missing")
        return self.expression(key, value)

    def optional(self, key: str) -> Predicate | None:
        return self.predicate(key) if self.has(key) else None

    def any_call(self, key: str) -> Predicate:
        """An expression over `call`; without it, any call."""
        return self.optional(key) or AnyCall()

    def expression(self, key: str, source: object) -> Predicate:
        try:
            predicate = self.tags.predicate(source)
        except CheckError as error:
            raise error.at(check_id=self.id, key=key) from None
        self.uses(source)
        return predicate

    def tool(self, key: str, name: object) -> Predicate:
        if not isinstance(name, str) or not name:
            raise self.error(key, "is a list of tool names")
        return ToolNamed(name)

    def uses(self, source: object) -> None:
        """Note what an expression uses: it belongs to the version of the check."""
        self.names |= self.tags.compiler.names_in(source)
        self.fields |= self.tags.compiler.fields_in(source)

    def grouping(self, key: str) -> Grouping | None:
        if not self.has(key):
            return None
        try:
            expression = self.tags.compiler.valued(self.get(key))
        except CheckError as error:
            raise error.at(check_id=self.id, key=key) from None
        self.uses(self.get(key))
        return Grouping(expression, self.tags)

    def integer(self, key: str, default: int | None = None, *, least: int = 0) -> int:
        value = self.get(key)
        value = default if value is None else value
        if value is None:
            raise self.error(key, "is missing")
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise self.error(key, f"must be a whole number, {least} or more, not {value!r}")
        return value

    def number(self, key: str) -> float | None:
        value = self.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
            raise self.error(key, f"must be a number, 0 or more, not {value!r}")
        return float(value)

    def choice(self, key: str, known: tuple[str, ...], default: str) -> str:
        value = self.get(key)
        if value is None:
            return default
        if value not in known:
            raise self.error(key, f"must be one of {', '.join(known)}, not {value!r}{did_you_mean(str(value), known)}")
        return str(value)

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.get(key)
        if value is None:
            return ()
        values = [value] if isinstance(value, str) else value
        if not isinstance(values, list | tuple) or not all(isinstance(item, str) and item for item in values):
            raise self.error(key, "must be a list of texts")
        return tuple(values)

    def flag(self, key: str) -> bool:
        value = self.get(key)
        if value is not None and not isinstance(value, bool):
            raise self.error(key, f"must be true or false, not {value!r}")
        return bool(value)

    def text(self, key: str) -> str:
        value = self.get(key)
        if value is not None and not isinstance(value, str):
            raise self.error(key, f"must be text, not {value!r}")
        return value or ""

    def refuse_unknown(self) -> None:
        """Raise for a key that this kind does not have."""
        for key in self.written:
            if key not in self._read:
                raise self.error(str(key), f"unknown key{did_you_mean(str(key), self._read)}")
