"""Which spans are one run, what it is called, what its task is (CONTRACT.md section 2; I17; B069, B080, B081)."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from msgspec.structs import replace

from collector.assemble import Policy
from semconv.facts import Evaluation, Facts, SpanFacts
from semconv.run import Closing
from tests.collector.assemble.build import (
    BASE,
    MS,
    TRACE,
    agent,
    assembly_of,
    chat,
    log,
    own,
    run_of,
    runs_of,
    says,
    span,
    span_id,
    tool,
)

OTHER = "b7ad6b7169203331" * 2


def ids(*units: Any, **options: Any) -> list[str]:
    return [run.run_id for run in runs_of(units, **options)]


class TestRunId:
    def test_without_attributes_it_is_the_trace(self) -> None:
        assert ids(agent(1, None, 0, 9), tool(2, 1, 1, 2)) == [TRACE]

    def test_a_parentless_root_with_a_task_gives_the_trace_id(self) -> None:
        assert ids(agent(1, None, 0, 9, own=own(task_id="t")), tool(2, 1, 1, 2)) == [TRACE]

    @pytest.mark.parametrize("identity", [{"task_id": "t"}, {"trial_id": "0"}, {"outcome": "pass"}])
    def test_a_span_below_the_root_gives_its_own_id_even_when_alone(self, identity: dict[str, str]) -> None:
        found = ids(span(1, None, 0, 9), agent(2, 1, 1, 8, own=own(**identity)), tool(3, 2, 2, 3))
        assert found == [f"{TRACE}:{span_id(2)}"]

    def test_several_trials_under_one_root(self) -> None:
        """No trial attribute, the same task: three agents are three trials all the same."""
        units = [span(1, None, 0, 99)]
        for number in (10, 20, 30):
            units.append(agent(number, 1, number, number + 5, own=own(task_id="t")))
            units.append(tool(number + 1, number, number + 1, number + 2))
        runs = runs_of(units)
        assert [run.run_id for run in runs] == [f"{TRACE}:{span_id(number)}" for number in (10, 20, 30)]
        assert [run.tool_calls for run in runs] == [1, 1, 1]

    def test_a_task_below_a_task_starts_nothing(self) -> None:
        run = run_of(
            [
                agent(1, None, 0, 9, own=own(task_id="outer")),
                agent(2, 1, 1, 8, name="inner", own=own(task_id="inner", trial_id="3")),
                tool(3, 2, 2, 3),
            ]
        )
        assert (run.run_id, run.task_id) == (TRACE, "outer")

    def test_a_given_id_wins_and_joins_traces(self) -> None:
        run = run_of(
            [
                agent(1, None, 0, 9, own=own(run_id="r-1", task_id="t")),
                tool(2, 1, 1, 2),
                span(3, None, 20, 29, Facts(operation="tool", tool="late", own=own(run_id="r-1")), trace_id=OTHER),
                log(30, Facts(operation="other", own=own(run_id="r-1", run_end=True))),
            ]
        )
        assert run.run_id == "r-1"
        assert run.trace_ids == tuple(sorted((TRACE, OTHER)))
        assert run.tool_calls == 2
        assert run.closed_by == "end"

    def test_a_given_id_is_read_from_itself_then_above_then_the_resource(self) -> None:
        runs = runs_of(
            [
                agent(1, None, 0, 99, own=own(run_id="above"), resource=own(run_id="resource")),
                tool(2, 1, 1, 2, resource=own(run_id="resource")),
                agent(3, 1, 10, 20, own=own(run_id="itself")),
                tool(4, 3, 11, 12),
                chat(5, None, 30, 40, resource=own(run_id="resource")),
            ]
        )
        assert {run.run_id: run.tool_calls for run in runs} == {"above": 1, "itself": 1, "resource": 0}

    def test_b080_two_roots_with_tasks_in_one_trace_are_two_runs(self) -> None:
        """All turns of a session shared one trace id (B080)."""
        found = ids(agent(1, None, 0, 9, own=own(task_id="t")), agent(2, None, 20, 29, own=own(task_id="t")))
        assert found == [TRACE, f"{TRACE}:{span_id(2)}"]

    def test_b081_conversation_ids_neither_split_nor_merge(self) -> None:
        """The trial attribute decides, whatever the conversation says (B081, I17)."""
        units = [span(1, None, 0, 99)]
        for number in (10, 20):
            trial = own(task_id="t", trial_id=str(number))
            units.append(agent(number, 1, number, number + 5, own=trial, conversation_id="same"))
            units.append(chat(number + 1, number, number + 1, number + 2, conversation_id=f"turn {number}"))
        assert len(runs_of(units, policy=Policy(group_by="gen_ai.conversation.id"))) == 2

    def test_group_by_joins_traces_under_its_value(self) -> None:
        keys = {"join_keys": ("session.id=s-1",)}
        units = [
            chat(1, None, 0, 9, **keys),
            span(2, None, 10, 19, Facts(operation="tool", tool="x", **keys), trace_id=OTHER),
            log(25, Facts(operation="other", own=own(run_end=True), **keys)),
        ]
        run = run_of(units, policy=Policy(group_by="session.id"))
        assert (run.run_id, run.tool_calls, run.closed_by) == ("s-1", 1, "end")
        assert ids(*units[:2]) == [TRACE, OTHER]

    def test_group_by_gives_the_same_id_before_the_second_trace_is_there(self) -> None:
        keys = {"join_keys": ("session.id=s-1",)}
        assert ids(chat(1, None, 0, 9, **keys), policy=Policy(group_by="session.id")) == ["s-1"]

    def test_a_tools_verdict_starts_no_run(self) -> None:
        run = run_of([agent(1, None, 0, 9), tool(2, 1, 1, 2, own=own(outcome="pass"))])
        assert run.run_id == TRACE
        assert run.outcomes == ()


class TestMissingAncestors:
    def stamped(self, trial: str = "0") -> list[SpanFacts]:
        """Every span carries the trial's attributes, and the agent's own span has not arrived."""
        identity = own(task_id="t", trial_id=trial)
        return [
            chat(2, 1, 1, 2, own=identity),
            tool(3, 1, 3, 4, own=identity),
            tool(4, 1, 5, 6, own=identity),
        ]

    def test_spans_of_equal_task_and_trial_are_one_run(self) -> None:
        run = run_of(self.stamped())
        assert run.run_id == f"{TRACE}:{span_id(2)}"
        assert run.tool_calls == 2
        assert run.closed_by == "idle"
        assert "missing_parent" in run.lossy

    def test_they_join_their_root_when_it_is_there(self) -> None:
        """A span between is missing; its children are no trials of their own."""
        root = agent(9, None, 0, 99, own=own(task_id="t", trial_id="0"))
        run = run_of([root, *self.stamped()])
        assert (run.run_id, run.tool_calls) == (TRACE, 2)
        assert "missing_parent" in run.lossy

    def test_other_trials_stay_apart(self) -> None:
        runs = runs_of([*self.stamped(), tool(7, 6, 9, 10, own=own(task_id="t", trial_id="1"))])
        assert [run.tool_calls for run in runs] == [2, 1]

    def test_between_several_equal_trials_nothing_is_guessed(self) -> None:
        trial = own(task_id="t")
        assembly = assembly_of(
            [
                span(1, None, 0, 99),
                agent(10, 1, 10, 19, own=trial),
                agent(20, 1, 20, 29, own=trial),
                tool(30, 29, 25, 26, own=trial),
            ]
        )
        assert [run.run_id for run in assembly.runs] == [f"{TRACE}:{span_id(10)}", f"{TRACE}:{span_id(20)}"]
        assert [one.span_id for one in assembly.unassigned] == [span_id(30)]
        assert all("unassigned_spans" in run.lossy for run in assembly.runs)

    def test_steps_beside_the_trials_of_a_trace_are_listed(self) -> None:
        assembly = assembly_of(
            [
                agent(1, None, 0, 99, name="evaluator"),
                agent(10, 1, 10, 19, own=own(trial_id="1")),
                tool(11, 10, 11, 12),
                tool(40, 1, 40, 41, name="report"),
                span(41, 1, 42, 43, Facts(operation="other")),
            ]
        )
        assert [run.tool_calls for run in assembly.runs] == [1]
        assert [one.span_id for one in assembly.unassigned] == [span_id(40)]

    def test_a_root_that_starts_the_trace_takes_what_is_stranded_in_it(self) -> None:
        """I09: cycles and missing parents go to the trace, and the trace is the root's."""
        run = run_of([agent(1, None, 0, 99, own=own(task_id="t")), tool(2, 2, 10, 11), tool(3, 77, 12, 13)])
        assert run.tool_calls == 2
        assert {flag for line in run.lines for flag in line.flags} == {"self_parent", "missing_parent"}


