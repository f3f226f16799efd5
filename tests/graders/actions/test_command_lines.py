"""Command lines from the contract, from captures and from habit, and what they do."""

from __future__ import annotations

from pathlib import Path

import pytest

from graders.actions.lines import line_of

ROWS = [
    tuple(part.strip() for part in line.rsplit("=>", 1))
    for line in (Path(__file__).parent / "command_lines.txt").read_text().splitlines()
    if "=>" in line and not line.startswith("# command line =>")
]


def written(command: str) -> str:
    """The actions of a command line as the table writes them."""
    return " ".join(
        f"{effect.kind}({' '.join(effect.paths)})" if effect.paths else effect.kind
        for effect in line_of(command).effects
    )


@pytest.mark.parametrize(("command", "actions"), ROWS, ids=[row[0] for row in ROWS])
def test_a_command_line_does(command: str, actions: str) -> None:
    assert written(command) == actions


def test_there_are_enough_rows() -> None:
    assert len(ROWS) >= 165
    assert len({row[0] for row in ROWS}) == len(ROWS)
