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


@pytest.mark.parametrize("lines", [10, 10_000])
def test_long_heredocs_are_read_and_what_follows_them_too(lines: int) -> None:
    text = "x = 1\n" * lines
    command = f"cat > src/a.py <<'EOF'\n{text}EOF\ncat <<END >> tests/test_a.py\n{text}END\npytest -q"
    assert written(command) == "edit(src/a.py) edit(tests/test_a.py) test_run"


def test_a_long_patch_in_a_heredoc_names_its_files() -> None:
    patch = "*** Begin Patch\n*** Update File: src/a.py\n" + "+x\n" * 5_000 + "*** End Patch\n"
    assert written(f"apply_patch <<'EOF'\n{patch}EOF\n") == "edit(src/a.py)"


def test_a_line_without_its_heredocs_end_is_still_read() -> None:
    assert written("pytest -q; cat > a.py <<'EOF'\n" + "x\n" * 9_000).startswith("test_run")


@pytest.mark.parametrize(
    ("command", "actions"),
    [
        ("sed -i s/ä/ö/ src/größe.py", "edit(src/größe.py)"),
        ("echo 'naïve' > 'über uns.py'", "edit(über uns.py)"),
        ("cat \U0001f600.py && pytest", "read(\U0001f600.py) test_run"),
        ("cat > 文.py <<'終'\nx\n終\npytest", "edit(文.py) test_run"),
        ("pytest\u00a0-q", ""),  # no blank to a shell
        ("cat $'a\\tb.py'", "read(a\tb.py)"),
        ("cat \ud800.py", "read(\ud800.py)"),
    ],
)
def test_text_beyond_ascii_is_text(command: str, actions: str) -> None:
    assert written(command) == actions


def test_no_character_crashes_the_parser() -> None:
    """The grammar's scanner reads outside C's character tables for `{` and what follows it; that ended the process."""
    for code in range(0x80, 0x110000, 0x101):
        line_of(f"{{{chr(code)} ${{{chr(code)}}} {chr(code)}=1 [{chr(code)}")
