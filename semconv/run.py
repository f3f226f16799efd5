"""A run: one attempt of an agent at one task, assembled from all its spans."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from semconv.outcome import Outcome
from semconv.trace_line import Status, TraceLine
from semconv.values import Attributes

ClosedBy = Literal["", "root", "end", "idle", "max_age"]


class Closing(Struct, frozen=True):
    """How a run was closed the first time: when (ns of the store's clock), and its root span, if that is known."""

    at_ns: int
    root_span_id: str = ""
    trace_ids: tuple[str, ...] = ()  # one of them is the root's

    def is_root(self, trace_id: str, span_id: str) -> bool:
        """Whether this span is the root of the run that was closed."""
        return span_id == self.root_span_id and trace_id in self.trace_ids

    @property
    def roots(self) -> tuple[tuple[str, str], ...]:
        """Where its root may be: trace and span ids."""
        return tuple((trace_id, self.root_span_id) for trace_id in self.trace_ids if self.root_span_id)


class Run(Struct, frozen=True):
    """What graders read. `lines` are numbered 1, 2, 3 … in run order.

    `closed_by` is '' while the run is open; 'root' its root ended and it was quiet, 'end' an explicit end,
    'idle'/'max_age' closed without either. `root_status` is '' when the root never arrived.
    `lossy` lists why absence of evidence is not evidence of absence (dropped attributes, missing parents …).
    """

    project: str
    run_id: str
    lines: tuple[TraceLine, ...]
    task_id: str = ""
    task_version: str = ""
    task_class: str = ""
    task_source: Literal["attribute", "fallback"] = "fallback"
    expected: str = ""
    trial_id: str = ""
    retry_of: str = ""
    workspace_id: str = ""
    experiment_id: str = ""
    service: str = ""
    service_version: str = ""
    environment: str = ""
    agent: str = ""
    model: str = ""
    closed_by: ClosedBy = ""
    root_status: Status | Literal[""] = ""
    root_error: str = ""
    root_error_type: str = ""
    root_span_id: str = ""
    started_ns: int = 0
    ended_ns: int = 0
    turns: int = 0
    tool_calls: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    final_text: str = ""
    subtype: str = ""
    attributes: Attributes = {}
    trace_ids: tuple[str, ...] = ()
    span_count: int = 0
    outcomes: tuple[Outcome, ...] = ()
    lossy: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        return self.closed_by == ""
