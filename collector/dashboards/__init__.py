"""Grafana dashboards and alert rules, built from the SQL of queries/panels.

A board is Python here, its SQL one file a panel. What Grafana loads is written by `write` and kept in docker/grafana;
a test says when the two differ. Classic JSON, schemaVersion 41: what file provisioning takes from Grafana 11.6 on.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from collector.dashboards.health import health
from collector.dashboards.reliability import reliability
from collector.dashboards.run import run
from collector.dashboards.tools import tools


def dashboards() -> dict[str, dict[str, Any]]:
    """Every dashboard by file name, as Grafana's classic JSON."""
    boards = (reliability(), tools(), run(), health())
    return {f"{board['uid']}.json": board for board in boards}


def text_of(board: dict[str, Any]) -> str:
    """The file: keys sorted, so that a difference is a change."""
    return json.dumps(board, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def write(folder: Path) -> list[Path]:
    """Write every dashboard into the folder, which is made; the files written."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, board in dashboards().items():
        (folder / name).write_text(text_of(board), encoding="utf-8")
        written.append(folder / name)
    return written
