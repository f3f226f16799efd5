"""A request that is larger than a receiver takes, as several that it takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from collector.journal import Signal
from collector.receive.check import SHAPES

BODY_BYTES = 16 << 20  # larger requests are split, so that they fit what a receiver takes
RECORDS = 10_000  # of one part then


def parts_of(request: Any, signal: Signal) -> Iterator[bytes]:
    """Requests of the same records, each with resource and scope, of about `BODY_BYTES` at most. Empties `request`."""
    shape = SHAPES[signal]
    for group in getattr(request, shape.groups):
        for scope in getattr(group, shape.scopes):
            records = list(getattr(scope, shape.records))
            del getattr(scope, shape.records)[:]
            head = type(group)(resource=group.resource, schema_url=group.schema_url)
            getattr(head, shape.scopes).append(scope)
            for batch in _batches(records):
                part = shape.request()
                getattr(part, shape.groups).append(head)
                target = getattr(getattr(getattr(part, shape.groups)[0], shape.scopes)[0], shape.records)
                target.extend(batch)
                yield part.SerializeToString()


def _batches(records: list[Any]) -> Iterator[list[Any]]:
    batch: list[Any] = []
    size = 0
    for record in records:
        size += record.ByteSize()
        if batch and (size > BODY_BYTES or len(batch) >= RECORDS):
            yield batch
            batch, size = [], record.ByteSize()
        batch.append(record)
    if batch:
        yield batch
