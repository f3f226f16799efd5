"""Where a dialect finds a fact: a small language of sources, compiled once to attribute names and functions.

| source | gives |
|---|---|
| `gen_ai.tool.name` | the attribute of that name |
| `lmnr.span.output#/answer/0` | the place in its JSON value (JSON pointer) |
| `$name` | the span's name |
| `$name:execute_tool *` | the part of the span's name at `*`, where the rest is equal |
| `$body`, `$body#/content` | the log record's body |
| `$event:tool.output#/output` | an attribute of the last span event of that name (`*` at its end: any such) |
| `$events:a,b.*` | the events of those names as a list of maps, `event.name` and their attributes in each |
| `$filter:events event.name=gen_ai.choice` | the items of a JSON list of which that holds (or `!=`, does not) |
| `$map:content=a,tool_calls=b` | a map of what is there of these sources |
| `$message` | a log record as a message: its body, else its attributes, with `event.name` |
| `$attributes` | all attributes, as a map with `event.name` |
| `$indexed:gen_ai.prompt` | `gen_ai.prompt.0.role` … as a list of nested maps |
| `$prefix:ai.telemetry.metadata.` | the attributes with that prefix, as a map |
| `$resource:service.name` | an attribute of the resource |
| `$scope:lib*=name` | that text where the scope is the one named |
| `$status` | the text of the span's status |
| `=claude-code` | that text itself |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from semconv.decode import json_or_none
from semconv.names import EVENT_NAME
from semconv.span import Event, LogRecord, Span
from semconv.values import Attributes, Value

MAX_INDEX = 10_000  # an index beyond it is no list (`gen_ai.prompt.99999999999.role`)
MAX_STEPS = 40  # dots in a key that are taken for nesting


class View:
    """One span or log record while its facts are being found; JSON is parsed once, whichever facts ask for it."""

    __slots__ = ("_parsed", "attributes", "body", "events", "name", "record")

    def __init__(self, record: Span | LogRecord, name: str, events: tuple[Event, ...], body: Value) -> None:
        self.record = record
        self.attributes = record.attributes
        self.name = name
        self.events = events
        self.body = body
        self._parsed: dict[str, Value] = {}

    @property
    def is_root(self) -> bool:
        """A span without a parent."""
        return getattr(self.record, "parent_span_id", "-") == ""

    def parsed(self, key: str, value: Value) -> Value:
        """The value behind JSON text, kept under `key`; a value that is no text is itself."""
        if not isinstance(value, str):
            return value
        if key not in self._parsed:
            self._parsed[key] = json_or_none(value)
        return self._parsed[key]


Getter: TypeAlias = Callable[[View], Value]
Source: TypeAlias = str | Getter


def of_span(span: Span) -> View:
    return View(span, span.name, span.events, None)


def of_log(log: LogRecord, event_name: str) -> View:
    return View(log, event_name, (), log.body)


def first(view: View, sources: Iterable[Source]) -> Value:
    """The first of the sources that gives anything; '' and empty lists give nothing."""
    attributes = view.attributes
    for source in sources:
        value = attributes.get(source) if type(source) is str else source(view)  # type: ignore[operator]
        if value is not None and value != "" and value != []:
            return value
    return None


def first_given(view: View, sources: Iterable[Source]) -> Value:
    """The first of the sources that is there at all: '' counts, it is an empty answer."""
    attributes = view.attributes
    for source in sources:
        value = attributes.get(source) if type(source) is str else source(view)  # type: ignore[operator]
        if value is not None:
            return value
    return None


def compiled(text: str) -> Source:
    """A plain attribute name stays a string; anything else becomes a function. ValueError where it makes no sense."""
    if text[:1] == "=":
        return _constant(text[1:])
    base, found, pointer = text.partition("#/")
    path = tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")) if found else ()
    if text[:1] != "$":
        return _at(_attribute(base), base, path) if found else text
    kind, _, rest = base[1:].partition(":")
    make = KINDS.get(kind)
    if make is None:
        raise ValueError(f"{text!r}: no such source; known are {', '.join('$' + name for name in sorted(KINDS))}")
    if kind == "event":
        return _event(rest, path)
    getter = make(rest)
    return _at(getter, base, path) if found else getter


def _attribute(name: str) -> Getter:
    return lambda view: view.attributes.get(name)


def _constant(text: str) -> Getter:
    return lambda view: text


def _at(getter: Getter, key: str, path: tuple[str, ...]) -> Getter:
    return lambda view: descend(view.parsed(key, getter(view)), path)


def descend(value: Value, path: Iterable[str]) -> Value:
    """The place a JSON pointer names, None where there is none; `-1` is a list's last item."""
    for step in path:
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and step.lstrip("-").isdigit():
            index = int(step)
            value = value[index] if -len(value) <= index < len(value) else None
        else:
            return None
    return value


def _name(pattern: str) -> Getter:
    if not pattern:
        return lambda view: view.name
    before, _, after = pattern.partition("*")

    def part(view: View) -> Value:
        name = view.name
        if len(name) < len(before) + len(after) or not name.startswith(before) or not name.endswith(after):
            return None
        return name[len(before) : len(name) - len(after)]

    return part


