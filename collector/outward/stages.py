"""The configured ways out, as stages of the pipeline: none of them by default."""

from __future__ import annotations

from typing import TYPE_CHECKING

from collector.config import Config
from collector.metrics import Metrics
from collector.store.store import Store

if TYPE_CHECKING:
    from collector.judge.asking import Judging
    from collector.outward.exporter import Exporter
    from collector.outward.webhooks import Webhooks


def outward_of(store: Store, config: Config, metrics: Metrics) -> dict[str, Exporter | Webhooks | Judging]:
    """By the name they have in the status. Raises StoreError when what they had reached cannot be read."""
    made: dict[str, Exporter | Webhooks | Judging] = {}
    if config.export.endpoint is not None:
        from collector.outward.exporter import Exporter

        made["export"] = Exporter(store, config.export, config.data, metrics)
    if config.webhooks:
        from collector.outward.webhooks import Webhooks

        made["webhooks"] = Webhooks(store, config.webhooks, config.data, metrics)
    if any(check.get("kind") == "judge" for check in config.checks or ()):
        from collector.judge.asking import Judging

        made["judge"] = Judging(store, config, metrics)
    return made
