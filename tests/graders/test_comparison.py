"""Other rule languages said in our kinds: the same answer on every short run.

The published meanings, from the run's side: agentevals' superset, subset, unordered and strict compare multisets or
lists of calls; agentltl's never, before, require, at_most and finally are formulas over the calls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from graders import CheckSet
from tests.graders.runs import Script

Calls = tuple[str, ...]
RUNS: list[Calls] = [calls for length in range(5) for calls in product("abx", repeat=length)]
REFERENCES: list[Calls] = [("a",), ("a", "b"), ("b", "a"), ("a", "a", "b"), ("a", "b", "a")]


def holds(checks: list[dict[str, Any]], calls: Calls) -> bool:
    """Whether no check fails; what has nothing to judge holds, as a formula over no events does."""
    script = Script()
    for at, tool in enumerate(calls):
        script.call(tool, {"at": at}, status="ok")
    named = [{"id": f"c{at}", **check} for at, check in enumerate(checks)]
    verdicts = compiled(named).grade(script.run())
    assert {verdict.status for verdict in verdicts} <= {"pass", "fail", "not_applicable"}
    return all(verdict.status != "fail" for verdict in verdicts)


_compiled: dict[str, CheckSet] = {}


def compiled(checks: list[dict[str, Any]]) -> CheckSet:
    if repr(checks) not in _compiled:
        _compiled[repr(checks)] = CheckSet.compile(checks)
    return _compiled[repr(checks)]


def tool(name: str) -> str:
    return f"call.tool == '{name}'"


def superset(reference: Calls) -> list[dict[str, Any]]:
    return [{"kind": "existence", "of": tool(t), "at_least": n} for t, n in Counter(reference).items()]


def subset(reference: Calls) -> list[dict[str, Any]]:
    known = {"kind": "each", "assert": f"call.tool in {list(reference)}"}
    return [known, *({"kind": "bounded", "of": tool(t), "at_most": n} for t, n in Counter(reference).items())]


def unordered(reference: Calls) -> list[dict[str, Any]]:
    return [*superset(reference), *subset(reference)]


def strict(reference: Calls) -> list[dict[str, Any]]:
    return [{"kind": "order", "tools": list(reference)}, {"kind": "budget", "tool_calls": len(reference)}]


MODES: dict[str, tuple[Callable[[Calls], list[dict[str, Any]]], Callable[[Calls, Calls], bool]]] = {
    "superset": (superset, lambda run, reference: not Counter(reference) - Counter(run)),
    "subset": (subset, lambda run, reference: not Counter(run) - Counter(reference)),
    "unordered": (unordered, lambda run, reference: Counter(run) == Counter(reference)),
    "strict": (strict, lambda run, reference: run == reference),
}


@pytest.mark.parametrize("mode", list(MODES))
@pytest.mark.parametrize("reference", REFERENCES, ids="".join)
def test_matching_against_a_reference(mode: str, reference: Calls) -> None:
    """B140: a truth table over every run of up to four calls, repeated ones included."""
    checks, meant = MODES[mode]
    assert [run for run in RUNS if holds(checks(reference), run) != meant(run, reference)] == []


@pytest.mark.parametrize("reference", [("a", "b"), ("b", "a")], ids="".join)
def test_in_order_with_others_between(reference: Calls) -> None:
    def first_occurrences(run: Calls) -> bool:
        return all(t in run for t in reference) and run.index(reference[0]) < run.index(reference[1])

    rule: list[dict[str, Any]] = [{"kind": "order", "tools": list(reference)}]
    assert [run for run in RUNS if holds(rule, run) != first_occurrences(run)] == []


A, B, X = tool("a"), tool("b"), tool("x")
BEFORE_SINCE = (
    "run.calls.all(t, t.tool != 'b' || run.calls.exists(f, f.tool == 'a' && f.n < t.n &&"
    " !run.calls.exists(s, s.tool == 'x' && s.n > f.n && s.n < t.n)))"
)
FORMULAS: list[tuple[str, list[dict[str, Any]], Callable[[Calls], bool]]] = [
    ("never a", [{"kind": "absence", "of": A}], lambda run: "a" not in run),
    ("require a", [{"kind": "existence", "of": A}], lambda run: "a" in run),
    ("at most 1 a", [{"kind": "bounded", "of": A, "at_most": 1}], lambda run: run.count("a") <= 1),
    (
        "a before b",
        [{"kind": "precedence", "first": A, "then": B}],
        lambda run: all("a" in run[:at] for at, t in enumerate(run) if t == "b"),
    ),
    (
        "a before b since x",
        [{"kind": "assert", "assert": BEFORE_SINCE}],
        lambda run: all("a" in _since(run[:at]) for at, t in enumerate(run) if t == "b"),
    ),
    (
        "a before b after the last x",
        [{"kind": "precedence", "first": A, "then": B, "after": X}],
        lambda run: "x" not in run or _precedes(_since(run)),
    ),
    (
        "finally a since x",
        [{"kind": "response", "trigger": X, "response": A}],
        lambda run: "x" not in run or "a" in _since(run),
    ),
]


def _since(run: Calls) -> Calls:
    """What comes after the last x."""
    return run[max((at for at, t in enumerate(run) if t == "x"), default=-1) + 1 :]


def _precedes(run: Calls) -> bool:
    return all("a" in run[:at] for at, t in enumerate(run) if t == "b")


@pytest.mark.parametrize(("name", "checks", "meant"), FORMULAS, ids=[row[0] for row in FORMULAS])
def test_formulas(name: str, checks: list[dict[str, Any]], meant: Callable[[Calls], bool]) -> None:
    assert [run for run in RUNS if holds(checks, run) != meant(run)] == []


def test_arguments_of_a_reference() -> None:
    call = {"city": "Paris", "unit": "C"}
    run = Script().call("weather", call, status="ok").run()

    def status(condition: str) -> str:
        return CheckSet.compile([{"id": "c", "kind": "existence", "of": condition}]).grade(run)[0].status

    assert status("call.input == {'city': 'Paris', 'unit': 'C'}") == "pass"
    assert status("call.input == {'city': 'Paris'}") == "fail"
    assert status("call.input.city == 'Paris'") == "pass"
    assert status("call.input.all(k, k in ['city', 'unit', 'day'])") == "pass"
