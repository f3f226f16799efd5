"""One conversation so far, and what in a request is new to it, although every request repeats what came before.

What a request hears is laid along the thread; what follows the last place where they agree is new.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from collector.assemble.scopes import Scope
from collector.assemble.values import canonical
from semconv.facts import Message


class Thread:
    """One conversation so far, as keys of what was said, and where each key occurs."""

    def __init__(self) -> None:
        self._length = 0
        self._places: dict[tuple[str, ...], list[int]] = {}
        self._tail = 0
        self._heard: dict[Scope, tuple[tuple[Message, ...], int]] = {}
        self._said: dict[Scope, tuple[Message, ...]] = {}
        self._aliases: dict[str, str] = {}

    def continues(self, heard: Iterable[Message]) -> bool:
        """Whether `heard` repeats something an assistant said or did in this thread."""
        return any(
            key in self._places for message in heard if is_answer(message) for key in _keys(message) if key[0] != "user"
        )

    def begin(self, scope: Scope, heard: tuple[Message, ...], start: int) -> list[Message]:
        """Begin with `heard`, of which what comes before `start` was said in earlier runs."""
        self._remember(heard)
        self._heard[scope] = (heard, self._length)
        return list(heard[start:])

    def hear(self, scope: Scope, heard: tuple[Message, ...]) -> list[Message]:
        """The messages of `heard` that are new; all of them are known from now on."""
        before, at = self._heard.get(scope, ((), 0))
        if before and heard[: len(before)] == before:
            new = self._grown(scope, heard[len(before) :], at)
        else:
            new = self._laid_along(heard)
        self._remember(new)
        self._heard[scope] = (heard, self._length)
        return [self._translated(message) for message in new] if self._aliases else new

    def say(self, scope: Scope, said: tuple[Message, ...]) -> None:
        self._remember(said)
        self._said[scope] = said

    def knows(self, message: Message) -> bool:
        keys = _keys(message)
        return bool(keys) and all(key in self._places for key in keys)

    def _grown(self, scope: Scope, rest: tuple[Message, ...], at: int) -> list[Message]:
        """What is new where a request repeats the one before and goes on.

        It goes on with the answer to that one: told in other words or with other call ids, it is the same answer.
        """
        matched, last, _ = self._lay_along(rest, at)
        answer = 0
        while answer < len(rest) and rest[answer].role == "assistant":
            answer += 1
        said = self._said.get(scope, ())
        if said and not any(number in matched for number in range(answer)):
            repeated = [part.call_id for message in rest[:answer] for part in message.parts if part.kind == "tool_call"]
            known = [part.call_id for message in said for part in message.parts if part.kind == "tool_call"]
            self._aliases.update(zip(repeated, known, strict=False))
            last = max(last, answer - 1)
        return list(rest[last + 1 :])

    def _laid_along(self, heard: tuple[Message, ...]) -> list[Message]:
        """What is new in a request that does not simply repeat the one before."""
        matched, last, position = self._lay_along(heard, 0)
        if position > self._tail or (matched and position == self._length):
            skipped = enumerate(heard[:last])
            instructions = [one for number, one in skipped if one.role == "system" and number not in matched]
            return [*instructions, *heard[last + 1 :]]
        return _unknown(heard, matched)

    def _lay_along(self, messages: Sequence[Message], position: int) -> tuple[set[int], int, int]:
        """Which messages occur in the thread in this order, the last of them, and the position after it."""
        matched: set[int] = set()
        last = -1
        for number, message in enumerate(messages):
            for key in _keys(message):
                places = self._places.get(key)
                at = bisect_left(places, position) if places else 0
                if places and at < len(places):
                    position = places[at] + 1
                    matched.add(number)
                    last = number
        return matched, last, position

    def _remember(self, messages: Iterable[Message]) -> None:
        start = self._length
        for message in messages:
            for key in _keys(message):
                self._places.setdefault(key, []).append(self._length)
                self._length += 1
        if self._length > start:
            self._tail = start

    def _translated(self, message: Message) -> Message:
        parts = tuple(
            replace(part, call_id=self._aliases[part.call_id]) if part.call_id in self._aliases else part
            for part in message.parts
        )
        return replace(message, parts=parts) if parts != message.parts else message


def _unknown(messages: Sequence[Message], matched: set[int]) -> list[Message]:
    """New messages where the request does not continue the thread.

    A harness that sends only what is new may say "yes" twice and mean it; a conversation of its own, which brings
    its system prompt or earlier answers along, repeats what is known.
    """
    if all(message.role in ("user", "tool") for message in messages):
        return list(messages)
    return [message for number, message in enumerate(messages) if number not in matched]


def _keys(message: Message) -> list[tuple[str, ...]]:
    """What makes the parts of a message the same said again. Ids where there are any."""
    keys: list[tuple[str, ...]] = []
    text = text_of(message).strip()
    if text:
        keys.append((message.role, text))
    for part in message.parts:
        if part.kind == "text" and message.role == "user":
            # Harnesses put reminders of their own beside the prompt: it is the same prompt.
            alone = part.text.strip()
            if alone and alone != text:
                keys.append(("user", alone))
        elif part.kind == "tool_call":
            keys.append(("call", part.call_id) if part.call_id else ("call", part.tool, canonical(part.value)))
        elif part.kind == "tool_result":
            keys.append(("result", part.call_id) if part.call_id else ("result", part.tool, canonical(part.value)))
    return keys


def without_answer(heard: tuple[Message, ...], said: tuple[Message, ...]) -> tuple[Message, ...]:
    """What was heard, for emitters that put the answer at its end as well."""
    if not said or len(said) > len(heard):
        return heard
    repeated = [_keys(message) for message in heard[-len(said) :]] == [_keys(message) for message in said]
    return heard[: -len(said)] if repeated else heard


def text_of(message: Message) -> str:
    """The text of a message."""
    texts = [part.text for part in message.parts if part.kind == "text" and part.text.strip()]
    return "\n".join(texts)


def is_answer(message: Message) -> bool:
    """Whether a model or a tool said it."""
    return message.role in ("assistant", "tool") or any(part.kind == "tool_result" for part in message.parts)
