"""OTLP files, as `passhat ingest` reads them: request bodies out, and a line for each thing that cannot be read.

JSON (one request, several, or a list of them), JSON lines, and protobuf: one request, or many with their length before
each (a varint, or four bytes as the Collector's file exporter writes). Plain, gzip or zstd, told by content, not name.
"""

from __future__ import annotations

import io
import json
import time
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import IO, Any

import orjson
from google.protobuf.message import DecodeError
from msgspec import Struct
from msgspec.structs import replace

from collector.errors import BadData
from collector.journal import Signal
from collector.receive import otlp_json, parts
from collector.receive.check import SHAPES
from collector.receive.findings import Findings
from collector.receive.imports import Converted, Misfit, document_converter, lines_converter
from collector.receive.inflate import inflated
from collector.receive.repair import read_varint
from collector.receive.status import Encoding

MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5": "zstd"}
CHUNK = 1 << 20
DOCUMENT_BYTES = 2 << 30  # most of one protobuf file or of one JSON document that is not on one line
KEYS: dict[str, Signal] = {"resourceSpans": "traces", "resourceLogs": "logs"}
OTHER_KEYS = {"resourceMetrics": "metrics", "resourceProfiles": "profiles"}


class FileRequest(Struct, frozen=True):
    """One export request of a file, ready to be sent; `where` is file and line, or file and byte.

    `origin` says of a run that passhat exported as lines its `run_id`, `project` and the `traces` it came from.
    """

    where: str
    signal: Signal
    encoding: Encoding
    body: bytes
    origin: dict[str, Any] | None = None


class FileProblem(Struct, frozen=True):
    """Something in a file that gives no request; the rest of the file is read all the same."""

    where: str
    why: str


Item = FileRequest | FileProblem


def read_file(path: Path) -> Iterator[Item]:
    """Everything in one file, in order. A file that cannot be opened or inflated is a problem, never an exception."""
    try:
        with ExitStack() as stack:
            raw = stack.enter_context(open(path, "rb"))
            coding = MAGIC.get(raw.read(2), "")
            raw.seek(0)
            file: IO[bytes] = raw
            if coding:
                chunks = iter(lambda: raw.read(CHUNK), b"")
                file = stack.enter_context(io.BufferedReader(_Chunks(inflated(chunks, coding))))
            yield from _read(file, str(path))
    except (OSError, BadData) as error:
        yield FileProblem(str(path), f"cannot be read any further: {getattr(error, 'strerror', None) or error}")


