"""The demo, whole: stock exporters, the real pipeline, the views."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from collector.demo import expected
from tests.cli.commands import environment, passhat

SUITE = {"1": (0.6, 0.6), "3": (0.8125, 0.3625), "5": (0.875, 0.25)}


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """What `passhat demo --json` says, with an environment that would send stock exporters elsewhere."""
    elsewhere = {
        "OTEL_SDK_DISABLED": "true",
        "OTEL_TRACES_SAMPLER": "always_off",
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9",
        "OTEL_EXPORTER_OTLP_HEADERS": "authorization=Basic x",
        "OTEL_RESOURCE_ATTRIBUTES": "passhat.task.id=wrong,passhat.project=wrong",
        "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT": "1",
        "HTTP_PROXY": "http://127.0.0.1:9",
        "ALL_PROXY": "http://127.0.0.1:9",
        "PASSHAT_RUNS__SETTLE_S": "1000",
        "PASSHAT_STORE__URL": "chdb:/not/there",
    }
    folder = tmp_path_factory.mktemp("demo")
    (folder / "passhat.yaml").write_text("checks: []\nauth: {tokens_file: /not/there}\n")
    done = passhat("demo", "--json", cwd=folder, env=elsewhere)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["passhat.yaml"]  # nothing is left behind
    told: dict[str, object] = json.loads(done.stdout)
    return told


def test_the_lessons_runs(shown: dict[str, dict[str, dict[str, object]]]) -> None:
    a, b = shown["runs"]["a"], shown["runs"]["b"]
    assert (a["edits"], a["test_runs"], set(a["checks"].values())) == ([3, 6], [4, 7], {"pass"})  # type: ignore[attr-defined]
    assert (b["edits"], b["test_runs"]) == ([2, 5, 6], [3])
    assert b["checks"] == {"tests-after-last-edit": "fail", "no-test-edits": "fail", "no-repeats": "pass"}
    assert a["final_text"] == b["final_text"] == "Fixed; all tests pass."


def test_the_labs_transcripts(shown: dict[str, dict[str, dict[str, object]]]) -> None:
    axes = {name: tuple(shown["lab"][name][axis] for axis in ("trajectory", "calls", "outcome")) for name in "ABCD"}
    assert axes == {
        "A": ("pass", "pass", "pass"),
        "B": ("fail", "pass", "pass"),
        "C": ("pass", "pass", "fail"),
        "D": ("fail", "fail", "fail"),
    }
    disagreements = [(one["run"], one["meaning"]) for one in shown["lab"]["disagreements"]]  # type: ignore[index]
    assert disagreements == [("B", "right_answer_bad_path"), ("C", "good_path_wrong_answer")]
    assert shown["lab"]["D"]["bad_calls"] == ["search"]
    case = shown["lab"]["case"]
    assert (case["require_path"], case["forbid_tool"]) == (["weather", "calculator"], ["search"])
    assert (case["expect_answer"], case["from_run"]) == ("32", "D")


def test_the_matrix(shown: dict[str, dict[str, dict[str, dict[str, float]]]]) -> None:
    assert {k: (row["pass_at_k"], row["pass_hat_k"]) for k, row in shown["matrix"]["suite"].items()} == {
        k: (pytest.approx(at), pytest.approx(hat)) for k, (at, hat) in SUITE.items()
    }
    assert {task: row["results"] for task, row in shown["matrix"]["tasks"].items()} == expected.MATRIX
    assert shown["matrix"]["tasks"]["retry-on-429"]["pass_hat_k"]["3"] == pytest.approx(0.1)


def test_a_difference_is_found_wherever_it_is(shown: dict[str, object]) -> None:
    assert expected.differences(shown) == []
    for path in (
        ("runs", "a", "edits"),
        ("runs", "b", "checks", "no-repeats"),
        ("lab", "C", "outcome"),
        ("lab", "disagreements"),
        ("lab", "case", "forbid_tool"),
        ("lab", "reliability", "c"),
        ("matrix", "tasks", "flaky-cache", "results"),
        ("matrix", "suite", "3", "pass_hat_k"),
    ):
        changed = json.loads(json.dumps(shown))
        inner = changed
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = None if path[-1] == "pass_hat_k" else []
        assert len(expected.differences(changed)) == 1, path


def test_for_people_it_prints_what_the_lesson_prints(tmp_path: Path) -> None:
    done = passhat("demo", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for text in (
        "run b: result=success final message='Fixed; all tests pass.'\n"
        "  edits at [2, 5, 6], test runs at [3]\n"
        "  FAIL tests ran after the last edit\n"
        "  FAIL no test file edited\n"
        "  ok   no call repeated more than 2 times\n",
        "  search      'paris temp'     BAD CALL\n  weather     'Paris'          ok\n",
        "  disagreements: 2 of 4\n",
        "retry-on-429     .PP.P  3/5\n",
        " k  pass@k  pass^k\n 1  0.6000  0.6000\n 3  0.8125  0.3625\n 5  0.8750  0.2500\n",
    ):
        assert text in done.stdout
    for way in ("grpc", "http/protobuf", "http/json"):
        assert f"by {way}" in done.stderr


def test_a_store_that_does_not_answer_is_4(tmp_path: Path) -> None:
    done = passhat("demo", "--store-url", "clickhouse://nobody:hunter2@127.0.0.1:9/passhat", cwd=tmp_path)
    assert done.returncode == 4
    assert "hunter2" not in done.stdout + done.stderr
    assert done.stdout == ""


def test_nothing_global_is_touched() -> None:
    code = (
        "import os\nfrom collector.demo.channels import stock_channels\n"
        "from opentelemetry import trace, _logs\n"
        "os.environ['OTEL_SDK_DISABLED'] = 'true'\n"
        "with stock_channels('127.0.0.1:9', '127.0.0.1:9', {}): assert 'OTEL_SDK_DISABLED' not in os.environ\n"
        "assert os.environ['OTEL_SDK_DISABLED'] == 'true'\n"
        "assert type(trace.get_tracer_provider()).__name__ == 'ProxyTracerProvider'\n"
        "assert type(_logs.get_logger_provider()).__name__ == 'ProxyLoggerProvider'\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment(), cwd=os.getcwd()
    )
    assert done.returncode == 0, done.stderr
