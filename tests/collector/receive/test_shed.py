"""What goes first while the spool fills: logs, then spans that name no run; all of it to be sent again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.collector.receive.build import log, logs, span, traces
from tests.collector.receive.test_receiver import Bench

RUN = {"passhat.run.id": "r1"}
SENT: dict[str, Any] = {
    "logs": lambda: logs(log("x"), resource=RUN),
    "spans": lambda: traces(span(1), span(2)),
    "spans of a run": lambda: traces(span(1), span(2, RUN)),
    "spans of a run by its resource": lambda: traces(span(1), resource=RUN),
}


@pytest.fixture
def bench(tmp_path: Path) -> Any:
    made = Bench(tmp_path)
    made.send(traces(span(1, {"filler": "x" * 1000})))
    yield made
    made.spool.close()


@pytest.mark.parametrize(
    ("share", "refused"),
    [(0.89, set()), (0.91, {"logs"}), (0.96, {"logs", "spans"}), (1.01, set(SENT))],
    ids=["89 %", "91 %", "96 %", "full"],
)
def test_the_lowest_class_goes_first(bench: Bench, share: float, refused: set[str]) -> None:
    size = bench.spool.stats().bytes * 1000
    bench.spool._journal.bytes = size  # the share of the cap, with room for what is sent here
    bench.spool.max_bytes = round(size / share)
    for name, request in SENT.items():
        reply = bench.send(request(), "logs" if name == "logs" else "traces")
        assert (reply.http_status == 503, name) == (name in refused, name)
        assert (reply.retry_after_s, name) == (1 if name in refused else 0, name)
    reason = "spool_full" if share > 1 else "shed"
    counted = sum(bench.count("refused", signal=signal, reason=reason) for signal in ("traces", "logs"))
    assert counted == sum({"logs": 1, "spans": 2, "spans of a run": 2}.get(name, 1) for name in refused)
