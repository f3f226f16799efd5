"""The dashboards as one page, drawn from the real answers to their statements: to look at, not to test.

python -m tests.house.panel_page FOLDER writes one HTML file a dashboard. It knows the grid, units, names, colours and
texts that the boards ask for, and is no Grafana: what looks wrong here is wrong in the data or the layout. It also
writes the answers to answers.js, for panel_components.jsx, which shows them with Grafana's own components.
"""

from __future__ import annotations

import datetime as dt
import html
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson

from collector.config.keys import SqlConfig, StoreConfig
from collector.dashboards import dashboards
from collector.serve.clickhouse.answer import Answers
from collector.serve.clickhouse.asked import Asked
from collector.store.store import Store
from tests.collector.dashboards.items import panels
from tests.support.grafana import ALL, Times, panel_sql
from tests.support.live import fill, trace_id

PALETTE = ("#73bf69", "#5794f2", "#f2cc0c", "#ff780a", "#b877d9", "#8ab8ff", "#ffa6b0", "#96d98d", "#fade2a", "#c4162a")
NAMED = {"green": "#73bf69", "red": "#f2495c", "yellow": "#f2cc0c", "blue": "#5794f2", "purple": "#b877d9",
         "text": "#d8d9da", "transparent": "none"}  # fmt: skip
CELL_W, CELL_H = 60, 38
STYLE = (
    "body{background:#111217;color:#d8d9da;font:13px sans-serif;margin:8px;width:1460px}"
    ".p{position:absolute;background:#181b1f;border:1px solid #2a2d33;border-radius:3px;overflow:hidden;padding:6px}"
    "h2{font-size:13px;margin:0 0 4px;font-weight:600}td,th{padding:3px 8px;text-align:left;white-space:nowrap;"
    "border-bottom:1px solid #2a2d33;max-width:420px;overflow:hidden;text-overflow:ellipsis}th{color:#8ab8ff}"
    "table{border-collapse:collapse;font-size:12px}.big{font-size:26px}.small{font-size:11px;color:#999}"
)
CHOSEN = {"project": ALL, "class": ALL, "task": ALL, "service": ALL, "agent": ALL, "tool": ALL, "basis": ("outcome",),
          "k": ("3",), "window": ("86400",), "one": ("flaky-cache",), "run": ("fix-rounding-8",),
          "trace": (trace_id("fix-rounding-8"),)}  # fmt: skip
STEPS_S = (1, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800)
Json = dict[str, Any]


class Shown:
    """How a field is named, coloured and written, by the defaults and overrides of its panel."""

    def __init__(self, panel: Json, field: str, place: int) -> None:
        self.options = dict(panel["fieldConfig"]["defaults"])
        for override in panel["fieldConfig"]["overrides"]:
            wanted = override["matcher"]["options"]
            if wanted == field or (wanted[0] == "/" and re.search(wanted.strip("/"), field)):
                self.options |= {entry["id"]: entry["value"] for entry in override["properties"]}
        self.name = filled(str(self.options.get("displayName", field))).replace("${__field.labels.task}", field)
        self.name = re.sub(r"\$\{__field\.labels\.\w+\}", field, self.name)
        fixed = self.options.get("color", {}).get("fixedColor", "")
        self.color = NAMED.get(fixed, fixed) or PALETTE[place % len(PALETTE)]

    def text(self, value: Any) -> str:
        for mapping in self.options.get("mappings", ()):
            if str(value) in mapping["options"]:
                return str(mapping["options"][str(value)].get("text", value))
        if value is None:
            return str(self.options.get("noValue", ""))
        if not isinstance(value, int | float) or isinstance(value, bool):
            return str(value)
        decimals, unit = self.options.get("decimals"), self.options.get("unit", "")
        if unit == "percentunit":
            return f"{value * 100:.{1 if decimals is None else decimals}f} %"
        if unit == "bytes":
            return f"{value / 1024:.0f} KiB"
        suffix = {"s": " s", "ms": " ms", "currencyUSD": " $"}.get(unit, "")
        return f"{value:.{2 if decimals is None and value % 1 else decimals or 0}f}{suffix}"

    def tint(self, value: Any) -> str:
        """The colour a value gets: its text's, else its threshold's, else none."""
        for mapping in self.options.get("mappings", ()):
            found = mapping["options"].get(str(value), {})
            if "color" in found:
                return NAMED.get(found["color"], found["color"])
        if value is None or self.options.get("color", {}).get("mode") == "fixed":
            return NAMED["text"]
        steps = self.options.get("thresholds", {}).get("steps", ())
        if not steps or not isinstance(value, int | float):
            return ""
        reached = [step["color"] for step in steps if step["value"] is None or value >= step["value"]]
        return NAMED.get(reached[-1], reached[-1])


