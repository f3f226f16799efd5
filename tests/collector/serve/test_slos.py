"""Objectives of the configuration reach the view that says whether they burn."""

from __future__ import annotations

from collector.config import Config
from collector.config.keys import SloConfig, SloWindow
from collector.rules import store_policy_of
from collector.store.store import Store
from tests.collector.serve.made import NOON_NS, grading


def test_an_slo_of_the_configuration_burns(store: Store) -> None:
    back_s = store.now_ns() / 1e9 - NOON_NS / 1e9
    store.write_gradings(
        [grading(f"r{n}", "fail" if n < 5 else "pass", at_s=back_s - 60 - n, task_id="refund") for n in range(20)]
    )
    pair = SloWindow(long=3600, short=300, burn=2)
    slos = (
        SloConfig(name="refunds", task="refund", target=0.9, windows=(pair,)),
        SloConfig(name="idle", target=0.5, task="x"),
    )
    store.set_policy(**store_policy_of(Config(slos=slos)))
    rows = store.query("SELECT slo, n, burn_long, firing FROM slo_burn WHERE slo = 'refunds'").dicts()
    assert len(rows) == 1
    assert (rows[0]["slo"], rows[0]["n"], bool(rows[0]["firing"])) == ("refunds", 20, True)
    assert abs(rows[0]["burn_long"] - 0.25 / 0.1) < 1e-9
    assert store.query("SELECT DISTINCT slo FROM slo_burn ORDER BY slo").rows == [("idle",), ("refunds",)]
