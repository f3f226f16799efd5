"""Collector health: does telemetry arrive, is it understood, is it graded in time, and how large is the store."""

from __future__ import annotations

from collector.dashboards.board import Placed, Row, board
from collector.dashboards.parts import RED, YELLOW, Json, colours, fields, runs_lead, series, stat, steps, table

ABOUT = (
    "What can be seen in the store. What never reached it (refused requests, the spool, errors by reason) is counted "
    "by each collector at /metrics for Prometheus."
)


def health() -> Json:
    """The dashboard of the collector itself: what comes in, waits, is refused, and how late verdicts are."""
    minute, seconds = {"unit": "short", "decimals": 1}, {"unit": "s", "decimals": 1}
    bars = {"drawStyle": "bars", "fillOpacity": 70, "lineWidth": 0, "stacking": {"mode": "normal", "group": "A"}}

    def by(label: str) -> list[Json]:
        return [fields("/.*/", displayName=f"${{__field.labels.{label}}}")]

    return board(
        "passhat-collector",
        "passhat: Collector health",
        ABOUT,
        (
            Row(
                (
                    Placed(_totals(), 24, 4),
                    Placed(
                        series("Spans a minute", "health_received", minute, custom=bars, overrides=by("collector")),
                        12,
                        8,
                    ),
                    Placed(series("From a span's end to the store", "health_lag", seconds), 12, 8),
                    Placed(
                        series("Runs graded a minute", "health_graded", minute, custom=bars, overrides=by("result")),
                        12,
                        8,
                    ),
                    Placed(series("From a run's end to its verdict", "health_grading", seconds), 12, 8),
                )
            ),
            Row(
                (
                    Placed(table("Who sends", "health_clients"), 12, 9),
                    Placed(table("Dialects", "health_dialects", colours("dialect", none=YELLOW)), 12, 9),
                ),
                title="What comes in",
            ),
            Row(
                (
                    Placed(table("Repaired spans", "health_repairs"), 12, 8),
                    Placed(table("Odd runs", "health_run_flags", runs_lead()), 12, 8),
                    Placed(table("Broken checks", "health_checks", runs_lead(), colours("status", error=RED)), 24, 8),
                ),
                title="What is wrong",
            ),
            Row(
                (
                    Placed(
                        table("Tables", "health_tables", fields("bytes", unit="bytes"), fields("rows", unit="short")),
                        24,
                        10,
                    ),
                ),
                title="Store",
            ),
        ),
        last="6h",
        refresh="30s",
    )


def _totals() -> Json:
    quiet = steps((None, "text"), (300, YELLOW), (900, RED))
    return stat(
        "Received",
        "health_totals",
        "spans|traces|collectors|last_s",
        defaults={"unit": "short", "decimals": 0, "color": {"mode": "fixed", "fixedColor": "text"}},
        overrides=[
            fields("last_s", unit="s", displayName="last span ago", thresholds=quiet, color={"mode": "thresholds"})
        ],
    )
