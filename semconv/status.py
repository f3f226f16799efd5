"""How it went: error on any evidence, ok only where somebody says so. Unset is not success.

The words are those of the exception, else of the span's status, else of the dialect's error attribute, else of the
result, else the error's type. A flag `error_from:…` says what the evidence was: status, exception, error_type,
attribute, exit_code, result.
"""

from __future__ import annotations

from typing import Final

from semconv.blocks import error_text_of, reads_failed, says_failed
from semconv.decode import count_of, json_text, number_of, plain, text_of
from semconv.names import ERROR_TYPE, EXCEPTION_MESSAGE, EXCEPTION_TYPE
from semconv.registry import Found, Plan
from semconv.sources import View, first
from semconv.span import Event, Span
from semconv.values import JsonValue, Value

ERROR: Final = 2
OK: Final = 1
_EXCEPTION_EVENTS: Final = frozenset(["exception", "gen_ai.client.operation.exception"])
MAX_ERROR: Final = 4_000  # characters of an error's text; the whole stays on the span


def add_status(view: View, plan: Plan | None, found: Found, known: str = "") -> None:
    """Set status, error, error_type and the flag of the evidence; `known` is evidence found on the way."""
    record = view.record
    code = record.status_code if isinstance(record, Span) else 0
    exception = _exception(view.events) if view.events else None
    kind = text_of(view.attributes.get(ERROR_TYPE))
    reported = first(view, plan.error) if plan is not None and plan.error else None
    evidence = _evidence(view, plan, found, code, exception) or known
    if not evidence and kind:
        evidence = "error_type"
    if not evidence and reported is not None and not _is_empty(reported):
        evidence = "attribute"
    if not evidence and found.get("operation") == "tool":
        evidence = _in_result(found.get("output"), code)
    if not evidence:
        if code == OK or (plan is not None and _any(view, plan.succeeded)):
            found["status"] = "ok"
        return
    thrown = text_of(exception.attributes.get(EXCEPTION_TYPE)) if exception is not None else ""
    found["status"] = "error"
    found["error_type"] = kind or _said_type(view, plan) or thrown
    found["error"] = _words(view, found, exception, reported) or found["error_type"]
    found["flags"] = (*found.get("flags", ()), f"error_from:{evidence}")


def _evidence(view: View, plan: Plan | None, found: Found, code: int, exception: Event | None) -> str:
    if code == ERROR:
        return "status"
    if exception is not None and (code != OK or found.get("operation") == "tool"):
        # A span that ended OK handled what it recorded; a tool call that raised did not work (LangSmith).
        return "exception"
    if plan is not None:
        if plan.failed and _any(view, plan.failed):
            return "attribute"
        if plan.exit_code:
            exit_code = number_of(first(view, plan.exit_code))
            if exit_code is not None and exit_code != 0:
                return "exit_code"
    return ""


def _in_result(output: JsonValue, code: int) -> str:
    """What the result itself says; its first words count only where nobody called the span a success."""
    if says_failed(output) or (code != OK and reads_failed(output)):
        return "result"
    return ""


def _any(view: View, tests: tuple[tuple[object, frozenset[str]], ...]) -> bool:
    for source, values in tests:
        value = view.attributes.get(source) if isinstance(source, str) else source(view)  # type: ignore[operator]
        if value is not None and (text_of(value).lower() in values or ("*" in values and not _is_empty(value))):
            return True
    return False


def _is_empty(value: Value) -> bool:
    return value is None or value is False or value in ("", "null", "None", "[]", "{}") or value == {} or value == []


def _exception(events: tuple[Event, ...]) -> Event | None:
    for event in reversed(events):
        if event.name in _EXCEPTION_EVENTS:
            return event
    return None


def _words(view: View, found: Found, exception: Event | None, reported: Value) -> str:
    thrown = text_of(exception.attributes.get(EXCEPTION_MESSAGE)) if exception is not None else ""
    if thrown:
        return thrown[:MAX_ERROR]
    message = getattr(view.record, "status_message", "")
    if message:
        return str(message)[:MAX_ERROR]
    if reported is not None:
        opened = view.parsed("$error", reported) if isinstance(reported, str) and reported[:1] == "{" else reported
        words = error_text_of(opened) or (reported if isinstance(reported, str) else json_text(plain(reported)))
        if words and words.lower() not in ("true", "false"):
            return words[:MAX_ERROR]
    return error_text_of(found.get("output"))[:MAX_ERROR]


def _said_type(view: View, plan: Plan | None) -> str:
    return text_of(first(view, plan.error_type)) if plan is not None and plan.error_type else ""


def finish_reasons_of(value: Value, view: View) -> tuple[str, ...]:
    """Finish reasons as a tuple: a list, a JSON list in text, or one text (Semantic Kernel's enum)."""
    if isinstance(value, str) and value[:1] == "[":
        opened = view.parsed("$finish", value)
        value = opened if isinstance(opened, list) else value
    if isinstance(value, list):
        return tuple(text_of(item) for item in value if item)
    return (text_of(value),) if value else ()


def tokens_of(view: View, plan: Plan) -> int | None:
    """Input tokens with the cache's, as the convention counts them, also where the emitter counts them apart."""
    count = count_of(first(view, plan.input_tokens))
    if count is None:
        return None
    for source in plan.input_tokens_plus:
        count += count_of(first(view, (source,))) or 0
    return count
