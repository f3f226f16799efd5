"""The result rule of a trial, in its order; outcomes; versions."""

from __future__ import annotations

from typing import Any

import pytest

from graders import CheckSet, TrialPolicy, Verdict, judge
from graders.outcomes import counting, outcome_in_force, stated_by_checks
from graders.trial import INFRASTRUCTURE, is_infrastructure, worst
from semconv.outcome import Outcome
from semconv.run import Run

POLICY = TrialPolicy()


def run(**fields: Any) -> Run:
    header: dict[str, Any] = {"closed_by": "root", "root_status": "ok"}
    return Run("p", "r", (), **(header | fields))


def gate(status: str, **fields: Any) -> Verdict:
    return Verdict("g", "absence", status, "", gate=True, **fields)  # type: ignore[arg-type]


def advisory(status: str, **fields: Any) -> Verdict:
    return Verdict("a", "absence", status, "", **fields)  # type: ignore[arg-type]


def out(result: str, source: str = "harness", **fields: Any) -> Outcome:
    return Outcome("r", result, source, **fields)  # type: ignore[arg-type]


OPEN = run(closed_by="", root_status="")
IDLE = run(closed_by="idle", root_status="")
ERRED = run(root_status="error", root_error_type="ValueError")
LIMITED = run(root_status="error", root_error_type="openai.RateLimitError")
UNKNOWN = TrialPolicy(without_outcome="unknown")
MATURE = TrialPolicy(mature_s=60)

ROWS: list[tuple[Run, list[Verdict], Outcome | None, str, TrialPolicy, str, str]] = [
    # 1 open
    (OPEN, [gate("pass")], out("pass"), "outcome", POLICY, "pending", ""),
    (OPEN, [gate("fail")], None, "trajectory", POLICY, "pending", "g"),
    (OPEN, [], out("error"), "outcome", POLICY, "pending", ""),
    # 2 outcome error or invalid
    (run(), [gate("fail")], out("error", reason="sandbox died"), "outcome", POLICY, "error", "sandbox died"),
    (IDLE, [gate("pass")], out("invalid"), "outcome", POLICY, "invalid", ""),
    # 3 outcome fail
    (run(), [gate("pass")], out("fail"), "outcome", POLICY, "fail", ""),
    (IDLE, [gate("error")], out("fail"), "outcome", POLICY, "fail", ""),
    # 4 closed without root or end
    (IDLE, [gate("fail")], None, "trajectory", POLICY, "incomplete", "neither a root span nor an end event arrived"),
    (IDLE, [gate("pass")], None, "outcome", POLICY, "incomplete", "neither a root span nor an end event arrived"),
    (IDLE, [gate("pass")], out("pass"), "outcome", POLICY, "pass", ""),
    (run(closed_by="end", root_status=""), [gate("pass")], None, "trajectory", POLICY, "pass", ""),
    (run(closed_by="max_age"), [gate("pass")], None, "trajectory", POLICY, "pass", ""),
    # 5 root ended in error
    (ERRED, [gate("pass")], None, "trajectory", POLICY, "fail", "ValueError"),
    (LIMITED, [gate("fail")], None, "trajectory", POLICY, "error", "openai.RateLimitError"),
    (LIMITED, [gate("pass")], out("pass"), "outcome", POLICY, "pass", ""),
    (LIMITED, [], None, "trajectory", TrialPolicy(infrastructure_errors=()), "fail", "openai.RateLimitError"),
    # 6 no outcome where one is due
    (run(), [gate("fail")], None, "outcome", POLICY, "unknown", "awaiting_outcome"),
    (run(), [gate("pass")], None, "trajectory", UNKNOWN, "unknown", "awaiting_outcome"),
    (run(), [gate("pass")], None, "trajectory", MATURE, "unknown", "awaiting_outcome"),
    # 7 a gating fail
    (run(), [gate("fail")], None, "trajectory", POLICY, "fail", "g"),
    (run(), [gate("fail")], out("pass"), "outcome", POLICY, "fail", "g"),
    (run(), [gate("fail", on_fail="invalid"), gate("fail")], None, "trajectory", POLICY, "invalid", "g"),
    (run(), [gate("fail", on_fail="error"), gate("error")], None, "trajectory", POLICY, "error", "g"),
    (run(), [advisory("fail"), gate("pass")], None, "trajectory", POLICY, "pass", ""),
    # 8 a gating check that could not tell
    (run(), [gate("error"), gate("pass")], None, "trajectory", POLICY, "unknown", "evidence"),
    (run(), [gate("unknown")], out("pass"), "outcome", POLICY, "unknown", "evidence"),
    (run(), [advisory("error"), gate("pass")], None, "trajectory", POLICY, "pass", ""),
    # 9 outcome pass
    (run(), [], out("pass"), "outcome", POLICY, "pass", ""),
    (run(), [gate("not_applicable")], out("pass"), "outcome", POLICY, "pass", ""),
    # 10 the checks alone
    (run(), [gate("pass"), gate("not_applicable")], None, "trajectory", POLICY, "pass", ""),
    (run(), [gate("not_applicable"), advisory("pass")], None, "trajectory", POLICY, "unknown", "nothing_judged"),
    (run(), [], None, "trajectory", POLICY, "unknown", "nothing_judged"),
]


