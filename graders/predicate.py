"""Which events an expression picks: yes, no, or not to be told from the evidence."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any

from graders.call import BUILT_IN_TAGS, TURN_TAGS, WRITE_KINDS, Call
from graders.cel import RESERVED, Compiler, Expression, Failure
from graders.errors import CheckError
from graders.fields import CALL_FIELDS, UNSETTLED_FIELDS
from graders.values import Key, key_of

NOUNS = {
    "edit": "edit",
    "test_run": "test run",
    "test_pass": "green test run",
    "test_edit": "edit of a test file",
    "read": "read of a file",
    "delete": "deletion",
    "vcs": "version control command",
    "network": "network access",
    "install": "installation",
    "sql_read": "SQL read",
    "sql_write": "SQL write",
    "ask_user": "question to the user",
    "message_send": "message sent",
    "payment": "payment",
    "write": "write",
    "user_turn": "turn of the user",
    "assistant_turn": "turn of the agent",
    "final_answer": "final answer",
}
_ANY = "any call"


class Predicate(ABC):
    """An expression over events. Subclasses differ in how they are evaluated."""

    source: str
    on_turns = False  # whether turns of the conversation are looked at besides calls
    stable = True  # False: a line that arrives later in front of an event may change the answer
    tags: frozenset[str] = frozenset()

    @abstractmethod
    def match(self, event: Call) -> bool | None:
        """True, False, or None where the evidence that decides is cut or was not captured."""

    def looks_at(self, event: Call) -> bool:
        """Whether events of this kind are candidates at all."""
        return event.event == "call" or self.on_turns

    def places(self, event: Call) -> list[int]:
        """Where inside a matching call it happens, for calls that are several steps; empty where that is unknown."""
        return sorted({action.at for tag in self.tags for action in _actions_of(event, tag)})

    def paths(self, event: Call) -> list[str]:
        """The paths this match is about: those of its actions, else all of the call."""
        own = [path for tag in self.tags for action in _actions_of(event, tag) for path in action.paths]
        return list(dict.fromkeys(own)) or event.paths

    @property
    def noun(self) -> str:
        """What it picks, for a reason sentence."""
        return NOUNS.get(self.source, f"call where {self.source}")

    @property
    def a_noun(self) -> str:
        """The same with its article."""
        return f"{'an' if self.noun[0] in 'aeiou' and not self.noun.startswith('use') else 'a'} {self.noun}"


class AnyCall(Predicate):
    """Every tool call."""

    source = _ANY

    def match(self, event: Call) -> bool | None:
        return True

    @property
    def noun(self) -> str:
        return "tool call"


class ToolNamed(Predicate):
    """Calls of a tool by its name, canonical or as sent."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.source = f"tool {name}"

    def match(self, event: Call) -> bool | None:
        return self.name in (event.tool, event.line.tool_raw)

    @property
    def noun(self) -> str:
        return f"call of {self.name}"


class BuiltIn(Predicate):
    """A built-in tag by itself: no expression is evaluated."""

    def __init__(self, tag: str) -> None:
        self.source = tag
        self.tags = frozenset({tag})
        self.on_turns = tag in TURN_TAGS
        self.stable = tag != "final_answer"

    def match(self, event: Call) -> bool | None:
        return event.tag(self.source)


class FieldIs(Predicate):
    """`call.tool == 'x'`, `call.error != ''`, `call.ok`: common enough to be worth no evaluation."""

    def __init__(self, source: str, field: str, value: object, *, equal: bool) -> None:
        self.source = source
        self.stable = field not in UNSETTLED_FIELDS
        self._field = field
        self._value = value
        self._equal = equal

    @classmethod
    def read(cls, source: str) -> FieldIs | None:
        """The predicate of a source of this form, None for any other."""
        if found := _COMPARED.fullmatch(source.strip()):
            kind = CALL_FIELDS.get(found[1])
            return cls(source, found[1], found[3], equal=found[2] == "==") if kind == "text" else None
        if (found := _FLAG.fullmatch(source.strip())) and CALL_FIELDS.get(found[2]) == "bool":
            return cls(source, found[2], True, equal=not found[1])
        return None

    def match(self, event: Call) -> bool | None:
        if self._field in event.missing:
            return None
        return (event.field(self._field) == self._value) is self._equal


_COMPARED = re.compile(r"call\.(\w+)\s*(==|!=)\s*'([^'\\\n]*)'")
_FLAG = re.compile(r"(!?)call\.(\w+)")


class CelPredicate(Predicate):
    """A CEL expression over `call` and the tags."""

    def __init__(self, expression: Expression, tags: Tags) -> None:
        self.source = expression.source
        self.expression = expression
        self.tags = tags.used_by(expression.names)
        self.on_turns = bool(self.tags & TURN_TAGS)
        self.stable = not (expression.fields & UNSETTLED_FIELDS or expression.bare) and all(
            tags.is_stable(tag) for tag in self.tags
        )
        self._of = tags
        self._fields = expression.wants(CALL_FIELDS)
        self._names = tuple(name for name in expression.names if name in tags)
        self._reads_tags = bool(self._names) or "tags" in self._fields

    def match(self, event: Call) -> bool | None:
        value = self.value(event)
        if isinstance(value, Failure):
            return None if self.lacks(event) else False
        return value is True

    def value(self, event: Call, **instead: Any) -> Any:
        """The value over this event; `instead` replaces fields of the view."""
        view = event.view(self._fields)
        if not self._reads_tags and not instead:
            return self.expression.value({"call": view})
        if "tags" in view:
            view["tags"] = self._of.names_on(event)
        data: dict[str, Any] = {"call": view | instead}
        for name in self._names:
            held = self._of.value(event, name)
            if held is not None:
                data[name] = held
        return self.expression.value(data)

    def lacks(self, event: Call) -> bool:
        """Whether evidence that this expression reads is missing on the event."""
        return bool(event.missing.intersection(self._fields)) or any(
            self._of.value(event, name) is None for name in self._names
        )

    def places(self, event: Call) -> list[int]:
        found = super().places(event)
        line = event.done.line
        if found or "commands" not in self._fields or len(set(line.starts)) < 2:
            return found
        return sorted(
            {
                at
                for at, text in zip(line.starts, line.commands, strict=True)
                if self.value(event, commands=[text]) is True
            }
        )


