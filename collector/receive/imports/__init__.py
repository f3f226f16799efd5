"""Other people's files → OTLP/JSON requests, so that they go the same way as everything else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from collector.receive.imports import claude_code, jaeger, trace_lines

Json = dict[str, Any]
Converted = Iterator[Json]

# A file of lines is told by its first line, and converted as a whole: a line alone says too little.
LINES: tuple[tuple[Callable[[Json], bool], Callable[[list[Json], str, int], Converted]], ...] = (
    (claude_code.recognises, claude_code.converted),
    (trace_lines.recognises, trace_lines.converted),
)
DOCUMENTS: tuple[tuple[Callable[[Json], bool], Callable[[Json], Converted]], ...] = (
    (jaeger.recognises, jaeger.converted),
)


def lines_converter(first: object) -> Callable[[list[Json], str, int], Converted] | None:
    """What reads a file of JSON lines that begins so; it takes the records, the file's name and a time (ns)."""
    return next((convert for knows, convert in LINES if isinstance(first, dict) and knows(first)), None)


def document_converter(value: Json) -> Callable[[Json], Converted] | None:
    """What reads a JSON document that is not OTLP."""
    return next((convert for knows, convert in DOCUMENTS if knows(value)), None)