def filled(text: str) -> str:
    """A title: Grafana fills in the text of a variable there, not its value."""
    shown = {name: values[0] for name, values in CHOSEN.items()} | {"window": "1 day"}
    return re.sub(r"\$(\w+)", lambda found: shown.get(found[1], found[0]), text)


def stat(panel: Json, rows: list[Json], box: tuple[int, int]) -> str:
    pattern = panel["options"]["reduceOptions"]["fields"].strip("/")
    parts, background = [], ""
    for place, (field, value) in enumerate((rows or [{}])[0].items()):
        shown = Shown(panel, field, place)
        if re.search(pattern, shown.name):
            tint = shown.tint(value) or "#d8d9da"
            if panel["options"]["colorMode"] == "background":
                background, tint = tint, "#fff"
            number = f'<div class=big style="color:{tint}">{html.escape(shown.text(value))}</div>'
            parts.append(f'<div style="flex:1"><div class=small>{html.escape(shown.name)}</div>{number}</div>')
    return f'<div style="display:flex;height:80%;background:{background}66;padding:4px">{"".join(parts)}</div>'


def table(panel: Json, rows: list[Json], box: tuple[int, int]) -> str:
    if not rows:
        return "<p class=small>No data</p>"
    fields = {field: Shown(panel, field, place) for place, field in enumerate(rows[0])}
    head = "".join(f"<th>{html.escape(shown.name)}</th>" for shown in fields.values())
    body = []
    for row in rows[: max(1, (box[1] - 60) // 22)]:
        cells = []
        for field, shown in fields.items():
            tint, kind = shown.tint(row[field]), shown.options.get("custom.cellOptions", {}).get("type", "")
            style = f"background:{tint}99" if tint and kind == "color-background" else f"color:{tint}" if tint else ""
            cells.append(f'<td style="{style}">{html.escape(shown.text(row[field]))}</td>')
        body.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table><tr>{head}</tr>{''.join(body)}</table>"


def series_of(rows: list[Json]) -> dict[str, list[tuple[float, Any]]]:
    """Long to wide, as Grafana does it: a text column names the series."""
    made: dict[str, list[tuple[float, Any]]] = {}
    for row in rows:
        at = dt.datetime.fromisoformat(str(row["time"])).replace(tzinfo=dt.UTC).timestamp()
        label = next((str(v) for k, v in row.items() if isinstance(v, str) and k != "time"), "")
        for field, value in row.items():
            if field != "time" and not isinstance(value, str):
                made.setdefault(label or field, []).append((at, value))
    return made


def rect(x: float, y: float, width: float, height: float, fill: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{fill}"/>'


def label(x: float, y: float, text: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="#aaa" font-size="11">{html.escape(text)}</text>'


def svg(box: tuple[int, int], height: float, parts: list[str]) -> str:
    return f'<svg width="{box[0] - 14}" height="{height:.0f}">{"".join(parts)}</svg>'


def lines(panel: Json, rows: list[Json], box: tuple[int, int]) -> str:
    width, height = box[0] - 90, box[1] - 95
    made = series_of(rows)
    values = [v for points in made.values() for _, v in points if v is not None]
    if not values:
        return "<p class=small>No data</p>"
    times = [at for points in made.values() for at, _ in points]
    first, last = min(times), max(max(times), min(times) + 1)
    defaults = panel["fieldConfig"]["defaults"]
    top = defaults.get("max", max(values) * 1.05 or 1)
    unit, out, legend = Shown(panel, "", 0), [], []
    for part in (0, 0.5, 1):
        y = 5 + height - part * height
        out += [rect(70, y, width, 1, "#2a2d33"), label(2, y + 4, unit.text(part * top))]
    for place, (name, points) in enumerate(made.items()):
        shown = Shown(panel, name, place)
        known = [(70 + (at - first) / (last - first) * width, v / top * height) for at, v in points if v is not None]
        if defaults["custom"]["drawStyle"] == "bars":
            out += [rect(x, 5 + height - tall, 2, tall, shown.color) for x, tall in known]
        else:
            weight = shown.options.get("custom.lineWidth", 2) or 0.5
            path = " ".join(f"{x:.1f},{5 + height - tall:.1f}" for x, tall in known)
            out.append(f'<polyline points="{path}" fill="none" stroke="{shown.color}" stroke-width="{weight}"/>')
        legend.append(f'<span style="color:{shown.color}">■</span> {html.escape(shown.name)}')
    ends = [f"{dt.datetime.fromtimestamp(at, dt.UTC):%m-%d %H:%M}" for at in (first, last)]
    below = [f"<div class=small>{text}</div>" for text in (" – ".join(ends), "  ".join(legend))]
    return svg(box, height + 12, out) + "".join(below)


def states(panel: Json, rows: list[Json], box: tuple[int, int]) -> str:
    made = series_of(rows)
    times = sorted({at for points in made.values() for at, _ in points})
    if not times:
        return "<p class=small>No data</p>"
    width, each = (box[0] - 150) / len(times), min(28, (box[1] - 60) / max(1, len(made)))
    out = []
    for line, (name, points) in enumerate(made.items()):
        shown = Shown(panel, name, 0)
        out.append(label(0, line * each + each / 2 + 4, name))
        for at, value in points:
            color = shown.tint(value) if value is not None else "none"
            out.append(rect(120 + times.index(at) * width, line * each, width + 0.5, each * 0.85, color))
    return svg(box, box[1] - 50, out)


def bars(panel: Json, rows: list[Json], box: tuple[int, int]) -> str:
    x = panel["options"]["xField"]
    numbers = [field for field in (rows or [{}])[0] if field != x]
    top = max((sum(row[f] for f in numbers) for row in rows), default=0) or 1
    width, height, out = (box[0] - 40) / max(1, len(rows)), box[1] - 80, []
    for place, row in enumerate(rows):
        y = height + 10.0
        for order, field in enumerate(numbers):
            tall = row[field] / top * height
            y -= tall
            out.append(rect(place * width + 4, y, width * 0.8, tall, Shown(panel, field, order).color))
        out.append(label(place * width + 4, height + 24, str(row[x])))
    return svg(box, height + 30, out)


DRAWN = {"stat": stat, "timeseries": lines, "state-timeline": states, "barchart": bars}


def page(board: Json, told: dict[int, Json]) -> str:
    parts, bottom = [], 0
    for panel in panels(board):
        place = panel["gridPos"]
        y, box = place["y"] * CELL_H + 40, (place["w"] * CELL_W - 6, place["h"] * CELL_H - 6)
        rows = told.get(panel["id"], {}).get("data", [])
        content = "" if panel["type"] == "row" else DRAWN.get(panel["type"], table)(panel, rows, box)
        where = f"left:{place['x'] * CELL_W + 8}px;top:{y}px;width:{box[0] - 12}px;height:{box[1] - 12}px"
        parts.append(f'<div class=p style="{where}"><h2>{html.escape(filled(panel["title"]))}</h2>{content}</div>')
        bottom = max(bottom, y + place["h"] * CELL_H)
    head = f"<!doctype html><meta charset=utf-8><style>{STYLE}</style><h1 style='font-size:18px'>{board['title']}</h1>"
    return f"{head}<div style='height:{bottom}px'>{''.join(parts)}</div>"


def days_of(board: Json) -> float:
    """The time range that a board opens with."""
    return {"6h": 0.25, "24h": 1, "7d": 7}[board["time"]["from"].removeprefix("now-")]


def asked(board: Json, answers: Answers, end: dt.datetime) -> dict[int, Json]:
    """The answers to a board's statements by panel, over its own time range in as many points as Grafana asks for."""
    days, told = days_of(board), {}
    for panel in panels(board):
        if panel["type"] != "row":
            points = panel.get("maxDataPoints", panel["gridPos"]["w"] * CELL_W)
            step = next((step for step in STEPS_S if step * points >= days * 86_400), STEPS_S[-1])
            sql = panel_sql(panel["targets"][0]["rawSql"], CHOSEN, Times.last(end, days, step))
            told[panel["id"]] = orjson.loads(answers.answer(Asked(sql, {}, [], "JSON", 0), "page").data)
    return told


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    shown = []
    with TemporaryDirectory() as data:
        store = Store.open(StoreConfig(url=f"chdb:{data}"), Path(data))
        now = dt.datetime.now(dt.UTC)
        fill(store, now)
        answers = Answers(store, SqlConfig(), None)
        for name, board in dashboards().items():
            end = dt.datetime.now(dt.UTC) + dt.timedelta(minutes=1)
            told = asked(board, answers, end)
            (folder / name.replace(".json", ".html")).write_text(page(board, told))
            times = Times.last(end, days_of(board))
            pairs = [{"panel": panel, "told": told.get(panel["id"])} for panel in panels(board)]
            shown.append({"board": board, "panels": pairs, "from": times.start_ms, "to": times.end_ms})
        answers.close()
        store.close()
    chosen = orjson.dumps({name: values[0] for name, values in CHOSEN.items()} | {"window": "1 day"}).decode()
    (folder / "answers.js").write_text(f"window.BOARDS = {orjson.dumps(shown).decode()};\nwindow.CHOSEN = {chosen};\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
