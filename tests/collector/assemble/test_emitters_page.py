"""The page on emitters says what was measured, and nothing else."""

from __future__ import annotations

from pathlib import Path

from tests.collector.assemble.emitters import PACKAGES
from tests.collector.assemble.emitters_page import page
from tests.collector.assemble.test_captures import NO_LINES
from tests.semconv.recorded import CAPTURES

PAGE = Path(__file__).parents[3] / "docs" / "emitters.md"


def test_every_recorded_emitter_is_on_it() -> None:
    assert set(PACKAGES) | set(NO_LINES) == set(CAPTURES)


def test_it_is_as_measured() -> None:
    """Written anew by `python -m tests.collector.assemble.emitters_page > docs/emitters.md`."""
    assert PAGE.read_text() == page()
