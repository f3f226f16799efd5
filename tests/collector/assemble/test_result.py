"""How a run ended and what it used: the result line, totals without double counting, cost, closing."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from semconv.facts import Evaluation, Facts, SpanFacts
from semconv.run import ClosedBy
from tests.collector.assemble.build import (
    BASE,
    MS,
    TRACE,
    agent,
    asks,
    chat,
    gives,
    log,
    own,
    run_of,
    runs_of,
    says,
    span,
    span_id,
    tool,
)

OSLO = {"city": "Oslo"}


class TestResultLine:
    def test_a_quiet_root_succeeded(self) -> None:
        run = run_of([agent(1, None, 0, 99), chat(2, 1, 1, 5, messages_out=(says("assistant", "Done."),))])
        last = run.lines[-1]
        assert (last.role, last.subtype, last.text, last.status) == ("result", "success", "Done.", "unset")
        assert (run.subtype, run.final_text, run.root_status) == ("success", "Done.", "unset")

    def test_a_failed_root_says_why(self) -> None:
        failed = {"status": "error", "error": "429 slow down", "error_type": "rate_limit"}
        run = run_of([agent(1, None, 0, 99, **failed), chat(2, 1, 1, 5, **failed)])
        last = run.lines[-1]
        assert (last.subtype, last.text, last.status) == ("error", "429 slow down", "error")
        assert (run.root_status, run.root_error, run.root_error_type) == ("error", "429 slow down", "rate_limit")
        assert run.final_text == ""

    def test_an_agents_failure_under_a_quiet_root_is_the_runs(self) -> None:
        run = run_of([span(1, None, 0, 99), agent(2, 1, 1, 98, status="error", error="boom", error_type="X")])
        assert (run.root_status, run.root_error_type, run.subtype) == ("error", "X", "error")

    def test_a_root_that_says_ok_caught_it(self) -> None:
        root = Facts(status="ok", own=own(task_id="t"))
        run = run_of([span(1, None, 0, 99, root), agent(2, 1, 1, 98, status="error", error="boom")])
        assert (run.root_status, run.subtype) == ("ok", "success")

    def test_the_last_agent_decides(self) -> None:
        run = run_of([span(1, None, 0, 99), agent(2, 1, 1, 9, status="error"), agent(3, 1, 10, 19, status="ok")])
        assert run.root_status == "ok"

    def test_a_models_failure_names_the_type_the_root_lacks(self) -> None:
        run = run_of([agent(1, None, 0, 99, status="error"), chat(2, 1, 1, 5, status="error", error_type="timeout")])
        assert run.root_error_type == "timeout"

    def test_reported_ends_win(self) -> None:
        run = run_of([agent(1, None, 0, 99, subtype="error_max_turns", num_turns=30, final_text="Stopped.")])
        last = run.lines[-1]
        assert (last.subtype, last.num_turns, last.text) == ("error_max_turns", 30, "Stopped.")

    @pytest.mark.parametrize(("said", "subtype"), [("ok", "success"), ("Failed", "error"), ("aborted", "aborted")])
    def test_an_emitters_word_for_the_end(self, said: str, subtype: str) -> None:
        assert run_of([agent(1, None, 0, 99, subtype=said)]).subtype == subtype

    def test_text_before_a_call_is_no_answer(self) -> None:
        run = run_of([agent(1, None, 0, 99), chat(2, 1, 1, 5, messages_out=(asks("c", "go", OSLO, text="I go."),))])
        assert run.final_text == ""

    def test_turns_are_answers_of_models_to_the_runs_own_agent(self) -> None:
        run = run_of(
            [
                agent(1, None, 0, 99),
                chat(2, 1, 1, 5),
                chat(3, 1, 6, 7, status="error"),
                chat(4, 1, 8, 9),
                tool(5, 1, 10, 50),
                agent(6, 5, 11, 49, name="inner"),
                chat(7, 6, 12, 13),
            ]
        )
        assert (run.turns, run.lines[-1].num_turns) == (2, 2)

    def test_where_no_request_is_seen_turns_are_not_known(self) -> None:
        run = run_of([agent(1, None, 0, 99), tool(2, 1, 1, 2)])
        assert run.lines[-1].num_turns is None

    def test_no_result_before_the_root(self) -> None:
        run = run_of([chat(2, 1, 1, 5), tool(3, 1, 6, 8)], closed_by="idle")
        assert [line.role for line in run.lines] == ["assistant"]
        assert (run.root_status, run.subtype) == ("", "")


class TestTokensAndCost:
    def test_agents_totals_and_requests_are_not_added(self) -> None:
        run = run_of(
            [
                agent(1, None, 0, 99, input_tokens=300, output_tokens=30),
                chat(2, 1, 1, 5, input_tokens=100, output_tokens=10),
                chat(3, 1, 6, 9, input_tokens=200, output_tokens=20),
            ]
        )
        assert (run.input_tokens, run.output_tokens) == (300, 30)

    def test_an_agents_total_counts_where_no_request_tells(self) -> None:
        run = run_of([agent(1, None, 0, 99, input_tokens=300, output_tokens=30), chat(2, 1, 1, 5)])
        assert (run.input_tokens, run.output_tokens) == (300, 30)

    def test_nobody_tells(self) -> None:
        run = run_of([agent(1, None, 0, 99), chat(2, 1, 1, 5)])
        assert (run.input_tokens, run.output_tokens, run.cost_usd) == (None, None, None)

    @pytest.mark.parametrize(
        "spans",
        [
            [chat(2, 1, 1, 9), chat(3, 2, 2, 8)],
            [chat(2, 1, 1, 9, response_id="r"), chat(3, 1, 2, 8, response_id="r")],
            [chat(2, 1, 1, 9), span(3, 2, 2, 8), chat(4, 3, 3, 7)],
        ],
        ids=["one in the other", "side by side with one response", "with a span between"],
    )
    def test_a_request_reported_twice_counts_once(self, spans: list[SpanFacts]) -> None:
        counted = [
            replace(one, facts=replace(one.facts, input_tokens=100, output_tokens=10))
            if one.facts.operation == "chat"
            else one
            for one in spans
        ]
        run = run_of([agent(1, None, 0, 99), *counted])
        assert (run.input_tokens, run.output_tokens, run.turns) == (100, 10, 1)

    def test_the_better_half_of_each_report_is_kept(self) -> None:
        said = (says("assistant", "Hi"),)
        run = run_of(
            [
                agent(1, None, 0, 99),
                chat(2, 1, 1, 9, model="", messages_out=said),
                chat(3, 2, 2, 8, model="gpt-4o", input_tokens=5, output_tokens=6, response_id="r-9"),
            ]
        )
        (text,) = [line for line in run.lines if line.role == "assistant"]
        assert (text.model, text.input_tokens, text.output_tokens, text.message_id) == ("gpt-4o", 5, 6, "r-9")

    def test_a_loop_around_requests_is_none(self) -> None:
        """Several requests inside one 'chat': the inner ones are the requests. Retried ones are one."""
        loop = [chat(2, 1, 1, 50, input_tokens=9), chat(3, 2, 2, 8, input_tokens=1), chat(4, 2, 9, 12, input_tokens=2)]
        run = run_of([agent(1, None, 0, 99), *loop])
        assert (run.turns, run.input_tokens) == (2, 3)
        tried = [chat(2, 1, 1, 50, input_tokens=9), chat(3, 2, 2, 8, status="error"), chat(4, 2, 9, 12)]
        assert run_of([agent(1, None, 0, 99), *tried]).turns == 1

    def test_logged_requests_beside_spans_count_no_tokens_but_their_cost(self) -> None:
        record = log(
            9,
            Facts(operation="chat", input_tokens=100, output_tokens=10, cost_usd=0.5),
            trace_id=TRACE,
            span_id=span_id(1),
        )
        run = run_of([agent(1, None, 0, 99), chat(2, 1, 1, 8, input_tokens=100, output_tokens=10), record])
        assert (run.input_tokens, run.turns, run.cost_usd) == (100, 1, 0.5)
        assert "cost_derived" not in run.flags

    def test_reported_cost_is_added(self) -> None:
        run = run_of(
            [agent(1, None, 0, 99, cost_usd=9.0), chat(2, 1, 1, 5, cost_usd=0.25), chat(3, 1, 6, 9, cost_usd=0.5)]
        )
        assert (run.cost_usd, run.lines[-1].cost_usd) == (0.75, 0.75)
        assert "cost_derived" not in run.flags

    def test_cost_is_derived_from_model_and_tokens_and_says_so(self) -> None:
        run = run_of([agent(1, None, 0, 99), chat(2, 1, 1, 5, input_tokens=1_000_000, output_tokens=1_000_000)])
        assert run.cost_usd == pytest.approx(0.75)  # gpt-4o-mini: 0.15 and 0.60 USD per million
        assert "cost_derived" in run.flags
        assert run.lines[-1].flags == ("cost_derived",)

    def test_a_gateways_name_of_a_model_is_known_too(self) -> None:
        tokens = {"input_tokens": 1_000_000, "output_tokens": 0}
        told = {"model": "openai/gpt-4o-mini", "provider": "some.framework"}
        assert run_of([chat(1, None, 0, 5, **told, **tokens)]).cost_usd == pytest.approx(0.15)

    def test_an_unknown_model_has_no_cost_and_neither_has_the_run(self) -> None:
        tokens = {"input_tokens": 100, "output_tokens": 10}
        run = run_of([agent(1, None, 0, 99), chat(2, 1, 1, 5, **tokens), chat(3, 1, 6, 9, model="home-made", **tokens)])
        assert run.cost_usd is None

    def test_lines_add_up_to_the_run(self) -> None:
        spans = [agent(1, None, 0, 99)]
        for turn in range(3):
            said = (asks(f"c{turn}", "go", OSLO, text="I go."),)
            spans.append(
                chat(2 + turn, 1, 10 * turn + 1, 10 * turn + 5, input_tokens=100, output_tokens=10, messages_out=said)
            )
        run = run_of(spans)
        assert sum(line.input_tokens or 0 for line in run.lines) == run.input_tokens == 300


class TestClosing:
    whole = (agent(1, None, 0, 99), tool(2, 1, 1, 2, output="x"))
    torn = (chat(2, 1, 1, 5), tool(3, 1, 6, 8, output="x"))

    @pytest.mark.parametrize(
        ("spans", "unit", "run"),
        [
            (whole, "", ""),
            (whole, "root", "root"),
            (whole, "idle", "root"),
            (whole, "max_age", "root"),
            (torn, "", ""),
            (torn, "root", "idle"),
            (torn, "idle", "idle"),
            (torn, "max_age", "max_age"),
        ],
    )
    def test_each_run_says_itself_whether_its_root_came(
        self, spans: tuple[SpanFacts, ...], unit: ClosedBy, run: ClosedBy
    ) -> None:
        assert run_of(spans, closed_by=unit).closed_by == run

    @pytest.mark.parametrize("unit", ["", "idle", "end"])
    def test_an_explicit_end_is_one(self, unit: ClosedBy) -> None:
        ended = log(9, Facts(operation="other", own=own(run_end=True)), trace_id=TRACE)
        assert run_of([*self.torn, ended], closed_by=unit).closed_by == "end"
        assert run_of([*self.torn, tool(4, 1, 9, 10, own=own(run_end=True))], closed_by=unit).closed_by == "end"

    def test_one_run_of_a_unit_may_be_whole_and_another_not(self) -> None:
        keyed = [chat(5, 4, 1, 5, own=own(run_id="torn")), agent(1, None, 0, 99, own=own(run_id="whole"))]
        found = {run.run_id: run.closed_by for run in runs_of(keyed, closed_by="idle")}
        assert found == {"torn": "idle", "whole": "root"}

    def test_b070_a_root_whose_parent_is_elsewhere_is_a_root(self) -> None:
        """A job handed its context down and does not export (B070)."""
        run = run_of([agent(1, 77, 0, 99), tool(2, 1, 1, 2)], closed_by="idle")
        assert (run.closed_by, run.lossy) == ("root", ())
        assert set(run.flags) == {"missing_parent", "no_root"}

    def test_b070_spans_beside_it_show_that_something_is_missing(self) -> None:
        run = run_of([agent(1, 77, 0, 99), tool(2, 1, 1, 2), chat(3, 78, 10, 20)], closed_by="idle")
        assert (run.closed_by, run.lossy) == ("idle", ("missing_parent",))

    def test_a_crash_leaves_no_root(self) -> None:
        run = run_of(self.torn, closed_by="idle")
        assert run.lossy == ("missing_parent",)
        assert "no_root" in run.flags

    def attempt(self, **result: Any) -> list[SpanFacts]:
        facts = {"dialect": "cli", "attempt": "p"}
        return [
            log(1, Facts(operation="agent", boundary="start", messages_in=(says("user", "go"),), **facts)),
            log(5, Facts(operation="tool", tool="Bash", call_id="c", **facts, **result)),
        ]

    def test_logs_alone_are_complete_at_their_end_event(self) -> None:
        end = log(9, Facts(operation="other", attempt="p", boundary="end"))
        run = run_of([*self.attempt(), end], closed_by="")
        assert (run.closed_by, run.root_status, run.lines[-1].role) == ("end", "unset", "result")

    def test_logs_alone_with_an_open_call_are_not(self) -> None:
        run = run_of(self.attempt(), closed_by="idle")
        assert (run.closed_by, run.root_status) == ("idle", "")
        assert run.lines[-1].role == "assistant"

    def test_logs_alone_that_went_quiet_with_nothing_open_are(self) -> None:
        assert run_of(self.attempt(status="ok"), closed_by="idle").closed_by == "end"
        assert run_of(self.attempt(status="ok"), closed_by="").closed_by == ""

    def test_a_trial_belongs_to_when_its_root_ended(self) -> None:
        """A background agent goes on after it."""
        run = run_of([agent(1, None, 0, 99), tool(2, 1, 50, 500)])
        assert (run.started_ns, run.ended_ns) == (BASE, BASE + 99 * MS)
        assert run_of(self.torn, closed_by="idle").ended_ns == BASE + 8 * MS


class TestLosses:
    def test_what_dialects_could_not_read_is_kept(self) -> None:
        run = run_of([agent(1, None, 0, 9), chat(2, 1, 1, 5, lossy=("dropped_attributes",)), tool(3, 1, 6, 7)])
        assert run.lossy == ("dropped_attributes",)

    def test_what_is_no_step_loses_nothing(self) -> None:
        noise = span(3, 1, 1, 5, Facts(operation="other", lossy=("dropped_attributes",)))
        assert run_of([agent(1, None, 0, 9), noise]).lossy == ()

    def test_a_span_nobody_understood_may_have_been_a_step(self) -> None:
        unmapped = span(3, 1, 1, 5, Facts(lossy=("dropped_attributes",)))
        assert run_of([agent(1, None, 0, 9), unmapped]).lossy == ("dropped_attributes",)


class TestOutcomes:
    def test_the_roots_attribute(self) -> None:
        run = run_of([agent(1, None, 0, 9, own=own(outcome="fail", outcome_reason="wrong total"))])
        (outcome,) = run.outcomes
        assert (outcome.run_id, outcome.result, outcome.source) == (TRACE, "fail", "harness")
        assert (outcome.reason, outcome.time_ns) == ("wrong total", BASE + 9 * MS)

    def test_on_the_agent_below_the_root_that_started_the_run(self) -> None:
        spans = [span(1, None, 0, 9, Facts(own=own(task_id="t"))), agent(2, 1, 1, 8, own=own(outcome="pass"))]
        assert [outcome.result for outcome in run_of(spans).outcomes] == ["pass"]

    @pytest.mark.parametrize("operation", ["tool", "chat", "other", ""])
    def test_not_on_other_spans(self, operation: str) -> None:
        verdict = span(2, 1, 1, 2, Facts(operation=operation, tool="grade", own=own(outcome="pass")))  # type: ignore[arg-type]
        run = run_of([agent(1, None, 0, 9, own=own(task_id="t")), verdict, tool(3, 1, 3, 4)])
        assert run.outcomes == ()

    def test_not_from_what_a_tool_returned(self) -> None:
        said = '{"passhat.outcome": "pass", "gen_ai.evaluation.name": "outcome", "score": 1}'
        run = run_of(
            [
                agent(1, None, 0, 9),
                chat(2, 1, 1, 2, messages_out=(asks("c", "grade", OSLO),)),
                tool(3, 1, 3, 4, "grade", call_id="c", output=said),
                chat(4, 1, 5, 6, messages_in=(gives("c", said),), messages_out=(says("assistant", said),)),
            ]
        )
        assert run.outcomes == ()

    def test_an_unreadable_word_is_flagged_and_is_none(self) -> None:
        run = run_of([agent(1, None, 0, 9, own=own(outcome="sort of"))])
        assert (run.outcomes, run.flags) == ((), ("outcome_unreadable",))

    @pytest.mark.parametrize(
        ("label", "score", "result"),
        [
            ("pass", None, "pass"),
            ("Failed", 0.9, "fail"),
            ("true", None, "pass"),
            ("false", None, "fail"),
            ("", 0.5, "pass"),
            ("", 0.49, "fail"),
            ("partial", 0.6, "pass"),
            ("error", None, "error"),
            ("invalid", None, "invalid"),
        ],
    )
    def test_an_event_by_its_label_else_its_score(self, label: str, score: float | None, result: str) -> None:
        event = Evaluation("outcome", label=label, score=score, time_ns=BASE + 5 * MS)
        (outcome,) = run_of([agent(1, None, 0, 9, evaluations=(event,))]).outcomes
        assert (outcome.result, outcome.source, outcome.time_ns) == (result, "judge", BASE + 5 * MS)

    def test_an_event_says_its_source(self) -> None:
        events = tuple(Evaluation("outcome", label="pass", source=source) for source in ("environment", "human", ""))
        found = run_of([agent(1, None, 0, 9, evaluations=events)]).outcomes
        assert sorted(outcome.source for outcome in found) == ["environment", "judge", "judge"]

    def test_only_agreed_names_are_outcomes(self) -> None:
        events = (Evaluation("relevance", score=1.0), Evaluation("task_success", score=1.0))
        run = run_of([agent(1, None, 0, 9, evaluations=events)])
        assert len(run.outcomes) == 1

    def test_an_event_without_label_and_score_is_flagged(self) -> None:
        run = run_of([agent(1, None, 0, 9, evaluations=(Evaluation("outcome"),))])
        assert (run.outcomes, run.flags) == ((), ("outcome_unreadable",))

    def test_a_logged_event_of_any_span_of_the_run(self) -> None:
        event = log(20, Facts(evaluations=(Evaluation("outcome", label="pass"),)), trace_id=TRACE, span_id=span_id(2))
        run = run_of([agent(1, None, 0, 9), tool(2, 1, 1, 2), event])
        assert [outcome.result for outcome in run.outcomes] == ["pass"]