@pytest.mark.parametrize(("one", "verdicts", "outcome", "basis", "policy", "result", "reason"), ROWS)
def test_the_result_of_a_trial(
    one: Run,
    verdicts: list[Verdict],
    outcome: Outcome | None,
    basis: Any,
    policy: TrialPolicy,
    result: str,
    reason: str,
) -> None:
    found = judge(one, verdicts, outcome, basis, policy, 30.0)
    assert (found.result, found.reason) == (result, reason)


def test_a_mature_run_is_judged_without_an_outcome() -> None:
    assert judge(run(), [gate("pass")], None, "trajectory", MATURE, 60.0).result == "pass"


def test_three_results_stand_side_by_side() -> None:
    verdicts = [
        gate("pass"),
        advisory("fail"),
        advisory("error", axis="calls"),
        gate("unknown", axis="calls"),
        advisory("fail", axis="outcome"),
    ]
    found = judge(run(), verdicts, out("pass", "environment"), "outcome", POLICY)
    assert (found.trajectory, found.calls, found.outcome) == ("fail", "error", "pass")
    assert (found.outcome_source, found.basis) == ("environment", "outcome")


def test_advisory_checks_that_nobody_named_are_not_shown_as_the_trajectory() -> None:
    assert worst([gate("pass"), advisory("fail", named=False)], "trajectory") == "pass"
    assert worst([], "trajectory") == ""


@pytest.mark.parametrize(
    ("error_type", "listed"),
    [
        ("RateLimitError", True), ("openai.RateLimitError", True), ("rate_limit_exceeded", True), ("429", True),
        ("overloaded_error", True), ("TimeoutError", True),
        ("httpx.ConnectTimeout", True), ("503", True),
        ("500", True), ("APIConnectionError", True), ("ECONNRESET", False), ("ConnectionResetError", True),
        ("HTTP 529", True),
        ("ValueError", False), ("4290", False), ("14291", False), ("404", False), ("15003", False), ("", False),
        ("_OTHER", False),
    ],
)  # fmt: skip
def test_which_errors_are_the_infrastructures(error_type: str, listed: bool) -> None:
    assert is_infrastructure(error_type, INFRASTRUCTURE) is listed


# Outcomes


def test_people_beat_environments_beat_harnesses_beat_checks_beat_judges() -> None:
    order = ["judge", "check", "harness", "environment", "human"]
    outcomes = [out("pass" if at % 2 else "fail", source, time_ns=9 - at) for at, source in enumerate(order)]
    while outcomes:
        found = counting(reversed(outcomes))
        assert found is not None
        assert found.source == order[len(outcomes) - 1]
        outcomes.pop()
    assert counting([]) is None


def test_of_one_source_the_latest_counts_and_ties_are_broken_alike() -> None:
    early, late = out("pass", time_ns=1), out("fail", time_ns=2)
    assert counting([late, early]) == counting([early, late]) == late
    a, b = out("pass", time_ns=5, id="z"), out("fail", time_ns=5, id="a")
    assert counting([a, b]) == counting([b, a]) == b


def test_checks_of_axis_outcome_state_an_outcome_together() -> None:
    def states(*statuses: str, **fields: Any) -> str:
        stated = stated_by_checks([advisory(status, axis="outcome", **fields) for status in statuses])
        return stated.result if stated is not None else ""

    assert states("pass") == "pass"
    assert states("pass", "fail") == "fail"
    assert states("pass", "not_applicable") == "pass"
    assert states("fail", on_fail="invalid") == "invalid"
    assert states("pass", "unknown") == states("pass", "error") == states("pending") == states("not_applicable") == ""
    assert stated_by_checks([gate("fail")]) is None


def test_a_stated_outcome_gives_way_to_a_harness_and_beats_a_judge() -> None:
    verdicts = [advisory("fail", axis="outcome")]
    for source, result in (("harness", "pass"), ("judge", "fail")):
        found = outcome_in_force([out("pass", source)], verdicts)
        assert found is not None
        assert found.result == result


