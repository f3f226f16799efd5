"""`redact.content: off`: the structure of a request stays (tools, ids, tokens, statuses), its texts are left out.

What is structure is said by the dialects: an attribute from which one reads a tool's name, a model, an id. Numbers and
truth values stay. Arguments and results go as if they had never been captured, so that checks which need them say
`unknown`. What was said in a conversation becomes a mark: assembly must still see which message repeats which.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from collector.redact.marks import Marks
from collector.redact.names import EXEMPT, Names
from collector.redact.redactor import GROUPS
from collector.redact.skeleton import SPOKEN, STRUCTURE, Skeleton
from semconv.dialect import Dialect, Fields

CONTENT = "content"  # the kind it is counted and marked as
ACTED = ("input", "output")  # fields whose attributes hold arguments and results
SAID = ("system", "messages_in", "messages_out", "final_text")
# Attributes that describe the program or the request, whatever the convention.
_PLAIN = re.compile(
    r"(?:error\.type|exception\.type|event\.name|server\.(?:address|port)|network\..*|rpc\.(?:system|method|service)"
    r"|http\.request\.method|gen_ai\.(?:operation|provider|agent|tool|data_source|evaluation|output)\.(?:name|type|version)"
    r"|gen_ai\.(?:system|evaluation\.score\.label|token\.type)|gen_ai\.(?:request|response|usage|token)\..*|mcp\.(?:method|session|server|protocol)\.\w+"
    r"|openinference\.span\.kind|traceloop\.span\.kind|test\..*|cicd\..*|otel\..*|session\..*|code\.function.*)"
)
_EVENT_NAME = re.compile(r"\w+(?:[.:]\w+)+")
_COMMAND = re.compile(r"process\.command")
MOST_CHARS = 256  # a name is shorter
MOST_WORDS = 6


class Content:
    """Takes the texts out of export requests, in place; thread-safe."""

    def __init__(self, dialects: Iterable[Dialect], identity: Iterable[str], marks: Marks) -> None:
        known = list(dialects)
        acted, said = _attributes(known, ACTED), _attributes(known, SAID)
        named = {source for dialect in known for source in _structural(dialect)}
        self._structure = frozenset(identity) | {name for name in named if "#" not in name} - acted - said
        self._counted = frozenset(name.partition("#")[0] for name in named if "#" in name) - acted
        self._said = said - acted  # such a text is a message; of an attribute that is both nobody knows what it is
        self._flat = tuple({prefix for dialect in known for prefix in _indexed(dialect)})
        self._names = Names()
        self._skeleton = Skeleton(lambda text: marks.mark(CONTENT, text.encode("utf-8", "surrogatepass")))

    def drop(self, request: Any, signal: str) -> int:
        """How many values were left out."""
        groups, scopes, records = GROUPS[signal]
        dropped = 0
        for group in getattr(request, groups):
            dropped += _without(group.resource.attributes, lambda pair: _COMMAND.match(pair.key) is not None)
            for scope in getattr(group, scopes):
                for record in getattr(scope, records):
                    dropped += self._span(record) if signal == "traces" else self._log(record)
        return dropped

    def _span(self, span: Any) -> int:
        dropped = self._attributes(span.attributes)
        if len(span.name.split()) > MOST_WORDS or len(span.name) > MOST_CHARS:  # some name a span by its prompt
            span.name = self._skeleton.mark(span.name)
            dropped += 1
        if span.status.message:
            span.status.message = ""
            dropped += 1
        return dropped + sum(self._attributes(one.attributes) for one in (*span.events, *span.links))

    def _log(self, record: Any) -> int:
        dropped = self._attributes(record.attributes)
        if record.HasField("body") and not _is_event_name(record.body) and not self._skeleton.keeps(record.body):
            record.ClearField("body")
            dropped += 1
        return dropped

    def _attributes(self, pairs: Any) -> int:
        results = _results(pairs) if self._flat else ()
        return _without(pairs, lambda pair: self._is_content(pair, results))

    def _is_content(self, pair: Any, results: tuple[str, ...]) -> bool:
        """Whether nothing of the attribute may stay. What may is all that is left in it."""
        key, value = pair.key, pair.value
        which = value.WhichOneof("value")
        if which in ("int_value", "double_value", "bool_value", None) or self._names.kind(key) == EXEMPT:
            return False
        if key in self._structure or _PLAIN.fullmatch(key):
            return which == "string_value" and len(value.string_value) > MOST_CHARS
        if key.startswith(self._flat):
            return self._is_flat_content(key, value, results)
        if self._skeleton.keeps(value) or (key in self._counted and self._skeleton.counts(value)):
            return False
        if key not in self._said or which != "string_value":
            return True
        value.string_value = self._skeleton.mark(value.string_value)
        return False

    def _is_flat_content(self, key: str, value: Any, results: tuple[str, ...]) -> bool:
        """`gen_ai.prompt.0.role` and its kin: one attribute a part of a message."""
        last = key.rpartition(".")[2]
        if last in SPOKEN and value.WhichOneof("value") == "string_value" and not key.startswith(results):
            if not self._skeleton.keeps(value):
                value.string_value = self._skeleton.mark(value.string_value)
            return False
        return last not in STRUCTURE


def _results(pairs: Any) -> tuple[str, ...]:
    """The flat messages that are results: `gen_ai.prompt.3.` where its role is `tool`, or it names a call."""
    found = []
    for pair in pairs:
        stem, _, last = pair.key.rpartition(".")
        if last == "tool_call_id" or (last == "role" and pair.value.string_value == "tool"):
            found.append(stem + ".")
    return tuple(found)


def _structural(dialect: Dialect) -> Iterator[str]:
    """The attributes, or places in them (`#`), whose value is a name, an id or a number to a dialect."""
    yield from (when.attribute for when in (*dialect.match, *dialect.ignore) if when.attribute)
    yield from (*dialect.operation.attributes, *dialect.operation.present)
    for fields in _fields(dialect):
        for field in Fields.__struct_fields__:
            if field not in (*ACTED, *SAID, "error") and not field.endswith("_unwrap"):
                yield from (source for source in getattr(fields, field) if source[:1] not in "$=")


def _attributes(dialects: Iterable[Dialect], wanted: Iterable[str]) -> frozenset[str]:
    """The attributes from which any of the dialects reads these fields."""
    return frozenset(
        source.partition("#")[0]
        for dialect in dialects
        for fields in _fields(dialect)
        for field in wanted
        for source in getattr(fields, field)
        if source[:1] not in "$="
    )


def _indexed(dialect: Dialect) -> Iterator[str]:
    for fields in _fields(dialect):
        for field in SAID:
            for source in getattr(fields, field):
                if source.startswith("$indexed:"):
                    yield source.removeprefix("$indexed:") + "."


def _fields(dialect: Dialect) -> Iterator[Fields]:
    yield from (dialect.fields, dialect.tool, dialect.chat, dialect.agent, dialect.workflow)
    yield from (rule.fields for rule in dialect.logs.values())


def _without(pairs: Any, unwanted: Callable[[Any], bool]) -> int:
    """Takes the pairs that are unwanted out of a repeated field; how many."""
    gone = [index for index, pair in enumerate(pairs) if unwanted(pair)]
    for index in reversed(gone):
        del pairs[index]
    return len(gone)


def _is_event_name(body: Any) -> bool:
    text = body.string_value
    return len(text) <= MOST_CHARS and _EVENT_NAME.fullmatch(text) is not None
