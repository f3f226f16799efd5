"""The demo against a ClickHouse URL: the same code path, over HTTP to an engine in another process."""

import json
from pathlib import Path

import httpx
import pytest

from tests.cli.commands import passhat
from tests.support.stores import Front

SPANS = 283  # of one demo: 100 by gRPC, 93 by HTTP with protobuf, 90 with JSON


def test_the_demo_through_a_clickhouse_url_twice(tmp_path: Path) -> None:
    """Each has a project of its own: the second is not told the first one's numbers."""
    front = Front(tmp_path / "engine", password="p@ss/word")
    try:
        url = front.place().url.replace("p@ss/word", "p%40ss%2Fword")
        runs = [passhat("demo", "--json", "--store-url", url, cwd=tmp_path, timeout=300) for _ in range(2)]
        held = httpx.get(
            f"http://127.0.0.1:{front.port}/",
            params={"query": f"SELECT count() FROM {url.rpartition('/')[2]}.spans"},
            auth=("default", "p@ss/word"),
        )
    finally:
        front.stop()
    for done in runs:
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        assert told["differences"] == []
        assert told["matrix"]["suite"]["3"]["pass_hat_k"] == pytest.approx(0.3625)
        assert told["matrix"]["suite"]["1"]["n"] == 40
        assert told["lab"]["C"]["outcome"] == "fail"
        assert "p@ss" not in done.stderr
    assert int(held.text) == len(runs) * SPANS  # there, and not in a store of the demo's own
