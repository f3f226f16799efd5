"""Panels, variables and annotations in Grafana's words: as few of its options as a panel needs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from collector.dashboards.statements import about, sql

PLUGIN = "grafana-clickhouse-datasource"
SOURCE = {"type": PLUGIN, "uid": "${datasource}"}
TIME_SERIES, TABLE, TRACES = 0, 1, 3
GREEN, YELLOW, RED, BLUE, GREY, PURPLE = "green", "yellow", "red", "blue", "#8e8e8e", "purple"

Json = dict[str, Any]


def target(name: str, form: int, ref: str = "A") -> Json:
    """The statement of a panel. `form` is the data source's number of a format."""
    kind = {TIME_SERIES: "timeseries", TABLE: "table", TRACES: "traces"}[form]
    return {
        "datasource": SOURCE, "editorType": "sql", "format": form, "queryType": kind, "rawSql": sql(name), "refId": ref,
    }  # fmt: skip


def panel(kind: str, title: str, name: str, form: int, **parts: Any) -> Json:
    """A panel over one statement; its description is the header of the statement's file.

    `parts`: defaults (of fields), overrides, options, transformations, links.
    """
    return {
        "type": kind,
        "title": title,
        "description": about(name),
        "datasource": SOURCE,
        "targets": [target(name, form)],
        "fieldConfig": {"defaults": parts.get("defaults", {}), "overrides": parts.get("overrides", [])},
        "options": parts.get("options", {}),
        "transformations": parts.get("transformations", []),
        "links": parts.get("links", []),
    }


def steps(*pairs: tuple[float | None, str]) -> Json:
    """Thresholds: colour from this value on; None is the base."""
    return {"mode": "absolute", "steps": [{"value": value, "color": color} for value, color in pairs]}


# What is not known is a dash without colour: the base of thresholds, which it would get, is the colour of the worst.
UNKNOWN = {"type": "special", "options": {"match": "null", "result": {"text": "–", "color": "text", "index": 0}}}
RATE = {"unit": "percentunit", "min": 0, "max": 1, "decimals": 1, "noValue": "–", "mappings": [UNKNOWN]}
RATE_STEPS = steps((None, RED), (0.5, YELLOW), (0.8, GREEN))


def stat(title: str, name: str, shown: tuple[str, ...], **more: Any) -> Json:
    """Big numbers. `shown` are the fields shown, by name; the others are only in the data."""
    names = "|".join(displayed(field, more.get("overrides", ())) for field in shown)
    options = {
        "reduceOptions": {"calcs": ["lastNotNull"], "fields": f"/^({names})$/", "values": False},
        "colorMode": more.pop("color", "value"), "graphMode": "none", "textMode": more.pop("text", "value_and_name"),
        "justifyMode": "auto", "orientation": "auto", "wideLayout": True, "showPercentChange": False,
    }  # fmt: skip
    return panel("stat", title, name, TABLE, options=options, **more)


def displayed(field: str, overrides: Sequence[Json]) -> str:
    """A pattern of the name that a field is shown by: Grafana picks the fields of a stat by it, not by the column."""
    for override in overrides:
        for entry in override["properties"]:
            if override["matcher"]["options"] == field and entry["id"] == "displayName":
                return re.sub(r"\\\$\w+", r"\\d+", re.escape(entry["value"]))
    return re.escape(field)


def series(title: str, name: str, defaults: Json, *, points: int = 0, **more: Any) -> Json:
    """Lines over time. `points`: at most so many, where few events in each would jump about."""
    drawn = {"drawStyle": "line", "lineWidth": 2, "fillOpacity": 0, "showPoints": "auto", "spanNulls": False}
    custom = {**drawn, "pointSize": 4, "axisSoftMin": 0, **more.pop("custom", {})}
    options = {
        "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True, "calcs": []},
        "tooltip": {"mode": "multi", "sort": "desc"},
    }
    made = panel(
        "timeseries", title, name, TIME_SERIES, defaults={**defaults, "custom": custom}, options=options, **more
    )
    return {**made, "maxDataPoints": points} if points else made


def table(title: str, name: str, *overrides: Json, **more: Any) -> Json:
    """Rows. Cells are plain unless an override says more: Grafana's own first step is green."""
    options = {"showHeader": True, "cellHeight": "sm", "footer": {"show": False, "reducer": [], "countRows": False}}
    cells = {"align": "auto", "cellOptions": {"type": "auto"}, "inspect": False, "filterable": True, "minWidth": 70}
    defaults = {"custom": cells, "thresholds": steps((None, "text"))}
    return panel(
        "table", title, name, TABLE, defaults=defaults, overrides=[*WIDTHS, *overrides], options=options, **more
    )


