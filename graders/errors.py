"""What is wrong with a configured check, said so that its author can mend it."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class CheckError(ValueError):
    """A check, tag or action that cannot be used. Raised at compile time only, never while grading.

    `check_id` and `key` say where in the configuration; `line` and `column` (from 1) where in the expression,
    0 where the whole value is meant.
    """

    def __init__(self, problem: str, *, check_id: str = "", key: str = "", line: int = 0, column: int = 0) -> None:
        self.problem = problem
        self.check_id = check_id
        self.key = key
        self.line = line
        self.column = column
        super().__init__(self._text())

    def _text(self) -> str:
        where = f"check '{self.check_id}'" if self.check_id else ""
        if self.key:
            where = f"{where}, {self.key}" if where else self.key
        if self.column:
            where += f" (line {self.line}, column {self.column})"
        return f"{where}: {self.problem}" if where else self.problem

    def at(self, *, check_id: str = "", key: str = "") -> CheckError:
        """The same problem, with the place filled in that the raiser did not know."""
        return CheckError(
            self.problem,
            check_id=self.check_id or check_id,
            key=self.key or key,
            line=self.line,
            column=self.column,
        )


class CheckBroke(RuntimeError):
    """A check that cannot say anything of a run, for a reason of its own: its verdict is `error`."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?` for the nearest known word, '' when none is near."""
    near = get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"; did you mean '{near[0]}'?" if near else ""
