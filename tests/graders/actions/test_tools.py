"""Tools of coding agents, servers and frameworks, and what their calls do."""

from __future__ import annotations

from typing import Any

import pytest

from graders import CheckError
from graders.actions import ActionTable

PATCH = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-a\n+b\n*** Delete File: src/b.py\n*** End Patch"
UNIFIED = "--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1 @@\n-a\n+b\n"
ADDED = "*** Begin Patch\n*** Add File: tests/test_a.py\n+x\n*** Move to: tests/test_b.py\n*** End Patch"

ROWS: list[tuple[str, Any, str]] = [
    # Claude Code
    ("Edit", {"file_path": "/p/a.py", "old_string": "a", "new_string": "b"}, "edit(/p/a.py)"),
    ("MultiEdit", {"file_path": "a.py", "edits": [{"old_string": "a"}]}, "edit(a.py)"),
    ("Write", {"file_path": "a.py", "content": "x"}, "edit(a.py)"),
    ("NotebookEdit", {"notebook_path": "a.ipynb", "new_source": "x"}, "edit(a.ipynb)"),
    ("Read", {"file_path": "a.py"}, "read(a.py)"),
    ("Bash", {"command": "pytest -q", "description": "Run the tests"}, "test_run"),
    ("WebFetch", {"url": "https://x.example", "prompt": "?"}, "network"),
    ("WebSearch", {"query": "x"}, "network"),
    ("AskUserQuestion", {"questions": []}, "ask_user"),
    ("Grep", {"pattern": "x", "path": "src"}, ""),
    ("Glob", {"pattern": "**/*.py"}, ""),
    ("TodoWrite", {"todos": []}, ""),
    ("Agent", {"prompt": "edit the file"}, ""),
    # Codex
    ("exec_command", {"cmd": "cat calc.py", "workdir": "/srv/app"}, "read(/srv/app/calc.py)"),
    ("exec_command", {"cmd": "sed -i 's/a/b/' calc.py", "workdir": "/srv/app"}, "edit(/srv/app/calc.py)"),
    ("shell", {"command": ["bash", "-lc", "pytest -q | tail -3"]}, "test_run"),
    ("shell", {"command": ["pytest", "-k", "a or b"]}, "test_run"),
    ("shell", {"command": ["apply_patch", PATCH]}, "edit(src/a.py) delete(src/b.py)"),
    ("local_shell", {"action": {"command": ["git", "push"]}}, "vcs network"),
    ("apply_patch", {"input": PATCH}, "edit(src/a.py) delete(src/b.py)"),
    ("apply_patch", PATCH, "edit(src/a.py) delete(src/b.py)"),
    ("apply_patch", {"patch": UNIFIED}, "edit(src/a.py)"),
    ("update_plan", {"plan": []}, ""),
    ("request_user_input", {"questions": []}, "ask_user"),
    # Gemini CLI, Qwen Code
    ("run_shell_command", {"command": "npm test", "dir_path": "web"}, "test_run"),
    ("replace", {"file_path": "a.py", "old_string": "a", "new_string": "b"}, "edit(a.py)"),
    ("write_file", {"file_path": "a.py", "content": "x"}, "edit(a.py)"),
    ("read_file", {"absolute_path": "/p/a.py"}, "read(/p/a.py)"),
    ("read_many_files", {"paths": ["a.py", "b.py"]}, "read(a.py b.py)"),
    ("google_web_search", {"query": "x"}, "network"),
    ("edit", {"file_path": "a.py", "old_string": "a"}, "edit(a.py)"),
    # Copilot CLI and Chat
    ("bash", {"command": "python3 -m pytest -q", "mode": "sync"}, "test_run"),
    ("view", {"path": "a.py"}, "read(a.py)"),
    ("edit", {"path": "a.py", "old_str": "a", "new_str": "b"}, "edit(a.py)"),
    ("create", {"path": "a.py", "file_text": "x"}, "edit(a.py)"),
    ("replace_string_in_file", {"filePath": "a.py"}, "edit(a.py)"),
    (
        "multi_replace_string_in_file",
        {"replacements": [{"filePath": "a.py"}, {"filePath": "b.py"}]},
        "edit(a.py b.py)",
    ),
    ("insert_edit_into_file", {"filePath": "a.py", "code": "x"}, "edit(a.py)"),
    ("run_in_terminal", {"command": "go test ./...", "isBackground": False}, "test_run"),
    ("runTests", {"files": ["tests/test_a.py"]}, "test_run(tests/test_a.py)"),
    ("fetch_webpage", {"urls": ["https://x.example"]}, "network"),
    ("ask_user", {"question": "?"}, "ask_user"),
    # OpenCode
    ("read", {"filePath": "a.py"}, "read(a.py)"),
    ("write", {"filePath": "a.py", "content": "x"}, "edit(a.py)"),
    ("edit", {"filePath": "a.py", "oldString": "a"}, "edit(a.py)"),
    ("patch", {"patchText": PATCH}, "edit(src/a.py) delete(src/b.py)"),
    ("webfetch", {"url": "https://x.example"}, "network"),
    # Cursor, Windsurf
    ("edit_file", {"target_file": "a.py", "code_edit": "x"}, "edit(a.py)"),
    ("search_replace", {"file_path": "a.py", "old_string": "a"}, "edit(a.py)"),
    ("delete_file", {"target_file": "a.py"}, "delete(a.py)"),
    ("run_terminal_cmd", {"command": "cargo test", "is_background": False}, "test_run"),
    ("StrReplace", {"path": "a.py"}, "edit(a.py)"),
    ("replace_file_content", {"TargetFile": "/p/a.py"}, "edit(/p/a.py)"),
    ("run_command", {"CommandLine": "npm test", "Cwd": "/p"}, "test_run"),
    # OpenHands, SWE-agent
    ("execute_bash", {"command": "pytest"}, "test_run"),
    ("str_replace_editor", {"command": "view", "path": "/p/a.py"}, "read(/p/a.py)"),
    ("str_replace_editor", {"command": "create", "path": "/p/a.py"}, "edit(/p/a.py)"),
    ("str_replace_editor", {"command": "str_replace", "path": "/p/a.py"}, "edit(/p/a.py)"),
    ("str_replace_editor", {"command": "insert", "path": "/p/a.py"}, "edit(/p/a.py)"),
    ("str_replace_based_edit_tool", {"command": "undo_edit", "path": "a.py"}, "edit(a.py)"),
    ("execute_ipython_cell", {"code": "!pytest -q"}, "test_run"),
    ("execute_ipython_cell", {"code": "open('a.py', 'w').write('x')"}, "edit(a.py)"),
    ("execute_ipython_cell", {"code": "1 + 1"}, ""),
    # Cline and Roo, Goose, Kiro, Amazon Q
    ("write_to_file", {"path": "a.py", "content": "x"}, "edit(a.py)"),
    ("replace_in_file", {"path": "a.py", "diff": "x"}, "edit(a.py)"),
    ("apply_diff", {"path": "a.py", "diff": "x"}, "edit(a.py)"),
    ("execute_command", {"command": "pytest"}, "test_run"),
    ("ask_followup_question", {"question": "?"}, "ask_user"),
    ("developer__shell", {"command": "pytest"}, "test_run"),
    ("developer__text_editor", {"command": "write", "path": "a.py"}, "edit(a.py)"),
    ("fs_write", {"command": "create", "path": "a.py"}, "edit(a.py)"),
    ("fs_read", {"mode": "Line", "path": "a.py"}, "read(a.py)"),
    ("fs_read", {"operations": [{"mode": "Line", "path": "a.py"}]}, "read(a.py)"),
    # MCP servers: filesystem, GitHub, Git, Slack, Stripe, databases
    ("read_text_file", {"path": "a.py"}, "read(a.py)"),
    ("read_multiple_files", {"paths": ["a.py", "b.py"]}, "read(a.py b.py)"),
    ("move_file", {"source": "a.py", "destination": "b.py"}, "edit(a.py b.py) delete(a.py b.py)"),
    ("create_or_update_file", {"path": "a.py", "content": "x", "branch": "b"}, "edit(a.py)"),
    ("push_files", {"files": [{"path": "a.py", "content": "x"}]}, "vcs(a.py) network(a.py) edit(a.py)"),
    ("create_pull_request", {"title": "x"}, "vcs network"),
    ("get_file_contents", {"path": "a.py"}, "read(a.py)"),
    ("add_issue_comment", {"body": "x"}, "message_send"),
    ("git_commit", {"message": "x"}, "vcs"),
    ("slack_post_message", {"channel_id": "c", "text": "x"}, "message_send"),
    ("send_email", {"to": "a@x.example"}, "message_send"),
    ("create_refund", {"payment_intent": "pi_1"}, "payment"),
    ("refund_order", {"order_id": "A-17", "amount": 120}, "payment"),
    ("Orders-refund_order", {"order_id": "A-17", "amount": 120}, "payment"),
    ("functions.shell", {"command": "pytest"}, "test_run"),
    ("filesystem__write_file", {"path": "a.py"}, "edit(a.py)"),
    ("query", {"sql": "SELECT * FROM t"}, "sql_read"),
    ("query", {"sql": "DELETE FROM t"}, "sql_write"),
    ("execute_sql", {"query": "WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x"}, "sql_write"),
    ("read_query", {"query": "select 1; drop table t"}, "sql_write"),
    ("read_query", {"query": "select 'drop table t' -- delete from t"}, "sql_read"),
    ("read_query", {"query": "select 'a -- b' from t; delete from t"}, "sql_write"),
    ("read_query", {"query": "select 1 /* '; */; drop table t"}, "sql_write"),
    ("read_query", {"query": "/* drop table t */ select 1"}, "sql_read"),
    ("read_query", {"query": 'select "a;b" from t'}, "sql_read"),
    ("read_query", {"query": "explain analyze update t set a = 1"}, "sql_write"),
    ("read_query", {"query": "select * into x from t"}, "sql_write"),
    ("list_tables", {}, "sql_read"),
    # Not what the name may suggest
    ("search", {"query": "paris temp"}, ""),
    ("query", {"query": "What is the weather in Paris?"}, ""),
    ("edit", {"order_id": 3, "status": "x"}, ""),
    ("create", {"title": "x"}, ""),
    ("read", {"message_id": 3}, ""),
    ("weather", {"city": "Paris"}, ""),
    ("question", {"id": 3}, ""),
]


