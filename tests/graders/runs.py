"""Runs written down by hand, for the graders' tests."""

from __future__ import annotations

from typing import Any

from semconv.run import Run
from semconv.trace_line import TraceLine


class Script:
    """Lines of a run, numbered as they are added."""

    def __init__(self) -> None:
        self.lines: list[TraceLine] = []

    def line(self, role: str, **fields: Any) -> Script:
        self.lines.append(TraceLine(n=len(self.lines) + 1, role=role, **fields))  # type: ignore[arg-type]
        return self

    def user(self, text: str) -> Script:
        return self.line("user", text=text)

    def says(self, text: str, **fields: Any) -> Script:
        return self.line("assistant", text=text, **fields)

    def call(self, tool: str, arguments: Any = None, output: Any = None, **fields: Any) -> Script:
        """A call; with an output or a status other than unset also its tool line."""
        status = fields.pop("status", "unset")
        error = fields.pop("error", "")
        self.line("assistant", tool=tool, input={} if arguments is None else arguments, **fields)
        if output is not None or status != "unset" or error:
            kept = {key: value for key, value in fields.items() if key in ("call_id", "agent", "depth", "server")}
            self.line("tool", tool=tool, output=output, status=status, error=error, **kept)
        return self

    def bash(self, command: str, output: Any = None, **fields: Any) -> Script:
        return self.call("Bash", {"command": command}, output, **fields)

    def edit(self, path: str, **fields: Any) -> Script:
        return self.call("Edit", {"file_path": path}, **fields)

    def run(self, **fields: Any) -> Run:
        header: dict[str, Any] = {"project": "p", "run_id": "r", "closed_by": "root", "root_status": "ok"}
        return Run(lines=tuple(self.lines), **(header | fields))

    def open(self, **fields: Any) -> Run:
        return self.run(**({"closed_by": "", "root_status": ""} | fields))
