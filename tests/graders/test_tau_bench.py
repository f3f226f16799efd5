"""The confirmation policy of τ-bench's airline domain over 200 real runs: a reward does not see whether it was kept.

Reads `../shared/data/tau-bench` beside the repository, or the folder that TAU_BENCH names; it is not ours to copy.
"""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from graders import CheckSet, Verdict
from semconv.run import Run
from semconv.trace_line import TraceLine

FOLDER = Path(os.environ.get("TAU_BENCH") or Path(__file__).parents[3] / "shared" / "data" / "tau-bench")
FILE = FOLDER / "gpt-4o-airline.json.gz"
pytestmark = pytest.mark.skipif(not FILE.exists(), reason="τ-bench's runs are not here: set TAU_BENCH to their folder")

POLICY = CheckSet.compile(
    [
        {
            "id": "confirmed",
            "kind": "each",
            "of": "updates_bookings",
            "assert": r"call.last_user.matches('(?i)\\b(yes|yep|yeah|confirm(ed)?|proceed|go ahead|sure|ok(ay)?)\\b')",
        }
    ],
    {
        "updates_bookings": "call.tool in ['book_reservation', 'cancel_reservation', 'update_reservation_flights',"
        " 'update_reservation_baggages', 'update_reservation_passengers']"
    },
)


def run_of(recorded: dict[str, Any]) -> Run:
    """A recorded conversation as a run."""
    lines: list[TraceLine] = []

    def add(role: Any, **fields: Any) -> None:
        lines.append(TraceLine(n=len(lines) + 1, role=role, **fields))

    for message in recorded["traj"]:
        if message["role"] == "tool":
            add("tool", tool=message["name"], output=message["content"], call_id=message["tool_call_id"])
            continue
        if message.get("content"):
            add(message["role"], text=message["content"])
        for call in message.get("tool_calls") or []:
            function = call["function"]
            add("assistant", tool=function["name"], input=json.loads(function["arguments"]), call_id=call["id"])
    name = f"{recorded['task_id']}-{recorded['trial']}"
    return Run("tau", name, tuple(lines), task_id=str(recorded["task_id"]), closed_by="root", root_status="ok")


@pytest.fixture(scope="module")
def graded() -> dict[str, tuple[Run, Verdict, bool]]:
    recorded = json.loads(gzip.decompress(FILE.read_bytes()))
    runs = [(run_of(one), one["reward"] == 1.0) for one in recorded]
    return {run.run_id: (run, POLICY.grade(run)[0], rewarded) for run, rewarded in runs}


def test_how_many_runs_broke_the_policy_and_were_rewarded(graded: dict[str, tuple[Run, Verdict, bool]]) -> None:
    statuses = [verdict.status for _, verdict, _ in graded.values()]
    assert {status: statuses.count(status) for status in set(statuses)} == {
        "pass": 86,
        "not_applicable": 89,
        "fail": 25,
    }
    broke = [rewarded for _, verdict, rewarded in graded.values() if verdict.status == "fail"]
    assert (len(broke), sum(broke)) == (25, 4)


@pytest.mark.parametrize(
    ("name", "line", "tool", "said"),
    [
        # read by eye: a bag is charged at once; all bookings are downgraded, and rewarded; five are cancelled at once
        ("19-1", 23, "update_reservation_baggages", "could you also add 1 checked bag"),
        ("2-2", 21, "update_reservation_flights", "Please downgrade all of them to economy"),
        ("28-0", 23, "cancel_reservation", "I would like to cancel all of these reservations"),
    ],
)
def test_three_of_them(
    graded: dict[str, tuple[Run, Verdict, bool]], name: str, line: int, tool: str, said: str
) -> None:
    run, verdict, _ = graded[name]
    assert verdict.lines[0] == line
    assert run.lines[line - 1].tool == tool
    last_said = [one.text for one in run.lines[: line - 1] if one.role == "user"][-1]
    assert said in last_said
