"""Runs removed for good: out of every view at once, out of every file in the end, and never in again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from collector.errors import NotFound, StoreError
from collector.normalise.replay import Replay
from collector.removals import Removals
from collector.spool import Spool, SpoolEntry
from collector.store.removal import ROWS
from collector.store.rows import Batch, log_row
from collector.store.store import Store
from collector.store.tombstones import Tombstone
from collector.upkeep import Upkeep
from semconv.facts import Facts
from semconv.outcome import Outcome
from semconv.span import LogRecord
from semconv.words import Words
from tests.collector.receive.build import log, logs, span, traces
from tests.collector.removing import Bench, Cut, log_of, run_of, trace_id, trials_of_one_trace
from tests.support.canary import files_with
from tests.support.serving import until
from tests.support.stores import RESOURCE, SCOPE, Front

CANARY = "canary-7f3d9a1c55e04b62"
OTHER = "kept-2b9c0d4e6f8a1357"
# Counts and names of tasks and checks are forgotten apart; the rest holds ids at most.
NOTHING_OF_A_RUN = {
    "checks_in_force", "checks_versions", "collectors", "day_counts", "gate_decisions", "grading_marks", "hour_counts",
    "normalisers", "policy", "removed_runs", "replays", "run_tombstones", "schema_migrations", "task_versions",
}  # fmt: skip
STEPS = ("requested", "hiding", "hidden", "swept: swept", "swept", "removed: swept")
EVER = "start = '2026-01-01', end = '2027-12-31'"
RATES = f"SELECT sum(n + unknown + incomplete) FROM task_reliability({EVER}, k = 1) WHERE project = {{p:String}}"


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """One collector for the tests here: each has a project of its own."""
    made = Bench(tmp_path_factory.mktemp("removals") / "data")
    yield made
    made.close()


@pytest.fixture(scope="module")
def served(front: Front, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """The same over a store that is somewhere else."""
    made = Bench(tmp_path_factory.mktemp("served") / "data", front.place().url)
    yield made
    made.close()


@pytest.fixture
def project(request: pytest.FixtureRequest) -> str:
    return str(request.node.name)


def values(bench: Bench, table: str, column: str, project: str) -> set[str]:
    sql = f"SELECT DISTINCT {column} FROM {table} WHERE project = {{p:String}}"
    return {str(value) for (value,) in bench.store.query(sql, {"p": project}).rows}


def counted(bench: Bench, project: str) -> int:
    return int(bench.store.query(RATES, {"p": project}).rows[0][0])


def refused(bench: Bench) -> list[int]:
    return [int(bench.metrics.refused.labels(kind, "removed_run")._value.get()) for kind in ("traces", "logs")]


def remove(bench: Bench, project: str, run_id: str) -> Tombstone:
    assert bench.removals.request(project, run_id).state == "hidden"
    assert run_id not in bench.runs(project)
    bench.finish()
    stone = bench.removals.request(project, run_id)
    assert stone.state == "removed"
    return stone


def trial(number: int, n: int) -> str:
    """The run of the n-th trial of a shared trace."""
    return f"{trace_id(number).hex()}:{10 * n:016x}"


# --- one run --------------------------------------------------------------------------------------------------------


def test_a_removed_run_is_in_no_view_at_once_and_in_no_file_in_the_end(bench: Bench, project: str) -> None:
    said = Outcome(trace_id(1).hex(), "fail", "human", f"because {CANARY}", time_ns=1)
    bench.send(run_of(1, CANARY), "traces", project)
    bench.send(log_of(1, 2, CANARY), "logs", project)
    bench.send(run_of(2, OTHER), "traces", project)
    bench.send(trials_of_one_trace(3, [OTHER, CANARY]), "traces", project)
    bench.send(log_of(3, 21, CANARY), "logs", project)
    for number, text in ((1, CANARY), (2, OTHER)):
        entry = SpoolEntry(number, project, "traces", 1, run_of(number, text).SerializeToString())
        bench.spool.quarantine(entry, "broken")
    assert bench.store.add_outcomes([(project, said)]) == set()
    gone, kept, *_ = runs = bench.settle(project, 4)
    assert files_with(bench.folder, [CANARY.encode()]) != []
    assert counted(bench, project) == 4
    for run_id in (gone, trial(3, 2)):
        assert bench.removals.request(project, run_id).state == "hidden"
    for view in ("trials", "current_verdicts", "tool_calls", f"disagreements({EVER})"):
        assert values(bench, view, "run_id", project).isdisjoint({gone, trial(3, 2)}), view
    traces_seen = "SELECT DISTINCT TraceId FROM otel_traces WHERE Project = {p:String} ORDER BY 1"
    assert bench.store.query(traces_seen, {"p": project}).rows == [(kept,), (trace_id(3).hex(),)]
    assert bench.store.replays.newest("spans", [(project, gone)]) == []  # what an export reads
    assert counted(bench, project) == 2
    bench.finish()
    # What stays is what hides it: its id, and the hours it was in.
    assert {table for table in ROWS if holds(bench, table, project, gone)} == {"runs", "run_hours"}
    bench.forget(CANARY)
    assert files_with(bench.folder, [OTHER.encode()]) != []
    assert [path.name for path in (bench.spool.path / "quarantine").glob("*.pb")] == ["2.traces.pb"]
    assert bench.runs(project) == [run for run in runs if run not in (gone, trial(3, 2))]
    assert bench.store.repair() == 0


def holds(bench: Bench, table: str, project: str, run_id: str) -> bool:
    columns = {"spans": "trace_id", "logs": "unit", "joins": "unit", "joins_by_unit": "unit", "arrivals": "unit"}
    key = "run_key = reinterpretAsUInt128(sipHash128({p:String}, {id:String}))"
    by_key = table in ("run_hours", "run_places", "run_workspaces")
    condition = key if by_key else f"{columns.get(table, 'run_id')} = {{id:String}}"
    sql = f"SELECT 1 FROM {table} WHERE project = {{p:String}} AND {condition} LIMIT 1"
    return bool(bench.store.query(sql, {"p": project, "id": run_id}).rows)


def test_a_store_by_url_loses_it_too(served: Bench, project: str) -> None:
    served.send(run_of(1, CANARY, **{"passhat.run.id": "r1"}), project=project)
    served.send(trials_of_one_trace(3, [OTHER, CANARY]), project=project)
    assert len(served.settle(project, 3)) == 3
    for run_id in ("r1", trial(3, 2)):
        remove(served, project, run_id)
    served.send(run_of(4, CANARY, **{"passhat.run.id": "r1"}), project=project)
    assert served.settle(project) == [trial(3, 1)]
    assert counted(served, project) == 1
    assert values(served, "spans", "span_id", project) == {f"{n:016x}" for n in (1, 10, 11)}
    assert served.store.repair() == 0


def test_later_and_repeated_spans_of_it_are_refused_and_counted(bench: Bench, project: str) -> None:
    named = {"passhat.run.id": "r1"}
    bench.send(run_of(1, CANARY, **named), project=project)
    assert bench.settle(project, 1) == ["r1"]
    remove(bench, project, "r1")
    before = refused(bench)
    bench.send(run_of(1, CANARY, **named), project=project)
    bench.send(traces(span(77, {"note": CANARY}, trace_id=trace_id(1))), project=project)
    bench.send(log_of(1, 5, CANARY), "logs", project)
    bench.send(traces(span(1, {**named, "note": CANARY}, trace_id=trace_id(9))), project=project)  # another trace of it
    bench.send(run_of(2, OTHER, **{"passhat.run.id": "r2"}), project=project)
    assert bench.settle(project, 1) == ["r2"]
    assert values(bench, "spans", "trace_id", project) == {trace_id(2).hex()}
    assert values(bench, "logs", "trace_id", project) == set()
    assert [new - old for new, old in zip(refused(bench), before, strict=True)] == [4, 1]


def test_a_trace_that_turns_out_to_be_its_goes_with_what_came_before(bench: Bench, project: str) -> None:
    """Exporters send children first: they are a run of their own until the root says whose they are."""
    named = {"passhat.run.id": "r1"}
    bench.send(run_of(1, CANARY, **named), project=project)
    bench.settle(project, 1)
    remove(bench, project, "r1")
    whole = run_of(4, CANARY, **named)
    spans = whole.resource_spans[0].scope_spans[0].spans
    root, child = list(spans)
    bench.send(traces(child), project=project)
    assert bench.settle(project) == [trace_id(4).hex()]
    bench.send(traces(root), project=project)
    bench.settle(project)
    bench.finish()
    assert bench.settle(project) == []
    assert values(bench, "spans", "trace_id", project) == set()


def test_the_same_id_in_another_project_is_another_run(bench: Bench, project: str) -> None:
    named = {"passhat.run.id": "same"}
    for one in (project, "twin"):
        bench.send(run_of(1, CANARY, **named), project=one)
    bench.settle("twin", 1)
    remove(bench, project, "same")
    bench.send(run_of(3, OTHER, **named), project="twin")
    assert bench.settle("twin", 1) == ["same"]
    assert values(bench, "spans", "trace_id", "twin") == {trace_id(1).hex(), trace_id(3).hex()}


def test_a_run_nobody_knows_cannot_be_removed(bench: Bench, project: str) -> None:
    with pytest.raises(NotFound):
        bench.removals.request(project, "nobody")
    assert bench.store.tombstones.find(project, "nobody") is None


# --- what is said of it ---------------------------------------------------------------------------------------------


def test_what_is_said_of_it_later_is_not_kept(bench: Bench, project: str) -> None:
    """By the API, by a log that names it, and by an evaluation that knows only the response it is of."""
    root = {"gen_ai.operation.name": "invoke_agent", "passhat.run.id": "r1"}
    call = {"gen_ai.operation.name": "chat", "gen_ai.response.id": "resp-1", "gen_ai.request.model": "m"}
    ids = {"trace_id": trace_id(1)}
    bench.send(
        traces(span(1, root, **ids), span(2, call, parent_span_id=(1).to_bytes(8, "big"), **ids)), project=project
    )
    bench.send(run_of(2, OTHER, **{"passhat.run.id": "r2"}), project=project)
    bench.settle(project, 2)
    remove(bench, project, "r1")
    before = refused(bench)
    said = [(project, Outcome(run_id, "fail", "human", CANARY, time_ns=1)) for run_id in ("r1", "r2")]
    assert bench.store.add_outcomes(said) == {(project, "r1")}
    evaluation = {"gen_ai.evaluation.name": "good", "gen_ai.evaluation.explanation": CANARY}
    for values_of in ({"gen_ai.response.id": "resp-1"}, {"passhat.run.id": "r1"}):
        record = log("", {**evaluation, **values_of}, event_name="gen_ai.evaluation.result")
        bench.send(logs(record, resource={}), "logs", project)
    assert bench.settle(project, 1) == ["r2"]
    assert values(bench, "outcomes", "run_id", project) == {"r2"}
    assert values(bench, "logs", "unit", project) == set()
    assert refused(bench)[1] - before[1] == 2


def test_what_belongs_to_its_attempt_is_refused_wherever_it_lies(bench: Bench, project: str) -> None:
    bench.store.tombstones.put(Tombstone(project, "a1", traces=("attempt=prompt-1", "session=s1")))
    record = LogRecord(5, 5, "", "", "e", 0, "", "", {}, RESOURCE, SCOPE)
    facts = (Facts(attempt="prompt-1"), Facts(attempt="prompt-2"), Facts(join_keys=("x=1", "session=s1")), Facts())
    batch = Batch([], [log_row(project, 5, record, one) for one in facts])
    assert bench.store.tombstones.sift(batch) == (0, 2)
    assert [msgspec.json.decode(row.facts).get("attempt") for row in batch.logs] == ["prompt-2", None]


# --- several runs in one trace, or assembled together ---------------------------------------------------------------


def test_one_of_several_trials_of_a_trace_goes_and_the_others_stay(bench: Bench, project: str) -> None:
    bench.send(trials_of_one_trace(1, ["one " + OTHER, CANARY, "three " + OTHER]), project=project)
    bench.send(log_of(1, 21, CANARY), "logs", project)
    bench.send(log_of(1, 31, OTHER), "logs", project)
    runs = bench.settle(project, 3)
    stone = remove(bench, project, trial(1, 2))
    assert (stone.traces, stone.shared) == ((), {trace_id(1).hex()})
    assert bench.settle(project) == [run for run in runs if run != trial(1, 2)]
    assert values(bench, "spans", "span_id", project) == {f"{n:016x}" for n in (1, 10, 11, 30, 31)}
    assert values(bench, "logs", "span_id", project) == {f"{31:016x}"}
    for n in (1, 3):  # the last one takes what nobody else needs
        remove(bench, project, trial(1, n))
    assert values(bench, "spans", "span_id", project) == set()


def test_late_children_of_it_are_refused_in_any_order_and_others_go_on(bench: Bench, project: str) -> None:
    bench.send(trials_of_one_trace(1, [OTHER, CANARY]), project=project)
    bench.settle(project, 2)
    remove(bench, project, trial(1, 2))

    def late(number: int, parent: int, **values: str) -> None:
        made = span(number, values, parent_span_id=parent.to_bytes(8, "big"), trace_id=trace_id(1))
        bench.send(traces(made), project=project)

    two = [span(n, {"note": CANARY}, parent_span_id=(n - 1).to_bytes(8, "big"), trace_id=trace_id(1)) for n in (23, 22)]
    bench.send(traces(*two), project=project)
    bench.settle(project)
    bench.store.tombstones._parts.clear()  # as a process has it that starts now
    bench.store.tombstones.refresh()
    late(24, 23, note=CANARY)
    late(12, 10, **{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "Read"})
    (kept,) = bench.settle(project, 1)
    assert values(bench, "spans", "span_id", project) == {f"{n:016x}" for n in (1, 10, 11, 12)}
    # The unit shrank by what was removed: a late span must still make a new revision of the run that stays.
    calls = "SELECT tool FROM tool_calls WHERE project = {p:String} AND run_id = {run:String} ORDER BY tool"
    assert bench.store.query(calls, {"p": project, "run": kept}).rows == [("Bash",), ("Read",)]


def test_a_later_life_of_its_id_stays_and_goes_on(bench: Bench, project: str) -> None:
    named = {"passhat.run.id": "r1"}
    bench.send(run_of(1, CANARY, **named), project=project)
    bench.settle(project, 1)
    bench.send(run_of(2, OTHER, bench.store.now_ns(), **named), project=project)
    assert bench.settle(project, 2) == ["r1", "r1~2"]
    remove(bench, project, "r1")
    assert bench.settle(project) == ["r1~2"]
    assert values(bench, "spans", "trace_id", project) == {trace_id(2).hex()}
    late = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "Read", **named}
    ids = {"trace_id": trace_id(2), "parent_span_id": (1).to_bytes(8, "big")}
    bench.send(traces(span(3, late, start_time_unix_nano=bench.store.now_ns(), **ids)), project=project)
    assert bench.settle(project) == ["r1~2"]
    assert values(bench, "tool_calls", "tool", project) == {"Bash", "Read"}
    remove(bench, project, "r1~2")
    bench.send(run_of(3, OTHER, bench.store.now_ns(), **named), project=project)
    assert bench.settle(project) == []  # who names a removed run is refused


# --- nothing brings it back -----------------------------------------------------------------------------------------


def test_another_grader_that_knows_nothing_yet_brings_nothing_back(bench: Bench, project: str) -> None:
    """It had read the run before, and writes its grading after the run was hidden."""
    bench.send(run_of(1, CANARY), project=project)
    (gone,) = bench.settle(project, 1)
    unit = bench.store.read_units([(project, gone)])[(project, gone)]
    late = bench.grader.gradings(bench.grader.assembled(unit, "root"), set(), bench.store.now_ns())
    bench.removals.request(project, gone)
    assert bench.store.write_gradings(late) == []
    assert bench.runs(project) == []
    bench.finish()
    assert counted(bench, project) == 0


def test_neither_other_words_nor_other_checks_bring_it_back(bench: Bench, project: str) -> None:
    """A replay that has read it before it is removed, one that begins while it is hidden, and a regrade."""
    bench.send(run_of(1, CANARY), project=project)
    (gone,) = bench.settle(project, 1)
    replays = bench.store.replays
    read = replays.rows_of("spans", [(project, gone)])
    bench.removals.request(project, gone)
    replay = Replay(bench.store, Words(), bench.store.register_words("other words"))
    made = replay._slice(replays.cursor(replay._generation), read)
    assert made.batch.spans == [] or made.touched
    assert replays.rows_of("spans", [(project, gone)]) == []
    bench.finish()
    replays.replace(made.batch, made.moved, sorted(made.touched))
    bench.store.touch([(project, gone)])
    assert bench.settle(project) == []
    assert values(bench, "spans", "span_id", project) == set()
    assert values(bench, "trace_lines", "run_id", project) == set()


# --- now and then ---------------------------------------------------------------------------------------------------


def test_once_an_hour_old_lines_are_swept_and_a_failure_is_told(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    swept: list[int] = []
    monkeypatch.setattr(bench.store, "sweep", lambda: swept.append(1))
    upkeep = Upkeep(bench.store, bench.removals)
    began, seen = upkeep._swept_at, []
    for hours in (0.5, 1.1, 1.2, 2.5):
        upkeep.step(began + hours * 3600)
        seen.append(len(swept))
    assert seen == [0, 1, 1, 2]

    def away() -> None:
        raise StoreError("the store is away")

    monkeypatch.setattr(bench.store, "sweep", away)
    assert upkeep.step(began + 4 * 3600) == 1
    assert upkeep.last_error == "the store is away"
    monkeypatch.setattr(bench.store, "sweep", lambda: swept.append(1))
    upkeep.step(began + 4.1 * 3600)
    assert (upkeep.last_error, len(swept)) == ("", 3)


def test_a_request_set_aside_later_goes_within_the_hour(bench: Bench, project: str) -> None:
    bench.store.tombstones.put(
        Tombstone(project, "gone", traces=(trace_id(7).hex(), "session.id=s-1"), state="removed")
    )
    session = log(CANARY, {"session.id": "s-1"})
    requests = {
        11: run_of(7, CANARY),
        12: logs(session),
        13: run_of(8, OTHER),
        14: logs(log(OTHER, {"session.id": "s-12"})),
        15: logs(log(OTHER, {"retries": "s-1"})),  # the value of a key, under another name
    }
    for number, request in requests.items():
        bench.spool.quarantine(SpoolEntry(number, project, "traces", 1, request.SerializeToString()), "broken")
    bench.spool.quarantine(SpoolEntry(16, "another", "traces", 1, requests[12].SerializeToString()), "broken")
    bench.removals.tidy()
    left = {int(path.name.partition(".")[0]) for path in (bench.spool.path / "quarantine").glob("*.pb")}
    assert left & {*requests, 16} == {13, 14, 15, 16}


def test_every_table_is_known_to_removals(bench: Bench) -> None:
    """A table that holds anything of a run belongs into ROWS."""
    tables = "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree%'"
    assert {str(name) for (name,) in bench.store.query(tables).rows} - set(ROWS) == NOTHING_OF_A_RUN


# --- cut off --------------------------------------------------------------------------------------------------------


def test_cut_off_at_any_step_it_is_taken_up_again(bench: Bench, project: str) -> None:
    """What a process knew is gone with it; where each removal stands is read from the store."""
    for number in range(len(STEPS) + 1):
        bench.send(run_of(number + 1, OTHER), project=project)
    *gone, kept = bench.settle(project, len(STEPS) + 1)
    for run_id, step in zip(gone, STEPS, strict=True):
        cut = bench.removals_cut_at(step)
        with pytest.raises(Cut):
            cut._advance(cut.request(project, run_id))
    again = Store(bench.store._connections, "again")
    states = {run_id: stone.state if (stone := again.tombstones.find(project, run_id)) else "" for run_id in gone}
    assert list(states.values()) == ["requested", "requested", "hidden", "hidden", "swept", "swept"]
    removals = Removals(again, bench.removals._policy, bench.spool, grace_s=0)
    until(removals.advance, lambda left: left == 0)
    assert {again.tombstones.find(project, run_id).state for run_id in gone} == {"removed"}  # type: ignore[union-attr]
    bench.store.tombstones.refresh()
    assert bench.settle(project, 1) == [kept]
    assert values(bench, "spans", "trace_id", project) == {kept}
    assert again.repair() == 0


def test_one_that_fails_does_not_keep_the_others_waiting(
    bench: Bench, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (1, 2):
        bench.send(run_of(number, OTHER), project=project)
    first, second = bench.settle(project, 2)
    for run_id in (first, second):
        bench.removals.request(project, run_id)
    sweep = bench.store.removal.sweep

    def broken(stone: Tombstone) -> None:
        if stone.run_id == first:
            raise StoreError("a mutation was killed")
        sweep(stone)

    monkeypatch.setattr(bench.store.removal, "sweep", broken)
    with pytest.raises(StoreError, match="killed"):
        bench.removals.advance()
    assert bench.removals.request(project, second).state == "removed"
    monkeypatch.undo()
    bench.finish()
    assert bench.removals.request(project, first).state == "removed"


def test_what_waits_in_a_closed_spool_is_waited_for(bench: Bench, project: str, tmp_path: Path) -> None:
    bench.send(run_of(1, OTHER), project=project)
    (gone,) = bench.settle(project, 1)
    spool = Spool(tmp_path / "spool", min_free_bytes=0)
    spool.append(project, "traces", run_of(1, CANARY).SerializeToString(), 1).result(30)
    spool.close()
    outside = Removals(bench.store, bench.removals._policy, tmp_path / "spool")
    outside.request(project, gone)
    assert outside.advance() == 1
    assert outside.request(project, gone).state == "swept"
    bench.finish()
