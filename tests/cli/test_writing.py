"""Commands that write: outcomes, cases, files in, and the same through a running server."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.commands import PASSHAT, ROOT, environment, here
from tests.support.serving import Serving, until

CAPTURE = ROOT / "tests" / "captures" / "otel_genai_langchain" / "002_traces.pb"
CASE = ROOT / "tests" / "cases" / "I17_three_trials_in_one_trace.json"


def body_of(case: Path, folder: Path, **root: str) -> Path:
    """The first request of a ready input, as a file of its own; `root` adds attributes to its first span."""
    file = folder / f"{case.stem}.json"
    body = json.loads(case.read_text())["requests"][0]["body"]
    span = body["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    span["attributes"] += [
        {"key": key.replace("__", "."), "value": {"stringValue": value}} for key, value in root.items()
    ]
    file.write_text(json.dumps(body))
    return file


@pytest.fixture(scope="module")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory that `ingest` filled from a file."""
    folder = tmp_path_factory.mktemp("ingested")
    done = here("ingest", str(body_of(CASE, folder)), "--data", str(folder / "data"), "--json")
    assert done.returncode == 0, done.stderr
    none = dict.fromkeys(("already_here", "refused", "failed", "unreadable"), 0)
    assert json.loads(done.stdout) == {"requests": 1, **none, "problems": []}
    return folder / "data"


def test_files_are_graded_when_ingest_ends(ingested: Path) -> None:
    done = here("runs", "--json", "--data", str(ingested))
    runs = json.loads(done.stdout)["runs"]
    assert len(runs) == 3
    assert {run["result"] for run in runs} <= {"pass", "fail", "unknown"}
    report = json.loads(here("report", "--json", "--data", str(ingested), "--since", "2026-10-01T00:00:00Z").stdout)
    assert report["tasks"][0]["n"] == 3


def test_the_same_file_again_changes_nothing(ingested: Path, tmp_path: Path) -> None:
    before = json.loads(here("runs", "--json", "--data", str(ingested)).stdout)["runs"]
    assert here("ingest", str(body_of(CASE, tmp_path)), "--data", str(ingested)).returncode == 0
    assert json.loads(here("runs", "--json", "--data", str(ingested)).stdout)["runs"] == before


def test_what_cannot_be_read_is_told_and_the_rest_is_kept(tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text('{"resourceSpans": [')
    (tmp_path / "text.txt").write_text("not OTLP\x1b[2J")
    files = [str(tmp_path / "broken.json"), str(tmp_path / "text.txt")]
    alone = here("ingest", *files, "--data", str(tmp_path / "data"))
    assert alone.returncode == 2
    assert "broken.json" in alone.stderr
    assert "text.txt" in alone.stderr
    assert "\x1b" not in alone.stderr
    mixed = here("ingest", *files, str(CAPTURE), "--data", str(tmp_path / "data"))
    assert mixed.returncode == 0
    assert "1 requests sent, 2 unreadable" in mixed.stdout


def test_an_outcome_is_kept_before_its_run(ingested: Path) -> None:
    done = here("outcome", "not yet", "fail", "--reason", "a\nb", "--data", str(ingested))
    assert done.returncode == 0
    assert "not known yet" in done.stdout
    assert done.stdout.count("\n") == 1


def test_runs_are_frozen_and_let_go_and_an_unknown_one_is_an_error(data: Path) -> None:
    done = here("freeze", "told", "path-0", "--json", "--data", str(data))
    assert json.loads(done.stdout) == {"project": "default", "runs": 2, "frozen": True}
    assert here("freeze", "--off", "told", "path-0", "--data", str(data)).stdout == "told: let go\npath-0: let go\n"
    unknown = here("freeze", "told", "nobody", "--data", str(data))
    assert (unknown.returncode, unknown.stdout) == (3, "")
    assert "nobody" in unknown.stderr


def test_mine_writes_a_case_once(data: Path, tmp_path: Path) -> None:
    done = here("mine", "told", "--data", str(data))
    assert done.returncode == 0, done.stderr
    file = tmp_path / "cases" / "invoice-told.yaml"
    assert done.stdout == f"{file}\n"
    case = yaml.safe_load(file.read_text())
    assert list(case) == ["id", "task", "input", "from_run", "from_result", "require_path", "forbid_tool",
                          "expect_answer", "comment", "gate"]  # fmt: skip
    assert (case["input"], case["from_run"], case["expect_answer"]) == ("Fix the rounding bug.", "told", "42")
    assert here("checks", "validate").returncode == 0  # the case is in force, and compiles
    again = here("mine", "told", "--data", str(data))
    assert again.returncode == 2
    assert "is there already" in again.stderr
    named = here("mine", "told", "--id", "other", "--expect", "43", "--json", "--data", str(data))
    assert json.loads(named.stdout)["expect_answer"] == "43"
    assert (tmp_path / "cases" / "other.yaml").exists()


def test_mine_of_one_project_is_not_that_of_another(data: Path) -> None:
    assert here("mine", "told", "--project", "default", "--out", "-", "--data", str(data)).returncode == 0
    assert here("mine", "told", "--project", "hostile", "--out", "-", "--data", str(data)).returncode == 3


def test_mine_to_stdout_writes_no_file(data: Path, tmp_path: Path) -> None:
    done = here("mine", "told", "--out", "-", "--data", str(data))
    assert yaml.safe_load(done.stdout)["task"] == "invoice"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["../../evil", "a/b", ".hidden"])
