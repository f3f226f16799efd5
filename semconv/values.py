"""Python values for OTLP AnyValue, and the JSON subset of them that trace lines carry."""

from __future__ import annotations

from typing import Any, TypeAlias

# str, int, float, bool, bytes, None (a valid empty value), list[Value], dict[str, Value].
Value: TypeAlias = Any
Attributes: TypeAlias = dict[str, Value]

# None, bool, int, float, str, list, dict with string keys: what json.dumps takes without a default.
JsonValue: TypeAlias = Any
