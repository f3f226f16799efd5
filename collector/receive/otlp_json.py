"""OTLP/JSON to the protobuf messages, by OTLP's rules and not those of the stock protobuf JSON mapping.

The stock parser reads hex ids as base64 without an error, and refuses unknown keys. Here a record with a wrong field
costs itself, and so does a resource or a scope with one: all records under it, counted. See json_fields for values.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import orjson

from collector.errors import BadData
from collector.journal import Signal
from collector.receive.check import SHAPES
from collector.receive.findings import Findings
from collector.receive.json_fields import Inexact, Json, Reader, Wrong, table_of

OTHERS = {
    "resourceSpans": "these are spans, post them to /v1/traces",
    "resourceLogs": "these are logs, post them to /v1/logs",
    "resourceMetrics": "metrics are not served",
    "resourceProfiles": "profiles are not served",
}
BOM = b"\xef\xbb\xbf"


def decode(body: bytes, signal: Signal, findings: Findings) -> Any:
    """The request as a protobuf message. Raises BadData when it is not JSON or not shaped like a request."""
    try:
        return _Decoder(signal, findings, exact=False).request(orjson.loads(body))
    except (orjson.JSONDecodeError, Inexact):
        findings.clear()
    return _Decoder(signal, findings, exact=True).request(_load_slowly(body))


def _load_slowly(body: bytes) -> Json:
    """The JSON of a body that orjson refuses: a BOM, lone surrogates, bytes that are no UTF-8, huge numbers.

    What is no JSON by RFC 8259 stays refused, the bare NaN of many encoders included.
    """
    try:
        text = body.removeprefix(BOM).decode("utf-8", "surrogateescape")
        return json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise BadData(f"the body is not JSON: line {error.lineno} column {error.colno}") from error
    except RecursionError as error:
        raise BadData("the body is nested too deeply") from error
    except ValueError as error:
        raise BadData("the body is not JSON: a bare NaN or Infinity, or a number of thousands of digits") from error


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


class _Decoder:
    """Walks request, groups, scopes and records, and keeps what is wrong in one from the others."""

    def __init__(self, signal: Signal, findings: Findings, exact: bool) -> None:
        self._shape = SHAPES[signal]
        self._findings = findings
        self._reader = Reader(exact)

    def request(self, root: Json) -> Any:
        request = self._shape.request()
        name = self._shape.json_groups
        if type(root) is not dict:
            raise BadData("the body must be a JSON object")
        if root.get(name) is None:
            self._explain_empty(root)
        for g, group in enumerate(_items(root, name, name)):
            self._group(getattr(request, self._shape.groups), group, f"{name}[{g}]")
        return request

    def _explain_empty(self, root: dict[str, Json]) -> None:
        for name, why in OTHERS.items():
            if root.get(name):
                raise BadData(f"there is no {self._shape.json_groups}: {why}", field=name)
        if root.get(self._shape.groups):
            self._findings.warning = f"{self._shape.groups} is ignored: OTLP/JSON keys are lowerCamelCase"

    def _group(self, groups: Any, value: Json, path: str) -> None:
        name = self._shape.json_scopes
        group = groups.add()
        if not self._head(group, value, name, path, self._count):
            del groups[-1]
            return
        self._settle(group.resource)
        for s, scope in enumerate(_items(value, name, f"{path}.{name}")):
            self._scope(getattr(group, self._shape.scopes), scope, f"{path}.{name}[{s}]")

    def _scope(self, scopes: Any, value: Json, path: str) -> None:
        name = self._shape.json_records
        scope = scopes.add()
        if not self._head(scope, value, name, path, self._count_scope):
            del scopes[-1]
            return
        self._settle(scope.scope)
        self._records(getattr(scope, self._shape.records), _items(value, name, f"{path}.{name}"), f"{path}.{name}")

    def _records(self, records: Any, items: list[Json], path: str) -> None:
        reader = self._reader
        table = table_of(self._shape.record)
        for i, item in enumerate(items):
            record = records.add()
            try:
                reader.fill(record, item, table, 3)
            except Wrong as wrong:
                del records[-1]
                self._refuse(wrong, f"{path}[{i}]", 1)
            else:
                if reader.repairs:
                    self._settle(record)

    def _head(self, message: Any, value: Json, rest: str, path: str, count: Callable[[Json], int]) -> bool:
        """Fills all but the list `rest`; False when something is wrong there: all records below are refused."""
        try:
            if type(value) is not dict:
                raise Wrong("must be an object")
            head = {key: item for key, item in value.items() if key != rest}
            self._reader.fill(message, head, table_of(message.DESCRIPTOR), path.count("["))
        except Wrong as wrong:
            refused = count(value)
            if not refused:
                raise BadData(f"{path}{wrong.field}: {wrong}", field=path + wrong.field) from None
            self._refuse(wrong, path, refused)
            return False
        return True

    def _refuse(self, wrong: Wrong, path: str, count: int) -> None:
        self._reader.repairs.clear()
        self._findings.refuse("bad_field", path + wrong.field, str(wrong), count)

    def _count(self, group: Json) -> int:
        scopes = group.get(self._shape.json_scopes) if type(group) is dict else None
        return sum(map(self._count_scope, scopes)) if type(scopes) is list else 0

    def _count_scope(self, scope: Json) -> int:
        records = scope.get(self._shape.json_records) if type(scope) is dict else None
        return len(records) if type(records) is list else 0

    def _settle(self, element: Any) -> None:
        for reason, where in self._reader.repairs:
            self._findings.repair(element, reason, where)
        self._reader.repairs.clear()


def _items(holder: dict[str, Json], key: str, path: str) -> list[Json]:
    items = holder.get(key)
    if items is None:
        return []
    if type(items) is not list:
        raise BadData(f"{path}: must be a list", field=path)
    return items
