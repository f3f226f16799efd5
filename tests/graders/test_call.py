"""The `call` view: pairing, success, paths, what is missing."""

from __future__ import annotations

from typing import Any

import pytest

from graders.actions import ActionTable
from graders.call import Call
from graders.trace import Trace
from semconv.run import Run
from semconv.trace_line import TraceLine
from tests.graders.runs import Script

TABLE = ActionTable()


def calls_of(run: Run) -> list[Call]:
    return Trace(run, TABLE).calls


def only(script: Script) -> Call:
    (call,) = calls_of(script.run())
    return call


def test_calls_are_paired_by_id() -> None:
    script = Script()
    script.line("assistant", tool="get", input={"a": 1}, call_id="x")
    script.line("assistant", tool="get", input={"a": 2}, call_id="y")
    script.line("tool", tool="get", output="second", call_id="y")
    script.line("tool", tool="get", output="first", call_id="x")
    assert [call.output_text for call in calls_of(script.run())] == ["first", "second"]


def test_calls_without_ids_are_paired_by_position_within_their_tool() -> None:
    script = Script()
    for tool in ("a", "b", "a"):
        script.line("assistant", tool=tool, input={})
    for tool, output in (("b", "B"), ("a", "A1"), ("a", "A2")):
        script.line("tool", tool=tool, output=output)
    assert [(call.tool, call.output_text) for call in calls_of(script.run())] == [("a", "A1"), ("b", "B"), ("a", "A2")]


def test_an_id_used_twice_is_paired_in_order() -> None:
    script = Script()
    for output in ("one", "two"):
        script.line("assistant", tool="t", input={}, call_id="same")
        script.line("tool", tool="t", output=output, call_id="same")
    assert [call.output_text for call in calls_of(script.run())] == ["one", "two"]


def test_a_result_without_its_call_is_a_call_whose_input_is_not_known() -> None:
    script = Script()
    script.line("tool", tool="Edit", output="ok", status="ok")
    call = only(script)
    assert (call.n, call.tool, call.input_is_whole) == (1, "Edit", False)
    assert call.tag("edit") is True
    assert call.tag("test_edit") is None


def test_the_view_has_every_field_of_the_contract() -> None:
    script = Script().user("Fix it").says("I look first.")
    script.line("assistant", tool="search", tool_raw="mcp__web__search", server="web", input={"q": "x"}, agent="main",
                depth=1, start_ns=1_000_000, end_ns=251_000_000, input_state="object", call_id="c")  # fmt: skip
    script.line("tool", tool="search", output='{"hits": [1]}', status="ok", call_id="c")
    call = calls_of(script.run())[0]
    seen = {name: call.field(name) for name in ("n", "index", "tool", "tool_raw", "server", "input", "input_text")}
    assert seen == {
        "n": 3,
        "index": 0,
        "tool": "search",
        "tool_raw": "mcp__web__search",
        "server": "web",
        "input": {"q": "x"},
        "input_text": '{"q":"x"}',
    }
    assert (call.field("output_text"), call.field("output_json")) == ('{"hits": [1]}', {"hits": [1]})
    assert (call.field("agent"), call.field("depth"), call.field("turn")) == ("main", 1, 1)
    assert (call.field("last_user"), call.field("last_assistant")) == ("Fix it", "I look first.")
    assert (call.field("duration_ms"), call.field("input_state")) == (250, "object")
    assert (call.field("ok"), call.field("error"), call.field("command"), call.field("path")) == (True, "", "", "")
    assert (call.field("commands"), call.field("paths"), call.field("actions")) == ([], [], [])


@pytest.mark.parametrize(
    ("fields", "ok", "error"),
    [
        ({"output": "fine"}, True, ""),
        ({"output": "fine", "status": "ok"}, True, ""),
        ({"status": "ok"}, True, ""),
        ({}, False, ""),  # unset and nothing captured: not seen to have worked, not known to have failed
        ({"status": "error"}, False, "error"),
        ({"status": "error", "output": "no such file\nmore"}, False, "no such file"),
        ({"error": "boom"}, False, "boom"),
        ({"output": {"error": "not found"}}, False, "not found"),
        ({"output": '{"isError": true, "content": "x"}'}, False, "x"),
        ({"output": '{"status": "error", "message": "m"}'}, False, "m"),
        ({"output": '{"success": false}'}, False, "error"),
        ({"output": '{"error": null, "value": 3}'}, True, ""),
        ({"output": '{"error": "", "status": "completed"}'}, True, ""),
        ({"output": "Error: order not found"}, False, "Error: order not found"),
        ({"output": "Errors are listed below: none"}, True, ""),
    ],
)
def test_whether_a_call_worked(fields: dict[str, Any], ok: bool, error: str) -> None:
    call = only(Script().call("refund", {"id": 1}, **fields))
    assert (call.ok, call.error) == (ok, error)


