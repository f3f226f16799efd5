"""What commands print: results on stdout, talk on stderr, no text from a trace that could drive a terminal."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from collector.logs import one_line

PIPE_WIDTH = 1000  # a pipe has no width: nothing is cut for a program
MAX_CELL = 200
WRAPPED = ("reason", "value", "what")

# A result by letter (pipes, logs) and by square (terminals): colour never says anything alone.
LETTERS = {"pass": "P", "fail": ".", "error": "E", "invalid": "X", "unknown": "?", "incomplete": "-", "pending": "~"}
SQUARES = {"pass": "■", "fail": "□", "error": "E", "invalid": "X", "unknown": "?", "incomplete": "-", "pending": "~"}
STYLES = {"pass": "green", "ok": "green", "fail": "red", "error": "yellow", "FAIL": "red", "ERROR": "yellow"}


class ReaderLeft(Exception):
    """Nobody reads the result any more (`passhat runs | head`). No OSError: typer would end with 1 on one."""


def result(text: str) -> None:
    """A line (or lines) of the result. Raises ReaderLeft."""
    try:
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
    except BrokenPipeError:
        raise ReaderLeft from None


def result_bytes(data: bytes) -> None:
    """The result byte by byte, whatever this terminal's letters. Raises ReaderLeft."""
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise ReaderLeft from None


def result_json(value: object) -> None:
    """The result as one JSON document, indented for people, strict for programs. Raises ReaderLeft."""
    result(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def say(text: str) -> None:
    """Progress or advice: never part of the result."""
    sys.stderr.write(text + "\n")


def complain(text: str, hint: str = "") -> None:
    """An error in one or more lines, then what to do about it. Text of traces in it is made harmless."""
    for line in text.split("\n"):
        say(f"error: {one_line(line)}")
    if hint:
        say(f"hint: {one_line(hint)}")


def cell(value: object, limit: int = MAX_CELL) -> str:
    """A value as one harmless line: '' for None, `-` never: that means "not enough trials" and callers say it."""
    text = one_line("" if value is None else str(value))
    return text if len(text) <= limit else text[: limit - 1] + "…"


def rate(value: float | None) -> str:
    """A rate with four digits; `-` where there are too few trials to say one."""
    return "-" if value is None else f"{value:.4f}"


def local_time(stamp: str | None) -> str:
    """An RFC 3339 time of the API in this machine's zone, to the second."""
    if not stamp:
        return ""
    return datetime.fromisoformat(stamp).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def strip(results: Sequence[str]) -> str:
    """One mark per trial, oldest first."""
    marks = SQUARES if colourful() and _can_write(SQUARES["pass"]) else LETTERS
    return "".join(marks.get(item, "?") for item in results)


def table(columns: Sequence[str], rows: Sequence[Sequence[object]], right: Sequence[str] = ()) -> str:
    """A plain table; columns named in `right` are numbers."""
    from rich.table import Table
    from rich.text import Text

    made = Table(box=None, pad_edge=False, show_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in columns:
        wraps = column in ("reason", "text", "what")
        made.add_column(
            Text(column), justify="right" if column in right else "left", no_wrap=not wraps, overflow="fold"
        )
    for row in rows:
        texts = [cell(value) for value in row]
        made.add_row(*(Text(text, style=STYLES.get(text, "")) for text in texts))
    return render(made)


def render(renderable: Any) -> str:
    """What a rich renderable looks like on this stdout, without trailing spaces."""
    from rich.console import Console

    tty = sys.stdout.isatty()
    buffer = io.StringIO()
    console = Console(
        file=buffer,
        force_terminal=tty,
        no_color=not colourful(),
        color_system="auto" if colourful() else None,
        width=None if tty else PIPE_WIDTH,
        markup=False,
        highlight=False,
        emoji=False,
    )
    console.print(renderable)
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines()) + "\n"


def colourful() -> bool:
    """Colour only on a terminal, and not when NO_COLOR is set (to anything but the empty text) or TERM is dumb."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _can_write(mark: str) -> bool:
    try:
        mark.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True
