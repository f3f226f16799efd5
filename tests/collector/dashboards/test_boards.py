"""The files Grafana loads: made by the builder, and by the house rules of dashboards."""

from __future__ import annotations

import json
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from collector.dashboards import dashboards, text_of, write
from collector.dashboards.parts import PLUGIN, RED, SOURCE
from tests.cli.commands import passhat
from tests.collector.dashboards.items import BOARDS, panels
from tests.house import grafana_files

EVERY = pytest.mark.parametrize("board", [pytest.param(board, id=uid) for uid, board in BOARDS.items()])
UNITLESS = ("row", "table", "traces")


def test_the_files_in_docker_are_what_the_builder_makes() -> None:
    for path, text in grafana_files.files().items():
        assert path.read_text(encoding="utf-8") == text, "write it again: python -m tests.house.grafana_files"
    assert sorted(path.name for path in grafana_files.BOARDS.iterdir()) == sorted(dashboards())


def test_they_are_exported_as_they_are(tmp_path: Path) -> None:
    assert [path.read_text() for path in write(tmp_path / "new")] == [text_of(board) for board in dashboards().values()]
    done = passhat("dashboards", "export", str(tmp_path / "cli"), "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [Path(name).read_text() for name in json.loads(done.stdout)] == [text_of(b) for b in dashboards().values()]
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert passhat("dashboards", "export", str(blocked), cwd=tmp_path).returncode == 2


@EVERY
def test_it_is_classic_json_that_provisioning_takes(board: dict[str, Any]) -> None:
    assert board["schemaVersion"] == 41
    assert {"id", "version", "iteration", "__inputs", "__requires", "apiVersion", "spec"} & board.keys() == set()
    assert "DS_" not in text_of(board)
    assert board["graphTooltip"] == 1
    assert re.fullmatch(r"passhat-[a-z]+", board["uid"])
    assert board["description"]


def test_uids_and_titles_differ() -> None:
    assert len({board["uid"] for board in BOARDS.values()}) == len(BOARDS) == 4
    assert len({board["title"] for board in BOARDS.values()}) == 4


@EVERY
def test_data_sources_are_the_variable(board: dict[str, Any]) -> None:
    (variable,) = [v for v in board["templating"]["list"] if v["type"] == "datasource"]
    assert (variable["query"], variable["name"]) == (PLUGIN, "datasource")
    for found in sources(board):
        assert found == SOURCE


def sources(node: Any) -> list[Any]:
    if isinstance(node, dict):
        own = [node["datasource"]] if "datasource" in node else []
        return own + [found for value in node.values() for found in sources(value)]
    return [found for value in node for found in sources(value)] if isinstance(node, list) else []


@EVERY
def test_every_panel_says_what_it_is(board: dict[str, Any]) -> None:
    for panel in panels(board):
        assert panel["title"]
        if panel["type"] != "row":
            assert len(panel["description"]) > 40, panel["title"]
        if panel["type"] not in UNITLESS:
            assert panel["fieldConfig"]["defaults"]["unit"], panel["title"]


@EVERY
def test_panels_lie_on_the_grid_without_overlap(board: dict[str, Any]) -> None:
    placed = list(panels(board))
    assert len({panel["id"] for panel in placed}) == len(placed)
    boxes = [tuple(panel["gridPos"][key] for key in "xywh") for panel in placed]
    for x, _, w, h in boxes:
        assert 0 <= x <= x + w <= 24
        assert h > 0
    for a, b in combinations(boxes, 2):
        apart = a[0] + a[2] <= b[0] or b[0] + b[2] <= a[0] or a[1] + a[3] <= b[1] or b[1] + b[3] <= a[1]
        assert apart, (a, b)


@EVERY
def test_not_too_much_is_open(board: dict[str, Any]) -> None:
    open_ = [panel for panel in board["panels"] if panel["type"] != "row"]
    assert len(open_) <= 14


@EVERY
def test_links_lead_to_dashboards_that_exist(board: dict[str, Any]) -> None:
    for uid in re.findall(r"/d/([\w-]+)", text_of(board)):
        assert uid in {other["uid"] for other in BOARDS.values()}
    (links,) = board["links"]
    assert (links["type"], links["tags"]) == ("dashboards", ["passhat"])
    assert links["includeVars"] is links["keepTime"] is True
    assert board["tags"] == ["passhat"]


@EVERY
def test_variables_that_are_used_exist_and_the_other_way_round(board: dict[str, Any]) -> None:
    declared = {variable["name"] for variable in board["templating"]["list"]}
    text = text_of(board)
    used = set(re.findall(r"\$\{(\w+)(?::\w+)?\}", text)) | set(re.findall(r"\$(\w+)", text))
    used = {name for name in used if not name.startswith("__")}
    assert used == declared


@EVERY
def test_a_rate_has_its_count_beside_it(board: dict[str, Any]) -> None:
    for panel in panels(board):
        sql = "".join(target["rawSql"] for target in panel.get("targets", ()))
        if panel["type"] in ("table", "stat") and re.search(r"\b(pass_hat_k|stream_pass_hat_k|pass_at_k)\b", sql):
            assert re.search(r"\bn\b|tasks_used", sql), panel["title"]
            shown = panel["options"].get("reduceOptions", {"fields": "n"})["fields"]
            assert re.search(r"\bn\b|trials|tasks", shown), panel["title"]


@EVERY
def test_the_refresh_is_slow_enough(board: dict[str, Any]) -> None:
    assert board["refresh"] in ("", "30s", "1m")


def test_the_states_have_texts_not_only_colours() -> None:
    for board in BOARDS.values():
        for panel in panels(board):
            for mapping in panel.get("fieldConfig", {}).get("defaults", {}).get("mappings", ()):
                shown = mapping["options"]
                texts = [shown["result"]] if mapping["type"] == "special" else shown.values()
                assert all(one.get("text") for one in texts)


@EVERY
def test_what_is_not_known_has_not_the_colour_of_the_worst(board: dict[str, Any]) -> None:
    """A value that is null gets the first step of the thresholds, unless a mapping says otherwise."""
    for panel in panels(board):
        config = panel.get("fieldConfig", {"defaults": {}, "overrides": []})
        told = [{entry["id"]: entry["value"] for entry in one["properties"]} for one in config["overrides"]]
        for options in (config["defaults"], *told):
            first = options.get("thresholds", {}).get("steps", [{}])[0].get("color")
            null = [
                one["options"]["result"]["color"] for one in options.get("mappings", ()) if one["type"] == "special"
            ]
            assert first != RED or null in (["text"], ["transparent"]), panel["title"]


def test_the_band_is_filled_between_low_and_high() -> None:
    (panel,) = [p for p in panels(BOARDS["passhat-reliability.json"]) if p["title"].startswith("pass^$k of $one")]
    overrides = panel["fieldConfig"]["overrides"]
    by_field = {o["matcher"]["options"]: {p["id"]: p["value"] for p in o["properties"]} for o in overrides}
    assert by_field["high"]["custom.fillBelowTo"] == "low"
    assert by_field["high"]["custom.lineWidth"] == by_field["low"]["custom.lineWidth"] == 0
