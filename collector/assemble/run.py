"""One run put together from its spans and log records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from collector.assemble.calls import Call, calls_of
from collector.assemble.conversation import converse
from collector.assemble.exchanges import exchanges_of
from collector.assemble.executions import executions_of
from collector.assemble.identity import ACTIVITY, Members
from collector.assemble.lines import lines_of
from collector.assemble.outcomes import outcomes_of
from collector.assemble.result import Ending, Signature, Totals, ending_of, result_line, totals_of
from collector.assemble.root import Root
from collector.assemble.scopes import Scopes
from collector.assemble.tree import IMPLAUSIBLE_TIME, YEAR_2000_NS
from semconv.facts import Facts, SpanFacts
from semconv.run import ClosedBy, Run
from semconv.trace_line import TraceLine

NO_ROOT = "no_root"
COST_DERIVED = "cost_derived"
ID_CONFLICT = "id_conflict"  # a span id came with two contents
LOSSY_PARENT = "missing_parent"
LOSSY_UNASSIGNED = "unassigned_spans"

# Fields of a run that its identity, or the resource of its root, gives as they are.
_SERVICE = ("service", "service_version", "environment")
_IDENTITY = ("task_version", "task_class", "expected", "trial_id", "retry_of", "workspace_id", "experiment_id")


class Circumstances(Struct, frozen=True):
    """What assembly is told of a unit: how the loop found it, and which evaluations are outcomes."""

    closed_by: ClosedBy
    outcome_events: frozenset[str]
    torn_traces: frozenset[str] = frozenset()  # traces with steps that no run could be given


def is_active(members: Members) -> bool:
    """Whether there is an agent, a request to a model or a tool call: else it is no run."""
    if any(node.facts.operation in ACTIVITY for node in members.nodes):
        return True
    return any(log.facts.operation in ACTIVITY and _is_step(log.facts) for log, _ in members.logs)


def _is_step(facts: Facts) -> bool:
    return facts.operation != "agent" or bool(facts.messages_in or facts.messages_out or facts.final_text)


def run_of(members: Members, circumstances: Circumstances) -> Run:
    """The run of `members`, which are active."""
    root = Root(members)
    scopes = Scopes(members.nodes, _agent_name(members, root))
    exchanges = exchanges_of(members.nodes, members.logs, scopes)
    conversation = converse(exchanges)
    calls = calls_of(conversation, executions_of(members.nodes, members.logs, scopes))
    lines = lines_of(members.run_id, conversation, calls)
    totals = totals_of(exchanges, conversation, root)
    ending = ending_of(root, exchanges, lines, totals)
    closed_by = _closed_by(members, root, calls, circumstances.closed_by)
    if root.has_arrived or closed_by == "end":
        dialect = root.node.facts.dialect if root.node is not None else ""
        lines.append(result_line(ending, totals, lines, Signature(members.run_id, scopes.agent, dialect)))
    return _assembled(members, root, _Parts(scopes.agent, lines, totals, ending, closed_by), circumstances)


class _Parts(Struct, frozen=True):
    agent: str
    lines: list[TraceLine]
    totals: Totals
    ending: Ending
    closed_by: ClosedBy


def _assembled(members: Members, root: Root, parts: _Parts, circumstances: Circumstances) -> Run:
    records = [node.span for node in members.nodes] + [log for log, _ in members.logs]
    lead = root.node.span if root.node is not None else records[0]
    started, ended, is_absurd = _times(root, records)
    outcomes, odd = outcomes_of(members.run_id, root.speakers, records, circumstances.outcome_events)
    task_id = _identity(root, members, "task_id")
    service = {field: _first(getattr(record, field) for record in (lead, *records)) for field in _SERVICE}
    totals, ending = parts.totals, parts.ending
    has_ended = root.has_arrived or parts.closed_by == "end"
    return Run(
        project=lead.project,
        run_id=members.run_id,
        lines=tuple(parts.lines),
        task_id=task_id or f"{service['service']}/{parts.agent or lead.name}",
        task_source="attribute" if task_id else "fallback",
        agent=parts.agent,
        model=totals.model,
        closed_by=parts.closed_by,
        root_status=ending.status if root.has_arrived or (not root.tops and has_ended) else "",
        root_error=ending.error,
        root_error_type=ending.error_type,
        root_span_id=root.node.span.span_id if root.node is not None else "",
        started_ns=started,
        ended_ns=ended,
        turns=totals.turns if totals.turns is not None else ending.num_turns or 0,
        tool_calls=sum(line.role == "assistant" and bool(line.tool) for line in parts.lines),
        input_tokens=totals.input_tokens,
        output_tokens=totals.output_tokens,
        cost_usd=totals.cost_usd,
        final_text=ending.final_text,
        subtype=ending.subtype if has_ended else "",
        attributes=lead.attributes,
        trace_ids=tuple(sorted({record.trace_id for record in records if record.trace_id})),
        span_count=len(members.nodes),
        outcomes=outcomes,
        lossy=_losses(members, root, circumstances),
        flags=_flags(members, root, {*odd, *([IMPLAUSIBLE_TIME] if is_absurd else [])}, totals),
        **{field: _identity(root, members, field) for field in _IDENTITY},
        **service,
    )


def _flags(members: Members, root: Root, odd: set[str], totals: Totals) -> tuple[str, ...]:
    """What is odd about a run, each once."""
    found = odd | members.flags
    for node in members.nodes:
        found.update(node.flags)
        if ID_CONFLICT in node.facts.flags:
            found.add(ID_CONFLICT)
    if root.is_missing:
        found.add(NO_ROOT)
    if totals.is_derived:
        found.add(COST_DERIVED)
    return tuple(sorted(found))


def _agent_name(members: Members, root: Root) -> str:
    """The run's own agent: its outermost agent's name, else what a model call or a log record says."""
    for node in root.agents:
        if node.facts.agent:
            return node.facts.agent
    named = [node.facts for node in members.nodes if node.facts.operation in ACTIVITY]
    named += [node.facts for node in members.nodes if node.facts.operation == "workflow"]
    named += [log.facts for log, _ in members.logs]
    return _first(facts.agent for facts in named)


def _first(values: Iterable[str]) -> str:
    return next((value for value in values if value), "")


def _identity(root: Root, members: Members, field: str) -> str:
    """A field of the run's identity; log records speak where no span does."""
    value = root.identity(field)
    if value or root.speakers:
        return value
    for log, _ in members.logs:
        for identity in (log.facts.own, log.facts.resource):
            if identity is not None and getattr(identity, field):
                return str(getattr(identity, field))
    return ""