def done(table: ActionTable, tool: str, arguments: Any) -> str:
    effects = table.done(tool, "", arguments).effects
    return " ".join(f"{effect.kind}({' '.join(effect.paths)})" if effect.paths else effect.kind for effect in effects)


@pytest.mark.parametrize(("tool", "arguments", "actions"), ROWS)
def test_a_tool_does(tool: str, arguments: Any, actions: str) -> None:
    assert done(ActionTable(), tool, arguments) == actions


def test_names_are_compared_without_case_and_separators() -> None:
    table = ActionTable()
    assert {done(table, name, {"path": "a.py"}) for name in ("StrReplace", "str_replace", "str-replace")} == {
        "edit(a.py)"
    }


@pytest.mark.parametrize(
    ("entry", "command"),
    [
        ("./run_tests.sh", "./run_tests.sh"),
        ("./run_tests.sh", "cd x && ./run_tests.sh -v | tail"),
        ("run_tests.sh", "./run_tests.sh"),
        ("./run_tests.sh", "bash run_tests.sh"),
        ("bazel run //tools:*", "bazel run //tools:tests"),
        ("make smoke", "make smoke V=1"),
        ({"command": "make smoke"}, "sudo make smoke"),
    ],
)
def test_a_project_names_its_own_test_command(entry: Any, command: str) -> None:
    table = ActionTable({"test_run": [entry]})
    assert done(ActionTable(), "Bash", {"command": command}) == ""
    assert done(table, "Bash", {"command": command}) == "test_run"


def test_a_project_names_its_own_tools() -> None:
    table = ActionTable({"payment": ["wire_*", {"tool": "bank.transfer"}]})
    assert done(table, "wire_money", {}) == "payment"
    assert [effect.kind for effect in table.done("transfer", "bank", {}).effects] == ["payment"]
    assert done(table, "transfer", {}) == ""


@pytest.mark.parametrize(
    ("actions", "problem"),
    [
        ({"test_runs": []}, "actions.test_runs: there is no kind of action 'test_runs'; did you mean 'test_run'?"),
        ({"edit": [3]}, "actions.edit: an entry is a tool name, a command line, or {tool: …} or {command: …}"),
        ({"edit": [{"tol": "x"}]}, "actions.edit: unknown key 'tol'; did you mean 'tool'?"),
        ({"edit": ["a 'b"]}, "actions.edit: 'a 'b' is no command line: No closing quotation"),
    ],
)
def test_what_is_wrong_with_actions_is_said(actions: dict[str, Any], problem: str) -> None:
    with pytest.raises(CheckError) as caught:
        ActionTable(actions)
    assert str(caught.value) == problem
