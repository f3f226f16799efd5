"""What Grafana is provisioned with, written from collector/dashboards: python -m tests.house.grafana_files.

A test says when that is due.
"""

from __future__ import annotations

import sys
from pathlib import Path

from collector.dashboards import dashboards, text_of
from collector.dashboards.alerts import alerts_text
from tests.house.source_tree import ROOT

BOARDS = ROOT / "docker" / "grafana" / "dashboards"
RULES = ROOT / "docker" / "grafana" / "provisioning" / "alerting" / "rules.yaml"


def files() -> dict[Path, str]:
    """Every file by path."""
    boards = {BOARDS / name: text_of(board) for name, board in dashboards().items()}
    return {**boards, RULES: alerts_text()}


if __name__ == "__main__":
    for path, text in files().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        sys.stdout.write(f"wrote {path}\n")
