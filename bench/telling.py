"""How measurements are told: a table for people, JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

Figures = dict[str, Any]


def tell(title: str, rows: Sequence[Figures], *, as_json: bool) -> None:
    """Print rows of one shape."""
    print(json.dumps(rows) if as_json else f"{title}\n{table(rows)}", flush=True)


def table(rows: Sequence[Figures]) -> str:
    """Rows of one shape, right-aligned under their keys."""
    columns = list(rows[0])
    cells = [columns, *([str(row[column]) for column in columns] for row in rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(columns))]
    return "\n".join("  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True)) for line in cells)