@pytest.mark.parametrize(
    ("output", "code"),
    [
        ("Process exited with code 1\nOutput:\n1 failed", 1),
        ("Chunk ID: 1\nWall time: 0.1\nProcess exited with code 0\nOutput:\nok", 0),
        ("Exit code 2\nno such file", 2),
        ("<exited with exit code 1>", 1),
        ("[Command finished with exit code 0]", 0),
        ("Command failed with exit code 127", 127),
        ("done\nexit status: 0", 0),
        ({"exit_code": 3, "output": "x"}, 3),
        ({"metadata": {"exitCode": 1}, "output": "x"}, 1),
        ('{"output": "1 failed", "metadata": {"exit_code": 1}}', 1),
        ("42 passed", None),
        ("the program returned 3 rows", None),
    ],
)
def test_exit_codes_are_read_from_results(output: Any, code: int | None) -> None:
    assert only(Script().bash("pytest -q", output)).exit_code == code


@pytest.mark.parametrize(
    ("command", "fields", "ran", "green"),
    [
        ("pytest -q", {"output": "42 passed"}, True, True),
        ("pytest -q", {"output": "1 failed, 41 passed"}, True, False),
        ("pytest -q", {"output": "1 failed, 41 passed", "status": "ok"}, True, False),
        ("pytest -q", {"output": "", "status": "ok"}, True, True),
        ("pytest -q", {"status": "ok"}, True, True),
        ("pytest -q", {"status": "error"}, True, False),
        ("pytest -q", {"output": "42 passed", "status": "error"}, True, False),
        ("pytest -q", {}, True, None),
        ("pytest -q", {"output": "no tests ran in 0.01s", "status": "ok"}, True, False),
        ("pytest -q || true", {"output": "1 failed", "status": "ok"}, True, False),
        ("pytest -q || true", {"output": "42 passed in 1s", "status": "ok"}, True, True),
        ("pytest -q || true", {"output": "", "status": "ok"}, True, False),
        ("pytest -q | tail -3", {"output": "", "status": "ok"}, True, False),
        ("pytest -q | tail -3", {"output": "== 42 passed in 1s ==", "status": "ok"}, True, True),
        ("set -o pipefail; pytest -q | tail -3", {"output": "", "status": "ok"}, True, True),
        ("pytest -q; echo done", {"output": "done", "status": "ok"}, True, False),
        ("pytest -q && echo done", {"output": "done", "status": "ok"}, True, True),
        ("pytest -q && flake8", {"output": "42 passed in 1s\na.py:1: E501", "status": "error"}, True, True),
        ("pytest -q", {"output": "bash: pytest: command not found\nExit code 127", "status": "error"}, False, False),
        ("pytest -q", {"error": "The user doesn't want to proceed with this tool use."}, False, False),
        ("go test ./...", {"output": "ok  \texample/a\t0.01s", "status": "ok"}, True, True),
        ("go test ./...", {"output": "--- FAIL: TestA\nFAIL\texample/a\t0.01s", "status": "ok"}, True, False),
        ("cargo test", {"output": "test result: ok. 5 passed; 0 failed; 0 ignored"}, True, True),
        ("npm test", {"output": "Tests:       1 failed, 3 passed, 4 total"}, True, False),
        ("npm test", {"output": "Tests:       4 passed, 4 total"}, True, True),
        ("npm test", {"output": "  3 passing (12ms)\n  1 failing"}, True, False),
        ("npm test", {"output": 'npm ERR! Missing script: "test"'}, True, False),
        ("mvn test", {"output": "Tests run: 5, Failures: 0, Errors: 0, Skipped: 0\nBUILD SUCCESS"}, True, True),
        ("mvn test", {"output": "Tests run: 5, Failures: 1, Errors: 0\nBUILD FAILURE"}, True, False),
        ("./gradlew test", {"output": "BUILD SUCCESSFUL in 3s"}, True, True),
        ("bundle exec rspec", {"output": "5 examples, 0 failures"}, True, True),
        ("bundle exec rspec", {"output": "5 examples, 2 failures"}, True, False),
        ("vendor/bin/phpunit", {"output": "OK (5 tests, 9 assertions)"}, True, True),
        ("vendor/bin/phpunit", {"output": "FAILURES!\nTests: 5, Assertions: 9, Failures: 1."}, True, False),
        ("dotnet test", {"output": "Passed!  - Failed:     0, Passed:     5, Skipped:     0"}, True, True),
        ("dotnet test", {"output": "Failed!  - Failed:     1, Passed:     4"}, True, False),
        ("ctest", {"output": "100% tests passed, 0 tests failed out of 5"}, True, True),
        ("python -m unittest", {"output": "Ran 3 tests in 0.01s\n\nOK"}, True, True),
        ("python -m unittest", {"output": "Ran 3 tests in 0.01s\n\nFAILED (failures=1)"}, True, False),
        ("pytest -q", {"output": "\x1b[32m\x1b[1m42 passed\x1b[0m in 0.1s"}, True, True),
        ("pytest -q", {"output": "2 passed, 1 xfailed, 3 warnings in 0.1s"}, True, True),
        ("pytest -q", {"output": "2 passed, 1 error in 0.1s"}, True, False),
        ("echo pytest", {"output": "42 passed"}, False, False),
    ],
)
def test_a_test_run_and_whether_it_was_seen_green(
    command: str, fields: dict[str, Any], ran: bool, green: bool | None
) -> None:
    call = only(Script().bash(command, **fields))
    assert (call.tag("test_run"), call.tag("test_pass")) == (ran, green)


