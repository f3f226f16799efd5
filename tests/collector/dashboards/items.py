"""Every statement a dashboard sends, with what its place demands of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from msgspec import Struct

from collector.dashboards import dashboards

BOARDS = dashboards()


class Item(Struct, frozen=True):
    """One statement. `kind` is a panel's type, `variable` or `annotation`; `form` the data source's format."""

    board: str
    title: str
    kind: str
    form: int
    sql: str
    panel: dict[str, Any] = {}

    @property
    def id(self) -> str:
        return f"{self.board.removeprefix('passhat-')}: {self.title}"


def panels(board: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """All panels, those of folded rows too."""
    for panel in board["panels"]:
        yield panel
        yield from panel.get("panels", ())


def items() -> list[Item]:
    found = []
    for board in BOARDS.values():
        for panel in panels(board):
            for target in panel.get("targets", ()):
                found.append(
                    Item(board["uid"], panel["title"], panel["type"], target["format"], target["rawSql"], panel)
                )
        for variable in board["templating"]["list"]:
            if variable["type"] == "query":
                found.append(Item(board["uid"], f"${variable['name']}", "variable", 1, variable["query"]["rawSql"]))
        for note in board["annotations"]["list"]:
            found.append(Item(board["uid"], note["name"], "annotation", 1, note["target"]["rawSql"]))
    return found


def params(*kinds: str, form: int | None = None) -> list[Any]:
    """Items as pytest parameters, of these kinds (all when none is named) and this format."""
    chosen = [item for item in items() if (not kinds or item.kind in kinds) and form in (None, item.form)]
    return [pytest.param(item, id=item.id) for item in chosen]