def _named(events: tuple[Event, ...], name: str) -> list[Event]:
    if name.endswith("*"):
        return [event for event in events if event.name.startswith(name[:-1])]
    return [event for event in events if event.name == name]


def _message(_: str) -> Getter:
    def message(view: View) -> Value:
        body = view.parsed("$body", view.body)
        if isinstance(body, dict):
            return {EVENT_NAME: view.name, **body}
        if view.body is None:
            return {EVENT_NAME: view.name, **view.attributes}
        return {EVENT_NAME: view.name, "content": view.body}

    return message


def _event(name: str, path: tuple[str, ...]) -> Getter:
    def attribute(view: View) -> Value:
        for event in reversed(_named(view.events, name)) if view.events else ():
            if path:
                # Attribute names hold dots, and rarely slashes: the whole path first.
                found = event.attributes.get("/".join(path))
                if found is None and len(path) > 1:
                    found = descend(view.parsed(f"{name} {path[0]}", event.attributes.get(path[0])), path[1:])
                if found is not None:
                    return found
            else:
                return event.attributes
        return None

    return attribute


def _events(names: str) -> Getter:
    exact = frozenset(name for name in names.split(",") if not name.endswith("*"))
    prefixes = tuple(name[:-1] for name in names.split(",") if name.endswith("*"))

    def all_named(view: View) -> Value:
        return [
            {EVENT_NAME: event.name, **event.attributes}
            for event in view.events
            if event.name in exact or event.name.startswith(prefixes)
        ]

    return all_named


def _filter(rule: str) -> Getter:
    attribute, _, test = rule.partition(" ")
    key, sign, value = test.partition("!=") if "!=" in test else test.partition("=")
    if not sign:
        raise ValueError(f"'$filter:{rule}': wants an attribute, a blank, and key=value or key!=value")
    wanted = sign == "="

    def items(view: View) -> Value:
        held = view.parsed(attribute, view.attributes.get(attribute))
        if not isinstance(held, list):
            return None
        return [item for item in held if isinstance(item, dict) and (item.get(key) == value) is wanted]

    return items


def _map(rule: str) -> Getter:
    pairs: list[tuple[str, Source]] = []
    for item in rule.split(","):
        key, sign, source = item.partition("=")
        if not sign:
            raise ValueError(f"'$map:{rule}': wants key=source, separated by commas")
        pairs.append((key, compiled(source)))

    def values(view: View) -> Value:
        found = {key: first(view, (source,)) for key, source in pairs}
        found = {key: value for key, value in found.items() if value is not None}
        return found or None

    return values


def _indexed(prefix: str) -> Getter:
    return lambda view: unflattened(view.attributes, prefix + ".")


def _prefixed(prefix: str) -> Getter:
    size = len(prefix)
    return lambda view: {key[size:]: value for key, value in view.attributes.items() if key.startswith(prefix)} or None


def _resource(name: str) -> Getter:
    return lambda view: view.record.resource.attributes.get(name)


def _scope(rule: str) -> Getter:
    scope, sign, text = rule.partition("=")
    if not sign:
        raise ValueError(f"'$scope:{rule}': wants scope=text")
    prefix = scope.removesuffix("*")
    is_prefix = prefix != scope

    def named(view: View) -> Value:
        name = view.record.scope.name
        return text if name == scope or (is_prefix and name.startswith(prefix)) else None

    return named


def _status(_: str) -> Getter:
    return lambda view: getattr(view.record, "status_message", None)


def _body(_: str) -> Getter:
    return lambda view: view.body


def _attributes(_: str) -> Getter:
    return lambda view: {**view.attributes, EVENT_NAME: view.name}


KINDS: dict[str, Callable[[str], Getter]] = {
    "name": _name,
    "body": _body,
    "event": lambda name: _event(name, ()),
    "events": _events,
    "filter": _filter,
    "map": _map,
    "message": _message,
    "attributes": _attributes,
    "indexed": _indexed,
    "prefix": _prefixed,
    "resource": _resource,
    "scope": _scope,
    "status": _status,
}


def unflattened(attributes: Attributes, prefix: str) -> list[Any] | None:
    """`{prefix}0.role`, `{prefix}0.tool_calls.1.id` … as nested maps and lists; None where there is none."""
    tree: dict[str, Any] = {}
    size = len(prefix)
    for key, value in attributes.items():
        if key.startswith(prefix):
            _plant(tree, key[size:].split(".", MAX_STEPS), value)
    if not tree:
        return None
    found = _as_lists(tree)
    return found if isinstance(found, list) else [found]


def _plant(tree: dict[str, Any], steps: list[str], value: Value) -> None:
    for step in steps[:-1]:
        inner = tree.get(step)
        if not isinstance(inner, dict):
            inner = tree[step] = {} if inner is None else {"": inner}
        tree = inner
    held = tree.get(steps[-1])
    if isinstance(held, dict):
        held[""] = value  # both `content` and `content.0` were sent
    else:
        tree[steps[-1]] = value


def _as_lists(tree: dict[str, Any]) -> Any:
    for key, value in tree.items():
        if isinstance(value, dict):
            tree[key] = _as_lists(value)
    if tree and all(key.isdigit() and len(key) < 6 and int(key) < MAX_INDEX for key in tree):
        return [tree[key] for key in sorted(tree, key=int)]
    return tree