def _closed_by(members: Members, root: Root, calls: Sequence[Call], unit: ClosedBy) -> ClosedBy:
    """How this run closed, which may differ from its unit: one run may be whole and another still lack its root."""
    if _has_end(members, root):
        return "end"
    if not unit:
        return ""
    if root.has_arrived:
        return "root"
    if not any(node.facts.operation in ACTIVITY for node in members.nodes):
        # Emitters of logs alone have no root: quiet, and nothing begun that did not end, is an end.
        is_open = any(call.execution is not None and not call.execution.concluded for call in calls)
        if not is_open and unit != "max_age":
            return "end"
    return "max_age" if unit == "max_age" else "idle"


def _has_end(members: Members, root: Root) -> bool:
    records = [node.facts for node in members.nodes] + [log.facts for log, _ in members.logs]
    if any(facts.own is not None and facts.own.run_end for facts in records):
        return True
    return not root.has_arrived and any(log.facts.boundary == "end" for log, _ in members.logs)


def _times(root: Root, records: Sequence[SpanFacts]) -> tuple[int, int, bool]:
    """Start and end in ns, and whether a clock had to be put right: a trial belongs to the time its root ended."""
    if root.has_arrived:
        started = root.tops[0].start
        ended, is_absurd = root.ended()
    elif root.tops:
        started = root.tops[0].start
        ended = max(top.end for top in root.tops)
        is_absurd = ended < YEAR_2000_NS
    else:
        started, ended = records[0].start_ns, max(record.end_ns for record in records)
        is_absurd = False
    if started < YEAR_2000_NS < ended:
        started, is_absurd = ended, True
    return min(started, ended), ended, is_absurd


def _losses(members: Members, root: Root, circumstances: Circumstances) -> tuple[str, ...]:
    """Why something that is not seen here may have happened all the same."""
    found = {loss for node in members.nodes if node.facts.operation != "other" for loss in node.facts.lossy}
    found |= {loss for log, _ in members.logs for loss in log.facts.lossy}
    if not root.is_whole:
        found.add(LOSSY_PARENT)
    if any(node.span.trace_id in circumstances.torn_traces for node in root.tops):
        found.add(LOSSY_UNASSIGNED)
    return tuple(sorted(found))
