"""`passhat gate` and `passhat plan` as CI runs them: exit codes, forms, figures."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from collector.config import Config
from collector.config.keys import GateConfig, StoreConfig
from collector.listen import WebServer, bind
from collector.metrics import Metrics
from collector.serve.app import web_app
from collector.store.store import Store
from tests.cli.commands import Done, here, passhat
from tests.collector.serve.made import grading

AT = "2026-10-26T12:00:00Z"
HOSTILE = "bad\n::error::owned, %0A <b>&\x1b[31m"
GATES = {"good": GateConfig(task="good"), "poor": GateConfig(task="poor", k=1), "few": GateConfig(task="few")}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A store with a task of each kind, served."""
    folder = tmp_path_factory.mktemp("gate") / "data"
    store = Store.open(StoreConfig(url=f"chdb:{folder}"), folder)
    trials = [("good", n, "pass") for n in range(140)] + [("few", n, "pass") for n in range(9)]
    trials += [(task, n, "fail" if n % 2 else "pass") for task in ("poor", HOSTILE) for n in range(80)]
    store.write_gradings(
        [grading(f"{task}/{n}", result, at_s=-3600 * (n + 1), task_id=task) for task, n, result in trials]
    )
    app = web_app(store, dict, Config(gates=GATES), Metrics())
    listening = WebServer(app, bind("127.0.0.1:0", "listen.web"))
    listening.start()
    yield listening.address
    listening.stop()
    store.close()


@pytest.fixture
def gate(server: str) -> Any:
    def ask(*arguments: str) -> Done:
        return here("gate", *arguments, "--at", AT, "--server", server)

    return ask


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["--task", "good"], 0, "allow: good: pass^3 1.0000"),
        (["--task", "poor"], 1, "deny: poor"),
        (["--task", "few"], 3, "126 further passing trials in a row would do"),
        (["--task", "nobody"], 3, "No trial of this gate"),
        (["good"], 0, "allow: good"),
        (["poor"], 1, "pass^1 0.5000"),
        (["--all"], 1, "insufficient: few"),
        (["nothing"], 2, ""),
        ([], 2, ""),
        (["good", "--all"], 2, ""),
        (["good", "--k", "5"], 2, ""),
        (["--task", "good", "--min", "1.5"], 2, ""),
    ],
)
def test_the_exit_code_is_the_decision(gate: Any, arguments: list[str], code: int, says: str) -> None:
    done = gate(*arguments)
    assert (done.returncode, says in done.stdout) == (code, True), done
    assert code != 2 or (done.stdout == "" and done.stderr.startswith("error: "))


def test_json_is_the_answer_of_the_api(gate: Any) -> None:
    one = json.loads(gate("--task", "few", "--json").stdout)
    assert (one["decision"], one["n"], one["needed"], one["task"]) == ("insufficient", 9, 126, ["few"])
    every = json.loads(gate("--all", "--json").stdout)
    assert [answer["name"] for answer in every["gates"]] == ["few", "good", "poor"]


def test_explain_says_what_a_decision_rests_on(gate: Any) -> None:
    text = gate("--task", "poor", "--explain").stdout
    for part in ("window     2026-09-28", "n 80, c 40", "design effect", "run        /api/v1/runs/poor%2F"):
        assert part in text
    beside = gate("--task", "poor", "--explain", "--json")
    assert json.loads(beside.stdout)["decision"] == "deny"
    assert "design effect" in beside.stderr


def test_junit_counts_what_is_not_allowed(gate: Any) -> None:
    suite = ElementTree.fromstring(gate("--all", "--format", "junit").stdout)
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "1")
    assert {case.get("name"): [child.tag for child in case] for case in suite} == {
        "few": ["error"], "good": ["system-out"], "poor": ["failure"]
    }  # fmt: skip


def test_annotations_are_one_line_each_whatever_a_task_is_called(gate: Any) -> None:
    lines = gate("--all", "--format", "github").stdout.splitlines()
    assert [line.partition(" ")[0] for line in lines] == ["::warning", "::notice", "::error"]
    [line] = gate("--task", HOSTILE, "--format", "github").stdout.splitlines()
    assert line.startswith("::error title=passhat gate bad")
    assert line.count("::") == 4  # two of GitHub's, two inside the message
    assert "\x1b" not in line
    ElementTree.fromstring(gate("--task", HOSTILE, "--format", "junit").stdout)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--k", "3", "--min", "0.8"], " 135 trials in a row without a failure for a gate"),
        (["--k", "5", "--min", "0.9"], "year of looks), 306 for a single look"),
        (["--k", "5", "--min", "0.9", "--p", "0.97"], "never"),
        (["--k", "3", "--p", "0.97", "--per-day", "20"], "33 days at 20 a day"),
        (["--k", "3", "--p", "0.97", "--per-day", "20"], "24 trials a day would do"),
    ],
)  # fmt: skip
def test_a_plan_says_what_it_takes(arguments: list[str], says: str, tmp_path: Path) -> None:
    done = passhat("plan", *arguments, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert says in done.stdout


def test_a_plan_as_json_and_what_cannot_be_planned(tmp_path: Path) -> None:
    told = json.loads(passhat("plan", "--json", "--per-day", "10", cwd=tmp_path).stdout)
    assert (told["in_a_row"], told["in_a_row_look"], told["typical"], told["days"]["in_a_row"]) == (135, 78, 135, 14)
    for wrong in (["--min", "1"], ["--p", "0"], ["--k", "0"], ["--per-day", "0"], ["--confidence", "nan"]):
        assert here("plan", *wrong).returncode == 2, wrong
