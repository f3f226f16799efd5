"""The demo's configuration: a private collector over a temporary directory, nothing of the user's in it."""

from __future__ import annotations

from pathlib import Path

from collector.config import Config
from collector.config.keys import SpoolConfig, StoreConfig
from collector.demo.data import LAB_CHECKS
from graders.defaults import GATING


def demo_config(data: Path, store_url: str | None) -> Config:
    """The lesson's three checks (the built-in ones) and the lab's graders as checks; the store in `data`, or by URL."""
    return Config(
        store=StoreConfig(url=store_url or f"chdb:{data}"),
        data=data,
        cases=data / "cases",
        checks=[*(dict(check) for check in GATING), *LAB_CHECKS],
        spool=SpoolConfig(min_free_bytes=0),
    )