@pytest.mark.parametrize(
    ("command", "fields", "edits"),
    [
        ("sed -i s/a/b/ a.py", {"output": "", "status": "ok"}, True),
        ("sed -i s/a/b/ a.py", {}, True),
        ("sed -i s/a/b/ b.py", {"output": "sed: can't read b.py: No such file", "status": "error"}, False),
        ("sed -i s/a/b/ b.py", {"output": "Process exited with code 2\nOutput:\nsed: can't read b.py"}, False),
        ("cd x && sed -i s/a/b/ b.py", {"output": "sed: can't read b.py", "status": "error"}, False),
        ("sed -i s/a/b/ a.py && pytest", {"output": "1 failed", "status": "error"}, True),
        ("sed -i s/a/b/ a.py; pytest", {"output": "1 failed", "status": "error"}, True),
        ("cat > a.py <<'E'\nx\nE", {"output": "bash: a.py: Permission denied", "status": "error"}, False),
        ("python gen.py > a.py", {"output": "Traceback", "status": "error"}, True),
    ],
)
def test_a_failed_shell_edit_is_no_edit(command: str, fields: dict[str, Any], edits: bool) -> None:
    assert only(Script().bash(command, **fields)).tag("edit") is edits


def test_a_failed_edit_is_no_edit() -> None:
    assert only(Script().edit("a.py", status="error", error="old string not found")).tag("edit") is False
    assert only(Script().edit("a.py", status="ok")).tag("edit") is True
    assert only(Script().edit("a.py")).tag("edit") is True


@pytest.mark.parametrize("state", ["truncated", "not_captured"])
def test_tags_that_need_lost_arguments_are_not_told(state: str) -> None:
    call = only(Script().call("Bash", '{"command": "pyt', input_state=state))
    assert (call.tag("test_run"), call.tag("edit"), call.tag("test_edit")) == (None, None, None)
    edit = only(Script().call("Edit", "", status="ok", input_state=state))
    assert (edit.tag("edit"), edit.tag("test_edit"), edit.tag("test_run")) == (True, None, False)
    assert only(Script().call("weather", "", input_state=state)).tag("edit") is False


