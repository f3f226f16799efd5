from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.collector.receive.serving import Listeners, listening


@pytest.fixture
def listeners(tmp_path: Path) -> Iterator[Listeners]:
    with listening(tmp_path) as running:
        yield running
