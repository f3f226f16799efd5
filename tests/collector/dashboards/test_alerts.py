"""Alert rules: the file Grafana loads, and what their statements say of stores in trouble."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from collector.dashboards.alerts import SOURCE_UID, alerts, alerts_text
from collector.dashboards.parts import PLUGIN
from collector.dashboards.statements import sql, statement
from collector.store.rows import Batch, span_row
from collector.store.sqlfiles import queries_root
from collector.store.store import Store
from semconv.facts import Facts
from tests.collector.dashboards.items import BOARDS
from tests.house import grafana_files
from tests.house.source_tree import ROOT
from tests.support.stores import SECOND, Front, front, graded, span, store, trace  # noqa: F401

FILES = (queries_root() / "panels").iterdir()
NAMES = sorted(path.name.removesuffix(".sql") for path in FILES if path.name.startswith("alert_"))


def rules() -> list[dict[str, Any]]:
    loaded = yaml.safe_load(alerts_text().replace("$$", "$"))
    assert loaded == alerts()
    return list(loaded["groups"][0]["rules"])


def test_every_statement_has_a_rule_and_no_dashboard_variable() -> None:
    asked = {rule["data"][0]["model"]["rawSql"] for rule in rules()}
    assert asked == {statement(name).statement for name in NAMES}
    for text in asked:
        assert "${" not in text
        assert re.findall(r"\$__(conditionalAll|adHoc)", text) == []


def test_a_dollar_of_a_template_is_no_variable_of_the_environment() -> None:
    text = grafana_files.RULES.read_text()
    assert "$$labels" in text
    assert re.findall(r"(?<!\$)\$(?!\$)", text) == []


def test_rules_are_a_chain_from_sql_to_a_threshold() -> None:
    for rule in rules():
        asked, last, above = rule["data"]
        assert [part["refId"] for part in rule["data"]] == ["A", "B", "C"]
        assert asked["datasourceUid"] == asked["model"]["datasource"]["uid"] == SOURCE_UID
        assert asked["model"]["datasource"]["type"] == PLUGIN
        assert (last["model"]["type"], last["model"]["expression"]) == ("reduce", "A")
        assert (above["model"]["type"], above["model"]["expression"], rule["condition"]) == ("threshold", "B", "C")
        assert rule["annotations"]["__dashboardUid__"] in {board["uid"] for board in BOARDS.values()}
    assert len({rule["uid"] for rule in rules()}) == len(rules()) == 4


def test_silence_is_no_data_for_burn_and_an_alarm_where_it_is_the_matter() -> None:
    states = {rule["uid"]: rule["noDataState"] for rule in rules()}
    assert states == {
        "passhat-burn-fast": "OK", "passhat-burn-slow": "OK", "passhat-no-spans": "Alerting", "passhat-pipeline": "OK",
    }  # fmt: skip


def test_the_source_of_the_rules_is_provisioned_under_that_uid() -> None:
    for path in sorted((ROOT / "docker" / "grafana" / "provisioning" / "datasources").glob("*.yaml")):
        (source,) = yaml.safe_load(path.read_text())["datasources"]
        assert (source["uid"], source["type"]) == (SOURCE_UID, PLUGIN)


@pytest.fixture(scope="module")
def shared(front: Front, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:  # noqa: F811
    opened = Store.open(front.place(), tmp_path_factory.mktemp("elsewhere"))
    yield opened
    opened.close()


def one(asked: Store, name: str) -> list[tuple[Any, ...]]:
    return asked.query(sql(name)).rows


def test_no_telemetry_at_all_is_no_row(store: Store) -> None:  # noqa: F811
    assert one(store, "alert_no_spans") == []
    assert one(store, "alert_burn_fast") == []
    assert one(store, "alert_pipeline") == [(0.0,)]


def test_a_root_of_an_agent_without_a_run_waits_until_it_is_graded(store: Store) -> None:  # noqa: F811
    hour_ago = store.now_ns() - 3600 * SECOND
    agent = span(trace(1), 1, start_ns=hour_ago, end_ns=hour_ago + 1)
    store.insert(Batch([span_row("default", hour_ago, agent, Facts(operation="agent"))], []))
    assert one(store, "alert_no_spans") == [(0.0,)]
    ((waits,),) = one(store, "alert_pipeline")
    assert 0 <= waits < 60
    # The clock of the store cannot be turned: what arrived an hour ago is written as such.
    with store._connections.writer() as writer:
        writer.command("ALTER TABLE arrivals DELETE WHERE 1 SETTINGS mutations_sync = 2")
    insert_arrival(store, trace(1), hour_ago)
    ((waits,),) = one(store, "alert_pipeline")
    assert 3600 <= waits < 3660
    assert one(store, "alert_no_spans")[0][0] in (60.0, 61.0)
    store.write_gradings([graded("r", members=(trace(1),))])
    assert one(store, "alert_pipeline") == [(0.0,)]


def insert_arrival(into: Store, unit: str, at_ns: int) -> None:
    with into._connections.writer() as writer:
        at = f"fromUnixTimestamp64Nano(toInt64({at_ns}), 'UTC')"
        columns = "stored_at, project, unit, trace_id, spans, root, run_end, collector"
        writer.command(
            f"INSERT INTO arrivals ({columns}) SELECT {at}, 'default', '{unit}', '{unit}', 1, true, false, 'c'"
        )


def test_a_trace_without_an_agent_never_waits(store: Store) -> None:  # noqa: F811
    now_ns = store.now_ns()
    plain = span(trace(3), 1, start_ns=now_ns, end_ns=now_ns + 1)
    store.insert(Batch([span_row("default", now_ns, plain, Facts())], []))
    assert one(store, "alert_pipeline") == [(0.0,)]
    assert one(store, "alert_no_spans") == [(0.0,)]


def test_there_is_an_example_of_contact_points(tmp_path: Path) -> None:
    path = ROOT / "docker" / "grafana" / "provisioning" / "alerting" / "contact-points.yaml.example"
    loaded = yaml.safe_load(path.read_text())
    assert loaded["apiVersion"] == 1
    names = {point["name"] for point in loaded["contactPoints"]}
    assert {loaded["policies"][0]["receiver"]} <= names
