"""An export request without its secrets, before it reaches the spool.

One scan over the bytes of the whole request; where it finds nothing, that is all. Where it finds something, each span
or log record is scanned for itself, and only those that may hold a secret are walked, value by value.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from collector.redact.finder import Finder, Scan, UserPatterns
from collector.redact.marks import Marks
from collector.redact.names import EXEMPT, Names
from collector.redact.secrets import OPTIONAL, SECRETS
from collector.redact.text import Texts

log = logging.getLogger("passhat.redact")

GROUPS = {"traces": ("resource_spans", "scope_spans", "spans"), "logs": ("resource_logs", "scope_logs", "log_records")}
BROKEN = "error"  # the kind of a mark for a value that broke the redactor


class Redactor:
    """Rewrites export requests in place; thread-safe. Raises UsageError for patterns that cannot be."""

    def __init__(
        self,
        marks: Marks,
        *,
        keys: Iterable[str] = (),
        patterns: Iterable[str] = (),
        also: Iterable[str] = (),
        never: Iterable[str] = (),
    ) -> None:
        wanted, unwanted = set(also), set(never)
        known = [one for one in SECRETS if one.kind not in unwanted]
        known += [one for one in OPTIONAL if one.kind in wanted]
        names, user = Names(keys), UserPatterns(patterns)
        self._marks = marks
        self._scan = Scan(known, names.pattern(), user)
        self._texts = Texts(Finder(known), user, names, self._scan, marks)

    def in_text(self, text: str) -> str:
        """The text without its secrets."""
        return self._texts.redacted(text, Counter())

    def __call__(self, request: Any, wire: bytes, signal: str) -> Mapping[str, int] | None:
        """How many values of which kind were replaced in `request`, whose serialized form is `wire`.

        None when it is as it was.
        """
        if not self._scan.hits(wire):
            return None
        request.DiscardUnknownFields()  # nobody reads them, and nobody could look into them
        counts: Counter[str] = Counter()
        groups, scopes, records = GROUPS[signal]
        for group in getattr(request, groups):
            self._attributes(group.resource.attributes, counts)
            for scope in getattr(group, scopes):
                self._attributes(scope.scope.attributes, counts)
                for record in getattr(scope, records):
                    if self._scan.hits(record.SerializeToString()):
                        (self._span if signal == "traces" else self._log)(record, counts)
        return counts

    def _span(self, span: Any, counts: Counter[str]) -> None:
        self._field(span, "name", counts)
        self._field(span.status, "message", counts)
        self._attributes(span.attributes, counts)
        for event in span.events:
            self._field(event, "name", counts)
            self._attributes(event.attributes, counts)
        for link in span.links:
            self._attributes(link.attributes, counts)

    def _log(self, record: Any, counts: Counter[str]) -> None:
        try:
            self._value(record.body, "", counts)
        except Exception as error:
            record.body.string_value = self._broken(error, record.body.SerializeToString(), counts)
        self._attributes(record.attributes, counts)

    def _field(self, message: Any, field: str, counts: Counter[str]) -> None:
        old = getattr(message, field)
        try:
            new = self._texts.redacted(old, counts)
        except Exception as error:
            new = self._broken(error, old, counts)
        if new != old:
            setattr(message, field, new)

    def _attributes(self, pairs: Any, counts: Counter[str]) -> None:
        for pair in pairs:
            try:
                self._pair(pair, counts)
            except Exception as error:
                pair.value.string_value = self._broken(error, pair.value.SerializeToString(), counts)

    def _broken(self, error: Exception, value: str | bytes, counts: Counter[str]) -> str:
        """A value that breaks the redactor costs itself: neither the batch is lost nor a secret in it let through."""
        counts[BROKEN] += 1
        log.error("a value could not be redacted (%s): it is left out", type(error).__name__)
        return self._marks.mark(BROKEN, value if isinstance(value, bytes) else value.encode("utf-8", "replace"))

    def _pair(self, pair: Any, counts: Counter[str]) -> None:
        kind = self._texts.kind(pair.key)
        if kind != EXEMPT:
            self._value(pair.value, kind, counts)
            self._field(pair, "key", counts)

    def _value(self, value: Any, kind: str, counts: Counter[str]) -> None:
        which = value.WhichOneof("value")
        if which == "string_value":
            self._text(value, kind, counts)
        elif which == "bytes_value":
            self._bytes(value, kind, counts)
        elif which == "array_value":
            for item in value.array_value.values:
                self._value(item, kind, counts)
        elif which == "kvlist_value":
            for pair in value.kvlist_value.values:
                self._pair(pair, counts)
        elif kind and which in ("int_value", "double_value"):
            value.string_value = self._texts.whole(kind, str(getattr(value, which)), counts)

    def _text(self, value: Any, kind: str, counts: Counter[str]) -> None:
        old = value.string_value
        new = self._texts.whole(kind, old, counts) if kind else self._texts.redacted(old, counts)
        if new != old:
            value.string_value = new

    def _bytes(self, value: Any, kind: str, counts: Counter[str]) -> None:
        if kind and value.bytes_value:
            value.string_value = self._texts.whole(kind, value.bytes_value.decode("latin-1"), counts)
        elif not kind and (new := self._texts.in_bytes(value.bytes_value, counts)) != value.bytes_value:
            value.bytes_value = new