def test_a_case_that_does_not_gate_states_no_outcome() -> None:
    said = {"check_id": "case:x/expect_answer", "kind": "assert", "status": "fail", "reason": "", "axis": "outcome"}
    assert stated_by_checks([Verdict(**said)]) is None  # type: ignore[arg-type]
    assert stated_by_checks([Verdict(**said, gate=True)]) is not None  # type: ignore[arg-type]


# Versions

BASE: dict[str, Any] = {"id": "x", "kind": "absence", "of": "deploy", "gate": True}
TAGS = {"deploy": "call.tool == 'deploy' && risky", "risky": "call.input.env == 'prod'", "other": "call.tool == 'o'"}


def version(checks: list[dict[str, Any]], tags: dict[str, str] = TAGS, one: Run | None = None, **more: Any) -> str:
    return CheckSet.compile(checks, tags, **more).version_for(one or run(task_id="t", task_class="c"))


def test_what_changes_a_checks_version() -> None:
    base = version([BASE])
    assert version([BASE | {"of": "deploy || other"}]) != base
    assert version([BASE | {"on_fail": "invalid"}]) != base
    assert version([BASE | {"axis": "calls"}]) != base
    assert version([BASE], TAGS | {"risky": "call.input.env == 'stage'"}) != base
    assert version([BASE, {"id": "y", "kind": "existence", "of": "edit", "gate": True}]) != base
    assert version([BASE, {"id": "y", "kind": "assert", "assert": "edit", "axis": "outcome"}]) != base
    assert version([BASE], policy=TrialPolicy(without_outcome="unknown")) != base
    assert version([BASE | {"tasks": ["other*"]}]) != base


def test_what_does_not_change_a_checks_version() -> None:
    base = version([BASE])
    assert version([BASE | {"description": "d", "fix": "f", "severity": "critical"}]) == base
    assert version([BASE, {"id": "y", "kind": "existence", "of": "edit"}]) == base
    assert version([BASE], TAGS | {"other": "call.tool == 'p'"}) == base
    assert version([BASE], actions={"edit": ["my_edit"]}) == base  # nothing that gates looks at actions
    assert version([BASE, {"id": "y", "kind": "existence", "of": "edit", "gate": True, "tasks": ["u"]}]) == base


def test_actions_belong_to_the_version_of_checks_that_use_them() -> None:
    uses = [{"id": "x", "kind": "existence", "of": "test_run", "gate": True}]
    assert version(uses) != version(uses, actions={"test_run": ["./run_tests.sh"]})
    through_a_tag = [{"id": "x", "kind": "existence", "of": "checked", "gate": True}]
    tags = {"checked": "test_run && call.ok"}
    assert version(through_a_tag, tags) != version(through_a_tag, tags, actions={"test_run": ["./run_tests.sh"]})


def test_the_source_of_a_python_check_belongs_to_its_version() -> None:
    written = {"id": "x", "kind": "python", "function": "m:f", "gate": True}
    assert version([written | {"source": "a"}]) != version([written | {"source": "b"}])


def test_the_order_in_which_checks_are_written_is_no_meaning() -> None:
    other = {"id": "y", "kind": "existence", "of": "edit", "gate": True}
    assert version([BASE, other]) == version([other, BASE])


def test_a_verdict_carries_the_version_of_its_own_check() -> None:
    (a,) = CheckSet.compile([BASE], TAGS).grade(run())
    (b,) = CheckSet.compile([BASE | {"of": "other"}], TAGS).grade(run())
    (c,) = CheckSet.compile([BASE | {"fix": "other words", "gate": False}], TAGS).grade(run())
    assert a.check_version != b.check_version
    assert a.check_version == c.check_version


def test_checks_for_other_tasks_say_nothing() -> None:
    checks = CheckSet.compile(
        [
            {"id": "all", "kind": "existence", "of": "edit"},
            {"id": "task", "kind": "existence", "of": "edit", "tasks": ["refund-*", "t1"]},
            {"id": "exact", "kind": "existence", "of": "edit", "tasks": ["t1"]},
            {"id": "class", "kind": "existence", "of": "edit", "classes": ["shop"]},
            {"id": "both", "kind": "existence", "of": "edit", "tasks": ["t1"], "classes": ["shop"]},
        ]
    )

    def ids(**fields: str) -> list[str]:
        return [verdict.check_id for verdict in checks.grade(run(**fields))]

    assert ids(task_id="t1") == ["all", "task", "exact"]
    assert ids(task_id="refund-3", task_class="shop") == ["all", "task", "class"]
    assert ids(task_id="t1", task_class="shop") == ["all", "task", "exact", "class", "both"]
    assert ids() == ["all"]
