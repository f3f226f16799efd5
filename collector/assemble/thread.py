"""One conversation so far, and what in a request is new to it, although every request repeats what came before.

What a request hears is laid along the thread; what follows the last place where they agree is new.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Protocol, TypeAlias

from msgspec.structs import replace

from collector.assemble.scopes import Scope
from collector.assemble.values import canonical
from semconv.facts import Message, Part

Keys: TypeAlias = list[tuple[str, ...]]


class Asked(Protocol):
    """A call that was asked for."""

    part: Part


class Thread:
    """One conversation so far, as keys of what was said, and where each key occurs."""

    def __init__(self) -> None:
        self._length = 0
        self._places: dict[tuple[str, ...], list[int]] = {}
        self._tail = 0
        self._heard: dict[Scope, tuple[tuple[Message, ...], int]] = {}
        self._said: dict[Scope, Sequence[Asked]] = {}
        self._aliases: dict[str, str] = {}

    def continues(self, heard: Iterable[Message]) -> bool:
        """Whether `heard` repeats something an assistant said or did in this thread."""
        return any(
            key in self._places for message in heard if is_answer(message) for key in _keys(message) if key[0] != "user"
        )

    def begin(self, scope: Scope, heard: tuple[Message, ...], start: int) -> list[Message]:
        """Begin with `heard`, of which what comes before `start` was said in earlier runs."""
        self._remember(map(_keys, heard))
        self._heard[scope] = (heard, self._length)
        return list(heard[start:])

    def hear(self, scope: Scope, heard: tuple[Message, ...]) -> list[Message]:
        """The messages of `heard` that are new; all of them are known from now on."""
        before, at = self._heard.get(scope, ((), 0))
        is_grown = bool(before) and heard[: len(before)] == before
        rest = heard[len(before) :] if is_grown else heard
        keys = [_keys(message) for message in rest]
        numbers = self._grown(scope, rest, keys, at) if is_grown else self._laid_along(rest, keys)
        self._remember(keys[number] for number in numbers)
        self._heard[scope] = (heard, self._length)
        new = [rest[number] for number in numbers]
        return [self._translated(message) for message in new] if self._aliases else new

    def say(self, scope: Scope, said: tuple[Message, ...], requests: Sequence[Asked]) -> None:
        """What was said next, and the calls that were asked for with it."""
        self._remember(map(_keys, said))
        if said:
            self._said[scope] = requests

    def knows(self, message: Message) -> bool:
        keys = _keys(message)
        return bool(keys) and all(key in self._places for key in keys)

    def _grown(self, scope: Scope, rest: Sequence[Message], keys: Sequence[Keys], at: int) -> Iterable[int]:
        """Which of `rest` is new, where a request repeats the one before and goes on with `rest`.

        It goes on with the answer to that one: told in other words or with other call ids, it is the same answer.
        """
        matched, last, _ = self._lay_along(keys, at)
        answer = 0
        while answer < len(rest) and rest[answer].role == "assistant":
            answer += 1
        if scope in self._said and answer and not any(number in matched for number in range(answer)):
            repeated = [part for message in rest[:answer] for part in message.parts if part.kind == "tool_call"]
            for request, part in zip(self._said[scope], repeated, strict=False):
                self._rename(request, part.call_id)
            last = max(last, answer - 1)
        return range(last + 1, len(rest))

    def _rename(self, request: Asked, call_id: str) -> None:
        """A call that is told again under `call_id`: its own id stays, but it takes one where it had none."""
        if request.part.call_id:
            self._aliases[call_id] = request.part.call_id
        elif call_id:
            request.part = replace(request.part, call_id=call_id)
            self._remember([[("call", call_id)]])

    def _laid_along(self, heard: Sequence[Message], keys: Sequence[Keys]) -> Iterable[int]:
        """Which is new in a request that does not simply repeat the one before.

        Where it does not go on from the end of the thread, either it brings only what is new, and may say "yes"
        twice and mean it; or it is a conversation of its own, with its instructions or earlier answers, and repeats
        what is known.
        """
        matched, last, position = self._lay_along(keys, 0)
        if position > self._tail or (matched and position == self._length):
            instructions = [n for n in range(last) if heard[n].role == "system" and n not in matched]
            return [*instructions, *range(last + 1, len(heard))]
        if all(message.role in ("user", "tool") for message in heard):
            return range(len(heard))
        return [n for n in range(len(heard)) if n not in matched]

    def _lay_along(self, keys: Sequence[Keys], position: int) -> tuple[set[int], int, int]:
        """Which messages occur in the thread in this order, the last of them, and the position after it."""
        matched: set[int] = set()
        last = -1
        for number, keys_of_one in enumerate(keys):
            for key in keys_of_one:
                places = self._places.get(key)
                if not places or places[-1] < position:
                    continue
                position = places[bisect_left(places, position)] + 1
                matched.add(number)
                last = number
        return matched, last, position

    def _remember(self, keys: Iterable[Keys]) -> None:
        start = self._length
        for keys_of_one in keys:
            for key in keys_of_one:
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


def _keys(message: Message) -> Keys:
    """What makes the parts of a message the same said again. Ids where there are any."""
    keys: Keys = []
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
    if not said or len(said) > len(heard) or heard[-1].role != said[-1].role:
        return heard
    repeated = [_keys(message) for message in heard[-len(said) :]] == [_keys(message) for message in said]
    return heard[: -len(said)] if repeated else heard


def text_of(message: Message) -> str:
    """The text of a message."""
    parts = message.parts
    if len(parts) == 1:
        only = parts[0]
        return only.text if only.kind == "text" and only.text.strip() else ""
    return "\n".join([part.text for part in parts if part.kind == "text" and part.text.strip()])


def is_answer(message: Message) -> bool:
    """Whether a model or a tool said it."""
    return message.role in ("assistant", "tool") or any(part.kind == "tool_result" for part in message.parts)
