"""Which request was carried out by which execution: each pair once, on the same evidence, the nearest in time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import NamedTuple, TypeAlias, TypeVar

from collector.assemble.conversation import Request
from collector.assemble.executions import Execution
from collector.assemble.values import canonical, has_input

T = TypeVar("T")
KeyOf: TypeAlias = Callable[[T], Hashable | None]


class Evidence(NamedTuple):
    """What makes a request and an execution one call: equal keys. None takes no part."""

    of_request: Callable[[Request], Hashable | None]
    of_execution: Callable[[Execution], Hashable | None]


def pair(requests: Sequence[Request], executions: Sequence[Execution]) -> dict[Request, Execution]:
    """Every request that was seen carried out. Both in run order.

    By call id in one agent; by tool and arguments where one side has no id; by tool alone where one side tells
    neither id nor arguments; by call id across agents of one depth (a graph may run its tools outside the agent).
    """
    pairs: dict[Request, Execution] = {}
    taken: set[Execution] = set()
    waiting, free = list(requests), list(executions)
    for evidence in _EVIDENCE:
        if not waiting or not free:
            break
        asked = _grouped(waiting, evidence.of_request)
        done = _grouped(free, evidence.of_execution)
        for key in asked:
            if key in done:
                found = list(_nearest(asked[key], done[key]))
                pairs.update(found)
                taken.update(execution for _, execution in found)
        waiting = [request for request in waiting if request not in pairs]
        free = [execution for execution in free if execution not in taken]
    return pairs


def _grouped(items: Iterable[T], key_of: KeyOf[T]) -> dict[Hashable, list[T]]:
    groups: dict[Hashable, list[T]] = {}
    for item in items:
        key = key_of(item)
        if key is not None:
            groups.setdefault(key, []).append(item)
    return groups


def _nearest(asked: Sequence[Request], done: Sequence[Execution]) -> Iterable[tuple[Request, Execution]]:
    """Each execution with the latest request before it, those of one message in their order.

    Requests known only from a later conversation were carried out before it: they take what is left, in order.
    """
    said = deque(request for request in asked if not request.is_told)
    told = deque(request for request in asked if request.is_told)
    open_messages: list[deque[Request]] = []
    for execution in done:
        while said and said[0].since <= execution.start:
            request = said.popleft()
            if open_messages and open_messages[-1][0].utterance is request.utterance:
                open_messages[-1].append(request)
            else:
                open_messages.append(deque([request]))
        if open_messages:
            yield open_messages[-1].popleft(), execution
            if not open_messages[-1]:
                open_messages.pop()
        elif told and execution.start <= told[0].since:
            yield told.popleft(), execution


def _id(request: Request) -> Hashable | None:
    return (request.utterance.scope, request.part.call_id) if request.part.call_id else None


def _execution_id(execution: Execution) -> Hashable | None:
    return (execution.scope, execution.call_id) if execution.call_id else None


def _input(request: Request) -> Hashable | None:
    part = request.part
    return (request.utterance.scope, part.tool, canonical(part.value)) if has_input(part.input_state) else None


def _execution_input(execution: Execution) -> Hashable | None:
    if not has_input(execution.input_state):
        return None
    return (execution.scope, execution.tool, canonical(execution.input))


def _tool(request: Request) -> Hashable | None:
    return (request.utterance.scope, request.part.tool)


def _execution_tool(execution: Execution) -> Hashable | None:
    return (execution.scope, execution.tool)


def _without_id(key_of: KeyOf[T], id_of: KeyOf[T]) -> KeyOf[T]:
    """That key of those that have no id: with two different ids, two calls are two, however alike."""
    return lambda item: None if id_of(item) is not None else key_of(item)


def _silent(key_of: KeyOf[T], input_of: KeyOf[T]) -> KeyOf[T]:
    """That key of those that do not tell their arguments."""
    return lambda item: None if input_of(item) is not None else key_of(item)


_EVIDENCE = (
    Evidence(_id, _execution_id),
    Evidence(_input, _without_id(_execution_input, _execution_id)),
    Evidence(_without_id(_input, _id), _execution_input),
    Evidence(_tool, _silent(_without_id(_execution_tool, _execution_id), _execution_input)),
    Evidence(_silent(_tool, _input), _without_id(_execution_tool, _execution_id)),
    Evidence(_silent(_without_id(_tool, _id), _input), _execution_tool),
    Evidence(_without_id(_tool, _id), _silent(_execution_tool, _execution_input)),
    Evidence(
        lambda request: (request.utterance.scope.depth, request.part.call_id) if request.part.call_id else None,
        lambda execution: (execution.scope.depth, execution.call_id) if execution.call_id else None,
    ),
)
