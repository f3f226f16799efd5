"""Logs for people or for machines, on stderr; one line an event, whatever text is in it."""

from __future__ import annotations

import logging
import sys
import threading
import time
from typing import Literal

import orjson

LogFormat = Literal["text", "json"]


class TextFormatter(logging.Formatter):
    """`time level logger message`; control characters escaped, so that text from a trace cannot forge a line."""

    def format(self, record: logging.LogRecord) -> str:
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created))
        line = f"{stamp} {record.levelname.lower():<7} {record.name}: {one_line(record.getMessage())}"
        if record.exc_info:
            line += "\n" + self.formatException(record.exc_info)
        return line


class JsonFormatter(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        event: dict[str, object] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _whole(record.getMessage()),
        }
        if record.exc_info:
            event["exception"] = _whole(self.formatException(record.exc_info))
        return orjson.dumps(event).decode()


def _whole(text: str) -> str:
    """The text with lone surrogates escaped: one of them would cost the whole line."""
    return text.encode("utf-8", "backslashreplace").decode()


def one_line(text: str) -> str:
    """The text with control characters escaped: a raw newline or escape sequence would forge or hide a line."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _thread_ended(args: threading.ExceptHookArgs) -> None:
    if args.exc_type is not SystemExit and args.exc_value is not None:
        name = args.thread.name if args.thread is not None else "gone"
        logging.getLogger("passhat").error("thread %s ended by an error", name, exc_info=args.exc_value)


def setup(log_format: LogFormat = "text", level: int = logging.INFO) -> None:
    """Send all logs of this process to stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if log_format == "json" else TextFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    # What Python itself would print as plain text between the lines.
    logging.captureWarnings(True)
    threading.excepthook = _thread_ended
    # One line a request would be one line a batch of spans: counters carry that.
    for noisy in ("uvicorn.access", "uvicorn.error", "httpx", "clickhouse_connect"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
