"""How a run ended and what it used: the `result` line and the totals of the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from collector.assemble.conversation import Conversation
from collector.assemble.cost import cost_of
from collector.assemble.exchanges import Exchange
from collector.assemble.root import Root
from semconv.trace_line import Status, TraceLine

_ENDS = {**dict.fromkeys(("ok", "completed", "succeeded"), "success"), **dict.fromkeys(("failed", "failure"), "error")}


class Totals(Struct, frozen=True):
    """What a run used, its sub-agents included; `turns` are those of the run's own agent. None where nobody told."""

    turns: int | None
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    is_derived: bool
    model: str


class Ending(Struct, frozen=True):
    """How a run ended. `text` is the final answer, or what went wrong."""

    status: Status
    subtype: str
    error: str
    error_type: str
    final_text: str
    num_turns: int | None

    @property
    def text(self) -> str:
        return self.final_text or (self.error if self.status == "error" else "")


def totals_of(exchanges: Sequence[Exchange], conversation: Conversation, root: Root) -> Totals:
    """Tokens and cost of all requests once; an agent's own totals only where no request told its own."""
    turns = [exchange for exchange in exchanges if exchange.kind == "turn"]
    beside = [exchange for exchange in exchanges if exchange.kind == "remark"]
    agents = [agent.facts for agent in root.agents]
    is_counted = any(turn.has_tokens for turn in turns)
    given: Iterable[int | None] = [one.input_tokens for one in (turns if is_counted else agents)]
    made: Iterable[int | None] = [one.output_tokens for one in (turns if is_counted else agents)]
    reported = [facts.cost_usd for facts in agents if facts.cost_usd is not None]
    cost = cost_of(turns, beside, sum(reported) if reported else None)
    own = [turn for turn in turns if turn.scope.depth == 0]
    models = Counter(turn.model for turn in own or turns if turn.model)
    return Totals(
        turns=_turns(own, conversation),
        input_tokens=_sum(given),
        output_tokens=_sum(made),
        cost_usd=cost.usd,
        is_derived=cost.is_derived,
        model=models.most_common(1)[0][0] if models else next((facts.model for facts in agents if facts.model), ""),
    )


def _turns(own: Sequence[Exchange], conversation: Conversation) -> int | None:
    """Answers of models to the run's own agent: seen when given, or repeated later. None where none could be seen."""
    told = [one for one in conversation.utterances if one.is_told and one.role == "assistant" and one.scope.depth == 0]
    transcripts = {one.exchange for one in told if one.requests}
    repeated = [one for one in told if one.exchange.kind != "summary" or one.exchange in transcripts]
    return sum(turn.answered for turn in own) + len(repeated) if own or repeated else None


def _sum(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def ending_of(root: Root, exchanges: Sequence[Exchange], lines: Sequence[TraceLine], totals: Totals) -> Ending:
    """How the run ended, from its root, its agents, and its last line."""
    status, node = root.status()
    facts = [agent.facts for agent in reversed(root.agents)]
    facts += [speaker.facts for speaker in root.speakers]
    failed = [exchange for exchange in exchanges if exchange.status == "error"]
    error = node.facts.error if node is not None and status == "error" else ""
    error_type = node.facts.error_type if node is not None else ""
    if not root.tops and failed and failed[-1] is _last_turn(exchanges):
        status, error = "error", failed[-1].error
    if status == "error" and failed:
        error = error or failed[-1].error
        error_type = error_type or failed[-1].error_type
    reported = _first(one.num_turns for one in facts)
    return Ending(
        status=status,
        subtype=_subtype(_first_text(one.subtype for one in facts), status),
        error=error,
        error_type=error_type,
        final_text=_final_text(_first_text(one.final_text for one in facts), _last_answer(lines)),
        num_turns=reported if reported is not None else totals.turns,
    )


def _last_turn(exchanges: Sequence[Exchange]) -> Exchange | None:
    return next((exchange for exchange in reversed(exchanges) if exchange.kind != "summary"), None)


def _last_answer(lines: Sequence[TraceLine]) -> str:
    """What the run's own agent said last, if it did nothing after: text before a call is no answer."""
    for line in reversed(lines):
        if line.depth == 0 and line.role == "assistant":
            return "" if line.tool else line.text
    return ""


def _subtype(reported: str, status: Status) -> str:
    """What the emitter calls the end, in the contract's words where there are any; else what its status says."""
    if reported:
        return _ENDS.get(reported.lower(), reported)
    return "error" if status == "error" else "success"


def _final_text(reported: str, answered: str) -> str:
    """The answer as an agent's span gives it, else as it was said; one of them with a line break more is the latter."""
    return answered if not reported or reported.strip() == answered.strip() else reported


def _first(values: Iterable[int | None]) -> int | None:
    return next((value for value in values if value is not None), None)


def _first_text(values: Iterable[str]) -> str:
    return next((value for value in values if value), "")


class Signature(Struct, frozen=True):
    """Whose line it is."""

    run_id: str
    agent: str
    dialect: str


def result_line(ending: Ending, totals: Totals, after: Sequence[TraceLine], signature: Signature) -> TraceLine:
    """The last line of a run that ended."""
    end = max((line.end_ns for line in after), default=0)
    return TraceLine(
        n=len(after) + 1,
        role="result",
        text=ending.text,
        subtype=ending.subtype,
        cost_usd=totals.cost_usd,
        num_turns=ending.num_turns,
        run_id=signature.run_id,
        agent=signature.agent,
        status=ending.status,
        error=ending.error,
        start_ns=end,
        end_ns=end,
        model=totals.model,
        dialect=signature.dialect,
        flags=("cost_derived",) if totals.is_derived else (),
    )
