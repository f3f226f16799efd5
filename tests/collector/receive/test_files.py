"""OTLP files for `passhat ingest`: every form that people have, and nothing else lost for one bad line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import zstandard

from collector.receive import files, parts
from collector.receive.check import check
from collector.receive.files import FileProblem, FileRequest, read_file
from collector.receive.findings import Findings
from collector.receive.limits import Limits
from collector.receive.otlp_json import decode
from tests.collector.receive.build import as_dict, as_json, log, logs, span, traces, varint

CAPTURES = Path(__file__).parents[2] / "captures"
PACK: dict[str, Any] = {"plain": bytes, "gzip": gzip.compress, "zstd": zstandard.compress}
ONE, TWO, LOGS = traces(span(1)), traces(span(2), span(3)), logs(log("text", {"k": "v"}))


def read(folder: Path, content: bytes, name: str = "file") -> list[FileRequest | FileProblem]:
    path = folder / name
    path.write_bytes(content)
    return list(read_file(path))


def contents(items: list[Any]) -> list[Any]:
    """What the requests hold, as messages; problems as their text."""
    found = []
    for item in items:
        if isinstance(item, FileProblem):
            found.append(item.why)
        elif item.encoding == "json":
            found.append(decode(item.body, item.signal, Findings()))
        else:
            shape = type(ONE) if item.signal == "traces" else type(LOGS)
            found.append(shape.FromString(item.body))
    return found


def places(items: list[Any]) -> list[str]:
    return [item.where.rpartition("/")[2] for item in items]


@pytest.mark.parametrize("packed", PACK)
def test_json_lines(tmp_path: Path, packed: str) -> None:
    content = b"\n".join([as_json(ONE), b"", as_json(LOGS), as_json(TWO)])
    items = read(tmp_path, PACK[packed](content))
    assert contents(items) == [ONE, LOGS, TWO]
    assert places(items) == ["file:1", "file:3", "file:4"]


@pytest.mark.parametrize("packed", PACK)
@pytest.mark.parametrize("indent", [None, 2])
def test_one_json_document(tmp_path: Path, packed: str, indent: int | None) -> None:
    content = json.dumps(as_dict(ONE), indent=indent).encode()
    assert contents(read(tmp_path, PACK[packed](b"\xef\xbb\xbf" + content + b"\n"))) == [ONE]


def test_json_documents_over_several_lines_and_lists_of_them(tmp_path: Path) -> None:
    shown = [json.dumps(as_dict(r), indent=1) for r in (ONE, LOGS)]
    items = read(tmp_path, "\n".join(shown).encode())
    assert contents(items) == [ONE, LOGS]
    assert places(items) == ["file:1", f"file:{shown[0].count(chr(10)) + 2}"]
    for indent in (None, 1):
        listed = json.dumps([as_dict(ONE), as_dict(TWO), 5], indent=indent).encode()
        assert contents(read(tmp_path, listed))[:2] == [ONE, TWO]
        assert "no OTLP request" in contents(read(tmp_path, listed))[2]


def test_both_signals_in_one_object(tmp_path: Path) -> None:
    assert contents(read(tmp_path, json.dumps(as_dict(ONE) | as_dict(LOGS)).encode())) == [ONE, LOGS]


def test_a_bad_line_costs_itself(tmp_path: Path) -> None:
    good = as_json(ONE)
    lines = [good, good[:50], b"[1, 2", b"5", b'{"other": 1}', b'{"resourceMetrics":[{}]}', good]
    items = read(tmp_path, b"\n".join(lines))
    assert [isinstance(item, FileRequest) for item in items] == [True, *[False] * 5, True]
    assert places(items) == [f"file:{n}" for n in range(1, 8)]
    says = contents(items)[1:6]
    assert says[:2] == ["not JSON"] * 2
    assert all("no OTLP request" in text for text in says[2:4])
    assert says[4] == "metrics are not kept"


def test_a_broken_first_line_does_not_cost_the_others(tmp_path: Path) -> None:
    assert contents(read(tmp_path, as_json(ONE)[:60] + b"\n" + as_json(TWO) + b"\n")) == ["not JSON", TWO]


def test_a_document_that_breaks_off_says_where(tmp_path: Path) -> None:
    content = json.dumps(as_dict(ONE), indent=1)
    (problem,) = read(tmp_path, content[:-30].encode())
    assert isinstance(problem, FileProblem)
    assert "not JSON at column" in problem.why
    whole, cut = read(tmp_path, (content + "\n" + content[:-30]).encode())
    assert contents([whole]) == [ONE]
    assert isinstance(cut, FileProblem)


def test_lines_longer_than_a_chunk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "CHUNK", 100)
    long = traces(span(1, {"k": "x" * 5000}))
    for packed in PACK.values():
        assert contents(read(tmp_path, packed(b"\n".join([as_json(long), as_json(ONE)])))) == [long, ONE]
        assert contents(read(tmp_path, packed(json.dumps(as_dict(long), indent=1).encode()))) == [long]


@pytest.mark.parametrize("packed", PACK)
@pytest.mark.parametrize("request_", [ONE, TWO, LOGS], ids=["one", "two", "logs"])
def test_one_protobuf_request(tmp_path: Path, packed: str, request_: Any) -> None:
    (item,) = read(tmp_path, PACK[packed](request_.SerializeToString()))
    assert isinstance(item, FileRequest)
    assert contents([item]) == [request_]
    assert item.body == request_.SerializeToString()


FRAMES: dict[str, Any] = {
    "varint": lambda body: varint(len(body)) + body,
    "four bytes": lambda body: len(body).to_bytes(4, "big") + body,
    "four bytes, each zstd": lambda body: (lambda z: len(z).to_bytes(4, "big") + z)(zstandard.compress(body)),
}


@pytest.mark.parametrize("packed", PACK)
@pytest.mark.parametrize("framing", FRAMES)
def test_many_protobuf_requests_with_their_lengths(tmp_path: Path, framing: str, packed: str) -> None:
    framed = [FRAMES[framing](r.SerializeToString()) for r in (ONE, LOGS, TWO)]
    items = read(tmp_path, PACK[packed](b"".join(framed)))
    assert contents(items) == [ONE, LOGS, TWO]
    assert places(items)[1] == f"file@{len(framed[0]) + len(framed[1]) - _content(framing, LOGS)}"


def _content(framing: str, request: Any) -> int:
    body = request.SerializeToString()
    return len(zstandard.compress(body) if "zstd" in framing else body)


@pytest.mark.parametrize("framing", FRAMES)
def test_a_protobuf_file_cut_short_gives_what_is_whole(tmp_path: Path, framing: str) -> None:
    framed = [FRAMES[framing](r.SerializeToString()) for r in (ONE, TWO, LOGS)]
    items = read(tmp_path, b"".join(framed)[:-5])
    assert contents(items)[:2] == [ONE, TWO]
    assert "cut short" in contents(items)[2]
    assert places(items)[2] == f"file@{len(framed[0]) + len(framed[1])}"


def test_a_damaged_frame_costs_itself(tmp_path: Path) -> None:
    framed = [FRAMES["varint"](r) for r in (ONE.SerializeToString(), b"\xff" * 20, TWO.SerializeToString())]
    assert contents(read(tmp_path, b"".join(framed))) == [ONE, "no OTLP request with spans or log records", TWO]


def test_json_in_the_collectors_frames(tmp_path: Path) -> None:
    framed = b"".join(FRAMES["four bytes, each zstd"](as_json(r)) for r in (ONE, LOGS))
    assert contents(read(tmp_path, framed)) == [ONE, LOGS]


@pytest.mark.parametrize("content", [b"garbage, not OTLP", bytes(100), b"\xff" * 100, b"\x00\x00\x00\x02ab"])
def test_what_is_neither_says_so(tmp_path: Path, content: bytes) -> None:
    assert contents(read(tmp_path, content)) == ["neither JSON nor OTLP protobuf"]


def test_an_empty_or_missing_file_says_so(tmp_path: Path) -> None:
    assert contents(read(tmp_path, b" \n")) == ["is empty"]
    (problem,) = read_file(tmp_path / "missing")
    assert isinstance(problem, FileProblem)
    assert "No such file" in problem.why
    (problem,) = read_file(tmp_path)
    assert isinstance(problem, FileProblem)


@pytest.mark.parametrize("packed", ["gzip", "zstd"])
def test_a_packed_file_cut_short_gives_its_lines_and_says_so(tmp_path: Path, packed: str) -> None:
    packed_lines = PACK[packed](b"\n".join([as_json(ONE)] * 3 + [b"x" * 10]))[:-1]
    found = contents(read(tmp_path, packed_lines))
    assert "cut short" in found[-1]


@pytest.mark.parametrize("encoding", ["json", "protobuf"])
def test_a_request_larger_than_a_receiver_takes_is_split(
    tmp_path: Path, encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "BODY_BYTES", 5000)
    large = traces(*(span(n, {"k": "x" * 1000}) for n in range(1, 21)), into=traces(span(30), resource={"a": "b"}))
    content = as_json(large) if encoding == "json" else large.SerializeToString()
    items = read(tmp_path, content)
    found = contents(items)
    assert 5 <= len(found) <= 8
    assert all(len(item.body) <= 5000 for item in items if isinstance(item, FileRequest))
    names = [s.name for p in found for g in p.resource_spans for sc in g.scope_spans for s in sc.spans]
    assert names == ["span 30", *(f"span {n}" for n in range(1, 21))]
    assert [p.resource_spans[0].resource.attributes[0].key for p in found] == [
        "a",
        *["service.name"] * (len(found) - 1),
    ]
    assert {p.resource_spans[0].scope_spans[0].scope.name for p in found} == {"tests"}


def test_every_recorded_body_is_read_as_what_it_is() -> None:
    seen = {"traces": 0, "logs": 0}
    for path in sorted(CAPTURES.glob("*/[0-9]*_*.*")):
        if path.name.endswith(".meta.json"):
            continue
        kind = path.stem.split("_")[1]
        items = list(read_file(path))
        if kind not in seen:
            assert not any(isinstance(item, FileRequest) for item in items), path
            continue
        for item in items:
            assert isinstance(item, FileRequest), (path, item)
            assert item.signal == kind, path
            findings = Findings()
            message = contents([item])[0]
            assert sum(g.records for g in check(message, item.signal, len(item.body), Limits(), findings)) > 0
            assert findings.refused == {}, path
        seen[kind] += len(items)
    assert min(seen.values()) > 20
