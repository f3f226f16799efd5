"""What telemetry says of a run's end state: the root's own attribute, and evaluation events with an agreed name.

Nothing else sets an outcome: not what a tool returned, not an attribute of another span.
"""

from __future__ import annotations

from collections.abc import Iterable

from collector.assemble.tree import Node
from semconv.facts import Evaluation, SpanFacts
from semconv.names import OUTCOME
from semconv.outcome import Outcome, OutcomeResult, OutcomeSource

OUTCOME_UNREADABLE = "outcome_unreadable"

_LABELS: dict[str, OutcomeResult] = {
    **dict.fromkeys(("pass", "passed", "true", "yes", "success", "succeeded", "correct", "resolved"), "pass"),
    **dict.fromkeys(("fail", "failed", "false", "no", "failure", "incorrect", "unresolved"), "fail"),
    **dict.fromkeys(("error", "errored"), "error"),
    "invalid": "invalid",
}
_SOURCES: dict[str, OutcomeSource] = {"environment": "environment", "harness": "harness", "judge": "judge"}


def outcomes_of(
    run_id: str, roots: Iterable[Node], records: Iterable[SpanFacts], names: frozenset[str]
) -> tuple[tuple[Outcome, ...], tuple[str, ...]]:
    """The outcomes of a run and the flags of those that could not be read.

    `roots` are the spans that speak for the run, `records` all of its spans and log records, `names` the evaluations
    that are outcomes; those named `passhat.outcome` always are.
    """
    found: list[Outcome] = []
    flags: set[str] = set()
    for node in roots:
        own = node.facts.own
        if own is None or not own.outcome:
            continue
        result = _LABELS.get(own.outcome.strip().lower())
        if result is None:
            flags.add(OUTCOME_UNREADABLE)
            continue
        span = node.span
        identity = f"span:{span.trace_id}:{span.span_id}"
        found.append(Outcome(run_id, result, "harness", own.outcome_reason, time_ns=node.end, id=identity))
    for record in records:
        for number, evaluation in enumerate(record.facts.evaluations):
            if evaluation.name in names or evaluation.name == OUTCOME:
                outcome = _of_event(run_id, record, evaluation, number)
                if outcome is None:
                    flags.add(OUTCOME_UNREADABLE)
                else:
                    found.append(outcome)
    return tuple(sorted(found, key=lambda outcome: (outcome.time_ns, outcome.id))), tuple(sorted(flags))


def _of_event(run_id: str, record: SpanFacts, evaluation: Evaluation, number: int) -> Outcome | None:
    """The label decides, else the score; None where neither says anything."""
    result = _LABELS.get(evaluation.label.strip().lower())
    if result is None and evaluation.score is not None:
        result = "pass" if evaluation.score >= 0.5 else "fail"
    if result is None:
        return None
    time_ns = evaluation.time_ns or record.start_ns
    place = f"{record.trace_id}:{record.span_id}" if record.signal == "span" else record.content_hash
    return Outcome(
        run_id=run_id,
        result=result,
        source=_SOURCES.get(evaluation.source, "judge"),
        reason=evaluation.explanation,
        score=evaluation.score,
        time_ns=time_ns,
        id=f"event:{evaluation.name}:{time_ns}:{place}:{number}",
    )