def bars(title: str, name: str, x: str, *overrides: Json) -> Json:
    """Counts of named buckets."""
    options = {
        "xField": x, "orientation": "vertical", "stacking": "normal", "showValue": "auto", "barWidth": 0.9,
        "groupWidth": 0.8, "xTickLabelRotation": 0,
        "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True, "calcs": []},
        "tooltip": {"mode": "multi", "sort": "none"},
    }  # fmt: skip
    custom = {"lineWidth": 1, "fillOpacity": 70, "axisSoftMin": 0}
    defaults = {"unit": "short", "decimals": 0, "custom": custom}
    return panel("barchart", title, name, TABLE, defaults=defaults, overrides=list(overrides), options=options)


def fields(pattern: str, **properties: Any) -> Json:
    """An override for fields by name: a plain name, or a /pattern/. Underscores in names are dots of Grafana's ids."""
    matcher = {"id": "byRegexp" if pattern.startswith("/") else "byName", "options": pattern}
    return {
        "matcher": matcher,
        "properties": [{"id": name.replace("__", "."), "value": value} for name, value in properties.items()],
    }


# Columns of most tables: times and short texts whole, counts narrow. An override that comes later wins.
WIDTHS = (
    fields("/^(time|latest|ended)$/", custom__width=165),
    fields("/^(task|tool|agent|model|service|check)$/", custom__width=150),
    fields("environment", custom__width=110),
)


def quantiles(unit: str) -> tuple[Json, Json]:
    """Names of a median and its tail: Grafana scales durations, so a name with a unit would contradict the value."""
    return fields(f"p50_{unit}", displayName="median"), fields(f"p95_{unit}", displayName="95th percentile")


def rates(pattern: str) -> Json:
    return fields(pattern, unit="percentunit", decimals=1, noValue="–", custom__width=82)


def coloured_rates(pattern: str) -> Json:
    """Rates with a coloured background, and their number: never colour alone."""
    blank = {**UNKNOWN, "options": {"match": "null", "result": {"text": "–", "color": "transparent", "index": 0}}}
    return fields(
        pattern, unit="percentunit", decimals=1, noValue="–", custom__width=82, thresholds=RATE_STEPS,
        mappings=[blank], custom__cellOptions={"type": "color-background", "mode": "basic"},
    )  # fmt: skip


def link_of(field: str, title: str, url: str, **more: Any) -> Json:
    """A field whose values lead somewhere."""
    return fields(field, links=[{"title": title, "url": url, "targetBlank": False}], **more)


RUN_URL = "/d/passhat-run?var-run=${__value.raw:percentencode}&${datasource:queryparam}"


def runs_lead(field: str = "run") -> Json:
    return link_of(field, "Open this run", RUN_URL, custom__width=180)


def colours(field: str, **by_value: str) -> Json:
    """Texts with a colour each; the text stays."""
    options = {value: {"color": color, "index": n} for n, (value, color) in enumerate(by_value.items())}
    return fields(field, mappings=[{"type": "value", "options": options}], custom__cellOptions={"type": "color-text"})


RESULT_COLOURS = {
    "pass": GREEN, "fail": RED, "error": YELLOW, "unknown": GREY, "incomplete": GREY, "invalid": PURPLE,
    "pending": BLUE,
}  # fmt: skip


def variable(name: str, label: str, **more: Any) -> Json:
    """A variable filled by a statement, several values and All unless told otherwise. It needs no time range."""
    multi = more.pop("multi", True)
    return {
        "name": name, "label": label, "type": "query", "datasource": SOURCE, "hide": 0, "skipUrlSync": False,
        "query": {"editorType": "sql", "rawSql": sql(f"variable_{more.pop('of', name)}")}, "definition": "",
        "refresh": 2, "sort": 0, "regex": "", "multi": multi, "includeAll": multi, "options": [],
        "current": {"text": ["All"], "value": ["$__all"]} if multi else {"text": "", "value": ""},
    }  # fmt: skip


def choice(name: str, label: str, default: str, *options: tuple[str, str]) -> Json:
    """A variable with a few values: pairs of value and text."""
    texts = dict(options)
    return {
        "name": name, "label": label, "type": "custom", "hide": 0, "skipUrlSync": False, "multi": False,
        "includeAll": False, "query": ", ".join(f"{text} : {value}" for value, text in options),
        "options": [{"text": text, "value": value, "selected": value == default} for value, text in options],
        "current": {"text": texts[default], "value": default, "selected": True},
    }  # fmt: skip


def typed(name: str, label: str) -> Json:
    """A variable people type."""
    return {
        "name": name, "label": label, "type": "textbox", "hide": 0, "skipUrlSync": False, "query": "", "options": [],
        "current": {"text": "", "value": ""},
    }  # fmt: skip


def source_variable() -> Json:
    return {
        "name": "datasource", "label": "Data source", "type": "datasource", "query": PLUGIN, "hide": 0, "regex": "",
        "skipUrlSync": False, "multi": False, "includeAll": False, "refresh": 1, "options": [], "current": {},
    }  # fmt: skip


def annotation(title: str, name: str, color: str) -> Json:
    return {
        "name": title, "datasource": SOURCE, "enable": True, "hide": False, "iconColor": color,
        "target": target(f"annotation_{name}", TABLE, "Anno"),
    }  # fmt: skip
