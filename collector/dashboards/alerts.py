"""Alert rules in Grafana's provisioning form: thin, because the arithmetic is a view that tests and people can read.

A statement of an alert is expanded by the data source alone, without a browser: it holds no variable of a dashboard.
"""

from __future__ import annotations

from typing import Any

import yaml

from collector.dashboards.parts import PLUGIN, TABLE, Json
from collector.dashboards.statements import about, sql

# The data source as docker/grafana/provisioning/datasources names it: rules need one by its uid.
SOURCE_UID = "passhat"
EXPRESSION = "__expr__"
HEAD = "# Alert rules for Grafana, built from queries/panels/alert_*.sql: python -m tests.house.grafana_files\n"


def alerts() -> Json:
    """The whole file: one group of rules, looked at each minute."""
    rules = [
        _rule("burn-fast", "An objective burns fast", above=0, severity="page", summary=_BURN),
        _rule("burn-slow", "An objective burns steadily", above=0, severity="ticket", summary=_BURN, lasts="15m"),
        _rule("no-spans", "No telemetry arrives", above=15, severity="page", empty="Alerting",
              summary="No span was stored for {{ $values.B.Value }} minutes (none at all: for a day)."),
        _rule("pipeline", "Runs wait for their verdicts", above=900, severity="page", lasts="5m",
              summary="The oldest ungraded run waits for {{ $values.B.Value }} s: see the collector's log."),
    ]  # fmt: skip
    group = {"orgId": 1, "name": "passhat", "folder": "passhat", "interval": "1m", "rules": rules}
    return {"apiVersion": 1, "groups": [group]}


_BURN = "{{ $labels.slo }} misses its target: too many trials fail in both windows."
_BOARDS = {"pipeline": "passhat-collector", "no-spans": "passhat-collector"}


def _rule(name: str, title: str, *, above: float, severity: str, summary: str, **more: str) -> Json:
    """A rule that fires above a value. `more`: lasts (how long before it fires), empty (what no row means)."""
    statement = f"alert_{name.replace('-', '_')}"
    return {
        "uid": f"passhat-{name}",
        "title": title,
        "condition": "C",
        "data": [_asked(statement), _last(), _above(above)],
        "for": more.get("lasts", "0s"),
        "noDataState": more.get("empty", "OK"),
        "execErrState": "Error",
        "isPaused": False,
        "labels": {"severity": severity, "service": "passhat"},
        "annotations": {
            "summary": summary, "description": about(statement),
            "__dashboardUid__": _BOARDS.get(name, "passhat-reliability"),
        },
    }  # fmt: skip


def _asked(statement: str) -> Json:
    """One numeric column, texts become labels. The statements know their own times."""
    model = {
        "refId": "A", "datasource": {"type": PLUGIN, "uid": SOURCE_UID}, "editorType": "sql", "format": TABLE,
        "queryType": "table", "rawSql": sql(statement), "intervalMs": 60_000, "maxDataPoints": 100,
    }  # fmt: skip
    return {
        "refId": "A", "datasourceUid": SOURCE_UID, "relativeTimeRange": {"from": 600, "to": 0}, "model": model,
    }  # fmt: skip


def _last() -> Json:
    return _expression("B", type="reduce", expression="A", reducer="last", settings={"mode": "dropNN"})


def _above(value: float) -> Json:
    condition = {"evaluator": {"type": "gt", "params": [value]}}
    return _expression("C", type="threshold", expression="B", conditions=[condition])


def _expression(ref: str, **model: Any) -> Json:
    source = {"type": EXPRESSION, "uid": EXPRESSION}
    return {
        "refId": ref, "datasourceUid": EXPRESSION, "relativeTimeRange": {"from": 0, "to": 0},
        "model": {"refId": ref, "datasource": source, **model},
    }  # fmt: skip


class _Folded(yaml.SafeDumper):
    """Writes texts of several lines as blocks, so that SQL stays readable."""


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)


_Folded.add_representer(str, _text)


def alerts_text() -> str:
    """The YAML file. A `$` of Grafana's templates is doubled: provisioning reads one as an environment variable."""
    whole = yaml.dump(alerts(), Dumper=_Folded, sort_keys=False, width=120, allow_unicode=True)
    return HEAD + whole.replace("$", "$$")
