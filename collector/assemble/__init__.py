"""Spans and log records of one unit in, runs of numbered trace lines out. Pure: any order and any repetition of the
input gives the same runs, and neither clock nor store is asked.

`tree` orders the spans, `identity` and `membership` divide them into runs; of one run `scopes` says whose step a span
is, `exchanges` and `conversation` what was said, `executions` and `calls` what was done, `lines` numbers it all,
`root`, `result`, `cost` and `outcomes` say how it ended; `run` puts it together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from collector.assemble.membership import Division, reopened
from collector.assemble.records import distinct
from collector.assemble.run import Circumstances, is_active, run_of
from collector.assemble.tree import grow
from semconv.facts import SpanFacts
from semconv.run import ClosedBy, Closing, Run

__all__ = ["Assembly", "Policy", "assemble", "records_of_runs"]


class Policy(Struct, frozen=True):
    """What configuration says of runs: `runs.group_by` ('' for none) and `trials.outcome_events`."""

    group_by: str = ""
    outcome_events: frozenset[str] = frozenset(("outcome", "task_success"))


class Assembly(Struct, frozen=True):
    """The runs of a unit in order of their first span. `not_a_run` when it holds no agent, model or tool call.

    `unassigned` are steps that belong to one of several runs, and nothing says to which.
    """

    runs: tuple[Run, ...]
    unassigned: tuple[SpanFacts, ...] = ()
    not_a_run: bool = False


def assemble(
    facts: Iterable[SpanFacts],
    *,
    closed_by: ClosedBy = "",
    policy: Policy | None = None,
    closures: Mapping[str, Closing] | None = None,
) -> Assembly:
    """The runs of one unit.

    `closed_by` is what is known of the unit ('' while it may go on); each run says itself whether it lacks its root.
    `closures`: how runs were closed before, by run id; a root that begins later opens a new run.
    """
    policy = policy or Policy()
    division = _division(facts, policy)
    torn = frozenset(record.trace_id for record in division.unassigned if record.trace_id)
    circumstances = Circumstances(closed_by, policy.outcome_events, torn)
    members = [one for one in reopened(division.members, closures or {}) if is_active(one)]
    runs = tuple(run_of(one, circumstances) for one in members)
    return Assembly(runs, tuple(division.unassigned), not_a_run=not runs and not division.unassigned)


def records_of_runs(
    facts: Iterable[SpanFacts], *, policy: Policy | None = None, closures: Mapping[str, Closing] | None = None
) -> dict[str, tuple[SpanFacts, ...]]:
    """The spans and log records of each run of one unit, by run id; those of no run are left out."""
    members = reopened(_division(facts, policy or Policy()).members, closures or {})
    return {one.run_id: (*(node.span for node in one.nodes), *(log for log, _ in one.logs)) for one in members}


def _division(facts: Iterable[SpanFacts], policy: Policy) -> Division:
    spans, logs = distinct(facts)
    return Division(grow(spans), logs, policy.group_by)
