"""The configuration, as commands ask for it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from collector.cli.out import say
from collector.logs import one_line

if TYPE_CHECKING:
    from collector.config import Config


def load_config(path: Path | None, flags: Mapping[str, object] | None = None) -> Config:
    """`collector.config.load`, with its warnings on stderr."""
    from collector.config import load

    config = load(path, overrides=flags)
    for warning in config.warnings:
        say(f"warning: {one_line(warning)}")
    return config
