"""Log records put to the runs of their spans, or to runs of their own; and roots that come after their run closed."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import count

from collector.assemble.identity import ACTIVITY, Key, Members, divide_spans
from collector.assemble.tree import Node
from semconv.facts import Facts, SpanFacts
from semconv.run import Closing

RUN_ID_REUSED = "run_id_reused"
RUN_ID_SHARED = "run_id_shared"


class Division:
    """A unit divided into runs."""

    def __init__(self, nodes: Sequence[Node], logs: Sequence[SpanFacts], group_by: str) -> None:
        self._runs, self.unassigned, self._keys = divide_spans(nodes, group_by)
        if not logs:
            return
        self._group_by = group_by
        self._carriers = {(node.span.trace_id, node.span.span_id): node for node in nodes}
        self._of_trace: dict[str, dict[Key, None]] = {}
        for node in nodes:
            key = self._keys[node]
            if key is not None:
                self._of_trace.setdefault(node.span.trace_id, {})[key] = None
        self._active = {key for node in nodes if node.facts.operation in ACTIVITY and (key := self._keys[node])}
        self._responses: dict[str, set[Key]] = {}
        for node, key in self._keys.items():
            if key is not None and node.facts.response_id:
                self._responses.setdefault(node.facts.response_id, set()).add(key)
        self._joined: dict[str, set[Key]] = {}
        for node, key in self._keys.items():
            if key in self._active:
                for join_key in node.facts.join_keys:
                    self._joined.setdefault(join_key, set()).add(key)
        self._cuts: dict[str, Key] = {}
        for log in logs:
            self._place(log)

    @property
    def members(self) -> list[Members]:
        """The runs; what several keys name by one id is one run, and flagged: a trace may be called what another says
        its run is.
        """
        found: dict[str, Members] = {}
        for run in self._runs.values():
            known = found.setdefault(run.run_id, run)
            if known is not run:
                known.absorb(run, RUN_ID_SHARED)
        return list(found.values())

    def _place(self, log: SpanFacts) -> None:
        node = self._carriers.get((log.trace_id, log.span_id)) if log.span_id else None
        key = self._key_of(log, node)
        if node is not None and self._keys[node] != key:
            node = None  # it names another run than its span's: it says nothing of that span
        if node is not None:
            node.logs.append(log)
        if key is None:
            if log.facts.operation in ACTIVITY or log.facts.evaluations:
                self.unassigned.append(log)
            return
        if key not in self._runs:
            self._runs[key] = Members(key.value)
        self._runs[key].logs.append((log, node))

    def _key_of(self, log: SpanFacts, node: Node | None) -> Key | None:
        """Its span's run, the run it names, its attempt, what `runs.group_by` says, its trace's only run."""
        facts = log.facts
        run_id = _run_id(facts)
        if run_id:
            return Key("run", run_id)
        if node is not None:
            of_span = self._keys[node]
            if of_span is None or of_span in self._active or not facts.attempt:
                return of_span
        of_trace = [key for key in self._of_trace.get(log.trace_id, ()) if key in self._active] if log.trace_id else []
        if len(of_trace) == 1:
            return of_trace[0]
        if of_trace:
            return _only(self._responses_of(log))
        return self._key_without_spans(log)

    def _responses_of(self, log: SpanFacts) -> set[Key]:
        """The runs with the response that an evaluation is of."""
        evaluations = log.facts.evaluations
        return self._responses.get(evaluations[0].response_id, set()) if evaluations else set()

    def _key_without_spans(self, log: SpanFacts) -> Key | None:
        """The only run it shares a key with; where there are several, none: a run of its own would be a trial more."""
        facts = log.facts
        shared = [self._responses_of(log), *(self._joined.get(join_key, set()) for join_key in facts.join_keys)]
        if any(shared):
            return next((key for key in map(_only, shared) if key is not None), None)
        prefix = f"{self._group_by}="
        grouped = [key for key in facts.join_keys if self._group_by and key.startswith(prefix)]
        if grouped:
            return Key("group", grouped[0][len(prefix) :])
        if facts.attempt:
            return self._cut(facts, log.start_ns)
        if not log.trace_id:
            return None
        known = self._of_trace.get(log.trace_id)
        return next(iter(known)) if known else Key("trace", log.trace_id)

    def _cut(self, facts: Facts, time_ns: int) -> Key:
        """An attempt may go on for several prompts: each is a run, the later ones named by when they began."""
        known = self._cuts.get(facts.attempt)
        if known is None:
            known = self._cuts[facts.attempt] = Key("attempt", facts.attempt)
        elif facts.boundary == "start" and self._has_started(known):
            known = self._cuts[facts.attempt] = Key("attempt", f"{facts.attempt}:{time_ns}")
        return known

    def _has_started(self, key: Key) -> bool:
        members = self._runs.get(key)
        return members is not None and any(log.facts.boundary == "start" for log, _ in members.logs)


def _only(keys: set[Key]) -> Key | None:
    return next(iter(keys)) if len(keys) == 1 else None


def _run_id(facts: Facts) -> str:
    if facts.own is not None and facts.own.run_id:
        return facts.own.run_id
    return facts.resource.run_id if facts.resource is not None else ""


def reopened(members: Iterable[Members], closures: Mapping[str, Closing]) -> list[Members]:
    """Runs whose roots come in several lives: a root that starts after its run was closed opens a new run.

    What belongs to no root of the new run stays in the old. A life is not called what another run of the unit is.
    """
    runs = list(members)
    roots = {(node.span.trace_id, node.span.span_id): run.run_id for run in runs for node in run.nodes}
    taken = {run.run_id for run in runs}
    found: list[Members] = []
    for run in runs:
        own = run.run_id
        while run.run_id in closures:
            closing = closures[run.run_id]
            if any(roots.get(root, own) != own for root in closing.roots):
                break  # it closed another run, which was called so before this one came
            later = _split(run, closing, taken)
            if later is None:
                break
            taken.add(later.run_id)
            if run.nodes or run.logs:
                found.append(run)
            run = later
        found.append(run)
    return found


def _split(run: Members, closing: Closing, taken: set[str]) -> Members | None:
    """Take from `run` what began after its closing, as a run of its own; None where nothing did."""
    own = set(run.nodes)
    later: set[Node] = set()
    for node in run.nodes:
        if node.parent in later or (node.parent not in own and not node.is_stranded and _began_after(node, closing)):
            later.add(node)
    if not later:
        return None
    begins = min(node.start for node in later)
    new = Members(_next_life(run.run_id, taken))
    new.flags = run.flags | {RUN_ID_REUSED}
    new.nodes = [node for node in run.nodes if node in later]
    new.starts = [node for node in run.starts if node in later]
    new.logs = [(log, node) for log, node in run.logs if node in later or (node is None and log.start_ns >= begins)]
    moved = {id(log) for log, _ in new.logs}
    run.nodes = [node for node in run.nodes if node not in later]
    run.starts = [node for node in run.starts if node not in later]
    run.logs = [(log, node) for log, node in run.logs if id(log) not in moved]
    return new


def _began_after(node: Node, closing: Closing) -> bool:
    """Began and arrived after the closing: an emitter whose clock is ahead begins nothing twice, nor does the root that
    was closed when it is sent again with another start.
    """
    if closing.is_root(node.span.trace_id, node.span.span_id):
        return False
    return node.start > closing.at_ns and (node.span.received_ns or node.start) > closing.at_ns


def _next_life(run_id: str, taken: Container[str]) -> str:
    base, mark, number = run_id.rpartition("~")
    if not mark or not number.isdigit():
        base, number = run_id, "1"
    return next(life for n in count(int(number) + 1) if (life := f"{base}~{n}") not in taken)