class TestTask:
    def test_it_is_inherited_from_the_nearest_ancestor_else_the_resource(self) -> None:
        run = run_of(
            [
                span(1, None, 0, 99, Facts(own=own(task_class="suite", task_version="7", workspace_id="w"))),
                agent(
                    2, 1, 1, 9, own=own(task_id="t", task_version="8"), resource=own(experiment_id="e", task_id="no")
                ),
                tool(3, 2, 2, 3),
            ]
        )
        assert (run.task_id, run.task_version, run.task_class) == ("t", "8", "suite")
        assert (run.workspace_id, run.experiment_id, run.task_source) == ("w", "e", "attribute")

    def test_the_resource_names_it_for_all_traces(self) -> None:
        given = own(task_id="t", trial_id="2", retry_of="1", expected="32")
        run = run_of([agent(1, None, 0, 9, resource=given), tool(2, 1, 1, 2, resource=given)])
        assert (run.run_id, run.task_id, run.trial_id, run.retry_of, run.expected) == (TRACE, "t", "2", "1", "32")

    def test_a_task_on_the_agent_is_the_runs_when_the_root_started_it(self) -> None:
        run = run_of([span(1, None, 0, 9, Facts(own=own(trial_id="4"))), agent(2, 1, 1, 8, own=own(task_id="t"))])
        assert (run.run_id, run.task_id, run.trial_id) == (TRACE, "t", "4")

    @pytest.mark.parametrize(
        ("spans", "task"),
        [
            ([agent(1, None, 0, 9, name="shop")], "demo/shop"),
            ([span(1, None, 0, 9, name="handle ticket"), agent(2, 1, 1, 8, name="shop")], "demo/shop"),
            ([span(1, None, 0, 9, name="handle ticket"), chat(2, 1, 1, 8)], "demo/handle ticket"),
            ([chat(1, None, 0, 9, agent="named")], "demo/named"),
        ],
        ids=["agent", "agent below", "root's name", "agent named by the dialect"],
    )
    def test_fallback(self, spans: list[SpanFacts], task: str) -> None:
        run = run_of(spans)
        assert (run.task_id, run.task_source) == (task, "fallback")

    def test_b069_two_services_in_one_trace_have_the_roots_identity(self) -> None:
        """Whichever process was stored last must not name the run (B069)."""
        root = agent(1, None, 0, 99, own=own(task_id="t"))
        other = chat(2, 1, 10, 20, resource=own(task_id="elsewhere"))
        spans = [root, span(3, 2, 11, 12, other.facts, service="model-proxy"), other]
        for order in permutations(spans):
            run = run_of(order)
            assert (run.run_id, run.task_id, run.service) == (TRACE, "t", "demo")


