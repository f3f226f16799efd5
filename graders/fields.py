"""What an expression may name: the fields of `call` and `run`, with their types.

The types live in a protobuf description that only the CEL checker reads. A misspelt field or a comparison of text
with a number is then an error at start, with its position, instead of a check that never matches.
"""

from __future__ import annotations

from typing import Literal

from cel_expr_python import cel
from google.protobuf import descriptor_pb2, descriptor_pool, struct_pb2

FieldType = Literal["text", "texts", "bool", "any", "map", "calls"]

CALL_FIELDS: dict[str, FieldType] = {
    "n": "any",
    "index": "any",
    "tool": "text",
    "tool_raw": "text",
    "server": "text",
    "input": "any",
    "input_text": "text",
    "output_text": "text",
    "output_json": "any",
    "command": "text",
    "commands": "texts",
    "path": "text",
    "paths": "texts",
    "actions": "texts",
    "tags": "texts",
    "ok": "bool",
    "error": "text",
    "status": "text",
    "agent": "text",
    "depth": "any",
    "turn": "any",
    "duration_ms": "any",
    "input_state": "text",
    "last_user": "text",
    "last_assistant": "text",
    "redacted": "bool",
    "text": "text",
}

# What a call's arguments, or its result, are needed for: absent from the view where the evidence is.
INPUT_FIELDS = frozenset({"input", "input_text", "command", "commands", "path", "paths", "actions", "tags"})
OUTPUT_FIELDS = frozenset({"output_text", "output_json", "ok", "error", "status", "duration_ms", "actions", "tags"})

# Fields that a line arriving later, in front of the call, would change, or a span that turns out to be around it.
POSITIONAL_FIELDS = frozenset({"n", "index", "turn", "last_user", "last_assistant", "depth", "agent"})

# What may still change while a run goes on: a call that failed may be tried again under its id. That something was done
# (`actions`, `tags`) stands.
UNSETTLED_FIELDS = POSITIONAL_FIELDS | OUTPUT_FIELDS - {"actions", "tags"}

RUN_FIELDS: dict[str, FieldType] = {
    "run_id": "text",
    "project": "text",
    "task_id": "text",
    "task_version": "text",
    "task_class": "text",
    "task_source": "text",
    "expected": "text",
    "trial_id": "text",
    "retry_of": "text",
    "workspace_id": "text",
    "experiment_id": "text",
    "service": "text",
    "service_version": "text",
    "environment": "text",
    "agent": "text",
    "model": "text",
    "final_text": "text",
    "subtype": "text",
    "status": "text",
    "error": "text",
    "error_type": "text",
    "closed_by": "text",
    "first_user": "text",
    "last_user": "text",
    "turns": "any",
    "tool_calls": "any",
    "input_tokens": "any",
    "output_tokens": "any",
    "cost_usd": "any",
    "seconds": "any",
    "counts": "map",
    "attributes": "map",
    "flags": "texts",
    "calls": "calls",
}

# Known from the start of a run and not changed by its growing.
STABLE_RUN_FIELDS = frozenset(
    {
        "run_id",
        "project",
        "task_id",
        "task_version",
        "task_class",
        "task_source",
        "expected",
        "trial_id",
        "retry_of",
        "workspace_id",
        "experiment_id",
        "service",
        "service_version",
        "environment",
        "agent",
    }
)

_PROTO = descriptor_pb2.FieldDescriptorProto
_TYPES = {
    "text": (_PROTO.TYPE_STRING, False, ""),
    "texts": (_PROTO.TYPE_STRING, True, ""),
    "bool": (_PROTO.TYPE_BOOL, False, ""),
    "any": (_PROTO.TYPE_MESSAGE, False, ".google.protobuf.Value"),
    "map": (_PROTO.TYPE_MESSAGE, False, ".google.protobuf.Struct"),
    "calls": (_PROTO.TYPE_MESSAGE, True, ".passhat.call"),
}


def typed_pool() -> descriptor_pool.DescriptorPool:
    """A descriptor pool with the messages `passhat.call` and `passhat.run`."""
    struct_file = descriptor_pb2.FileDescriptorProto()
    struct_pb2.DESCRIPTOR.CopyToProto(struct_file)
    own = descriptor_pb2.FileDescriptorProto(
        name="passhat/checks.proto", package="passhat", syntax="proto3", dependency=[struct_file.name]
    )
    for name, fields in (("call", CALL_FIELDS), ("run", RUN_FIELDS)):
        message = own.message_type.add(name=name)
        for number, (field, kind) in enumerate(fields.items(), start=1):
            proto_type, repeated, type_name = _TYPES[kind]
            label = _PROTO.LABEL_REPEATED if repeated else _PROTO.LABEL_OPTIONAL
            message.field.add(name=field, number=number, type=proto_type, label=label, type_name=type_name or None)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(struct_file)
    pool.Add(own)
    return pool


CALL_TYPE = cel.Type("passhat.call")
RUN_TYPE = cel.Type("passhat.run")
