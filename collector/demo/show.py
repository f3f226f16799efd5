"""The demo's text: what the two lessons print, from what the views say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from collector.demo.data import GOOD_NAMES

Row = dict[str, Any]


def text_of(shown: Row) -> str:
    """All three parts."""
    return "\n".join([*lesson_lines(shown["runs"]), "", *lab_lines(shown["lab"]), "", *matrix_lines(shown["matrix"])])


def lesson_lines(runs: Row) -> Iterator[str]:
    """The lesson's two runs, in its words."""
    for name, run in runs.items():
        yield f"run {name}: result={run['subtype']} final message={run['final_text']!r}"
        yield f"  edits at {run['edits']}, test runs at {run['test_runs']}"
        for check, status in run["checks"].items():
            mark = {"pass": "ok  ", "fail": "FAIL"}.get(status, "?   ")
            yield f"  {mark} {GOOD_NAMES.get(check, check)}"


def lab_lines(lab: Row) -> Iterator[str]:
    """The lab's five steps."""
    transcripts = {name: row for name, row in lab.items() if len(name) == 1}
    yield "STEP 1: grade every transcript on its axes"
    yield "  run  trajectory  calls  outcome  answer"
    for name, row in transcripts.items():
        trajectory, calls, outcome = (row[axis].upper() or "-" for axis in ("trajectory", "calls", "outcome"))
        yield f"  {name:<4} {trajectory:<11} {calls:<6} {outcome:<8} {row['answer']}"
    yield ""
    yield "STEP 2: where the graders disagree"
    meanings = {
        "right_answer_bad_path": "right answer, bad path. Luck, and it will not hold.",
        "good_path_wrong_answer": "good path, wrong answer. Fix the step, not the plan.",
    }
    for one in lab["disagreements"]:
        yield f"  run {one['run']}: {meanings.get(one['meaning'], one['meaning'])}"
    yield f"  disagreements: {len(lab['disagreements'])} of {len(transcripts)}"
    yield ""
    yield "STEP 3: individual tool calls, run D"
    for call in transcripts.get("D", {}).get("each_call", ()):
        argument = next(iter(call["input"].values()), "") if isinstance(call["input"], dict) else call["input"]
        yield f"  {call['tool']:<11} {argument!r:<16} {'ok' if call['ok'] else 'BAD CALL'}"
    yield ""
    yield from lab_rates(lab["reliability"])
    yield ""
    yield "STEP 5: mine a regression case from the failing transcript"
    yield f"  new suite case: { {key: value for key, value in lab['case'].items() if value} }"


def lab_rates(rates: Row) -> Iterator[str]:
    """The lab's fourth step: optimism and reliability."""
    k = rates["k"]
    yield f"STEP 4: reliability over {rates['n']} attempts"
    yield f"  fully correct runs : {rates['c']} of {rates['n']}"
    yield f"  pass@{k} (any one)   : {number(rates['pass_at_k'])}"
    yield f"  pass^{k} (all of k)  : {number(rates['pass_hat_k'])}"


def matrix_lines(matrix: Row) -> Iterator[str]:
    """The lesson's matrix and its table."""
    for task, row in matrix["tasks"].items():
        yield f"{task:<16} {row['results']}  {row['c']}/{row['n']}"
    yield ""
    yield f"{'k':>2} {'pass@k':>7} {'pass^k':>7}"
    for k, row in matrix["suite"].items():
        yield f"{k:>2} {number(row['pass_at_k']):>7} {number(row['pass_hat_k']):>7}"


def number(rate: float | None) -> str:
    return "-" if rate is None else f"{rate:.4f}"


def sent_lines(spans: dict[str, int], events: int, posted: int) -> Sequence[str]:
    """What was acknowledged, by the way it came in."""
    ways = ", ".join(f"{count} by {name}" for name, count in spans.items())
    return (f"sent through stock exporters: {ways} spans; {events} outcome events; {posted} outcomes over the API",)