class _Chunks(io.RawIOBase):
    """A file made of chunks of bytes."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest:  # an inflater may well have nothing to give yet: that is not the end
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._rest = chunk
        into = memoryview(buffer).cast("B")
        size = min(len(into), len(self._rest))
        into[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size


def _read(file: IO[bytes], name: str) -> Iterator[Item]:
    start = file.read(CHUNK)
    text = start.removeprefix(otlp_json.BOM).lstrip()
    if not text:
        yield FileProblem(name, "is empty")
    elif text[:1] in (b"{", b"["):
        yield from _json(start.removeprefix(otlp_json.BOM), file, name)
    else:
        data = _whole(start, file)
        yield from _protobuf(data, name)


def _whole(start: bytes, file: IO[bytes]) -> bytes:
    data = start + file.read(DOCUMENT_BYTES)
    if len(data) > DOCUMENT_BYTES:
        raise BadData(f"more than {DOCUMENT_BYTES} bytes in one piece")
    return data


# --- JSON ---


def _json(start: bytes, file: IO[bytes], name: str) -> Iterator[Item]:
    """Lines when the first one is JSON by itself; else documents over several lines."""
    lines = _lines(start, file)
    held: list[bytes] = []
    for line in lines:
        held.append(line)
        if line.strip():
            break
    if _parse(held[-1]) is None and held[-1].rstrip()[-1:] in (b"{", b"[", b",", b":"):
        yield from _documents(_whole(b"".join(held), _rest(lines)), name)
        return
    convert = lines_converter(_parse(held[-1]))
    if convert is not None:
        known: list[dict[str, Any]] = []
        for number, line in enumerate(chain(held, lines), 1):
            record = _parse(line)
            if isinstance(record, dict):
                known.append(record)
            elif line.strip():
                yield FileProblem(f"{name}:{number}", "not a JSON object: what it was part of is imported without it")
        yield from _converted(convert(known, Path(name).name, _written_ns(name)), name)
        return
    for number, line in enumerate(chain(held, lines), 1):
        if line.strip():
            yield from _json_requests(line, f"{name}:{number}")


def _converted(requests: Converted, where: str) -> Iterator[Item]:
    """Requests made of another format; a file that is not what it seems is a problem of its own."""
    try:
        for request in requests:
            if isinstance(request, Misfit):
                yield FileProblem(where, str(request))
                continue
            signal = next(signal for key, signal in KEYS.items() if key in request)
            origin = request.pop("origin", None)
            for item in _sized(where, signal, "json", json.dumps(request).encode()):
                yield replace(item, origin=origin) if isinstance(item, FileRequest) else item
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        yield FileProblem(where, f"cannot be converted to OTLP: {type(error).__name__}: {error}")


def _written_ns(name: str) -> int:
    try:
        return Path(name).stat().st_mtime_ns
    except OSError:
        return time.time_ns()


def _rest(lines: Iterator[bytes]) -> IO[bytes]:
    return io.BufferedReader(_Chunks(lines))


def _lines(start: bytes, file: IO[bytes]) -> Iterator[bytes]:
    *whole, last = start.splitlines(keepends=True)
    yield from whole
    last += b"" if last.endswith(b"\n") else file.readline()
    yield last
    yield from file


def _parse(text: bytes) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        pass
    try:
        return json.loads(text.decode("utf-8", "surrogateescape"))
    except (ValueError, RecursionError):
        return None


def _documents(data: bytes, name: str) -> Iterator[Item]:
    """Documents one after the other, each over any number of lines."""
    text = data.decode("utf-8", "surrogateescape")
    decoder = json.JSONDecoder()
    position, size = 0, len(text)
    while position < size:
        if text[position].isspace():
            position += 1
            continue
        where = f"{name}:{text.count(chr(10), 0, position) + 1}"
        try:
            value, end = decoder.raw_decode(text, position)
        except json.JSONDecodeError as error:
            yield FileProblem(f"{name}:{error.lineno}", f"not JSON at column {error.colno}; the rest is not read")
            return
        except (ValueError, RecursionError):
            yield FileProblem(where, "not JSON that can be read; the rest is not read")
            return
        body = text[position:end].encode("utf-8", "surrogateescape")
        yield from _of_value(value, body, where)
        position = end


def _json_requests(line: bytes, where: str) -> Iterator[Item]:
    value = _parse(line)
    if value is None:
        yield FileProblem(where, "not JSON")
    else:
        yield from _of_value(value, line.strip(), where)


def _of_value(value: Any, body: bytes, where: str) -> Iterator[Item]:
    if isinstance(value, list):
        convert_all = lines_converter(value[0]) if value else None
        if convert_all is not None:
            yield from _converted(convert_all(value, where.rpartition("/")[2], time.time_ns()), where)
            return
        for i, one in enumerate(value):
            text = json.dumps(one).encode()  # in ASCII: escapes keep what UTF-8 cannot hold
            yield from _of_value(one, text, f"{where}[{i}]") if isinstance(one, dict) else [_no_request(where)]
        return
    if not isinstance(value, dict):
        yield _no_request(where)
        return
    convert = document_converter(value)
    if convert is not None:
        yield from _converted(convert(value), where)
        return
    signals = [signal for key, signal in KEYS.items() if value.get(key)]
    for key, signal in KEYS.items():
        if signal in signals:
            mine = body if len(signals) == 1 else json.dumps({key: value[key]}).encode()
            yield from _sized(where, signal, "json", mine)
    others = [noun for key, noun in OTHER_KEYS.items() if value.get(key)]
    if others:
        yield FileProblem(where, f"{' and '.join(others)} are not kept")
    elif not signals and not any(key in value for key in KEYS):
        yield _no_request(where)


def _no_request(where: str) -> FileProblem:
    return FileProblem(where, "no OTLP request: neither resourceSpans nor resourceLogs")


# --- protobuf ---


def _protobuf(data: bytes, name: str) -> Iterator[Item]:
    signal = _signal(data)
    if signal is not None:
        yield from _sized(name, signal, "protobuf", data)
        return
    found = [list(_varint_frames(data)), list(_four_byte_frames(data))]
    best = max(found, key=lambda frames: _share(data, frames))
    if not _share(data, best):
        yield FileProblem(name, "neither JSON nor OTLP protobuf")
        return
    for start, end in best:
        yield from _framed(data[start:end], f"{name}@{start}")
    last = best[-1][1]
    if last < len(data):
        yield FileProblem(f"{name}@{last}", f"cut short: {len(data) - last} bytes left that are no whole request")


def _framed(body: bytes, where: str) -> Iterator[Item]:
    coding = MAGIC.get(body[:2], "")
    try:
        body = b"".join(inflated(iter([body]), coding)) if coding else body
    except BadData as error:
        yield FileProblem(where, str(error))
        return
    if body[:1] in (b"{", b"["):
        yield from _json_requests(body, where)
        return
    signal = _signal(body)
    if signal is None:
        yield FileProblem(where, "no OTLP request with spans or log records")
    else:
        yield from _sized(where, signal, "protobuf", body)


def _share(data: bytes, frames: list[tuple[int, int]]) -> float:
    """How many of the first frames make sense: the wrong framing finds some by chance."""
    first = frames[:100]
    return sum(_kind(data[start:end]) is not None for start, end in first) / len(first) if first else 0.0


def _kind(frame: bytes) -> str | None:
    if MAGIC.get(frame[:2]):
        return "compressed"
    return "json" if frame[:1] == b"{" and _parse(frame) is not None else _signal(frame)


def _signal(body: bytes) -> Signal | None:
    """What a protobuf body holds, told by its records: both signals have the same frame around them."""
    for signal, shape in SHAPES.items():
        try:
            request = shape.request.FromString(body)
        except DecodeError:
            continue
        for group in getattr(request, shape.groups):
            for scope in getattr(group, shape.scopes):
                if any(_is_span(r) if signal == "traces" else _is_log(r) for r in getattr(scope, shape.records)):
                    return signal
    return None


def _is_span(record: Any) -> bool:
    return len(record.trace_id) == 16 and len(record.span_id) == 8


def _is_log(record: Any) -> bool:
    return bool(record.time_unix_nano or record.observed_time_unix_nano)


def _varint_frames(data: bytes) -> Iterator[tuple[int, int]]:
    position = 0
    while position < len(data):
        try:
            size, start = read_varint(data, position)
        except ValueError:
            return
        if start + size > len(data):
            return
        yield start, start + size
        position = start + size


def _four_byte_frames(data: bytes) -> Iterator[tuple[int, int]]:
    position = 0
    while position + 4 <= len(data):
        start = position + 4
        end = start + int.from_bytes(data[position:start], "big")
        if end > len(data):
            return
        yield start, end
        position = end


# --- large requests ---


def _sized(where: str, signal: Signal, encoding: Encoding, body: bytes) -> Iterator[Item]:
    if len(body) <= parts.BODY_BYTES:
        yield FileRequest(where, signal, encoding, body)
        return
    findings = Findings()
    shape = SHAPES[signal]
    try:
        request = otlp_json.decode(body, signal, findings) if encoding == "json" else shape.request.FromString(body)
    except (BadData, DecodeError) as error:
        yield FileProblem(where, f"larger than {parts.BODY_BYTES} bytes and cannot be split: {error}")
        return
    if findings.refused:
        yield FileProblem(where, findings.explain())
    findings.write_marks()
    for part in parts.parts_of(request, signal):
        yield FileRequest(where, signal, "protobuf", part)