def test_a_call_of_which_the_name_alone_was_captured_may_have_failed() -> None:
    call = only(Script().call("refund_order", None, input_state="not_captured"))
    assert call.tag("payment") is None
    assert only(Script().call("refund_order", None, status="ok", input_state="not_captured")).tag("payment") is True
    assert only(Script().call("refund_order", {"id": 1})).tag("payment") is True


def test_nothing_is_settled_before_the_end_of_a_call_of_an_open_run() -> None:
    script = Script().edit("tests/test_a.py")
    (call,) = calls_of(script.open())
    assert (call.tag("edit"), call.tag("test_edit")) == (None, None)
    script.line("tool", tool="Edit", output="ok")
    (call,) = calls_of(script.open())
    assert (call.tag("edit"), call.tag("test_edit")) == (True, True)


@pytest.mark.parametrize(
    ("path", "is_test"),
    [
        ("tests/test_invoice.py", True), ("test_invoice.py", True), ("invoice_test.py", True), ("conftest.py", True),
        ("src/invoice.py", False), ("src/latest.py", False), ("contest/a.py", False), ("attestation.py", False),
        ("src/a.test.ts", True), ("src/a.spec.tsx", True), ("src/__tests__/a.js", True), ("src/testing.ts", False),
        ("pkg/a_test.go", True), ("pkg/a.go", False), ("pkg/testdata/a.json", True),
        ("src/test/java/x/FooTest.java", True), ("x/FooTest.java", True), ("x/FooIT.java", True),
        ("x/Contest.java", False), ("x/Latest.java", False), ("x/TestFoo.java", True), ("x/FooSpec.scala", True),
        ("spec/models/a_spec.rb", True), ("app/models/spec.rb", False), ("test/a_test.rb", True),
        ("tests/FooTest.php", True), ("Foo.Tests/Bar.cs", True), ("Foo/BarTests.cs", True), ("Foo/Bar.cs", False),
        ("tests/a.rs", True), ("src/a.rs", False), ("src/tests.rs", True), ("src/a_unittest.cc", True),
        ("/srv/app/tests/x.json", True), ("cypress/e2e/a.cy.js", True), ("a.bats", True), ("t/basic.t", True),
        ("src/__snapshots__/a.snap", True), ("docs/testing.md", False), ("", False), ("test", False),
        ("features/login.feature", True), ("App/AppTests/FooTests.swift", True), ("a/b/../tests/c.py", True),
    ],
)  # fmt: skip
def test_paths_of_tests(path: str, is_test: bool) -> None:
    assert bool(only(Script().edit(path)).tag("test_edit")) is is_test


def test_deleting_a_test_is_an_edit_of_a_test() -> None:
    assert only(Script().bash("rm tests/test_a.py", "")).tag("test_edit") is True
    assert only(Script().bash("rm -rf tests/__pycache__", "")).tag("test_edit") is False


def test_redaction_is_visible() -> None:
    assert only(Script().call("t", {"k": "x"}, flags=("redacted",))).redacted
    assert not only(Script().call("t", {"k": "x"})).redacted


def test_an_assistant_line_with_text_and_a_tool_is_both() -> None:
    run = Script().line("assistant", text="I call.", tool="t", input={}).run()
    assert [event.event for event in Trace(run, TABLE).events] == ["assistant_turn", "call"]


@pytest.mark.parametrize(
    ("lines", "final"),
    [
        ([TraceLine(1, "assistant", text="a"), TraceLine(2, "assistant", text="b")], 2),
        ([TraceLine(1, "assistant", text="a"), TraceLine(2, "assistant", tool="t")], None),
        ([TraceLine(1, "assistant", text="a"), TraceLine(2, "assistant", text="sub", depth=1)], 1),
        ([TraceLine(1, "assistant", text="a"), TraceLine(2, "user", text="thanks")], None),
        ([TraceLine(1, "assistant", tool="t"), TraceLine(2, "result", text="done")], 2),
        ([TraceLine(1, "assistant", text="a"), TraceLine(2, "result", text="a")], 1),
    ],
)
def test_the_final_answer(lines: list[TraceLine], final: int | None) -> None:
    run = Run("p", "r", tuple(lines), closed_by="root", root_status="ok")
    assert [event.n for event in Trace(run, TABLE).events if event.final] == ([final] if final else [])
