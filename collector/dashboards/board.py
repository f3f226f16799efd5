"""A dashboard: rows of panels put on Grafana's grid of 24 columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from collector.dashboards.parts import Json, source_variable

SCHEMA_VERSION = 41
TAG = "passhat"
COLUMNS = 24


class Placed(Struct, frozen=True):
    """A panel and its size on the grid."""

    panel: Json
    width: int
    height: int = 8


class Row(Struct, frozen=True):
    """Panels from left to right, wrapped; with a title they can be folded away, and are when `collapsed`."""

    panels: tuple[Placed, ...]
    title: str = ""
    collapsed: bool = False


def board(uid: str, title: str, about: str, rows: Sequence[Row], **parts: Any) -> Json:
    """The whole dashboard. `parts`: variables, annotations, last (the time range, like `7d`), refresh."""
    return {
        "uid": uid,
        "title": title,
        "description": about,
        "tags": [TAG],
        "schemaVersion": SCHEMA_VERSION,
        "editable": True,
        "graphTooltip": 1,
        "time": {"from": f"now-{parts.get('last', '7d')}", "to": "now"},
        "timezone": "browser",
        "refresh": parts.get("refresh", ""),
        "timepicker": {},
        "fiscalYearStartMonth": 0,
        "weekStart": "monday",
        "liveNow": False,
        "preload": False,
        "links": [_links()],
        "annotations": {"list": list(parts.get("annotations", ()))},
        "templating": {"list": [source_variable(), *parts.get("variables", ())]},
        "panels": _placed(rows),
    }


def _links() -> Json:
    return {
        "type": "dashboards", "tags": [TAG], "title": "passhat", "icon": "external link", "asDropdown": False,
        "includeVars": True, "keepTime": True, "targetBlank": False, "tooltip": "", "url": "",
    }  # fmt: skip


def _placed(rows: Sequence[Row]) -> list[Json]:
    """Panels with ids and places; those of a folded row lie inside it."""
    made: list[Json] = []
    y = 0
    ids = iter(range(1, 1000))
    for row in rows:
        head: Json | None = None
        if row.title:
            head = {"id": next(ids), "type": "row", "title": row.title, "collapsed": row.collapsed, "panels": [],
                    "gridPos": {"x": 0, "y": y, "w": COLUMNS, "h": 1}}  # fmt: skip
            made.append(head)
            y += 1
        inside, y = _row(row, y, ids)
        if head is not None and row.collapsed:
            head["panels"] = inside
        else:
            made += inside
    return made


def _row(row: Row, y: int, ids: Any) -> tuple[list[Json], int]:
    """The panels of a row and where the next row begins."""
    made, x, height = [], 0, 0
    for placed in row.panels:
        if x + placed.width > COLUMNS:
            x, y, height = 0, y + height, 0
        place = {"x": x, "y": y, "w": placed.width, "h": placed.height}
        made.append({**placed.panel, "id": next(ids), "gridPos": place})
        x, height = x + placed.width, max(height, placed.height)
    return made, y + height
