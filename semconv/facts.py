"""What a dialect finds on one span or log record: its canonical facts, stored beside the untouched attributes.

`SpanFacts` is what assembly reads back. A corrected dialect is replayed over stored spans, so nothing here is
the only copy of anything.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from semconv.trace_line import InputState, Status
from semconv.values import Attributes, JsonValue

# Raise when a dialect changes what it finds: it orders revisions (store_design "Order of revisions"). At most 255.
NORMALISER_VERSION = 2

# '' is a span no dialect understood: kept and counted as unmapped. 'other' was understood and is no step of a run.
Operation = Literal["", "agent", "workflow", "chat", "tool", "create_agent", "other"]
PartKind = Literal["text", "reasoning", "tool_call", "tool_result", "other"]
# An emitter that says where an attempt begins and ends (a prompt, its last answer): what a log-only run is cut at.
Boundary = Literal["", "start", "end"]
# Losses. A value that was cut is seen on its own call; of messages that were cut nobody knows what they asked for.
CUT_VALUE = "truncated"
CUT_MESSAGES = "truncated_messages"
# What stands where `redact.content: off` left out a text.
LEFT_OUT = "[redacted:content:"


class Part(Struct, frozen=True, omit_defaults=True, gc=False):
    """A piece of a message. `value` holds the arguments of a tool_call, the result of a tool_result."""

    kind: PartKind
    text: str = ""
    call_id: str = ""
    tool: str = ""
    value: JsonValue = None
    input_state: InputState = ""
    error: bool = False


class Message(Struct, frozen=True, omit_defaults=True, gc=False):
    """One chat message, whichever convention carried it. `role` is system, user, assistant or tool."""

    role: str
    parts: tuple[Part, ...]
    id: str = ""


class Identity(Struct, frozen=True, omit_defaults=True, gc=False):
    """The `passhat.*` attributes (and those read for them) of one span or resource; '' where absent."""

    run_id: str = ""
    task_id: str = ""
    task_version: str = ""
    task_class: str = ""
    expected: str = ""
    trial_id: str = ""
    retry_of: str = ""
    outcome: str = ""
    outcome_reason: str = ""
    workspace_id: str = ""
    experiment_id: str = ""
    run_end: bool = False


class Evaluation(Struct, frozen=True, omit_defaults=True, gc=False):
    """A `gen_ai.evaluation.result` event, as sent (GenAI semantic conventions, events)."""

    name: str
    label: str = ""
    score: float | None = None
    explanation: str = ""
    response_id: str = ""
    source: str = ""
    time_ns: int = 0


class Facts(Struct, frozen=True, omit_defaults=True, gc=False):
    """The canonical facts of one span or log record. Absent is '' or None, never guessed.

    `output is None` means no result was captured. `status` is what is known of success: 'unset' is not 'ok'.
    A log record that carries the ids of a span adds to that span (its messages, its result), it is no step of its own.
    Emitters that say so have `attempt`, the id of the prompt a record belongs to, and `boundary` where one begins
    or ends (an end that more of the attempt follows was none); `sequence` is their own order, `duration_ns` lies
    before a log record's time. Records that share a join key are one unit, whatever their traces.

    `flags`: `error_from:X` (the evidence of an error: status, exception, error_type, attribute, exit_code, result),
    `server_side` (a server's report of a call its client reports too), `partial_input` (the span holds a part of the
    arguments), `continuation` (a notice of work begun earlier, of the run that shares its join key), `dialect_error`.
    """

    operation: Operation = ""
    dialect: str = ""
    own: Identity | None = None  # on the span itself
    resource: Identity | None = None  # on its resource
    join_keys: tuple[str, ...] = ()  # values that tie traces into one unit: run id, runs.group_by
    agent: str = ""
    conversation_id: str = ""
    # a tool call
    tool: str = ""
    tool_raw: str = ""
    server: str = ""
    call_id: str = ""
    input: JsonValue = None
    input_state: InputState = ""
    output: JsonValue = None
    # how it went
    status: Status = "unset"
    error: str = ""
    error_type: str = ""
    # a model call
    model: str = ""
    provider: str = ""
    response_id: str = ""
    finish_reasons: tuple[str, ...] = ()
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    messages_in: tuple[Message, ...] = ()
    messages_out: tuple[Message, ...] = ()
    # an agent's end
    final_text: str = ""
    subtype: str = ""
    num_turns: int | None = None
    # beside the run
    evaluations: tuple[Evaluation, ...] = ()
    # why absence proves nothing here: dropped_attributes, dropped_events, truncated_messages, or (a value) truncated
    lossy: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    attempt: str = ""
    boundary: Boundary = ""
    sequence: int | None = None
    duration_ns: int | None = None


class SpanFacts(Struct, frozen=True, omit_defaults=True, gc=False):
    """A stored span (or log record, `signal == 'log'`) as assembly reads it: header and facts.

    Times are ns since the epoch as sent. `content_hash` tells two versions of one span apart. `attributes` is
    filled for spans that can be a run's root, else empty. `facts_hash` tells when other facts were found on the same
    span, `generation` which words found them.
    """

    signal: Literal["span", "log"]
    project: str
    trace_id: str
    span_id: str
    parent_span_id: str
    name: str
    start_ns: int
    end_ns: int
    facts: Facts
    service: str = ""
    service_version: str = ""
    environment: str = ""
    status_code: int = 0
    status_message: str = ""
    received_ns: int = 0
    content_hash: str = ""
    attributes: Attributes = {}
    facts_hash: int = 0
    generation: int = 0
