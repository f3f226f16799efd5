"""The default checks over what real coding agents sent: edits and test runs at the lines where they are."""

from __future__ import annotations

import pytest

from collector.assemble import assemble
from graders import CheckSet
from semconv.run import Run
from tests.collector.assemble.recorded import of_capture

CHECKS = CheckSet.compile()
# All did the same: tests fail, an edit that is refused, one that works, tests pass. The refused one is no edit.
CODING = {
    "claude_code_full": ([8], [6, 10]),
    "codex_cli": ([10], [6, 12]),
    "copilot_cli": ([11], [7, 13]),
    "gemini_cli": ([11], [7, 13]),
    "qwen_code": ([11], [7, 13]),
    "openinference_openai_agents_coding": ([11], [7, 13]),
    "openinference_claude_agent_sdk": ([10], [6, 12]),
    "langsmith_claude_agent_sdk": ([10], [6, 12]),
}
SHOP = ("pydantic_ai_v2_default", "openinference_openai_agents", "otel_genai_langchain", "ai_sdk_v7_otel")


def main_run(name: str) -> Run:
    """The longest run of a capture."""
    return max(assemble(of_capture(name), closed_by="root").runs, key=lambda run: len(run.lines))


@pytest.mark.parametrize("name", list(CODING))
def test_edits_and_test_runs_of_coding_agents(name: str) -> None:
    edits, tests = CODING[name]
    run = main_run(name)
    assert CHECKS.evidence(run) == {"edits": edits, "test_runs": tests}
    verdicts = {verdict.check_id: verdict for verdict in CHECKS.grade(run)}
    assert {v.check_id: v.status for v in verdicts.values() if v.gate} == {
        "tests-after-last-edit": "pass",
        "no-test-edits": "pass",
        "no-repeats": "pass",
    }
    green = verdicts["tests-green-after-last-edit"]
    assert (green.status, green.lines) == ("pass", (edits[-1], tests[-1]))
    first_run = next(call for call in CHECKS.trace(run).calls if call.n == tests[0])
    assert first_run.tag("test_pass") is False


def test_without_content_what_a_shell_did_is_unknown() -> None:
    verdicts = {verdict.check_id: verdict.status for verdict in CHECKS.grade(main_run("claude_code_default"))}
    assert verdicts["tests-after-last-edit"] == verdicts["no-test-edits"] == "unknown"
    assert verdicts["unrecovered-tool-error"] == "pass"  # names and statuses are enough for that


@pytest.mark.parametrize("name", SHOP)
def test_one_refund_failed_and_one_was_paid(name: str) -> None:
    once = {"id": "once", "kind": "bounded", "of": "payment", "at_most": 1, "at_least": 1}
    recovered = {"use": "unrecovered-tool-error"}
    verdicts = CheckSet.compile([once, recovered]).grade(main_run(name))
    assert [verdict.status for verdict in verdicts] == ["pass", "pass"]
