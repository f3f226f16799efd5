"""`passhat query`: the same of a server and of a directory, formats passed through, values bound."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.commands import here, passhat
from tests.support.serving import Serving


def test_rows_as_a_table_and_as_json(data: Path) -> None:
    sql = "SELECT task_id, count() AS n FROM trials WHERE task_class = 'matrix' GROUP BY task_id ORDER BY task_id"
    lines = here("query", sql, "--data", str(data)).stdout.splitlines()
    assert lines[0].split() == ["task_id", "n"]
    assert lines[1].split() == ["cross-repo-bump", "5"]
    rows = json.loads(here("query", sql, "--json", "--data", str(data)).stdout)
    assert rows[0] == {"task_id": "cross-repo-bump", "n": 5}
    assert len(rows) == 4


def test_integers_keep_their_digits_and_unknown_rates_are_null(data: Path) -> None:
    done = here(
        "query", "SELECT toUInt64(18446744073709551615) AS a, passHatK(2, 2, 3) AS b", "--json", "--data", str(data)
    )
    assert json.loads(done.stdout) == [{"a": 2**64 - 1, "b": None}]


@pytest.mark.parametrize("value", ["it's", "a\\b", "two\nlines", "tab\there", "1; DROP TABLE runs"])
def test_values_are_bound(data: Path, value: str) -> None:
    done = here("query", "SELECT {v:String} AS v", "--param", f"v={value}", "--json", "--data", str(data))
    assert json.loads(done.stdout) == [{"v": value}]


def test_no_rows_are_no_error(data: Path) -> None:
    done = here("query", "SELECT 1 AS a WHERE 0", "--json", "--data", str(data))
    assert (done.returncode, json.loads(done.stdout)) == (0, [])


def test_what_is_refused_says_so_and_not_where_the_store_lies(data: Path) -> None:
    done = here("query", "SELECT file('/etc/hostname')", "--data", str(data))
    assert done.returncode == 2
    assert "Code: 497" in done.stderr
    assert "docs/sql-endpoint.md" in done.stderr


def test_a_server_and_a_directory_answer_alike(tmp_path: Path) -> None:
    with Serving(tmp_path / "serving") as serving:
        server = f"http://{serving.web}"
        done = passhat("query", "SELECT 1 AS a, 'x' AS b", "--json", "--server", server, cwd=tmp_path)
        assert (done.returncode, json.loads(done.stdout)) == (0, [{"a": 1, "b": "x"}])
        csv = passhat("query", "SELECT 1 AS a FORMAT CSVWithNames", "--server", server, cwd=tmp_path)
        assert csv.stdout == '"a"\n1\n'
        assert passhat("query", "DROP TABLE runs", "--server", server, cwd=tmp_path).returncode == 2
        serving.stop()
    assert serving.query("SELECT 1 AS a, 'x' AS b") == [{"a": 1, "b": "x"}]
