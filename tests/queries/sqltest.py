"""`.sqltest`: numbers as people write them down, run through the real store. Read one to learn it; the words are

    case WHAT IS SHOWN                 an empty store; everything up to the next case belongs to it
    policy errors=fail retries=all     the trial policy
    load                               runs, one a line under a header; through the store's own write path
      run task result ended
      r1  book pass   2026-03-01T10:05
    matrix [field=value …]             trials as letters, P pass F fail E error: a task a line, a word a day
      book PPFPP
    withdraw RUN …                     runs that are gone again
    eval VIEW k=2 start=… [where CONDITION]
      task_id n  pass_hat_k            the columns looked at; rows in any order
      book    2  1/3
    eval SELECT …                      any query, on the lines up to the first indented one

Values: NULL; numbers are compared as written, `0.3625` to its four places, `1/3` as that fraction to twelve; '' is
empty text; other text is compared exactly (spaces in double quotes). Headers of `load`: fields of a run, its trial or
grading; run, task, version, class, source, ended, started stand for run_id, task_id …; `ended` is UTC.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from collector.store.store import Store
from tests.support.stores import graded

SHORT = {"run": "run_id", "task": "task_id", "version": "task_version", "class": "task_class", "source": "task_source"}
DAY_NS = 86_400_000_000_000
NUMBERS = {"inputs", "epoch", "tool_calls", "turns"}
WINDOW = {"start": "2026-03-01T00:00", "end": "2026-03-31T00:00"}


class Step(NamedTuple):
    """One instruction, its indented lines, and where it stands."""

    words: str
    table: list[list[str]]
    line: int


class Case(NamedTuple):
    name: str
    steps: list[Step]


def cases_of(path: Path) -> list[Case]:
    """The cases of a file, in order."""
    cases: list[Case] = []
    for number, text in enumerate(path.read_text().splitlines(), 1):
        if not text.strip() or text.startswith("#"):
            continue
        if text.startswith("case "):
            cases.append(Case(text.removeprefix("case "), []))
        elif text[0] != " ":
            cases[-1].steps.append(Step(text, [], number))
        elif cases[-1].steps[-1].words.startswith("eval SELECT") and text.startswith("    "):
            last = cases[-1].steps.pop()
            cases[-1].steps.append(last._replace(words=f"{last.words}\n{text.strip()}"))
        else:
            cases[-1].steps[-1].table.append(shlex.split(text, posix=False))
    return cases


def run(case: Case, store: Store) -> None:
    """Run a case against an empty store; raises AssertionError with the line that is not met."""
    for step in case.steps:
        verb, _, rest = step.words.partition(" ")
        if verb == "policy":
            store.set_policy(**dict(word.split("=", 1) for word in rest.split()))
        elif verb == "load":
            store.write_gradings([graded(**fields) for fields in loaded(step)])
        elif verb == "matrix":
            store.write_gradings([graded(**fields) for fields in lettered(step, rest)])
        elif verb == "withdraw":
            store.write_gradings([graded(run_id, inputs=1000, alive=False) for run_id in rest.split()])
        elif verb == "eval":
            check(store, rest, step)
        else:
            raise ValueError(f"line {step.line}: {verb!r} is no word of a .sqltest")


def loaded(step: Step) -> Iterator[dict[str, Any]]:
    """The fields of each run of a `load`."""
    header, *rows = step.table
    for row in rows:
        assert len(row) == len(header), f"line {step.line}: {row} does not fit {header}"
        fields: dict[str, Any] = {
            SHORT.get(name, name): text_of(value) for name, value in zip(header, row, strict=True)
        }
        for name in ("ended", "started"):
            if name in fields:
                fields[f"{name}_ns"] = nanoseconds(fields.pop(name))
        fields |= {name: int(fields[name]) for name in NUMBERS & fields.keys()}
        yield fields


def lettered(step: Step, rest: str) -> Iterator[dict[str, Any]]:
    """The fields of each run of a `matrix`."""
    more = {SHORT.get(name, name): value for name, value in (word.split("=", 1) for word in rest.split())}
    ended_ns = nanoseconds(more.pop("ended", "2026-03-01T10:05"))
    results = {"P": "pass", "F": "fail", "E": "error"}
    for task, *days in step.table:
        trials = [(day, letter) for day, letters in enumerate(days) for letter in letters]
        for number, (day, letter) in enumerate(trials, 1):
            run_id = f"{task}-{more.get('task_version', '')}-{number}"
            at_ns = ended_ns + day * DAY_NS
            yield {"run_id": run_id, "task_id": task, "result": results[letter], "ended_ns": at_ns, **more}


def check(store: Store, query: str, step: Step) -> None:
    header, *expected = step.table
    sql = query if query.startswith("SELECT") else called(query, header)
    found = store.query(sql)
    assert not found.rows or list(found.columns) == header, f"line {step.line}: columns are {found.columns}"
    missing = [row for row in expected if not any(meets(row, told) for told in found.rows)]
    told = (
        f"line {step.line}: expected {expected}\n     found {[[shown(value) for value in row] for row in found.rows]}"
    )
    assert not missing, told
    assert len(found.rows) == len(expected), told


def called(words: str, header: list[str]) -> str:
    """SELECT of a view with its parameters; start and end may be left out: March 2026."""
    call, _, where = words.partition(" where ")
    view, *given = call.split()
    parameters = dict(word.split("=", 1) for word in given)
    if given or view not in ("trials", "current_verdicts", "tool_calls", "slo_burn", "otel_traces"):
        parameters = WINDOW | parameters
        told = [f"{name}={quoted(name, value)}" for name, value in parameters.items()]
        view = f"{view}({', '.join(told)})"
    return f"SELECT {', '.join(header)} FROM {view}" + (f" WHERE {where}" if where else "")


def quoted(name: str, value: str) -> str:
    if name not in ("start", "end"):
        return value
    seconds = "" if value.count(":") == 2 else ":00"
    return f"'{value.replace('T', ' ')}{seconds}'"


def meets(expected: list[str], found: tuple[Any, ...]) -> bool:
    return all(same(text, value) for text, value in zip(expected, found, strict=True))


def same(text: str, value: Any) -> bool:
    """Whether a value is what was written down."""
    if text == "NULL" or value is None:
        return text == "NULL" and value is None
    if isinstance(value, float):
        if "/" in text:
            return abs(value - float(Fraction(text))) < 1e-12
        places = len(text.partition(".")[2])
        return (places == 0 and value == float(text)) or (places > 0 and f"{value:.{places}f}" == text)
    return shown(value) == text_of(text)


def shown(value: Any) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="auto").removesuffix("+00:00").removesuffix(":00")
    return str(value) if not isinstance(value, bool) else str(value).lower()


def text_of(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


def nanoseconds(text: str) -> int:
    seconds, _, fraction = text.partition(".")
    at = datetime.fromisoformat(seconds).replace(tzinfo=UTC)
    return int(at.timestamp()) * 10**9 + int(fraction.ljust(9, "0") or 0)
