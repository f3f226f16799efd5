"""`passhat config`: every key in force and where it came from."""

from __future__ import annotations

import json

from collector.cli.options import Output, Settings
from collector.cli.out import result, result_json, table


def config(output: Output, settings: Settings) -> None:
    """Show the configuration in force, each value with its origin; secrets are masked."""
    from collector.cli.settings import load_config
    from collector.config import shown

    values = shown(load_config(settings.config, settings.flags()))
    if output.json:
        result_json([{"key": one.key, "value": one.value, "origin": one.origin} for one in values])
        return
    rows = [(one.key, json.dumps(one.value, ensure_ascii=False), one.origin) for one in values]
    result(table(("key", "value", "origin"), rows))
