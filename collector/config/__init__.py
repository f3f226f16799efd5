"""Configuration: flags over `PASSHAT_*` variables over `passhat.yaml` over defaults.

The only part of passhat that reads the environment. `Config` is frozen and passed on.
"""

from __future__ import annotations

from collector.config.exposure import refuse_open_door
from collector.config.keys import Config
from collector.config.load import load
from collector.config.shown import Shown, masked, shown
from collector.config.units import duration_s, join_address, size_bytes, split_address

__all__ = [
    "Config",
    "Shown",
    "duration_s",
    "join_address",
    "load",
    "masked",
    "refuse_open_door",
    "shown",
    "size_bytes",
    "split_address",
]
