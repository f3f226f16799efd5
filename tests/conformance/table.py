"""The table of items, tests and results, written by `pytest tests/conformance --table docs/conformance.md`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.conformance.items import ELSEWHERE, ITEMS

HEAD = """# OTLP conformance

What a receiver of traces and logs must do, item by item, and the test that shows it. The list follows the OTLP
specification 1.11.0 and its protobuf files; `own` marks what these leave open and passhat decides. Both signals, over
gRPC, HTTP with protobuf and HTTP with JSON.

    pytest tests/conformance                                              # passhat's own receiver
    pytest tests/conformance --endpoint http://127.0.0.1:4318 --grpc-endpoint 127.0.0.1:4317   # any other
    pytest tests/conformance --table docs/conformance.md                  # writes this page

Where OTLP leaves a choice, or two rules meet, passhat decides like this:

- A span pays for its own faults: an id of another length or all zero, a JSON field of another type, broken protobuf
  inside of it. The rest of the request is kept, the reply says how many were refused and why. All bad: 400.
- A value pays for its own faults: bytes that are no UTF-8 and lone surrogates become U+FFFD, an attribute's integer
  beyond 64 bits is kept as its decimal text, a number beyond a double as infinity, text beyond `limits.max_value_bytes`
  is cut. The attribute `passhat.repaired` on that span, log record, resource or scope lists what and where,
  `passhat_repaired_total` counts it, and the reply warns (nothing rejected, a message).
- A parent id of another length is cleared and marked; a link without valid ids is left out and counted as dropped; a
  log record with invalid ids is kept without them.
- JSON: a byte order mark is accepted, of duplicate keys the last counts, a bare NaN is refused.
- Nesting: 100 messages, what protobuf parsers take (47 lists in lists on a span's attribute), in both encodings.
- Content encodings: identity, gzip, zstd with a window of at most 8 MiB; gRPC also deflate. One coding at a time.
- gRPC clients may ping every 5 seconds.

| item | level | requirement | tests | result |
|---|---|---|---|---|
"""


class Recorder:
    """Collects which tests carry which items, and how they ended."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._tests: dict[int, dict[str, None]] = {}
        self._results: dict[str, set[str]] = {}
        self._name: dict[str, str] = {}

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            name = f"{item.path.stem}::{getattr(item, 'originalname', item.name)}"
            self._name[item.nodeid] = name
            for marker in item.iter_markers("item"):
                for number in marker.args:
                    self._tests.setdefault(number, {})[name] = None

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" or report.outcome != "passed":
            self._results.setdefault(self._name[report.nodeid], set()).add(report.outcome)

    def pytest_sessionfinish(self) -> None:
        self._file.write_text(HEAD + "\n".join(self._row(number) for number in ITEMS) + "\n")

    def _row(self, number: int) -> str:
        level, text = ITEMS[number]
        tests = list(self._tests.get(number, {}))
        if not tests:
            return f"| {number} | {level} | {text} | {ELSEWHERE[number]} | |"
        outcomes = set().union(*(self._results.get(name, {"not run"}) for name in tests))
        result = "pass" if outcomes == {"passed"} else ", ".join(sorted(outcomes))
        return f"| {number} | {level} | {text} | {', '.join(f'`{name}`' for name in tests)} | {result} |"
