"""Reading commands: what they print for people and for programs, and that no trace can speak to a terminal."""

import json
import os
import pty
import re
import subprocess
from pathlib import Path

import pytest

from tests.cli.commands import PASSHAT, environment, here, passhat
from tests.cli.conftest import HOSTILE, MATRIX

GOLDEN = Path(__file__).parent / "golden"
DAY = ("--since", "2026-10-26T00:00:00Z", "--until", "2026-10-27T00:00:00Z")
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def golden(name: str, text: str) -> None:
    """Compare with the golden text; UPDATE_GOLDEN=1 writes it anew."""
    file = GOLDEN / f"{name}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        file.write_text(text)
    assert text == file.read_text()


def read(data: Path, *arguments: str) -> str:
    done = here(*arguments, "--data", str(data))
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_beginning_of_one_runs_id_names_it(data: Path) -> None:
    told = json.loads(here("show", "tol", "--json", "--data", str(data)).stdout)
    assert told["run"]["run_id"] == "told"
    exported = json.loads(here("export", "--run", "tol", "--json", "--data", str(data)).stdout)
    assert {line["run_id"] for line in exported} == {"told"}
    several = here("show", "flaky-cache-", "--data", str(data))
    assert several.returncode == 2
    assert "error: flaky-cache-1\nerror: flaky-cache-0" in several.stderr
    assert here("show", "nobody", "--data", str(data)).returncode == 3


def test_report_for_people(data: Path) -> None:
    golden("report-text", read(data, "report", "--project", "default", *DAY))


def test_report_for_programs(data: Path) -> None:
    told = json.loads(read(data, "report", "--json", "--project", "default", "--class", "matrix", *DAY))
    assert {row["task_id"]: row["n"] for row in told["tasks"]} == {
        "fix-rounding": 5, "retry-on-429": 5, "flaky-cache": 3, "cross-repo-bump": 5,
    }  # fmt: skip
    recent = {row["task_id"]: row["recent"] for row in told["tasks"]}
    assert recent["flaky-cache"] == ["fail", "fail", "pass", "error", "unknown"]
    assert told["suite"]["tasks_used_k"] == {"1": 4, "3": 4, "5": 3}


def test_report_of_named_tasks_and_policies(data: Path) -> None:
    told = json.loads(read(data, "report", "flaky-cache", "--json", "--errors", "fail", "--k", "1,4", *DAY))
    [row] = told["tasks"]
    assert (row["n"], row["c"], row["errors"]) == (4, 1, 1)
    assert row["pass_at_k"]["4"] == 1.0


def test_runs_for_people_and_programs(data: Path) -> None:
    golden("runs-text", read(data, "runs", "--project", "default", "--class", "matrix", "--limit", "6", *DAY))
    page = json.loads(read(data, "runs", "--json", "--project", "default", "--class", "matrix", "--limit", "6"))
    assert len(page["runs"]) == 6
    rest = json.loads(
        read(data, "runs", "--json", "--project", "default", "--class", "matrix", "--cursor", page["next"])
    )
    assert len(rest["runs"]) == sum(map(len, MATRIX.values())) - 6
    assert {run["run_id"] for run in page["runs"]}.isdisjoint({run["run_id"] for run in rest["runs"]})


def test_an_empty_list_is_ok_and_says_so_beside_the_result(data: Path) -> None:
    done = here("runs", "--task", "none", "--data", str(data))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "no runs match\n")
    done = here("report", "none", "--data", str(data))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "no trials in this window\n")


def test_show_is_a_ledger(data: Path) -> None:
    golden("show-text", read(data, "show", "told"))
    told = json.loads(read(data, "show", "told", "--json"))
    assert [line["n"] for line in told["lines"]] == [1, 2, 3, 4, 5, 6, 7]
    assert told["outcomes"][0]["reason"] == "row missing"


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_reaches_the_terminal_raw(data: Path, name: str) -> None:
    text = read(data, "show", name)
    assert not CONTROL.search(text)
    assert "DROP TABLE" not in name or "t'); DROP TABLE runs; --" in text
    told = json.loads(read(data, "show", name, "--json"))
    assert told["run"]["run_id"] == name
    assert told["lines"][1]["input"] == {name: name}


def test_one_run_is_one_row_whatever_its_name(data: Path) -> None:
    text = read(data, "runs", "--project", "hostile")
    assert not CONTROL.search(text)
    assert len(text.splitlines()) == 1 + len(HOSTILE)
    assert "[bold red]markup[/] :boom:" in text
    report = read(data, "report", "--project", "hostile", *DAY)
    assert not CONTROL.search(report)


def test_an_error_cannot_speak_to_the_terminal_either(data: Path) -> None:
    done = here("runs", "--since", "\x1b[2J\nhint: rm -rf", "--data", str(data))
    assert done.returncode == 2
    assert not CONTROL.search(done.stderr)
    assert [line.split(":")[0] for line in done.stderr.splitlines()] == ["error"]


def on_a_terminal(arguments: list[str], cwd: Path, **env: str) -> str:
    """What a command writes to a terminal of 100 columns."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [*PASSHAT, *arguments], stdin=slave, stdout=slave, stderr=subprocess.DEVNULL, cwd=cwd,
        env=environment({"TERM": "xterm-256color", **env}),
    )  # fmt: skip
    os.close(slave)
    written = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:  # Linux: the other end is closed
            break
        if not part:
            break
        written += part
    os.close(master)
    assert process.wait(60) == 0
    return written.decode()


def test_colour_only_on_a_terminal_and_not_with_no_color(data: Path) -> None:
    command = ["report", "--data", str(data), "--project", "default", "--class", "matrix", *DAY]
    coloured = on_a_terminal(command, data.parent)
    assert "■" in coloured
    assert "\x1b[" in coloured
    plain = on_a_terminal(command, data.parent, NO_COLOR="1")
    assert "\x1b" not in plain
    assert "PPPPP" in plain
    assert "\x1b" not in read(data, "report", *DAY)


def test_letters_a_terminal_does_not_have_do_not_end_a_command(data: Path) -> None:
    env = {"PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    done = passhat("show", "told", "--data", str(data), cwd=data.parent, env=env)
    assert done.returncode == 0
    text = done.stdout
    assert "\\u2192" in text
