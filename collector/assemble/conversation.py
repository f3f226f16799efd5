"""What was said in a run, each thing once and in order, and the calls that were asked for on the way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from collector.assemble.exchanges import Exchange
from collector.assemble.scopes import Scope
from collector.assemble.thread import Thread, is_answer, text_of, without_answer
from semconv.facts import Message, Part
from semconv.trace_line import Role

_SPEAKERS: dict[str, Role] = {"system": "system", "user": "user", "assistant": "assistant"}


class Moment(NamedTuple):
    """When a line happens: time, then ends (0) before starts (1) before instants (2), then place and sequence."""

    time_ns: int
    rank: int
    place: int
    sequence: float


class Utterance:
    """One message: its text, and the calls an assistant asked for with it.

    `is_told` when it is known only because it was repeated later. `since` is the earliest (if told, the latest) that
    what it asks for was carried out. Times are ns.
    """

    __slots__ = ("exchange", "is_told", "message", "moment", "requests", "role", "since", "text")

    def __init__(self, message: Message, exchange: Exchange, moment: Moment, *, is_told: bool) -> None:
        calls = _calls(message)
        self.message = message
        self.role: Role = "assistant" if calls else _SPEAKERS.get(message.role, "tool")
        self.text = text_of(message)
        self.exchange = exchange
        self.moment = moment
        self.is_told = is_told
        self.since = exchange.end if exchange.kind == "summary" else exchange.start
        self.requests = [Request(part, self) for part in calls]

    @property
    def scope(self) -> Scope:
        return self.exchange.scope


class Request:
    """A call a model asked for."""

    __slots__ = ("part", "utterance")

    def __init__(self, part: Part, utterance: Utterance) -> None:
        self.part = part
        self.utterance = utterance

    @property
    def is_told(self) -> bool:
        return self.utterance.is_told

    @property
    def since(self) -> int:
        return self.utterance.since


class Result:
    """The result of a call, as the model was told it."""

    __slots__ = ("moment", "part", "scope")

    def __init__(self, part: Part, scope: Scope, moment: Moment) -> None:
        self.part = part
        self.scope = scope
        self.moment = moment


class Conversation:
    """The utterances and results of a run, in the order they were found."""

    def __init__(self) -> None:
        self.utterances: list[Utterance] = []
        self.results: list[Result] = []
        self._spoken: dict[Scope, set[str]] = {}

    def add(self, exchange: Exchange, messages: Iterable[Message], moment: Moment, *, is_told: bool = False) -> None:
        """Record messages as new. The first is at `moment`; the others follow it."""
        sequence = moment.sequence
        for message in messages:
            sequence += 1
            at = Moment(moment.time_ns, moment.rank, moment.place, sequence)
            utterance = Utterance(message, exchange, at, is_told=is_told)
            if utterance.requests or (utterance.text and utterance.role != "tool"):
                self.utterances.append(utterance)
                marks: set[str] = {utterance.role} if utterance.text else set()
                self.mark(exchange.scope, marks | {"calls"} if utterance.requests else marks)
            for part in message.parts:
                if part.kind == "tool_result":
                    self.results.append(Result(part, exchange.scope, at))

    def put_instructions_first(self) -> None:
        """A prompt may be logged before the request that shows the instructions it was given under."""
        asked: dict[Scope, Moment] = {}
        answered: dict[Scope, Moment] = {}
        for utterance in self.utterances:
            first = {"user": asked, "assistant": answered}.get(utterance.role)
            if first is not None:
                first[utterance.scope] = min(utterance.moment, first.get(utterance.scope, utterance.moment))
        for utterance in self.utterances:
            if utterance.role != "system" or utterance.scope not in asked:
                continue
            prompt, answer = asked[utterance.scope], answered.get(utterance.scope)
            if prompt < utterance.moment and (answer is None or utterance.moment < answer):
                utterance.moment = prompt._replace(sequence=prompt.sequence - 0.5)

    def spoken(self, scope: Scope) -> set[str]:
        """What is known to have been said by an agent and by those of its depth inside it: roles, and 'calls'."""
        return self._spoken.get(scope, set())

    def mark(self, scope: Scope | None, marks: set[str]) -> None:
        """Note what was said by an agent, for those around it too."""
        depth = scope.depth if scope else 0
        while scope is not None and scope.depth == depth:
            known = self._spoken.setdefault(scope, set())
            if marks <= known:
                break
            known |= marks
            scope = scope.outer


def converse(exchanges: Sequence[Exchange]) -> Conversation:
    """The conversation of a run, from its exchanges in run order."""
    conversation = Conversation()
    threads = Threads()
    for exchange in exchanges:
        if exchange.kind != "summary":
            _follow(conversation, threads, exchange)
    for exchange in _summaries(exchanges):
        _fill(conversation, exchange)
    conversation.put_instructions_first()
    return conversation


def _summaries(exchanges: Sequence[Exchange]) -> list[Exchange]:
    """What agents say of the whole, those first that are asked first.

    Inner agents come later in run order and are asked first, so that a wrapper does not repeat them. Of one agent's
    reports the one that tells its calls is asked before one that tells question and answer alone (CrewAI's crew and
    its tasks).
    """
    found = [exchange for exchange in reversed(exchanges) if exchange.kind == "summary"]
    place: dict[Scope, int] = {}
    for exchange in found:
        place.setdefault(exchange.scope, len(place))
    return sorted(found, key=lambda one: (place[one.scope], not any(map(_calls, (*one.heard, *one.said)))))


class Threads:
    """The thread each agent is in. An agent that is handed a conversation stays in it."""

    def __init__(self) -> None:
        self._of: dict[Scope, Thread] = {}
        self._latest: dict[Scope | None, Thread] = {}

    def find(self, exchange: Exchange) -> tuple[Thread, bool]:
        """The thread of an exchange, and whether it begins here."""
        scope = exchange.scope
        thread = self._of.get(scope)
        if thread is not None:
            return thread, False
        before = self._latest.get(scope.outer)
        above = self._of.get(scope.outer) if scope.outer is not None else None
        for candidate in (before, above):
            if candidate is not None and candidate.continues(exchange.heard):
                thread = candidate
                break
        is_new = thread is None
        thread = thread or Thread()
        self._of[scope] = thread
        self._latest[scope.outer] = thread
        return thread, is_new


def _follow(conversation: Conversation, threads: Threads, exchange: Exchange) -> None:
    """Add what one exchange brings to its thread."""
    if not exchange.heard and not exchange.said:
        return
    thread, is_new = threads.find(exchange)
    heard, said = without_answer(exchange.heard, exchange.said), exchange.said
    if exchange.kind == "remark":
        # A log record beside spans says again what a request heard or said.
        heard = tuple(message for message in heard if not thread.knows(message))
        said = tuple(message for message in said if not thread.knows(message))
    if heard:
        start = turn_start(heard) if is_new else 0
        if start:
            # The instructions of a conversation that goes on were given in an earlier run.
            conversation.mark(exchange.scope, {"system"})
            new = thread.begin(exchange.scope, heard, start)
        else:
            new = thread.hear(exchange.scope, heard)
        conversation.add(exchange, new, heard_at(exchange), is_told=True)
    before = len(conversation.utterances)
    conversation.add(exchange, said, said_at(exchange))
    asked = [request for utterance in conversation.utterances[before:] for request in utterance.requests]
    thread.say(exchange.scope, said, asked)


def heard_at(exchange: Exchange) -> Moment:
    return Moment(exchange.start, 1, exchange.place, 0)


def said_at(exchange: Exchange) -> Moment:
    return Moment(exchange.end, 0 if exchange.end > exchange.start else 2, exchange.place, 1_000_000)


def _fill(conversation: Conversation, exchange: Exchange) -> None:
    """Add from an agent's own span what none of its requests told."""
    spoken = conversation.spoken(exchange.scope)
    heard = exchange.heard[turn_start(exchange.heard) :]
    answered = next((number for number, message in enumerate(heard) if is_answer(message)), len(heard))
    asked = [message for message in heard[:answered] if message.role not in spoken]
    rest = (*heard[answered:], *exchange.said)
    if "assistant" in spoken or "calls" in spoken:
        rest = rest[-1:] if "assistant" not in spoken and not any(map(_calls, rest[-1:])) else ()
    conversation.add(exchange, asked, heard_at(exchange), is_told=True)
    conversation.add(exchange, rest, said_at(exchange), is_told=True)
    final = exchange.span.facts.final_text
    if final and "assistant" not in conversation.spoken(exchange.scope):
        message = Message("assistant", (Part("text", text=final),))
        conversation.add(exchange, (message,), said_at(exchange)._replace(sequence=2_000_000), is_told=True)


def _calls(message: Message) -> list[Part]:
    """The calls a message asks for. Some emitters repeat one of them in it; one without name and id is none."""
    found: list[Part] = []
    ids: set[str] = set()
    for part in message.parts:
        if part.kind != "tool_call" or not (part.tool or part.call_id) or part.call_id in ids:
            continue
        found.append(part)
        if part.call_id:
            ids.add(part.call_id)
    return found


def turn_start(heard: Sequence[Message]) -> int:
    """Where the current turn begins: after the last answer before the last thing a user said."""
    asked = -1
    for number, message in enumerate(heard):
        if message.role == "user" and text_of(message) and not is_answer(message):
            asked = number
    for number in range(asked - 1, -1, -1):
        if is_answer(heard[number]):
            return number + 1
    return 0
