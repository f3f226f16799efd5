"""Other people's files → OTLP/JSON requests, so that they go the same way as everything else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from collector.receive.imports import claude_code, jaeger, langfuse, mlflow, phoenix, trace_lines
from collector.receive.imports.traces import Misfit

__all__ = ["Converted", "Misfit", "document_converter", "lines_converter"]

Json = dict[str, Any]
Converted = Iterator[Json] | Iterator[Json | Misfit]

# A file of lines (or one list) is told by its first record, and converted as a whole: a record alone says too little.
LINES: tuple[tuple[Callable[[Json], bool], Callable[[list[Json], str, int], Converted]], ...] = (
    (claude_code.recognises, claude_code.converted),
    (trace_lines.recognises, trace_lines.converted),
    (phoenix.recognises, phoenix.converted),
    (langfuse.recognises, langfuse.converted),
)
DOCUMENTS: tuple[tuple[Callable[[Json], bool], Callable[[Json], Converted]], ...] = (
    (jaeger.recognises, jaeger.converted),
    (mlflow.recognises, mlflow.converted),
    (phoenix.recognises_page, phoenix.converted_page),
    (langfuse.recognises_trace, langfuse.converted_trace),
    (langfuse.recognises_page, langfuse.converted_page),
)


def lines_converter(first: object) -> Callable[[list[Json], str, int], Converted] | None:
    """What reads JSON lines, or a list, that begin so; it takes the records, the file's name and a time (ns)."""
    return next((convert for knows, convert in LINES if isinstance(first, dict) and knows(first)), None)


def document_converter(value: Json) -> Callable[[Json], Converted] | None:
    """What reads a JSON document that is not OTLP."""
    return next((convert for knows, convert in DOCUMENTS if knows(value)), None)
