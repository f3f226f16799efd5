"""Collector health: does telemetry arrive, is it understood, is it graded in time, and how large is the store."""

from __future__ import annotations

from collector.dashboards.board import Placed, Row, board
from collector.dashboards.parts import (
    RED,
    RESULT_COLOURS,
    YELLOW,
    Json,
    colours,
    fields,
    quantiles,
    runs_lead,
    series,
    stat,
    steps,
    table,
)

ABOUT = (
    "What can be seen in the store. What never reached it (refused requests, the spool, errors by reason) is counted "
    "by each collector at /metrics for Prometheus."
)


def health() -> Json:
    """The dashboard of the collector itself: what comes in, waits, is refused, and how late verdicts are."""
    return board(
        "passhat-collector",
        "passhat: Collector health",
        ABOUT,
        (
            Row((Placed(_totals(), 24, 4), *_received(), *_graded())),
            Row(_senders(), title="What comes in"),
            Row(_wrong(), title="What is wrong"),
            Row((Placed(_tables(), 24, 10),), title="Store"),
        ),
        last="6h",
        refresh="30s",
    )


def _totals() -> Json:
    quiet = steps((None, "text"), (300, YELLOW), (900, RED))
    return stat(
        "Received",
        "health_totals",
        ("spans", "traces", "collectors", "last_s"),
        defaults={"unit": "locale", "decimals": 0, "color": {"mode": "fixed", "fixedColor": "text"}},
        overrides=[
            fields("last_s", unit="s", displayName="last span ago", thresholds=quiet, color={"mode": "thresholds"})
        ],
    )


def _received() -> tuple[Placed, ...]:
    """Spans as they come, and how late."""
    named = fields("/.*/", displayName="${__field.labels.collector}")
    return (
        Placed(_a_minute("Spans a minute", "health_received", named), 12),
        Placed(_seconds("From a span's end to the store", "health_lag"), 12),
    )


def _graded() -> tuple[Placed, ...]:
    """Runs as they are graded, and how late."""
    named = fields("/.*/", displayName="${__field.labels.result}")
    coloured = [
        fields(f"/{result}/", color={"mode": "fixed", "fixedColor": color}) for result, color in RESULT_COLOURS.items()
    ]
    return (
        Placed(_a_minute("Runs graded a minute", "health_graded", named, *coloured), 12),
        Placed(_seconds("From a run's end to its verdict", "health_grading"), 12),
    )


def _a_minute(title: str, name: str, *overrides: Json) -> Json:
    bars = {"drawStyle": "bars", "fillOpacity": 70, "lineWidth": 0, "stacking": {"mode": "normal", "group": "A"}}
    return series(title, name, {"unit": "short", "decimals": 1}, custom=bars, overrides=list(overrides), points=120)


def _seconds(title: str, name: str) -> Json:
    return series(title, name, {"unit": "s", "decimals": 1}, overrides=[*quantiles("s")])


def _senders() -> tuple[Placed, ...]:
    return (
        Placed(table("Who sends", "health_clients"), 12, 9),
        Placed(table("Dialects", "health_dialects", colours("dialect", none=YELLOW)), 12, 9),
    )


def _wrong() -> tuple[Placed, ...]:
    checks = table(
        "Broken checks", "health_checks", runs_lead(), fields("why", custom__width=500), colours("status", error=RED)
    )
    return (
        Placed(table("Repaired spans", "health_repairs"), 12),
        Placed(table("Odd runs", "health_run_flags", runs_lead()), 12),
        Placed(checks, 24),
    )


def _tables() -> Json:
    return table("Tables", "health_tables", fields("bytes", unit="bytes"), fields("rows", unit="locale"))
