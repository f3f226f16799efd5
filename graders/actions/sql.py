"""Whether SQL reads or changes data."""

from __future__ import annotations

import re
from typing import Literal

# Comments and quoted text in one pass: a quote in a comment opens nothing, dashes in a text start no comment.
_QUIET = re.compile(
    r"""--[^\n]* | /\*.*?(?:\*/|\Z) | (?m:^[\ \t]*\#[^\n]*)
      | '(?:''|\\.|[^'\\])*(?:'|\Z) | "(?:""|[^"])*(?:"|\Z) | `[^`]*(?:`|\Z)""",
    re.DOTALL | re.VERBOSE,
)
_READS = re.compile(
    r"^(?:select|show|describe|desc|explain|values|table|pragma|list|with|use|exists|check)\b", re.IGNORECASE
)
_WRITES = re.compile(
    r"""\b(?:insert\s+into|insert\s+or|insert\s+overwrite|update\s+\S+\s+set|delete\s+from|merge\s+into|replace\s+into
    |truncate|drop|alter|create|grant|revoke|rename|copy\s+\S+\s+from|load\s+data|vacuum|attach|detach|call|exec|execute
    |into\s+outfile|upsert|reindex|lock|import|optimize|kill|set\s+role|do\s+\$)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_STARTS_WRITING = re.compile(
    r"^(?:insert|update|delete|merge|replace|truncate|drop|alter|create|grant|revoke|rename|copy|load|vacuum|attach|"
    r"detach|call|exec|execute|upsert|reindex|lock|import|optimize|kill|comment|refresh|begin\s+atomic)\b",
    re.IGNORECASE,
)
_LOOKS = re.compile(r"^\s*\(*\s*[a-z]+\b", re.IGNORECASE)


def sql_kind(text: str) -> Literal["sql_read", "sql_write", ""]:
    """`sql_write` when any statement may change something, '' when the text is no SQL."""
    plain = _QUIET.sub(_blank, text)
    statements = [part.strip().lstrip("(") for part in plain.split(";") if part.strip()]
    if not statements or not _LOOKS.match(statements[0]):
        return ""
    kinds = {_statement(statement) for statement in statements}
    if "sql_write" in kinds:
        return "sql_write"
    return "sql_read" if "sql_read" in kinds else ""


def _statement(text: str) -> Literal["sql_read", "sql_write", ""]:
    if _STARTS_WRITING.match(text):
        return "sql_write"
    if not _READS.match(text):
        return ""
    # `with x as (delete from …)`, `select … into … from …` change data
    if re.match(r"with\b", text, re.IGNORECASE) and _WRITES.search(text):
        return "sql_write"
    if re.match(r"select\b.*\binto\s+(?:outfile\b|\S+\s+from\b)", text, re.IGNORECASE | re.DOTALL):
        return "sql_write"
    if re.match(r"pragma\b.*=", text, re.IGNORECASE | re.DOTALL):
        return "sql_write"
    if re.match(r"explain\s+(?:\(?\s*)?analy[sz]e\b", text, re.IGNORECASE) and _WRITES.search(text):
        return "sql_write"
    return "sql_read"


def _blank(match: re.Match[str]) -> str:
    return "''" if match[0][0] in "'\"`" else " "
