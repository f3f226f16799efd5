"""The compiled vocabulary: the contract's attribute names, a user's additions, and the dialects in force."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from semconv.dialect import DialectError, dialect_from
from semconv.dialects import BUILT_IN
from semconv.facts import Identity
from semconv.identity import identity_of
from semconv.names import CARRIERS, IDENTITY, RUN_END, RUN_ID
from semconv.registry import Registry, registry_of
from semconv.span import Resource

_ATTRIBUTE: Final = re.compile(r"[A-Za-z_][\w.\-/:]*")
DEFAULT_OUTCOME_EVENTS: Final = ("outcome", "task_success")


def is_attribute(text: str) -> bool:
    """True for an attribute's name, False for an expression (`runs.task` takes both)."""
    return _ATTRIBUTE.fullmatch(text) is not None and not text.startswith("root.")


class Words:
    """What `facts_of` reads with. Immutable but for one remembered resource; safe to share between threads."""

    def __init__(
        self,
        *,
        task: Iterable[str] = (),
        task_class: Iterable[str] = (),
        group_by: str | None = None,
        outcome_events: Iterable[str] = DEFAULT_OUTCOME_EVENTS,
        dialects: Iterable[Mapping[str, Any]] = (),
    ) -> None:
        """`task`, `task_class`: attributes beside the contract's (expressions among them are left to the caller).
        `dialects`: parsed dialect files; DialectError says what is wrong with one."""
        self.group_by = group_by or ""
        self.outcome_events = frozenset(outcome_events)
        self.registry: Registry = registry_of(BUILT_IN, _parsed(dialects))
        more = {"task_id": tuple(filter(is_attribute, task)), "task_class": tuple(filter(is_attribute, task_class))}
        self.identity: dict[str, tuple[str, ...]] = {
            field: (*keys, *(carrier + keys[0] for carrier in CARRIERS), *more.get(field, ()))
            for field, keys in IDENTITY.items()
        }
        self.identity_keys = frozenset([RUN_END, *(key for keys in self.identity.values() for key in keys)])
        self._resource: tuple[Resource | None, Identity | None, tuple[str, ...]] = (None, None, ())

    def of_resource(self, resource: Resource) -> tuple[Identity | None, tuple[str, ...]]:
        """Identity and join keys that a resource gives to all its spans; the last one is remembered."""
        held, identity, keys = self._resource
        if held is resource:
            return identity, keys
        attributes = resource.attributes
        identity = None
        if not self.identity_keys.isdisjoint(attributes):
            identity = identity_of(attributes, self.identity)
        keys = (f"{RUN_ID}={identity.run_id}",) if identity is not None and identity.run_id else ()
        self._resource = (resource, identity, keys)
        return identity, keys


def _parsed(definitions: Iterable[Mapping[str, Any]]) -> Iterable[Any]:
    for index, definition in enumerate(definitions):
        if not isinstance(definition, Mapping):
            raise DialectError(f"dialect file {index + 1}: not a map of keys")
        yield dialect_from(definition)