def test_a_case_is_not_written_elsewhere_by_its_name(data: Path, name: str) -> None:
    done = here("mine", "told", "--id", name, "--data", str(data))
    assert done.returncode == 2
    assert "/id" in done.stderr


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with Serving(tmp_path_factory.mktemp("serving")) as started:
        yield started


def test_through_a_server_from_file_to_rate(serving: Serving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PASSHAT_SERVER", f"http://{serving.web}")
    done = here("ingest", str(body_of(CASE, tmp_path)), "--endpoint", f"http://{serving.http}")
    assert (done.returncode, done.stdout) == (0, "1 requests sent\n")

    def runs() -> list[dict[str, str]]:
        listed: list[dict[str, str]] = json.loads(here("runs", "--json").stdout)["runs"]
        return listed

    found = until(runs, lambda rows: len(rows) == 3 and all(row["result"] != "pending" for row in rows))
    run_id = found[0]["run_id"]
    assert here("outcome", run_id, "fail", "--source", "environment", "--reason", "no row").returncode == 0
    told = until(
        lambda: json.loads(here("show", run_id, "--json").stdout), lambda told: told["run"]["reason"] == "no row"
    )
    assert told["run"]["outcome"] == "fail"
    report = json.loads(here("report", "--json", "--since", "2026-10-01T00:00:00Z").stdout)
    assert report["tasks"][0]["basis"] == "outcome"


def test_what_a_server_exported_does_not_come_to_it_again(
    serving: Serving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PASSHAT_SERVER", f"http://{serving.web}")
    monkeypatch.delenv("PASSHAT_ENDPOINT", raising=False)
    monkeypatch.chdir(tmp_path)
    assert here("ingest", str(body_of(CASE, tmp_path)), "--json").returncode == 0
    until(lambda: json.loads(here("runs", "--json").stdout)["runs"], lambda rows: len(rows) == 3)
    assert here("export", "--out", "out.jsonl").returncode == 0
    told = json.loads(here("ingest", "out.jsonl", "--json").stdout)
    assert told["requests"] == 0
    assert told["already_here"] >= 3, told


def test_doctor_sends_a_trace_through_the_running_server(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PASSHAT_SERVER", f"http://{serving.web}")
    done = here("doctor", "--json", "--config", str(serving.config_file))
    told = {one["what"]: one for one in json.loads(done.stdout)["findings"]}
    assert told["server"]["ok"]
    assert told["stages"]["ok"]
    assert "5 lines" in told["trace"]["found"], told
    assert "removed again" in told["trace"]["found"], told
    assert "doctor" not in here("runs", "--json").stdout
    assert "passhat-doctor" not in told["clients"]["found"]


def test_ports_that_a_passhat_holds_are_no_fault(serving: Serving, tmp_path: Path) -> None:
    listen = {"grpc": serving.grpc, "http": serving.http, "web": serving.web}
    (tmp_path / "passhat.yaml").write_text(yaml.safe_dump({"listen": listen, "spool": {"min_free_bytes": 0}}))
    done = here("doctor", "--json", "--data", str(tmp_path / "data"))
    told = {one["what"]: one for one in json.loads(done.stdout)["findings"]}
    assert all("held by a passhat" in told[f"port {name}"]["found"] for name in listen), told


def test_doctor_explains_a_file(tmp_path: Path) -> None:
    done = here("doctor", str(CAPTURE), "--json")
    assert done.returncode == 0, done.stderr
    records = json.loads(done.stdout)["records"]
    assert {"chat", "tool"} <= {record["operation"] for record in records}
    assert all(record["dialect"] == "otel_genai" for record in records if record["operation"] == "tool")
    assert "otel_genai" in here("doctor", str(CAPTURE)).stdout
    (tmp_path / "junk").write_bytes(b"\x00junk\x1b[2J")
    broken = here("doctor", str(tmp_path / "junk"))
    assert broken.returncode == 1
    assert "\x1b" not in broken.stderr


def test_doctor_finds_a_healthy_machine_healthy(tmp_path: Path) -> None:
    listen = {"grpc": "127.0.0.1:0", "http": "127.0.0.1:0", "web": "127.0.0.1:0"}
    (tmp_path / "passhat.yaml").write_text(yaml.safe_dump({"listen": listen, "spool": {"min_free_bytes": 0}}))
    done = here("doctor", "--json", "--data", str(tmp_path / "data"))
    told = json.loads(done.stdout)
    assert (done.returncode, told["ok"]) == (0, True), told
    assert "5 lines" in {one["what"]: one for one in told["findings"]}["trace"]["found"]
    assert not (tmp_path / "data").exists()  # looking makes nothing


def told_of(case: str, folder: Path, **root: str) -> dict[str, Any]:
    """The first run of a ready input, as `show --json` tells it."""
    data = str(folder / "data")
    file = next((ROOT / "tests" / "cases").glob(f"{case}_*.json"))
    done = here("ingest", str(body_of(file, folder, **root)), "--data", data)
    assert done.returncode == 0, done.stderr
    run = json.loads(here("runs", "--json", "--data", data).stdout)["runs"][0]
    shown = here("show", run["run_id"], "--data", data)
    assert shown.returncode == 0
    assert not any(ord(letter) < 32 and letter != "\n" for letter in shown.stdout)
    told: dict[str, Any] = json.loads(
        here("show", run["run_id"], "--json", "--data", data).stdout, parse_constant=refused
    )
    return told


def refused(constant: str) -> None:
    raise AssertionError(f"bare {constant}")


def test_markup_and_sql_in_names_stay_names(tmp_path: Path) -> None:
    told = told_of("I21", tmp_path)
    assert told["run"]["task_id"] == "t'); DROP TABLE spans; --"
    assert told["run"]["service"] == '=HYPERLINK("http://x")'
    call = next(line for line in told["lines"] if line.get("tool"))
    assert call["tool"] == "${__user.token}{{x}}"
    assert call["input"] == {"q": "</script><script>alert(1)</script>"}
    output = next(line["output"] for line in told["lines"] if "output" in line)
    assert output == "[click](javascript:alert(1))\r\nlevel=error forged line"
    listed = json.loads(
        here("runs", "--json", "--task", "t'); DROP TABLE spans; --", "--data", str(tmp_path / "data")).stdout
    )
    assert len(listed["runs"]) == 1
    assert here("query", "SELECT count() FROM spans", "--data", str(tmp_path / "data")).stdout.split() == [
        "count()",
        "2",
    ]


def test_64_bit_integers_of_a_root_keep_every_digit(tmp_path: Path) -> None:
    attributes = told_of("I03", tmp_path, gen_ai__operation__name="invoke_agent")["run"]["attributes"]
    assert {key: attributes[key] for key in ("as_string", "as_number", "max", "min")} == {
        "as_string": 9007199254740993, "as_number": 42, "max": 9223372036854775807, "min": -9223372036854775808,
    }  # fmt: skip


def test_hostile_values_of_a_root_are_strict_json(tmp_path: Path) -> None:
    attributes = told_of("I11", tmp_path, gen_ai__operation__name="invoke_agent")["run"]["attributes"]
    assert (attributes["nul"], attributes["nan"], attributes["inf"]) == ("a\x00b", "NaN", "-Infinity")
    assert attributes["kv"] == {"a": [1, "x", True, None], "b": {}}
    assert attributes["dup"] == "second"


def test_files_come_in_by_a_pipe(tmp_path: Path) -> None:
    command = [*PASSHAT, "ingest", "-", "--data", "data"]
    done = subprocess.run(command, input=CAPTURE.read_bytes(), capture_output=True, cwd=tmp_path, env=environment())
    assert (done.returncode, done.stdout) == (0, b"1 requests sent\n"), done.stderr
