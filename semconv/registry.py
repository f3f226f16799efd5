"""Dialects compiled for the hot path: which one reads a span, and the sources of each fact for each operation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from semconv.decode import text_of
from semconv.dialect import Dialect, DialectError, Fields, LogRule, When, extended, merged
from semconv.facts import Boundary, Operation
from semconv.sources import Source, View, compiled, first
from semconv.span import LogRecord, Span

MAX_SCOPES: Final = 2_000  # scope names are the sender's to choose: remembered ones are bounded

Found: TypeAlias = dict[str, Any]
FAILED: Final = "failed_by"  # a key of `Found` that is no fact: the evidence by which a refinement calls it a failure
# The small amount of code where data cannot say it: changes the facts found so far, in place.
Refine: TypeAlias = Callable[[View, Found], None]


class Plan:
    """The compiled sources of one dialect for one operation. Attributes are those of `Fields`."""

    __slots__ = ("boundary", "content", "dialect", "fields", "operation", "refine", *Fields.__struct_fields__)

    agent: tuple[Source, ...]
    conversation: tuple[Source, ...]
    tool: tuple[Source, ...]
    server: tuple[Source, ...]
    call_id: tuple[Source, ...]
    input: tuple[Source, ...]
    input_unwrap: tuple[str, ...]
    output: tuple[Source, ...]
    output_unwrap: tuple[str, ...]
    error: tuple[Source, ...]
    error_type: tuple[Source, ...]
    exit_code: tuple[Source, ...]
    failed: tuple[tuple[Source, frozenset[str]], ...]
    succeeded: tuple[tuple[Source, frozenset[str]], ...]
    model: tuple[Source, ...]
    provider: tuple[Source, ...]
    response_id: tuple[Source, ...]
    finish_reasons: tuple[Source, ...]
    input_tokens: tuple[Source, ...]
    input_tokens_plus: tuple[Source, ...]
    output_tokens: tuple[Source, ...]
    cost_usd: tuple[Source, ...]
    system: tuple[Source, ...]
    messages_in: tuple[Source, ...]
    messages_out: tuple[Source, ...]
    final_text: tuple[Source, ...]
    subtype: tuple[Source, ...]
    num_turns: tuple[Source, ...]
    attempt: tuple[Source, ...]
    sequence: tuple[Source, ...]
    duration_ms: tuple[Source, ...]
    join: tuple[Source, ...]

    def __init__(self, dialect: Dialect, operation: Operation, fields: Fields, refine: Refine | None) -> None:
        self.dialect = dialect.name
        self.content = dialect.content
        self.operation: Operation = operation
        self.boundary: Boundary = ""
        self.fields = fields
        self.refine = refine
        for name in Fields.__struct_fields__:
            setattr(self, name, _compiled_field(name, getattr(fields, name)))


def _compiled_field(name: str, value: Any) -> Any:
    if name.endswith("_unwrap"):
        return value
    if isinstance(value, dict):
        return tuple((compiled(source), frozenset(values)) for source, values in value.items())
    return tuple(compiled(source) for source in value)


class Matched(NamedTuple):
    """Evidence compiled: `priority` decides between several, then the name for a fixed order."""

    priority: int
    name: str
    when: When
    reader: Reader

    def holds(self, record: Span | LogRecord, name: str) -> bool:
        """Whether the evidence beside the scope is there."""
        when = self.when
        if when.attribute:
            value = record.attributes.get(when.attribute)
            if value is None or (when.equals and not _like(text_of(value), when.equals)):
                return False
        return not when.name or _like(name, when.name)


class Reader:
    """A compiled dialect."""

    __slots__ = ("by", "default", "dialect", "ignored", "names", "plans", "present", "root", "values")

    def __init__(self, dialect: Dialect, refine: Refine | None) -> None:
        self.dialect = dialect
        rules = dialect.operation
        self.by = tuple(compiled(source) for source in rules.attributes)
        self.values = rules.values
        self.names = tuple(rules.names.items())
        self.present = tuple(rules.present.items())
        self.root = rules.root
        self.ignored = tuple(Matched(0, "", when, self) for when in dialect.ignore)
        self.default: Operation = rules.otherwise
        groups: dict[Operation, Fields] = {
            "agent": dialect.agent,
            "workflow": dialect.workflow,
            "chat": dialect.chat,
            "tool": dialect.tool,
            "create_agent": Fields(),
            "other": Fields(),
            "": Fields(),
        }
        self.plans = {
            operation: Plan(dialect, operation, merged(fields, dialect.fields), refine)
            for operation, fields in groups.items()
        }

    def plan_of(self, view: View) -> Plan:
        """The plan for what this span is."""
        for rule in self.ignored:
            if rule.holds(view.record, view.name):
                return self.plans["other"]
        found = first(view, self.by) if self.by else None
        value = text_of(found) if found is not None else None
        if self.root and view.is_root:
            operation = self.root.get(value or "") or self.root.get("*")
            if operation is not None and (value is None or value not in self.values):
                return self.plans[operation]
        if value is not None:
            operation = self.values.get(value)
            if operation is not None:
                return self.plans[operation]
        for pattern, operation in self.names:
            if _like(view.name, pattern):
                return self.plans[operation]
        if value is None:
            for attribute, operation in self.present:
                if attribute in view.attributes:
                    return self.plans[operation]
        return self.plans[self.default]


class Registry:
    """All dialects in force. `match_of` and `log_plan_of` are the hot path."""

    def __init__(self, dialects: Iterable[tuple[Dialect, Refine | None]]) -> None:
        self.readers: dict[str, Reader] = {}
        self.markers: dict[str, list[Matched]] = {}
        self._scoped: list[Matched] = []
        self._scopes: dict[str, tuple[Matched, ...]] = {}
        self._logs: dict[str, list[tuple[Matched, Plan]]] = {}
        for dialect, refine in dialects:
            self._add(dialect, refine)
        for rules in (*self.markers.values(), self._scoped):
            rules.sort(key=lambda rule: rule[:2])
        for entries in self._logs.values():
            entries.sort(key=lambda entry: entry[0][:2])
        self.keys = frozenset(self.markers)

    def _add(self, dialect: Dialect, refine: Refine | None) -> None:
        reader = self.readers[dialect.name] = Reader(dialect, refine)
        for when in dialect.match:
            rule = Matched(dialect.priority, dialect.name, when, reader)
            if when.scope:
                self._scoped.append(rule)
            else:
                self.markers.setdefault(when.attribute, []).append(rule)
        scopes = [when for when in dialect.match if when.scope] or [When()]
        for event, log_rule in dialect.logs.items():
            plan = _log_plan(dialect, log_rule, refine)
            for when in scopes:
                entry = (Matched(dialect.priority, dialect.name, When(scope=when.scope), reader), plan)
                self._logs.setdefault(event, []).append(entry)

    def match_of(self, span: Span) -> Matched | None:
        """The most specific evidence for a dialect, None where nobody knows the span."""
        scope = span.scope.name
        rules = self._scopes.get(scope)
        if rules is None:
            rules = self._rules_of(scope)
        best: Matched | None = None
        for rule in rules:
            if rule.holds(span, span.name):
                best = rule
                break
        attributes = span.attributes
        if not self.keys.isdisjoint(attributes):
            markers = self.markers
            for key in attributes:
                if key in markers:
                    for rule in markers[key]:
                        if best is not None and best[:2] <= rule[:2]:
                            break
                        if rule.holds(span, span.name):
                            best = rule
                            break
        return best

    def log_plan_of(self, log: LogRecord, event_name: str) -> Plan | None:
        """The plan for a log event, None where no dialect has it."""
        for name in (event_name, "*"):
            for rule, plan in self._logs.get(name, ()):
                if not rule.when.scope or _like(log.scope.name, rule.when.scope):
                    return plan
        return None

    def _rules_of(self, scope: str) -> tuple[Matched, ...]:
        rules = tuple(rule for rule in self._scoped if _like(scope, rule.when.scope))
        if len(self._scopes) >= MAX_SCOPES:
            self._scopes.clear()
        self._scopes[scope] = rules
        return rules


def _log_plan(dialect: Dialect, rule: LogRule, refine: Refine | None) -> Plan:
    plan = Plan(dialect, rule.operation, merged(rule.fields, dialect.fields), refine)
    plan.boundary = rule.boundary
    return plan


def _like(text: str, pattern: str) -> bool:
    return text.startswith(pattern[:-1]) if pattern[-1:] == "*" else text == pattern


def registry_of(built_in: Sequence[tuple[Dialect, Refine | None]], own: Iterable[Dialect]) -> Registry:
    """The built-in dialects with a user's on top: the same name replaces, `extends` builds on another."""
    known = {dialect.name: (dialect, refine) for dialect, refine in built_in}
    for dialect in own:
        refine = None
        if dialect.extends:
            base = known.get(dialect.extends)
            if base is None:
                raise DialectError(
                    f"dialect {dialect.name!r} extends {dialect.extends!r}, which is not known;"
                    f" known are {', '.join(sorted(known))}"
                )
            dialect, refine = extended(dialect, base[0]), base[1]
        known[dialect.name] = (dialect, refine)
    return Registry(known.values())
