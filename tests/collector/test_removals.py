"""Runs removed for good: out of every view at once, out of every file in the end, and never in again."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from collector.errors import NotFound
from collector.store.removal import ROWS
from tests.collector.receive.build import span, traces
from tests.collector.removing import Bench, log_of, run_of, trace_id, trials_of_one_trace
from tests.support.canary import files_with
from tests.support.serving import ROOT, until

CANARY = "canary-7f3d9a1c55e04b62"
OTHER = "kept-2b9c0d4e6f8a1357"
STEPS = ("before requested", "requested", "hiding", "hidden", "swept: swept", "swept", "removed: swept", "removed")
EVER = "start = '2026-01-01', end = '2027-12-31'"
RATES = f"SELECT sum(n + unknown + incomplete) FROM task_reliability({EVER}, k = 1) WHERE project = {{p:String}}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("removals")


@pytest.fixture(scope="module")
def bench(folder: Path) -> Iterator[Bench]:
    """One collector for the tests here: each has a project and a canary of its own."""
    made = Bench(folder / "data")
    yield made
    made.close()


@pytest.fixture
def project(request: pytest.FixtureRequest) -> str:
    return str(request.node.name)


@pytest.fixture
def canary(project: str) -> str:
    return f"{CANARY}-{abs(hash(project)):x}"


def values(bench: Bench, table: str, column: str, project: str) -> set[str]:
    sql = f"SELECT DISTINCT {column} FROM {table} WHERE project = {{p:String}}"
    return {str(value) for (value,) in bench.store.query(sql, {"p": project}).rows}


def counted(bench: Bench, project: str) -> int:
    return int(bench.store.query(RATES, {"p": project}).rows[0][0])


def removed(bench: Bench, project: str, run_id: str) -> None:
    assert bench.removals.request(project, run_id) == "hidden"
    assert run_id not in bench.runs(project)
    bench.finish()
    assert bench.removals.request(project, run_id) == "removed"


# --- one run --------------------------------------------------------------------------------------------------------


def test_a_removed_run_is_in_no_view_at_once_and_in_no_file_in_the_end(
    bench: Bench, folder: Path, project: str, canary: str
) -> None:
    for request, kind in ((run_of(1, canary), "traces"), (log_of(1, 2, canary), "logs"), (run_of(2, OTHER), "traces")):
        bench.send(request, kind, project)
    gone, kept = bench.settle(project, 2)
    until(lambda: counted(bench, project), lambda count: count == 2)
    assert bench.removals.request(project, gone) == "hidden"
    for view in ("trials", "current_verdicts", "tool_calls", f"disagreements({EVER})"):
        assert gone not in values(bench, view, "run_id", project), view
    traces_seen = "SELECT DISTINCT TraceId FROM otel_traces WHERE Project = {p:String}"
    assert bench.store.query(traces_seen, {"p": project}).rows == [(kept,)]
    assert counted(bench, project) == 1
    bench.finish()
    # What stays is what hides it: its id, and the hours it was in.
    assert {table for table in ROWS if holds(bench, table, project, gone)} == {"runs", "run_hours"}
    bench.forget(canary)
    assert files_with(folder, [OTHER.encode()]) != []
    assert bench.runs(project) == [kept]
    assert bench.store.repair() == 0


def holds(bench: Bench, table: str, project: str, run_id: str) -> bool:
    columns = {"spans": "trace_id", "logs": "unit", "joins": "unit", "joins_by_unit": "unit", "arrivals": "unit"}
    key = "run_key = reinterpretAsUInt128(sipHash128({p:String}, {id:String}))"
    by_key = table in ("run_hours", "run_places", "run_workspaces")
    condition = key if by_key else f"{columns.get(table, 'run_id')} = {{id:String}}"
    sql = f"SELECT 1 FROM {table} WHERE project = {{p:String}} AND {condition} LIMIT 1"
    return bool(bench.store.query(sql, {"p": project, "id": run_id}).rows)


def test_later_and_repeated_spans_of_it_are_refused_and_counted(bench: Bench, project: str, canary: str) -> None:
    named = {"passhat.run.id": "r1"}
    bench.send(run_of(1, canary, **named), project=project)
    assert bench.settle(project, 1) == ["r1"]
    removed(bench, project, "r1")
    refused = bench.metrics.refused
    before = [refused.labels(kind, "removed_run")._value.get() for kind in ("traces", "logs")]
    bench.send(run_of(1, canary, **named), project=project)
    bench.send(traces(span(77, {"note": canary}, trace_id=trace_id(1))), project=project)
    bench.send(log_of(1, 5, canary), "logs", project)
    bench.send(traces(span(1, {**named, "note": canary}, trace_id=trace_id(9))), project=project)  # another trace of it
    bench.send(run_of(2, OTHER, **{"passhat.run.id": "r2"}), project=project)
    assert bench.settle(project, 1) == ["r2"]
    assert values(bench, "spans", "trace_id", project) == {trace_id(2).hex()}
    assert values(bench, "logs", "trace_id", project) == set()
    after = [refused.labels(kind, "removed_run")._value.get() for kind in ("traces", "logs")]
    assert [new - old for new, old in zip(after, before, strict=True)] == [4, 1]


def test_the_same_id_in_another_project_is_another_run(bench: Bench, project: str, canary: str) -> None:
    named = {"passhat.run.id": "same"}
    for one in (project, "twin"):
        bench.send(run_of(1, canary, **named), project=one)
        bench.settle(one, 1)
    removed(bench, project, "same")
    assert bench.runs("twin") == ["same"]
    bench.send(run_of(3, OTHER, **named), project="twin")
    bench.settle("twin", 1)
    assert values(bench, "spans", "trace_id", "twin") == {trace_id(1).hex(), trace_id(3).hex()}


def test_a_run_nobody_knows_cannot_be_removed(bench: Bench, project: str) -> None:
    with pytest.raises(NotFound):
        bench.removals.request(project, "nobody")
    assert bench.store.tombstones.find(project, "nobody") is None


# --- several runs in one trace --------------------------------------------------------------------------------------


def test_one_of_several_trials_of_a_trace_goes_and_the_others_stay(bench: Bench, project: str, canary: str) -> None:
    bench.send(trials_of_one_trace(1, ["one " + OTHER, canary, "three " + OTHER]), project=project)
    bench.send(log_of(1, 21, canary), "logs", project)
    bench.send(log_of(1, 31, OTHER), "logs", project)
    runs = bench.settle(project, 3)
    gone = f"{trace_id(1).hex()}:{20:016x}"
    assert gone in runs
    removed(bench, project, gone)
    assert bench.settle(project) == [run for run in runs if run != gone]
    assert values(bench, "spans", "span_id", project) == {f"{n:016x}" for n in (1, 10, 11, 30, 31)}
    assert values(bench, "logs", "span_id", project) == {f"{31:016x}"}
    bench.forget(canary)


def test_late_children_of_it_are_refused_in_any_order_and_others_go_on(bench: Bench, project: str, canary: str) -> None:
    bench.send(trials_of_one_trace(1, [OTHER, canary]), project=project)
    bench.settle(project, 2)
    removed(bench, project, f"{trace_id(1).hex()}:{20:016x}")

    def late(number: int, parent: int, **values: str) -> None:
        made = span(number, values, parent_span_id=parent.to_bytes(8, "big"), trace_id=trace_id(1))
        bench.send(traces(made), project=project)

    two = [span(n, {"note": canary}, parent_span_id=(n - 1).to_bytes(8, "big"), trace_id=trace_id(1)) for n in (23, 22)]
    bench.send(traces(*two), project=project)
    bench.settle(project)
    late(24, 23, note=canary)
    late(12, 10, **{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "Read"})
    (kept,) = bench.settle(project, 1)
    assert values(bench, "spans", "span_id", project) == {f"{n:016x}" for n in (1, 10, 11, 12)}
    # The unit shrank by what was removed: a late span must still make a new revision of the run that stays.
    calls = "SELECT tool FROM tool_calls WHERE project = {p:String} AND run_id = {run:String} ORDER BY n"
    until(
        lambda: bench.store.query(calls, {"p": project, "run": kept}).rows,
        lambda found: sorted(found) == [("Bash",), ("Read",)],
    )


def test_the_last_run_of_a_trace_takes_what_nobody_else_needs(bench: Bench, project: str, canary: str) -> None:
    bench.send(trials_of_one_trace(1, [canary, canary]), project=project)
    for run_id in bench.settle(project, 2):
        removed(bench, project, run_id)
    assert values(bench, "spans", "span_id", project) == set()
    assert bench.settle(project) == []


def test_another_grader_that_knows_nothing_yet_brings_nothing_back(bench: Bench, project: str, canary: str) -> None:
    """It had read the run before, and writes its grading after the run was hidden."""
    bench.send(run_of(1, canary), project=project)
    (gone,) = bench.settle(project, 1)
    unit = bench.store.read_units([(project, gone)])[(project, gone)]
    one = bench.loop._grader.assembled(unit, "root")
    late = bench.loop._grader.gradings(one, set(), bench.store.now_ns())
    bench.removals.request(project, gone)
    assert bench.store.write_gradings(late) == []
    assert bench.runs(project) == []
    bench.finish()
    assert counted(bench, project) == 0


# --- processes that stop, and are killed ----------------------------------------------------------------------------


def python(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def two_runs(folder: Path) -> Path:
    """A data directory with two runs, made by another process: an engine opens one path a process."""
    made = python("-c", MAKE, folder / "two", CANARY, OTHER)
    assert made.returncode == 0, made.stderr
    return folder / "two"


@pytest.mark.parametrize("step", STEPS)
def test_a_kill_at_any_step_is_mended(step: str, two_runs: Path, tmp_path: Path) -> None:
    data, gone = tmp_path / "data", trace_id(1).hex()
    shutil.copytree(two_runs, data, symlinks=True)
    killed = python("-m", "tests.collector.removing", data, gone, step)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    mended = python("-c", MEND, data, gone, CANARY, step == STEPS[0])
    assert mended.returncode == 0, mended.stderr
    assert files_with(data, [CANARY.encode()]) == []
    assert files_with(data, [OTHER.encode()]) != []


def test_what_is_still_in_the_spool_or_was_set_aside_goes_too(two_runs: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(two_runs, data, symlinks=True)
    done = python("-c", SPOOLED, data, trace_id(1).hex(), CANARY, OTHER)
    assert done.returncode == 0, done.stderr
    assert files_with(data, [CANARY.encode()]) == []
    assert [path.name for path in (data / "spool.sqlite" / "quarantine").glob("*.pb")] == ["2.traces.pb"]


MAKE = """
import sys
from pathlib import Path
from tests.collector.removing import Bench, run_of
bench = Bench(Path(sys.argv[1]))
bench.send(run_of(1, sys.argv[2]))
bench.send(run_of(2, sys.argv[3]))
assert len(bench.settle(runs=2)) == 2
bench.close()
"""
MEND = """
import sys
from pathlib import Path
from tests.collector.removing import Bench, trace_id
bench = Bench(Path(sys.argv[1]))
gone, canary, nothing_was_written = sys.argv[2], sys.argv[3], sys.argv[4] == "True"
if nothing_was_written:
    assert gone in bench.runs()
    bench.removals.request("default", gone)
bench.finish()
assert bench.runs() == [trace_id(2).hex()]
assert bench.store.repair() == 0
bench.forget(canary)
bench.close()
"""
SPOOLED = """
import sys
from pathlib import Path
from tests.collector.removing import Bench, SpoolEntry, run_of
bench = Bench(Path(sys.argv[1]))
gone, canary, other = sys.argv[2:]
bench.loop.stop()
bench.drain.stop()
bench.send(run_of(1, canary))  # waits in the spool while the run is removed
for number, text in ((1, canary), (2, other)):
    entry = SpoolEntry(number, "default", "traces", 1, run_of(number, text).SerializeToString())
    bench.spool.quarantine(entry, "broken")
assert bench.removals.request("default", gone) == "hidden"
assert bench.removals.advance() == 1
assert bench.store.tombstones.find("default", gone).state == "swept"
bench.spool.close()
bench.store.close()
again = Bench(Path(sys.argv[1]))
assert gone not in again.settle(runs=1)
again.finish()
again.forget(canary)
again.close()
"""
