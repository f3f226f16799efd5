"""What a dialect file says: which spans and log records are its own, and where each fact is on them.

The built-in files (`semconv/dialects/`) and a user's files (`dialects:` in passhat.yaml) have this one form.
Sources are written in the language of `semconv.sources`; the first that gives something wins.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from semconv import sources
from semconv.facts import Boundary, Operation

Sources: TypeAlias = tuple[str, ...]


class DialectError(ValueError):
    """A dialect definition that makes no sense; the text says where and what."""


class When(Struct, frozen=True, forbid_unknown_fields=True):
    """Evidence, all of it together: the scope's name, an attribute that is there (and has a value), the name.

    `scope`, `equals` and `name` end in `*` to mean a prefix.
    """

    scope: str = ""
    attribute: str = ""
    equals: str = ""
    name: str = ""


class Operations(Struct, frozen=True, forbid_unknown_fields=True):
    """What a span is: by the value of the first attribute that has one, else by its name, else by what it carries.

    `root` gives values another meaning on a span without a parent (`*` for any value or none): the outermost chain
    of a framework that has no agent spans is its agent.
    """

    attributes: Sources = ()
    values: dict[str, Operation] = {}
    names: dict[str, Operation] = {}
    present: dict[str, Operation] = {}
    root: dict[str, Operation] = {}
    otherwise: Operation = "other"


class Fields(Struct, frozen=True, forbid_unknown_fields=True):
    """Where each fact is. `*_unwrap` name the keys of wrappers to take off; `failed`, `succeeded` map a source to
    the values that mean so (`*`: any value); `input_tokens_plus` are added to the input tokens. `join` is what ties
    records of several traces, or of none, to one unit."""

    agent: Sources = ()
    conversation: Sources = ()
    tool: Sources = ()
    server: Sources = ()
    call_id: Sources = ()
    input: Sources = ()
    input_unwrap: Sources = ()
    output: Sources = ()
    output_unwrap: Sources = ()
    error: Sources = ()
    error_type: Sources = ()
    exit_code: Sources = ()
    failed: dict[str, tuple[str, ...]] = {}
    succeeded: dict[str, tuple[str, ...]] = {}
    model: Sources = ()
    provider: Sources = ()
    response_id: Sources = ()
    finish_reasons: Sources = ()
    input_tokens: Sources = ()
    input_tokens_plus: Sources = ()
    output_tokens: Sources = ()
    cost_usd: Sources = ()
    system: Sources = ()
    messages_in: Sources = ()
    messages_out: Sources = ()
    final_text: Sources = ()
    subtype: Sources = ()
    num_turns: Sources = ()
    attempt: Sources = ()
    sequence: Sources = ()
    duration_ms: Sources = ()
    join: Sources = ()


class LogRule(Struct, frozen=True, forbid_unknown_fields=True):
    """One log event of a dialect: what it is, where its facts are, and whether an attempt begins or ends with it.

    Its key in `logs` is the event's name, `*` for all others of the dialect's scopes.
    """

    operation: Operation = "other"
    fields: Fields = Fields()
    boundary: Boundary = ""


class Dialect(Struct, frozen=True, forbid_unknown_fields=True):
    """One convention. Of several that match, the lowest `priority` reads the span: specific evidence below general.

    `ignore` are its spans that are no step (doubles, previews). `extends` starts from another dialect and puts these
    sources before its own. `content` says what turns content on, for `passhat doctor`.
    """

    name: str
    version: int = 1
    extends: str = ""
    priority: int = 40
    match: tuple[When, ...] = ()
    ignore: tuple[When, ...] = ()
    operation: Operations = Operations()
    fields: Fields = Fields()
    tool: Fields = Fields()
    chat: Fields = Fields()
    agent: Fields = Fields()
    workflow: Fields = Fields()
    logs: dict[str, LogRule] = {}
    content: str = ""


def dialect_from(definition: Mapping[str, Any]) -> Dialect:
    """A dialect from a parsed file; DialectError says which key is wrong and what was meant."""
    name = definition.get("name")
    where = f"dialect {name!r}" if isinstance(name, str) else "dialect without a name"
    try:
        found = msgspec.convert(_listed(definition), Dialect)
    except msgspec.ValidationError as error:
        raise DialectError(f"{where}: {_explained(str(error), definition)}") from None
    if not found.match and not found.logs and not found.extends:
        raise DialectError(f"{where}: needs `match`, `logs` or `extends`: nothing says which spans are its own")
    for index, when in enumerate(found.match):
        if not when.scope and not when.attribute:
            raise DialectError(f"{where}: match[{index}] needs `scope` or `attribute`")
    _check_sources(found, where)
    return found


def _listed(value: Any) -> Any:
    """One source may be written without its list."""
    if not isinstance(value, Mapping):
        return value
    found: dict[str, Any] = {}
    for key, item in value.items():
        if key in _TEXT_KEYS or not isinstance(item, str):
            found[key] = _nested(key, item)
        else:
            found[key] = [item]
    return found


_TEXT_KEYS = frozenset(
    ["name", "extends", "content", "scope", "attribute", "equals", "operation", "boundary", "otherwise"]
)
_PLAIN_MAPS = frozenset(["values", "names", "present", "root"])


def _nested(key: str, item: Any) -> Any:
    if key in _PLAIN_MAPS:
        return item
    if isinstance(item, list):
        return [_listed(inner) for inner in item]
    return _listed(item)


def _explained(error: str, definition: Mapping[str, Any]) -> str:
    """The reader's message, with a did-you-mean for a key it does not know."""
    prefix = "Object contains unknown field `"
    if not error.startswith(prefix):
        return error
    key = error[len(prefix) :].partition("`")[0]
    known = {name for struct in (Dialect, Fields, When, Operations, LogRule) for name in struct.__struct_fields__}
    near = difflib.get_close_matches(key, sorted(known), 1)
    place = error.partition(" - ")[2]
    hint = f": did you mean `{near[0]}`?" if near else ""
    return f"unknown key `{key}`{' ' + place if place else ''}{hint}"