class Tags:
    """The tags in force: built in and configured. Configured ones may use each other."""

    def __init__(self, configured: Mapping[str, str]) -> None:
        for name in configured:
            _check_name(name)
        self.configured = dict(configured)
        self.compiler = Compiler((*BUILT_IN_TAGS, *configured))
        self._predicates: dict[str, CelPredicate] = {}
        for name in _in_order(self.configured, self.compiler):
            try:
                expression = self.compiler.predicate(configured[name])
            except CheckError as error:
                raise error.at(key=f"tags.{name}") from None
            self._predicates[name] = CelPredicate(expression, self)

    def __contains__(self, name: object) -> bool:
        return name in self._predicates or name in BUILT_IN_TAGS

    def __iter__(self) -> Iterable[str]:
        return iter((*BUILT_IN_TAGS, *self._predicates))

    def value(self, event: Call, name: str) -> bool | None:
        predicate = self._predicates.get(name)
        if predicate is None:
            return event.tag(name)
        if not predicate.looks_at(event):
            return False
        return predicate.match(event)

    def names_on(self, event: Call) -> list[str]:
        """The tags an event carries."""
        return [name for name in (*BUILT_IN_TAGS, *self._predicates) if self.value(event, name)]

    def used_by(self, names: Iterable[str]) -> frozenset[str]:
        """The built-in tags behind these names."""
        found: set[str] = set()
        for name in names:
            if name in self._predicates:
                found |= self._predicates[name].tags
            elif name in BUILT_IN_TAGS:
                found.add(name)
        return frozenset(found)

    def is_stable(self, name: str) -> bool:
        predicate = self._predicates.get(name)
        return predicate.stable if predicate is not None else name != "final_answer"

    def predicate(self, source: object) -> Predicate:
        """An expression of a check as a predicate."""
        if isinstance(source, str) and source.strip() in BUILT_IN_TAGS:
            return BuiltIn(source.strip())
        expression = self.compiler.predicate(source)
        return FieldIs.read(expression.source) or CelPredicate(expression, self)

    def definitions_for(self, names: Iterable[str]) -> dict[str, str]:
        """The configured tags among these names, with those they use in turn."""
        found: dict[str, str] = {}
        waiting = [name for name in names if name in self.configured]
        while waiting:
            name = waiting.pop()
            if name not in found:
                found[name] = self.configured[name]
                waiting.extend(n for n in self._predicates[name].expression.names if n in self.configured)
        return found


class Grouping:
    """`per`: a CEL value by which events are told apart."""

    def __init__(self, expression: Expression, tags: Tags) -> None:
        self.source = expression.source
        self._inner = CelPredicate(expression, tags)
        self.stable = self._inner.stable
        self.names = expression.names

    def key(self, event: Call) -> tuple[Key, bool]:
        """(key, certain). Where the value is not there at all, all such events are one group."""
        value = self._inner.value(event)
        if isinstance(value, Failure):
            return ("absent",), not self._inner.lacks(event)
        return ("value", key_of(value)), True


def _actions_of(event: Call, tag: str) -> list[Any]:
    if event.event != "call" or tag in TURN_TAGS:
        return []
    if tag == "test_pass":
        return [run for run in event.did("test_run") if event.green(run)]
    if tag == "test_edit":
        return [*event.did("edit"), *event.did("delete")]
    if tag == "write":
        return [action for kind in WRITE_KINDS for action in event.did(kind)]
    return event.did(tag)  # type: ignore[arg-type]


def _check_name(name: str) -> None:
    key = f"tags.{name}"
    if not (name.isascii() and name.replace("_", "a").isalnum() and name == name.lower() and not name[:1].isdigit()):
        raise CheckError("a tag is named with a-z, 0-9 and _, a letter first", key=key)
    if name in BUILT_IN_TAGS:
        raise CheckError(f"'{name}' is built in; `actions` says what else counts as one", key=key)
    if name in RESERVED:
        raise CheckError(f"'{name}' has another meaning in expressions", key=key)


def _in_order(configured: Mapping[str, str], compiler: Compiler) -> list[str]:
    """Configured tags, used ones before their users; a circle is an error."""
    done: list[str] = []
    path: list[str] = []

    def visit(name: str) -> None:
        if name in done:
            return
        if name in path:
            raise CheckError(f"uses itself: {' → '.join([*path[path.index(name) :], name])}", key=f"tags.{name}")
        path.append(name)
        for used in compiler.names_in(configured[name]):
            if used in configured:
                visit(used)
        path.pop()
        done.append(name)

    for name in configured:
        visit(name)
    return done
