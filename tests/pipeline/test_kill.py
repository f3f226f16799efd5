"""SIGKILL while stock exporters send: what was acknowledged is there once, after a restart.

PASSHAT_KILLS=100 makes it the long campaign of docs/running.md.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.senders import Senders, stored_once
from tests.support.serving import Serving, until

ROUNDS = int(os.environ.get("PASSHAT_KILLS", "3"))


@pytest.mark.parametrize("wait_for_store", [True, False], ids=["under load", "between acknowledge and store"])
def test_every_acknowledged_span_is_there_once_after_sigkill(tmp_path: Path, wait_for_store: bool) -> None:
    serving = Serving(tmp_path)
    acknowledged: set[str] = set()
    for _ in range(ROUNDS):
        serving.start()
        with Senders(serving) as senders:
            senders.wait(20)
            if wait_for_store:
                until(lambda: serving.get("/api/v1/status")["stored"].get("traces", 0), lambda stored: stored > 0)
            serving.kill()
        acknowledged |= senders.acknowledged

    with serving:
        serving.drained()
        assert serving.stop() == 0
    stored = stored_once(serving)
    assert acknowledged <= stored
    runs = [row["run_id"] for row in serving.query("SELECT run_id FROM passhat.trials")]
    assert len(runs) == len(set(runs))
    assert set(runs) <= {key.split("/")[0] for key in stored}
    # What was stored and not yet graded when it was killed is graded: all but runs whose root never came.
    ended = serving.query("SELECT trace_id FROM passhat.spans WHERE empty(parent_span_id)")
    assert ended
    assert {row["trace_id"] for row in ended} <= set(runs)
    print(f"{ROUNDS} kills, {len(acknowledged)} spans acknowledged, {len(stored)} stored once, {len(runs)} runs")
