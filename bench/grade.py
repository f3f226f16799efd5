"""How fast runs are assembled and graded, one thread, no store.

python -m bench.grade [--runs 2000] [--json]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from itertools import groupby
from typing import Any, TypeVar

from bench.batches import requests
from bench.telling import Figures, tell
from collector.assemble import assemble
from collector.normalise.unpack import spans_of
from graders import CheckSet, TrialPolicy, judge
from graders.defaults import ADVISORY, GATING
from semconv.facts import SpanFacts
from semconv.resolve import facts_of
from semconv.run import Run
from semconv.words import Words

CALLS = 9  # each is a text, a call and a result: about 30 lines a run
T = TypeVar("T")


def measure(runs: int) -> list[Figures]:
    """Runs a second of each step."""
    units = some_units(runs)
    assembled: list[Run] = []
    told = [timed("assemble", units, lambda unit: assembled.extend(assemble(unit, closed_by="root").runs))]
    for name, checks in (("the default checks", default_checks()), ("25 checks", many_checks(25))):
        told.append(timed(f"grade by {name}", assembled, partial(graded, checks)))
    lines = sum(len(run.lines) for run in assembled) / len(assembled)
    return [{**row, "lines_per_run": round(lines, 1)} for row in told]


def timed(step: str, inputs: list[T], work: Callable[[T], object]) -> Figures:
    """Inputs a second of one step."""
    began = time.perf_counter()
    for one in inputs:
        work(one)
    took = time.perf_counter() - began
    return {"step": step, "runs_per_s": round(len(inputs) / took), "us_per_run": round(1e6 * took / len(inputs))}


def graded(checks: CheckSet, run: Run) -> object:
    return judge(run, checks.grade(run), None, "trajectory", checks.policy)


def default_checks() -> CheckSet:
    return CheckSet.compile(policy=TrialPolicy())


def many_checks(count: int) -> CheckSet:
    """The default checks and others of several kinds, each over a tool of its own."""
    kinds: list[dict[str, Any]] = [*GATING, *ADVISORY]
    more: list[dict[str, Any]] = [
        {"kind": "absence", "of": "call.tool == 'Delete{0}'"},
        {"kind": "bounded", "of": "call.tool == 'Bash' && call.command.contains('make {0}')", "at_most": 3},
        {"kind": "each", "of": "call.tool == 'Edit'", "assert": "call.path.startsWith('src/') || {0} < 0"},
        {"kind": "precedence", "first": "call.tool == 'Read'", "then": "call.tool == 'Edit'", "same": "path"},
    ]
    for number in range(count - len(kinds)):
        shape = more[number % len(more)]
        filled = {key: value.format(number) if isinstance(value, str) else value for key, value in shape.items()}
        kinds.append({"id": f"more-{number}", "gate": False, **filled})
    return CheckSet.compile(kinds, policy=TrialPolicy())


def some_units(runs: int) -> list[list[SpanFacts]]:
    """The spans of runs of about 30 lines each, as the store gives them to assembly."""
    words = Words()
    spans = [
        SpanFacts(
            signal="span", project="p", trace_id=span.trace_id, span_id=span.span_id,
            parent_span_id=span.parent_span_id, name=span.name, start_ns=span.start_ns, end_ns=span.end_ns,
            facts=facts_of(span, words), service="bench-agent", status_code=span.status_code, content_hash=span.span_id,
        )
        for request in requests(runs * (1 + 2 * CALLS), calls=CALLS)
        for span in spans_of(request.payload)
    ]  # fmt: skip
    return [list(unit) for _, unit in groupby(spans, key=lambda one: one.trace_id)][:runs]


def main() -> None:
    """Measure and tell."""
    parser = argparse.ArgumentParser(prog="python -m bench.grade", description=__doc__)
    parser.add_argument("--runs", type=int, default=2_000)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    tell("assemble and grade: one thread", measure(arguments.runs), as_json=arguments.json)


if __name__ == "__main__":
    main()
