"""What a captured result says of success: exit codes in text and JSON, errors reported in-band."""

from __future__ import annotations

import re
from typing import Any

from semconv.values import JsonValue

_EXIT = re.compile(
    r"""(?:^|\b)(?:process\ exited\ with\ code
    |command\ (?:finished|completed|failed|exited)\ with\ exit\ (?:code|status)
    |exited?\ with\ (?:exit\ )?(?:code|status)|exit[ _]?code[:=]?|exit\ status[:=]?|returned\ non-zero\ exit\ status
    |return[ _]?code[:=]?|finished\ with\ exit\ code|with\ exit\ code)\s*[:=]?\s*(-?\d{1,3})\b""",
    re.VERBOSE | re.IGNORECASE,
)
_HINT = re.compile("[Ee]xit|EXIT|eturn")  # cheap: most outputs say nothing of it
_EXIT_KEYS = (
    "exit_code",
    "exitCode",
    "exitcode",
    "returncode",
    "return_code",
    "exit_status",
    "exitStatus",
    "status_code_exit",
)
_NESTED = ("metadata", "result", "details", "output")
_ERROR_TEXT = re.compile(
    r"^\s*(?:<tool_use_error>|Error(?: executing \w+)?:|ERROR:|error:|Exception:|Traceback \(most recent call last\))"
)
_ERROR_STARTS = frozenset("<EeT \n\t")
_FAILED_WORDS = frozenset({"error", "failed", "failure"})
_NEAR = 400  # characters at either end of a text in which harnesses put the exit code


def exit_code(text: str, parsed: JsonValue, error: str) -> int | None:
    """The exit code that a result reports, None when it reports none."""
    if isinstance(parsed, dict):
        code = _from_object(parsed)
        if code is not None:
            return code
    for part in (error, text[:_NEAR], text[-_NEAR:] if len(text) > _NEAR else ""):
        if part and _HINT.search(part) and (found := _EXIT.search(part)):
            return int(found[1])
    return None


def _from_object(value: dict[str, Any]) -> int | None:
    for layer in (value, *(value[key] for key in _NESTED if isinstance(value.get(key), dict))):
        for key in _EXIT_KEYS:
            code = layer.get(key)
            if isinstance(code, int) and not isinstance(code, bool):
                return code
            if isinstance(code, str) and code.lstrip("-").isdigit():
                return int(code)
    return None


def reported_error(text: str, parsed: JsonValue) -> str:
    """The error a result reports in-band, '' when it reports none."""
    if isinstance(parsed, dict):
        return _object_error(parsed)
    if text[:1] in _ERROR_STARTS and _ERROR_TEXT.match(text):
        return text.strip().splitlines()[0][:500]
    return ""


def _object_error(value: dict[str, Any]) -> str:
    error = value.get("error")
    failed = (
        value.get("isError") is True
        or value.get("is_error") is True
        or value.get("success") is False
        or (isinstance(value.get("status"), str) and value["status"].lower() in _FAILED_WORDS)
        or (bool(error) and error is not True)
        or error is True
    )
    if not failed:
        return ""
    for key in ("error", "message", "detail", "content", "stderr"):
        if isinstance(value.get(key), str) and value[key]:
            return str(value[key])[:500]
    return "error"
