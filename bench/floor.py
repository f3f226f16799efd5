"""The floor: only parse, flatten and insert into chDB. No socket, no spool, no facts, no grading, one thread.

What a collector reaches is told as a share of this, in the same run on the same machine.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

import clickhouse_connect
import pyarrow as pa
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from bench.batches import requests

BATCH_SPANS = 10_000
TABLE = """
CREATE TABLE floor
(
    trace_id String, span_id String, parent_span_id String, name LowCardinality(String), kind Int32,
    start_ns UInt64, end_ns UInt64, status_code Int32, status_message String, service LowCardinality(String),
    attr_string Map(LowCardinality(String), String), attr_int Map(LowCardinality(String), Int64)
)
ENGINE = MergeTree ORDER BY (trace_id, span_id) SETTINGS fsync_after_insert = 1
"""
SCHEMA = pa.schema(
    [
        *[(name, pa.string()) for name in ("trace_id", "span_id", "parent_span_id", "name")], ("kind", pa.int32()),
        ("start_ns", pa.uint64()), ("end_ns", pa.uint64()), ("status_code", pa.int32()),
        ("status_message", pa.string()), ("service", pa.string()), ("attr_string", pa.map_(pa.string(), pa.string())),
        ("attr_int", pa.map_(pa.string(), pa.int64())),
    ]
)  # fmt: skip


class Columns:
    """The columns of one insert, filled span by span; maps as flat keys and values with their counts."""

    def __init__(self) -> None:
        self.plain: list[list[object]] = [[] for _ in range(10)]
        self.texts: tuple[list[str], list[str], list[int]] = ([], [], [0])
        self.numbers: tuple[list[str], list[int], list[int]] = ([], [], [0])

    def __len__(self) -> int:
        return len(self.plain[0])

    def add(self, payload: bytes) -> None:
        """Parse one request and flatten its spans."""
        trace, span_id, parent, name, kind, start, end, code, message, services = self.plain
        keys, values, counts = self.texts
        number_keys, numbers, number_counts = self.numbers
        for group in ExportTraceServiceRequest.FromString(payload).resource_spans:
            service = next((p.value.string_value for p in group.resource.attributes if p.key == "service.name"), "")
            for scoped in group.scope_spans:
                for span in scoped.spans:
                    trace.append(span.trace_id.hex())
                    span_id.append(span.span_id.hex())
                    parent.append(span.parent_span_id.hex())
                    name.append(span.name)
                    kind.append(span.kind)
                    start.append(span.start_time_unix_nano)
                    end.append(span.end_time_unix_nano)
                    status = span.status
                    code.append(status.code)
                    message.append(status.message)
                    services.append(service)
                    for pair in span.attributes:
                        value = pair.value
                        if text := value.string_value:
                            keys.append(pair.key)
                            values.append(text)
                        else:
                            number_keys.append(pair.key)
                            numbers.append(value.int_value)
                    counts.append(len(keys))
                    number_counts.append(len(number_keys))

    def table(self) -> pa.Table:
        """The same as Arrow."""
        kinds = SCHEMA.types
        plain = [pa.array(values, kind) for values, kind in zip(self.plain, kinds, strict=False)]
        maps = [
            pa.MapArray.from_arrays(pa.array(counts, pa.int32()), pa.array(keys), pa.array(values, kind.item_type))
            for (keys, values, counts), kind in ((self.texts, kinds[10]), (self.numbers, kinds[11]))
        ]
        return pa.Table.from_arrays([*plain, *maps], schema=SCHEMA)


def measure(spans: int) -> dict[str, float]:
    """Spans a second from bytes in memory to rows that can be queried."""
    sent = list(requests(spans))
    with tempfile.TemporaryDirectory() as folder:
        client = clickhouse_connect.get_client(interface="chdb", path=str(Path(folder) / "floor"))
        client.command(TABLE)
        began = time.perf_counter()
        columns = Columns()
        for request in sent:
            columns.add(request.payload)
            if len(columns) >= BATCH_SPANS:
                client.insert_arrow("floor", columns.table())
                columns = Columns()
        if len(columns):
            client.insert_arrow("floor", columns.table())
        found = client.query("SELECT count() FROM floor").result_rows[0][0]
        took = time.perf_counter() - began
        client.close()
    expected = sum(request.spans for request in sent)
    if found != expected:
        raise SystemExit(f"the floor stored {found} of {expected} spans")
    return {"spans": expected, "seconds": took, "spans_per_s": expected / took}


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]))))
