"""A report as CSV and HTML, against the window before, and what it cost."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from collector.config import Config
from collector.config.keys import StoreConfig
from collector.listen import WebServer, bind
from collector.metrics import Metrics
from collector.serve.app import web_app
from collector.store.store import Store
from tests.cli.commands import Done, here
from tests.collector.serve.made import grading

DAY = 86_400
HOSTILE = '=1+1</title><script src="http://evil/x.js">alert(1)</script>'
WINDOW = ("--since", "2026-10-25T12:00:00Z", "--until", "2026-10-26T12:00:00Z", "--k", "1,2")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("report") / "data"
    store = Store.open(StoreConfig(url=f"chdb:{folder}"), folder)
    made = []
    for n in range(8):
        before, now = ("PPPP", "PPPP") if n else ("PPPP", "PFFF")
        for day, marks in ((-1, before), (0, now)):
            made += [
                grading(f"t{n}/{day}/{i}", "pass" if mark == "P" else "fail", at_s=day * DAY + i, task_id=f"t{n}",
                        cost_usd=0.5 if n < 2 else None, turns=4)
                for i, mark in enumerate(marks)
            ]  # fmt: skip
    for model, marks, day in (("old", "P" * 12, -30), ("new", "P" * 30 + "F" * 30, -20)):
        made += [
            grading(f"both/{model}/{i}", "pass" if mark == "P" else "fail", at_s=(day + i // 6) * DAY + i,
                    task_id="both", model=model)
            for i, mark in enumerate(marks)
        ]  # fmt: skip
    made += [grading(f"h{i}", "pass", at_s=i, task_id=HOSTILE) for i in range(3)]
    store.write_gradings(made)
    app = web_app(store, dict, Config(), Metrics())
    listening = WebServer(app, bind("127.0.0.1:0", "listen.web"))
    listening.start()
    yield listening.address
    listening.stop()
    store.close()


@pytest.fixture
def report(server: str) -> Any:
    def ask(*arguments: str) -> Done:
        done = here("report", *WINDOW, *arguments, "--server", server)
        assert done.returncode == 0, done.stderr
        return done

    return ask


def test_csv_has_a_line_per_task_and_k_and_no_formula(report: Any) -> None:
    rows = list(csv.DictReader(io.StringIO(report("--csv").stdout)))
    assert len(rows) == 9 * 2
    assert {row["task_id"] for row in rows if "script" in row["task_id"]} == {"'" + HOSTILE}
    [dropped] = [row for row in rows if (row["task_id"], row["k"]) == ("t0", "2")]
    assert (dropped["n"], dropped["c"], float(dropped["pass_hat_k"])) == ("4", "1", 0.0)


def test_a_window_is_compared_with_the_one_before_task_by_task(report: Any) -> None:
    [told] = json.loads(report("--compare", "--json").stdout)["comparisons"]
    assert (told["basis"], told["tasks_used"], told["difference"]) == ("outcome", 8, -0.125)
    assert told["low"] < -0.125 < told["high"]
    counts = {"before_n": 4, "before_c": 4, "now_n": 4, "now_c": 1}
    assert told["tasks"][0] == {"task_id": "t0", "before": 1.0, "now": 0.0, "moved": "", **counts}
    assert "against the window before, by outcome: -0.1250" in report("--compare").stdout


def test_a_model_is_compared_with_another_and_what_changed_is_told(report: Any) -> None:
    shown = report("--against", "model=old", "--model", "new", "--since", "2026-09-01T00:00:00Z").stdout
    assert "against model=old, by outcome: -0.7542" in shown
    assert re.search(r"^both +1.0000 +0.2458", shown, re.M), shown
    assert re.search(r"^both +drop +2026-10-11 +30 of 30 +0 of 30$", shown, re.M), shown


def test_what_trials_cost_and_failures_wasted(report: Any) -> None:
    costs = {row["task_id"]: row for row in json.loads(report("--cost", "--json").stdout)["costs"]}
    dropped = costs["t0"]
    assert (dropped["trials"], dropped["passed"], dropped["cost"]) == (4, 1, 2.0)
    assert (dropped["cost_per_trial"], dropped["cost_per_success"], dropped["wasted_usd"]) == (0.5, 2.0, 1.5)
    assert (costs["t1"]["cost_per_success"], costs["t1"]["wasted_usd"]) == (0.5, 0.0)
    assert (costs["t2"]["cost"], costs["t2"]["cost_per_trial"], costs["t2"]["wasted_usd"]) == (None, None, None)
    assert dropped["mean_turns"] == 4.0


class Seen(HTMLParser):
    """Tags and attributes of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.loads += [name for name, _ in attrs if name in ("src", "href", "srcset", "action", "data")]


def test_html_is_one_file_that_loads_and_runs_nothing(report: Any, tmp_path: Path) -> None:
    file = tmp_path / "out.html"
    report("--html", str(file))
    text = file.read_text()
    seen = Seen(text)
    assert seen.loads == []
    assert "script" not in seen.tags
    assert seen.tags.count("svg") == 9
    assert "default-src 'none'" in text
    assert "Against the window before: -0.1250" in text
    assert "Cost in USD" in text
    assert not re.search(r"url\(|@import|https?://(?!evil)", text)


def test_two_forms_at_once_are_refused(server: str) -> None:
    assert here("report", "--csv", "--json", "--server", server).returncode == 2