def _check_sources(dialect: Dialect, where: str) -> None:
    groups = {"fields": dialect.fields, "tool": dialect.tool, "chat": dialect.chat, "agent": dialect.agent}
    groups["workflow"] = dialect.workflow
    groups.update({f"logs.{event}": rule.fields for event, rule in dialect.logs.items()})
    for group, fields in groups.items():
        for field in fields.__struct_fields__:
            if field.endswith("_unwrap"):
                continue
            for source in getattr(fields, field):
                try:
                    sources.compiled(source)
                except ValueError as error:
                    raise DialectError(f"{where}: {group}.{field}: {error}") from None


def merged(own: Fields, base: Fields) -> Fields:
    """Both, `own` first."""
    found: dict[str, Any] = {}
    for field in Fields.__struct_fields__:
        mine, theirs = getattr(own, field), getattr(base, field)
        found[field] = {**theirs, **mine} if isinstance(mine, dict) else _both(mine, theirs)
    return Fields(**found)


def _both(mine: Sources, theirs: Sources) -> Sources:
    return tuple(dict.fromkeys((*mine, *theirs)))


def extended(own: Dialect, base: Dialect) -> Dialect:
    """`own` on top of the dialect it extends: its sources, values and evidence come first."""
    operation = Operations(
        attributes=_both(own.operation.attributes, base.operation.attributes),
        values={**base.operation.values, **own.operation.values},
        names={**base.operation.names, **own.operation.names},
        present={**base.operation.present, **own.operation.present},
        root={**base.operation.root, **own.operation.root},
        otherwise=own.operation.otherwise if own.operation.otherwise != "other" else base.operation.otherwise,
    )
    # Log events are told apart by scope: without one of its own, a dialect leaves them to the one it extends.
    logs = dict(base.logs) if not own.match or any(when.scope for when in own.match) else {}
    for event, rule in own.logs.items():
        held = logs.get(event, LogRule())
        logs[event] = LogRule(rule.operation, merged(rule.fields, held.fields), rule.boundary or held.boundary)
    return Dialect(
        name=own.name,
        version=own.version,
        priority=own.priority,
        match=own.match or base.match,
        ignore=(*own.ignore, *base.ignore),
        operation=operation,
        fields=merged(own.fields, base.fields),
        tool=merged(own.tool, base.tool),
        chat=merged(own.chat, base.chat),
        agent=merged(own.agent, base.agent),
        workflow=merged(own.workflow, base.workflow),
        logs=logs,
        content=own.content or base.content,
    )
