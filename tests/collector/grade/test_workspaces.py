"""Trials that shared a workspace at the same time, from stored facts: both are flagged, whichever is graded first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from collector.assemble import Policy
from collector.config.keys import StoreConfig
from collector.grade.due import SECOND_NS
from collector.grade.grader import Grader
from collector.grade.loop import GradeLoop
from collector.grade.rehearsal import rehearse
from collector.store.store import Store
from graders.checkset import CheckSet
from tests.collector.grade.test_loop import START, loop_over, put, span

OWN = [
    {"use": "own-workspace", "gate": True},
    {"id": "calls", "kind": "existence", "of": "call.tool == 'x'", "gate": True},
]
Told = dict[str, tuple[str, list[str]]]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder: Path = tmp_path_factory.mktemp("store")
    opened = Store.open(StoreConfig(url=f"chdb:{folder / 'store'}"), folder)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def loop(store: Store) -> GradeLoop:
    return loop_over(store, grader=grader(store))[0]


def grader(store: Store) -> Grader:
    checks = CheckSet.compile(OWN)
    return Grader(checks, Policy(), store.register_checks(checks.digest, "{}"))


def trial(store: Store, trace: int, workspace: str, since_s: int, until_s: int) -> None:
    """A finished run in a workspace, from when to when."""
    root, call = span(trace, 1, task="t"), span(trace, 2, 1, tool="x")
    here = {**root.attributes, **({"passhat.workspace.id": workspace} if workspace else {})}
    times = {"start_ns": START + since_s * SECOND_NS, "end_ns": START + until_s * SECOND_NS}
    put(store, replace(root, attributes=here, **times), replace(call, **times))


def told(store: Store, *traces: int) -> Told:
    rows = store.query("SELECT run_id, result, flags FROM trials").rows
    found = {run_id.lstrip("0"): (result, list(flags)) for run_id, result, flags in rows}
    return {f"{trace:x}": found[f"{trace:x}"] for trace in traces}


def settled(loop: GradeLoop) -> None:
    """Until nothing waits: one look may ask for another."""
    while loop.step() == 0.0 or loop.waiting:
        pass


def test_two_that_met_are_both_invalid_and_a_third_in_another_place_is_not(store: Store, loop: GradeLoop) -> None:
    trial(store, 1, "w", 0, 10)
    settled(loop)
    assert told(store, 1) == {"1": ("pass", [])}
    trial(store, 2, "w", 5, 15)
    trial(store, 3, "elsewhere", 5, 15)
    trial(store, 4, "", 5, 15)
    settled(loop)
    both = ("invalid", ["shared_workspace"])
    assert told(store, 1, 2, 3, 4) == {"1": both, "2": both, "3": ("pass", []), "4": ("pass", [])}
    said = "SELECT reason FROM current_verdicts WHERE check_id = 'own-workspace' AND status = 'fail'"
    reasons = [reason for (reason,) in store.query(said).rows]
    assert len(reasons) == 2
    assert all("workspace" in reason for reason in reasons)


def test_one_after_the_other_is_no_sharing_and_one_batch_may_hold_both(store: Store, loop: GradeLoop) -> None:
    trial(store, 0x11, "v", 0, 10)
    trial(store, 0x12, "v", 10, 20)
    trial(store, 0x13, "v", 19, 30)
    settled(loop)
    assert {run: result for run, (result, _) in told(store, 0x11, 0x12, 0x13).items()} == {
        "11": "pass", "12": "invalid", "13": "invalid"
    }  # fmt: skip


def test_a_rehearsal_sees_it_and_writes_nothing(store: Store, loop: GradeLoop) -> None:
    trial(store, 0x21, "u", 0, 10)
    trial(store, 0x22, "u", 0, 10)
    settled(loop)
    before = told(store, 0x21, 0x22)
    said = rehearse(store, grader(store), [("default", f"{0x21:032x}")])
    assert said.checks["own-workspace"].counts == {"fail": 1}
    assert said.changes == {}
    assert told(store, 0x21, 0x22) == before
