"""`passhat doctor`: what stands between a harness and its verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from collector.cli.options import Source
from collector.cli.out import cell, complain, result, result_json, say, table

Row = dict[str, Any]


class Finding:
    """One thing looked at: `ok`, what was found, and what to do when it is not ok, or could be better."""

    def __init__(self, what: str, ok: bool, found: str, hint: str = "") -> None:
        self.what, self.ok, self.found, self.hint = what, ok, found, hint

    @property
    def mark(self) -> str:
        """In one word: a note is no fault of this machine."""
        return ("note" if self.hint else "ok") if self.ok else "FAIL"

    def as_json(self) -> Row:
        return {"what": self.what, "ok": self.ok, "found": self.found, "hint": self.hint}


def doctor(
    source: Source,
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="An OTLP file: say what becomes of each span of it.", show_default=False),
    ] = None,
) -> int:
    """Look at machine, configuration and store, then send a trace through the whole way.

    Of a running passhat it says what agents sent and what became of it. Its own run counts nowhere and is removed.

    With FILE (OTLP as JSON, JSON lines or protobuf) say for each span which dialect reads it and what is missing.
    """
    if file is not None:
        from collector.cli.explain import explain_file

        return explain_file(source, file)
    from collector.cli.examine import findings

    found = list(findings(source))
    if source.json:
        result_json({"ok": all(one.ok for one in found), "findings": [one.as_json() for one in found]})
    else:
        result(table(("", "what", "found"), [(one.mark, one.what, one.found) for one in found]))
        for one in found:
            if not one.ok:
                complain(f"{one.what}: {one.found}", one.hint)
            elif one.hint:
                say(cell(f"note: {one.what}: {one.hint}", 1000))
    return 0 if all(one.ok for one in found) else 1


def looked(what: str, look: Callable[[], str], hint: str = "") -> Finding:
    """A finding from a look that returns what it saw, or raises why it is not well."""
    from collector.errors import OperatorError

    try:
        return Finding(what, True, look())
    except OperatorError as error:
        return Finding(what, False, cell(error, 1000), error.hint or hint)
    except Exception as error:  # whatever is broken is what the doctor is for
        return Finding(what, False, cell(f"{type(error).__name__}: {error}", 1000), hint)


Findings = Iterator[Finding]
