"""What is wrong, and right again, as the store has it: failing tasks, gates that deny, objectives that burn."""

from __future__ import annotations

from collections.abc import Iterator

from collector.outward.alerts import Trouble
from collector.outward.feed import GradedRun
from collector.store.sqlfiles import statement
from collector.store.store import Store


def failing_tasks(store: Store, graded: tuple[GradedRun, ...]) -> Iterator[Trouble]:
    """How the newest trial of each task among the runs just graded ended."""
    counted = {run.task: run for run in graded if run.result in ("pass", "fail")}
    if not counted:
        return
    hour = min(run.hour_s for run in graded if run.task in counted)
    found = store.rows(statement("out/newest_of_tasks"), tasks=sorted(counted), hour=hour)
    for project, task, version, result, why, ended_ms in found:
        run = counted[project, task, version]
        failed = [verdict.check_id for verdict in run.verdicts if verdict.status == "fail" and verdict.gate]
        newest = run if (run.result, run.ended_ms) == (result, ended_ms) else None
        yield Trouble(
            event="fail",
            key=f"fail/{project}/{task}/{version}",
            firing=result == "fail",
            title=f"{task}: the newest trial is a {result}",
            details={
                "project": project, "task_id": task, "task_version": version, "result": result, "reason": why,
                "run_id": newest.run_id if newest else "", "failed_checks": failed if newest else [],
            },
        )  # fmt: skip


def gates(store: Store) -> Iterator[Trouble]:
    """The last answer of each named gate."""
    for name, project, decision, gate_id, reasons in store.rows(statement("out/gates")):
        yield Trouble(
            event="gate_denied",
            key=f"gate/{name}/{project}",
            firing=decision == "deny",
            title=f"gate {name}: {decision}",
            details={"gate": name, "project": project, "decision": decision, "gate_id": gate_id, "reasons": reasons},
        )


def objectives(store: Store) -> Iterator[Trouble]:
    """Each objective: firing when any of its pairs of windows is."""
    sql = """SELECT slo, max(firing) AS any_firing, max(burn_long) AS burn, any(target) AS aim, any(k) AS tries
        FROM slo_burn GROUP BY slo ORDER BY slo"""
    for row in store.query(sql).dicts():
        firing = bool(row["any_firing"])
        yield Trouble(
            event="slo_burn",
            key=f"slo/{row['slo']}",
            firing=firing,
            title=f"objective {row['slo']}: " + ("burning too fast" if firing else "within its allowance"),
            details={"slo": row["slo"], "burn": row["burn"], "target": row["aim"], "k": row["tries"]},
        )