class TestNoRun:
    @pytest.mark.parametrize("operation", ["", "other", "create_agent", "workflow"])
    def test_without_agent_model_or_tool_it_is_none(self, operation: str) -> None:
        assembly = assembly_of([span(1, None, 0, 9, Facts(operation=operation, own=own(task_id="t")))])  # type: ignore[arg-type]
        assert assembly.runs == ()
        assert assembly.not_a_run

    @pytest.mark.parametrize("step", [agent(1, None, 0, 9), chat(1, None, 0, 9), tool(1, None, 0, 9)])
    def test_any_of_them_makes_one(self, step: SpanFacts) -> None:
        assembly = assembly_of([step])
        assert len(assembly.runs) == 1
        assert not assembly.not_a_run

    def test_nothing_at_all(self) -> None:
        assert assembly_of([]).not_a_run


class TestLogs:
    def attempt(self, name: str, at: float) -> list[SpanFacts]:
        facts = {"dialect": "cli", "agent": "cli", "attempt": name, "join_keys": (f"cli={name}",)}
        return [
            log(at, Facts(operation="agent", boundary="start", messages_in=(says("user", "go"),), **facts)),
            log(at + 5, Facts(operation="tool", tool="Bash", call_id="c", status="ok", **facts)),
            log(at + 9, Facts(operation="chat", messages_out=(says("assistant", "done"),), output_tokens=5, **facts)),
        ]

    def test_a_prompt_and_the_work_it_set_off_are_one_run(self) -> None:
        run = run_of(self.attempt("p-1", 0))
        assert (run.run_id, run.tool_calls, run.task_id) == ("p-1", 1, "demo/cli")
        assert run.trace_ids == ()

    def test_two_prompts_of_one_conversation_are_two(self) -> None:
        runs = runs_of([*self.attempt("c-1", 0), *self.attempt("c-1", 100)])
        assert [run.run_id for run in runs] == ["c-1", f"c-1:{BASE + 100 * MS}"]
        assert [run.tool_calls for run in runs] == [1, 1]

    def test_records_with_a_spans_ids_are_its_runs(self) -> None:
        runs = runs_of(
            [
                span(1, None, 0, 99),
                agent(10, 1, 10, 19, own=own(trial_id="1")),
                agent(20, 1, 20, 29, own=own(trial_id="2")),
                log(25, Facts(operation="tool", tool="x", call_id="c"), trace_id=TRACE, span_id=span_id(20)),
            ]
        )
        assert [run.tool_calls for run in runs] == [0, 1]

    def test_a_record_without_a_trace_goes_to_the_only_run_that_shares_its_key(self) -> None:
        keys = {"join_keys": ("gen_ai.conversation.id=c-1",)}
        record = log(5, Facts(operation="tool", tool="x", call_id="c", **keys))
        first = agent(1, None, 0, 9, own=own(task_id="t"), **keys)
        policy = Policy(group_by="gen_ai.conversation.id")
        run = run_of([first, record], policy=policy)
        assert (run.run_id, run.tool_calls) == (TRACE, 1)
        second = span(2, None, 20, 29, replace(first.facts), trace_id=OTHER)
        assembly = assembly_of([first, second, record], policy=policy)
        assert [run.tool_calls for run in assembly.runs] == [0, 0]
        assert assembly.unassigned == (record,)

    def test_a_record_of_a_trace_with_several_runs_is_not_guessed(self) -> None:
        assembly = assembly_of(
            [
                span(1, None, 0, 99),
                agent(10, 1, 10, 19, own=own(trial_id="1")),
                agent(20, 1, 20, 29, own=own(trial_id="2")),
                log(25, Facts(operation="tool", tool="x"), trace_id=TRACE),
            ]
        )
        assert [run.tool_calls for run in assembly.runs] == [0, 0]
        assert [one.signal for one in assembly.unassigned] == ["log"]

    def test_an_evaluation_of_a_trace_with_several_runs_finds_its_response(self) -> None:
        evaluation = Evaluation("outcome", label="pass", response_id="resp-2")
        units = [span(1, None, 0, 99)]
        for number in (10, 20):
            units.append(agent(number, 1, number, number + 9, own=own(trial_id=str(number))))
            units.append(chat(number + 1, number, number + 1, number + 2, response_id=f"resp-{number // 10}"))
        runs = runs_of([*units, log(50, Facts(evaluations=(evaluation,)), trace_id=TRACE)])
        assert [[outcome.result for outcome in run.outcomes] for run in runs] == [[], ["pass"]]

    def test_an_evaluation_without_a_trace_finds_its_response(self) -> None:
        evaluation = Evaluation("outcome", label="fail", response_id="resp-1")
        run = run_of([chat(1, None, 0, 9, response_id="resp-1"), log(20, Facts(evaluations=(evaluation,)))])
        assert [outcome.result for outcome in run.outcomes] == ["fail"]


