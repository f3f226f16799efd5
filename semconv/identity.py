"""The contract's own attributes on a span or a resource (CONTRACT.md section 2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from semconv.decode import text_of
from semconv.facts import Identity
from semconv.names import OUTCOME, RUN_END
from semconv.values import Attributes, Value

_TRUE: Final = frozenset(["true", "1", "yes"])
_OUTCOMES: Final = {
    "pass": "pass",
    "passed": "pass",
    "success": "pass",
    "true": "pass",
    "fail": "fail",
    "failed": "fail",
    "failure": "fail",
    "false": "fail",
    "error": "error",
    "errored": "error",
    "invalid": "invalid",
}


def identity_of(attributes: Attributes, names: Mapping[str, tuple[str, ...]]) -> Identity | None:
    """What the attributes say of task, trial, run and outcome; None where they say nothing.

    `names` maps each field of `Identity` to the attributes that give it, first found wins.
    """
    found: dict[str, str | bool] = {}
    for field, keys in names.items():
        for key in keys:
            value = attributes.get(key)
            text = text_of(value).strip() if value is not None else ""  # few of a hundred names are there
            if text:
                found[field] = outcome_of(text, key) if field == "outcome" else text
                break
    if is_true(attributes.get(RUN_END)):
        found["run_end"] = True
    if not found or found == {"outcome": ""}:
        return None
    return Identity(**found)  # type: ignore[arg-type]


def outcome_of(text: str, key: str = OUTCOME) -> str:
    """`pass`, `fail`, `error` or `invalid`; other words of `passhat.outcome` stay as sent, to be refused by name."""
    known = _OUTCOMES.get(text.lower())
    if known is not None:
        return known
    return text if key == OUTCOME else ""


def is_true(value: Value) -> bool:
    """True for the boolean and for text that says so."""
    return value is True or (isinstance(value, str) and value.lower() in _TRUE) or (type(value) is int and value == 1)
