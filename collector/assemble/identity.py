"""Which spans of a unit are one run (CONTRACT.md section 2, "Run id").

An id must not depend on what else has arrived: a run that starts below the root is named by its span even when it
is the only one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from collector.assemble.records import log_order
from collector.assemble.tree import MISSING_PARENT, Node
from semconv.facts import Facts, Identity, SpanFacts

ACTIVITY = frozenset(["agent", "chat", "tool"])


class Key(NamedTuple):
    """What makes records one run: a run id given, the span that starts it, or what stands in for either."""

    kind: Literal["run", "start", "group", "attempt", "trace"]
    value: str

    @property
    def is_explicit(self) -> bool:
        return self.kind in ("run", "start")


Keys = dict[Node, Key | None]


class Members:
    """The spans and log records of one run, in run order; each record with the span whose ids it carries.

    `starts` are the spans that began it by saying so. `flags` is what is odd about how they came together.
    """

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        self.starts: list[Node] = []
        self.nodes: list[Node] = []
        self.logs: list[tuple[SpanFacts, Node | None]] = []
        self.flags: set[str] = set()

    def absorb(self, other: Members, flag: str) -> None:
        """Take in what another key says is of the same run."""
        self.starts = sorted(self.starts + other.starts, key=lambda node: node.place)
        self.nodes = sorted(self.nodes + other.nodes, key=lambda node: node.place)
        self.logs = sorted(self.logs + other.logs, key=lambda one: log_order(one[0]))
        self.flags |= other.flags | {flag}


def divide_spans(nodes: Sequence[Node], group_by: str) -> tuple[dict[Key, Members], list[SpanFacts], Keys]:
    """The runs of a unit by key; steps of agents that cannot be put to one run without guessing; each span's key."""
    keys = _inherited(nodes)
    _settle(nodes, keys, group_by)
    wrappers = _above(node for node in nodes if (key := keys[node]) is not None and key.is_explicit)
    runs: dict[Key, Members] = {}
    unassigned: list[SpanFacts] = []
    named: set[str] = set()
    for node in nodes:
        key = keys[node]
        if key is None:
            if node.facts.operation in ACTIVITY and node not in wrappers:
                unassigned.append(node.span)
            continue
        if key not in runs:
            runs[key] = Members(_run_id(key, node, named))
        runs[key].nodes.append(node)
        if _is_start(node.facts) and (node.parent is None or keys[node.parent] != key):
            runs[key].starts.append(node)
    return runs, unassigned, keys


def _inherited(nodes: Iterable[Node]) -> Keys:
    """Each span's key from itself, else the nearest ancestor, else its resource, else its trace."""
    keys: Keys = {}
    for node in nodes:
        own, resource = node.facts.own, node.facts.resource
        above = keys[node.parent] if node.parent is not None else None
        if own is not None and own.run_id:
            keys[node] = Key("run", own.run_id)
        elif above is not None and above.is_explicit:
            keys[node] = above
        elif resource is not None and resource.run_id:
            keys[node] = Key("run", resource.run_id)
        elif _is_start(node.facts):
            keys[node] = Key("start", f"{node.span.trace_id}:{node.span.span_id}")
        else:
            keys[node] = above or Key("trace", node.span.trace_id)
    return keys


def _is_start(facts: Facts) -> bool:
    own = facts.own
    if own is None:
        return False
    # A verdict on a tool call is the tool's word, no trial of its own.
    outcome = own.outcome if facts.operation != "tool" else ""
    return bool(own.run_id or own.task_id or own.trial_id or outcome)


def _settle(nodes: Sequence[Node], keys: Keys, group_by: str) -> None:
    """Give spans without a run of their own the run of their trace, where that is no guess."""
    traces: dict[str, list[Node]] = {}
    for node in nodes:
        traces.setdefault(node.span.trace_id, []).append(node)
    for trace_id, members in traces.items():
        explicit = [node for node in members if (key := keys[node]) is not None and key.is_explicit]
        if not explicit:
            shared = _shared_key(trace_id, members, group_by)
            keys.update(dict.fromkeys(members, shared))
            continue
        joined = _joined_starts(explicit, keys)
        owners = {joined.get(key, key) for node in explicit if node.is_root and (key := keys[node]) is not None}
        owner = next(iter(owners)) if len(owners) == 1 else None
        for node in members:
            key = keys[node]
            if key is not None:
                keys[node] = joined.get(key, key) if key.is_explicit else owner


def _shared_key(trace_id: str, nodes: Iterable[Node], group_by: str) -> Key:
    """What a whole trace belongs to: what `runs.group_by` names, the attempt its dialect knows, else itself."""
    prefix = f"{group_by}=" if group_by else None
    attempt = ""
    for node in nodes:
        facts = node.facts
        if prefix:
            for join_key in facts.join_keys:
                if join_key.startswith(prefix):
                    return Key("group", join_key[len(prefix) :])
        attempt = attempt or facts.attempt
    return Key("attempt", attempt) if attempt else Key("trace", trace_id)


def _joined_starts(explicit: Iterable[Node], keys: Keys) -> Mapping[Key, Key | None]:
    """Starts whose parent is missing, put to the start of their trace with the same task and trial.

    Some SDKs stamp every span with the attributes of its trial: without the spans between, each looks like a start.
    Where several runs of the trace have that task and trial, any choice would be a guess.
    """
    solid: dict[tuple[str, str], list[Key]] = {}
    loose: list[Node] = []
    for node in explicit:
        key = keys[node]
        if key is None or key.kind != "start" or key.value != f"{node.span.trace_id}:{node.span.span_id}":
            continue
        if MISSING_PARENT in node.flags:
            loose.append(node)
        else:
            solid.setdefault(_trial(node), []).append(key)
    joined: dict[Key, Key | None] = {}
    first: dict[tuple[str, str], Key] = {}
    for node in loose:
        key = Key("start", f"{node.span.trace_id}:{node.span.span_id}")
        known = solid.get(_trial(node), [])
        if len(known) > 1:
            joined[key] = None
        elif known:
            joined[key] = known[0]
        else:
            joined[key] = first.setdefault(_trial(node), key)
    return joined


def _trial(node: Node) -> tuple[str, str]:
    own = node.facts.own or Identity()
    return own.task_id, own.trial_id


def _run_id(key: Key, first: Node, named: set[str]) -> str:
    """The id of a run; a trace's id goes to its first parentless root that starts one."""
    trace_id = first.span.trace_id
    if key.kind == "start" and first.is_root and trace_id not in named:
        named.add(trace_id)
        return trace_id
    return key.value


def _above(nodes: Iterable[Node]) -> set[Node]:
    found: set[Node] = set()
    for node in nodes:
        above = node.parent
        while above is not None and above not in found:
            found.add(above)
            above = above.parent
    return found