class TestShared:
    @pytest.mark.parametrize("name", [OTHER, "group"])
    def test_what_two_ways_call_by_one_id_is_one_run(self, name: str) -> None:
        said = [agent(1, None, 0, 9, own=own(run_id=name)), tool(3, 1, 5, 6)]
        facts = Facts(operation="agent", join_keys=("session.id=group",) if name == "group" else ())
        called = span(2, None, 10, 19, facts, trace_id=OTHER)
        late = log(12, Facts(operation="tool", tool="x"), trace_id=OTHER)
        for order in permutations([*said, called, late]):
            run = run_of(list(order), policy=Policy(group_by="session.id"))
            assert (run.run_id, run.span_count, run.tool_calls) == (name, 3, 2)
            assert run.flags == ("run_id_shared",)


class TestReused:
    def unit(self) -> list[SpanFacts]:
        again = span(2, None, 1000, 1009, Facts(operation="agent", own=own(run_id="nightly")), trace_id=OTHER)
        return [agent(1, None, 0, 9, own=own(run_id="nightly")), tool(3, 1, 5, 6), again]

    def test_a_root_after_its_run_was_closed_opens_another(self) -> None:
        first, second = runs_of(self.unit(), closures={"nightly": Closing(BASE + 500 * MS)})
        assert (first.run_id, first.flags, first.tool_calls) == ("nightly", (), 1)
        assert (second.run_id, second.flags, second.tool_calls) == ("nightly~2", ("run_id_reused",), 0)

    def test_a_root_before_that_is_the_same_run(self) -> None:
        assert [run.run_id for run in runs_of(self.unit(), closures={"nightly": Closing(BASE + 2000 * MS)})] == [
            "nightly"
        ]

    def test_a_late_child_of_the_first_stays_with_it(self) -> None:
        late = tool(7, 1, 1500, 1501)
        first, second = runs_of([*self.unit(), late], closures={"nightly": Closing(BASE + 500 * MS)})
        assert (first.tool_calls, second.tool_calls) == (2, 0)

    def test_a_life_is_not_called_what_another_run_is(self) -> None:
        named = span(4, None, 3000, 3009, Facts(operation="agent", own=own(run_id="nightly~2")), trace_id="c" * 32)
        closures = {"nightly": Closing(BASE + 500 * MS, span_id(1), (TRACE,))}
        for also in (  # nobody was called so yet; the second life was, before the other came; the other was
            {},
            {"nightly~2": Closing(BASE + 2000 * MS, span_id(2), (OTHER,))},
            {"nightly~2": Closing(BASE + 4000 * MS, span_id(4), ("c" * 32,))},
        ):
            runs = {run.run_id: run for run in runs_of([*self.unit(), named], closures=closures | also)}
            assert set(runs) == {"nightly", "nightly~2", "nightly~3"}
            assert (runs["nightly~2"].flags, runs["nightly~3"].flags) == ((), ("run_id_reused",))

    def test_the_root_that_was_closed_opens_nothing_when_it_is_sent_again_with_a_later_start(self) -> None:
        moved = agent(1, None, 1000, 1009, own=own(run_id="nightly"))
        closing = Closing(BASE + 500 * MS, root_span_id=moved.span_id, trace_ids=(TRACE,))
        (run,) = runs_of([moved, tool(3, 1, 5, 6)], closures={"nightly": closing})
        assert (run.run_id, run.flags, run.tool_calls) == ("nightly", (), 1)
        of_another_trace = replace(closing, trace_ids=(OTHER,))
        assert [run.run_id for run in runs_of([moved], closures={"nightly": of_another_trace})] == ["nightly~2"]

    def test_a_third_life(self) -> None:
        third = span(4, None, 3000, 3009, Facts(operation="agent", own=own(run_id="nightly")), trace_id="c" * 32)
        closures = {"nightly": Closing(BASE + 500 * MS), "nightly~2": Closing(BASE + 2000 * MS)}
        assert [run.run_id for run in runs_of([*self.unit(), third], closures=closures)] == [
            "nightly",
            "nightly~2",
            "nightly~3",
        ]
