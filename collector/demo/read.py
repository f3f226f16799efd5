"""What came back: every number read out of the views, every line and case over the API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import httpx
from msgspec import Struct

from collector.cli.client import run_path
from collector.demo.data import KS, LAB_CLASS, LAB_TASK, LESSON_CLASS, MATRIX_CLASS
from collector.store.store import Store

Row = dict[str, Any]
CALL = "(start={start:DateTime64(3, 'UTC')}, end={end:DateTime64(3, 'UTC')}"

TRIALS = """SELECT run_id, trial_id, task_id, result, trajectory, calls, outcome, subtype, final_text
    FROM trials WHERE project = {project:String} AND task_class = {class:String} ORDER BY started, run_id"""
VERDICTS = """SELECT check_id, status, lines, reason, axis
    FROM current_verdicts WHERE project = {project:String} AND run_id = {run:String}"""
TASK = f"""SELECT task_id, n, c, pass_at_k, pass_hat_k FROM task_reliability{CALL}, k={{k:UInt32}})
    WHERE project = {{project:String}} AND task_class = {{class:String}}"""
SUITE = f"""SELECT tasks, tasks_used, n, pass_at_k, pass_hat_k FROM suite_reliability{CALL}, k={{k:UInt32}})
    WHERE project = {{project:String}} AND task_class = {{class:String}} AND basis = 'outcome'"""
DISAGREEMENTS = f"""SELECT run_id AS run, run_id, task_id, outcome, trajectory, meaning FROM disagreements{CALL})
    WHERE project = {{project:String}} AND task_id = {{task:String}} ORDER BY run_id"""
ARRIVED = """SELECT countIf(result != 'pending') AS closed, countIf(outcome != '' AND basis = 'outcome') AS judged
    FROM trials WHERE project = {project:String}"""


class Place(Struct, frozen=True):
    """Where the demo's runs are: the store, the API, the project, the window around them."""

    store: Store
    web: str
    project: str
    start: str
    end: str

    def rows(self, sql: str, **parameters: Any) -> list[Row]:
        bound = {"project": self.project, "start": self.start, "end": self.end, **parameters}
        return self.store.query(sql, bound).dicts()

    def told(self, run_id: str) -> Row:
        """A run over the API: its lines, with what each call did."""
        return self.ask("GET", run_path(run_id), params={"project": self.project})

    def ask(self, method: str, path: str, **more: Any) -> Row:
        reply = httpx.request(method, f"http://{self.web}{path}", timeout=30, trust_env=False, **more)
        reply.raise_for_status()
        answer: Row = reply.json()
        return answer


def arrived(place: Place) -> tuple[int, int]:
    """How many runs are over, and how many of them are judged by an outcome."""
    [row] = place.rows(ARRIVED)
    return row["closed"], row["judged"]


def everything(place: Place) -> Row:
    """All that the demo shows."""
    return {"runs": lesson(place), "lab": lab(place), "matrix": matrix(place)}


def lesson(place: Place) -> Row:
    """The two runs: what they claim, where they edited and tested, what the checks say."""
    shown: Row = {}
    for trial in place.rows(TRIALS, **{"class": LESSON_CLASS}):
        lines = place.told(trial["run_id"])["lines"]
        verdicts = place.rows(VERDICTS, run=trial["run_id"])
        shown[trial["trial_id"]] = {
            "run_id": trial["run_id"],
            "result": trial["result"],
            "subtype": trial["subtype"],
            "final_text": trial["final_text"],
            "num_turns": next((line["num_turns"] for line in lines if "num_turns" in line), None),
            "lines": len(lines),
            "edits": doing(lines, "edit"),
            "test_runs": doing(lines, "test_run"),
            "checks": {verdict["check_id"]: verdict["status"] for verdict in verdicts if ours(verdict)},
            "evidence": {verdict["check_id"]: list(verdict["lines"]) for verdict in verdicts if ours(verdict)},
            "reasons": {verdict["check_id"]: verdict["reason"] for verdict in verdicts if ours(verdict)},
        }
    return shown


def ours(verdict: Row) -> bool:
    return not verdict["check_id"].startswith("case:")


def doing(lines: Sequence[Row], kind: str) -> list[int]:
    """The numbers of the lines whose call did something of this kind."""
    return [line["n"] for line in lines if kind in line.get("actions", ())]


def lab(place: Place) -> Row:
    """The four transcripts on three axes, where two of them differ, the rates over four, the case of the worst."""
    shown: Row = {}
    trials = place.rows(TRIALS, **{"class": LAB_CLASS})
    for trial in trials:
        lines = place.told(trial["run_id"])["lines"]
        [bad] = [set(v["lines"]) for v in place.rows(VERDICTS, run=trial["run_id"]) if v["axis"] == "calls"]
        calls = [
            {"n": line["n"], "tool": line["tool"], "input": line["input"], "ok": line["n"] not in bad}
            for line in lines
            if line["role"] == "assistant" and line.get("tool")
        ]
        failed = trial["calls"] == "fail"
        shown[trial["trial_id"]] = {
            **{axis: trial[axis] for axis in ("trajectory", "calls", "outcome")},
            "answer": trial["final_text"],
            "each_call": [{**call, "ok": call["ok"] or not failed} for call in calls],
            "bad_calls": [call["tool"] for call in calls if failed and not call["ok"]],
        }
    shown["disagreements"] = place.rows(DISAGREEMENTS, task=LAB_TASK)
    [rates] = place.rows(TASK, **{"class": LAB_CLASS}, k=len(trials))
    shown["reliability"] = {"k": len(trials), **{name: rates[name] for name in ("n", "c", "pass_at_k", "pass_hat_k")}}
    worst = {"run_id": trials[-1]["run_id"], "project": place.project}
    shown["case"] = place.ask("POST", "/api/v1/cases", json=worst)
    return shown


def matrix(place: Place) -> Row:
    """Each task's trials in order and its rates, and the suite's at every k."""
    tasks: Row = {}
    for trial in place.rows(TRIALS, **{"class": MATRIX_CLASS}):
        mark = {"pass": "P", "fail": "."}.get(trial["result"], "?")
        row = tasks.setdefault(trial["task_id"], {"results": "", "pass_at_k": {}, "pass_hat_k": {}})
        row["results"] += mark
    suite: Row = {}
    for k in KS:
        for rates in place.rows(TASK, **{"class": MATRIX_CLASS}, k=k):
            row = tasks[rates["task_id"]]
            row |= {"n": rates["n"], "c": rates["c"]}
            row["pass_at_k"][str(k)], row["pass_hat_k"][str(k)] = rates["pass_at_k"], rates["pass_hat_k"]
        [whole] = place.rows(SUITE, **{"class": MATRIX_CLASS}, k=k)
        suite[str(k)] = {name: whole[name] for name in ("pass_at_k", "pass_hat_k", "tasks", "tasks_used", "n")}
    return {"tasks": tasks, "suite": suite}
