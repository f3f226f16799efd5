"""Tool calls: which tools agents call, how often these fail, how long they take, and where agents go in circles."""

from __future__ import annotations

from collector.dashboards.board import Placed, Row, board
from collector.dashboards.parts import (
    GREEN,
    GREY,
    RATE,
    RED,
    YELLOW,
    Json,
    bars,
    fields,
    quantiles,
    rates,
    runs_lead,
    series,
    stat,
    steps,
    table,
    variable,
)

ABOUT = (
    "Logical tool calls: one call is one row, whatever spans, messages and events tell of it. Durations are "
    "milliseconds; they are blank where only messages tell of a call."
)
COUNTED = fields("/^(calls|runs|times|errors)$/", custom__width=70)
STACKED = {"drawStyle": "bars", "fillOpacity": 70, "lineWidth": 0, "stacking": {"mode": "normal", "group": "A"}}


def tools() -> Json:
    """The dashboard of tool calls: which, how often, how they end, how long they take."""
    minute = {"unit": "cpm", "decimals": 2}
    label = [fields("/.*/", displayName="${__field.labels.tool}")]
    action = [fields("/.*/", displayName="${__field.labels.action}")]
    return board(
        "passhat-tools",
        "passhat: Tool calls",
        ABOUT,
        (
            Row(
                (
                    Placed(_totals(), 24, 4),
                    Placed(
                        series("Calls a minute", "tools_rate", minute, custom=STACKED, overrides=label, points=60),
                        12,
                        9,
                    ),
                    Placed(series("Share of calls that fail", "tools_errors", RATE, overrides=label, points=60), 12, 9),
                    Placed(_duration(), 12, 9),
                    Placed(
                        series("What calls do", "tools_actions", minute, custom=STACKED, overrides=action, points=60),
                        12,
                        9,
                    ),
                )
            ),
            Row((Placed(_table(), 24, 11),), title="Tools"),
            Row(_trouble(), title="Trouble"),
        ),
        variables=(
            variable("project", "Project"),
            variable("service", "Service"),
            variable("agent", "Agent"),
            variable("tool", "Tool"),
        ),
        last="24h",
        refresh="1m",
    )


def _totals() -> Json:
    failing = steps((None, GREEN), (0.05, YELLOW), (0.2, RED))
    return stat(
        "Calls",
        "tools_totals",
        ("calls", "errors", "error_rate", "runs", "calls_per_run"),
        defaults={"unit": "locale", "decimals": 0, "color": {"mode": "fixed", "fixedColor": "text"}},
        overrides=[
            fields(
                "error_rate", **RATE, displayName="share that fails", thresholds=failing, color={"mode": "thresholds"}
            ),
            fields("calls_per_run", decimals=1, displayName="calls a run"),
        ],
    )


def _duration() -> Json:
    milliseconds = {"unit": "ms", "decimals": 1}
    return series("How long calls take", "tools_duration", milliseconds, overrides=[*quantiles("ms")], points=60)


def _table() -> Json:
    return table(
        "Tools: the most called first",
        "tools_table",
        fields("/_ms$/", unit="ms", decimals=1, noValue="–", custom__width=120),
        *quantiles("ms"),
        rates("runs_share"),
        fields("runs_share", custom__width=100),
        fields(
            "error_rate",
            unit="percentunit",
            decimals=1,
            thresholds=steps((None, "transparent"), (0.05, YELLOW), (0.2, RED)),
            custom__width=100,
            custom__cellOptions={"type": "color-background", "mode": "basic"},
        ),
        fields("/^(calls|errors|runs)$/", custom__width=90),
        fields("tool", custom__width=260),
    )


def _trouble() -> tuple[Placed, ...]:
    by_result = [
        fields(name, color={"mode": "fixed", "fixedColor": color})
        for name, color in (("passed", GREEN), ("failed", RED), ("other", GREY))
    ]
    return (
        Placed(table("What tools fail with", "tools_failures", runs_lead(), COUNTED), 24, 8),
        Placed(table("The same call again and again", "tools_repeats", runs_lead(), COUNTED), 14, 9),
        Placed(bars("Tool calls of a run", "tools_steps", "calls", *by_result), 10, 9),
    )
