"""A collector's parts over one data directory, moved by hand, for tests of removals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from collector.assemble import Policy
from collector.config.keys import StoreConfig
from collector.grade.due import DuePolicy
from collector.grade.grader import Grader
from collector.grade.loop import GradeLoop
from collector.metrics import Metrics
from collector.normalise.drain import Drain
from collector.removals import Removals
from collector.spool import Spool
from collector.store.store import Store
from graders.checkset import CheckSet
from graders.trial import TrialPolicy
from semconv.words import Words
from tests.collector.receive.build import START, log, logs, span, traces
from tests.support.canary import files_with
from tests.support.serving import until


class Cut(Exception):
    """The process ends here."""


class Bench:
    """Spool, drain, store, grading and removals, each moved by hand: `settle` stores and judges what was sent."""

    def __init__(self, folder: Path, url: str = "") -> None:
        self.folder = folder
        self.store = Store.open(StoreConfig(url=url or f"chdb:{folder / 'store'}"), folder)
        # Files of parts that are no longer used go at once, not in minutes.
        at_once = "old_parts_lifetime = 0, cleanup_delay_period = 1, max_cleanup_delay_period = 1"
        self._each_table(f"ALTER TABLE `{{}}` MODIFY SETTING {at_once}")
        self.spool = Spool(folder / "spool.sqlite", min_free_bytes=0)
        self.metrics = Metrics()
        checks = CheckSet.compile(None, {}, {}, TrialPolicy())
        epoch = self.store.register_checks(checks.digest, "{}")
        self.grader = Grader(checks, Policy(), epoch)
        self.loop = GradeLoop(self.store, self.grader, DuePolicy(settle_s=0, idle_s=0.05), self.metrics)
        self.drain = Drain(self.spool, self.store, Words(), self.metrics, stored=lambda: None)
        self.removals = self.removals_cut_at("")

    def removals_cut_at(self, step: str) -> Removals:
        """Removals that end at a step, as if the process did."""

        def at(name: str) -> None:
            if name == step:
                raise Cut(step)

        return Removals(self.store, Policy(), self.spool, grace_s=0, step=at)

    def send(self, request: Any, signal: Any = "traces", project: str = "default") -> None:
        self.spool.append(project, signal, request.SerializeToString(), int(self.store.now_ns())).result(30)

    def settle(self, project: str = "default", runs: int | None = None) -> list[str]:
        """The ids of the runs that are there, once all is judged (and, where said, so many)."""
        while entries := self.drain._gather(linger_s=0.0):
            assert self.drain._store_all(entries)
        until(lambda: (self.loop.step(), self.loop.waiting)[1], lambda waiting: waiting == 0)
        found = self.runs(project)
        assert runs is None or len(found) == runs, found
        return found

    def runs(self, project: str = "default") -> list[str]:
        sql = "SELECT run_id FROM trials WHERE project = {p:String} AND result != 'pending' ORDER BY run_id"
        return [str(run_id) for (run_id,) in self.store.query(sql, {"p": project}).rows]

    def finish(self) -> None:
        """All removals to their end."""
        until(self.removals.advance, lambda left: left == 0)

    def merge(self) -> None:
        """Merges that are due some time, now."""
        self._each_table("OPTIMIZE TABLE `{}` FINAL")

    def forget(self, canary: str) -> None:
        """Wait until no file holds it: an engine that is closed removes no old part any more."""
        self.merge()
        until(lambda: files_with(self.folder, [canary.encode()]), lambda found: found == [], 90)

    def _each_table(self, sql: str) -> None:
        tables = "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree%'"
        with self.store._connections.writer() as client:
            for (table,) in client.query(tables).result_rows:
                client.command(sql.format(table))

    def close(self) -> None:
        self.spool.close()
        self.store.close()


def trace_id(number: int) -> bytes:
    return number.to_bytes(16, "big")


def run_of(number: int, canary: str, start_ns: int = START, **identity: Any) -> Any:
    """A trace that is one run: an agent and a call, the canary in every text."""
    root = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": f"a {canary}", "note": canary, **identity}
    call = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "Bash",
            "gen_ai.tool.call.arguments": f'{{"command": "{canary}"}}', "gen_ai.tool.call.result": canary}  # fmt: skip
    times = {"start_time_unix_nano": start_ns, "end_time_unix_nano": start_ns + 9}
    return traces(
        span(1, root, trace_id=trace_id(number), name=f"invoke {canary}", **times),
        span(2, call, trace_id=trace_id(number), parent_span_id=(1).to_bytes(8, "big"), **times),
        resource={"service.name": "demo", "passhat.task.version": "1"},
    )


def trials_of_one_trace(number: int, canaries: list[str]) -> Any:
    """One trace with a wrapper span and a trial below it for each canary; trial n has the spans 10n and 10n+1."""
    spans = [span(1, {"experiment": "nightly"}, trace_id=trace_id(number))]
    for n, canary in enumerate(canaries, 1):
        agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "a", "passhat.task.id": "t",
                 "passhat.trial.id": str(n), "note": canary}  # fmt: skip
        call = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "Bash", "gen_ai.tool.call.result": canary}
        ids = {"trace_id": trace_id(number)}
        spans.append(span(10 * n, agent, parent_span_id=(1).to_bytes(8, "big"), **ids))
        spans.append(span(10 * n + 1, call, parent_span_id=(10 * n).to_bytes(8, "big"), **ids))
    return traces(*spans)


def log_of(number: int, span_number: int, canary: str) -> Any:
    ids = {"trace_id": trace_id(number), "span_id": span_number.to_bytes(8, "big")}
    return logs(log(canary, {"note": canary}, time_unix_nano=START + span_number, **ids))
