"""A migration that ran somewhere never changes: a store made by the version before could not be opened any more."""

from __future__ import annotations

from collector.store.sqlfiles import schema_files
from tests.house.source_tree import ROOT


def test_migrations_stand_as_they_were_written() -> None:
    """A new one is written down in schema_checksums.txt; a line that is there stays."""
    written = dict(line.split()[::-1] for line in (ROOT / "tests/house/schema_checksums.txt").read_text().splitlines())
    assert {file.name: file.checksum for file in schema_files()} == written
