"""Run detail: what one run was, what the checks say of it, what happened line by line, and its spans."""

from __future__ import annotations

from collector.dashboards.board import Placed, Row, board
from collector.dashboards.parts import (
    GREEN,
    GREY,
    RED,
    RESULT_COLOURS,
    TRACES,
    YELLOW,
    Json,
    colours,
    fields,
    panel,
    stat,
    table,
    typed,
    variable,
)

ABOUT = "One run by its id. Come here from the run column of the other dashboards, or paste an id."


def run() -> Json:
    """The dashboard of one run: its lines and verdicts."""
    return board(
        "passhat-run",
        "passhat: Run detail",
        ABOUT,
        (
            Row(
                (
                    Placed(_facts(), 24, 4),
                    Placed(_took(), 24, 4),
                    Placed(_verdicts(), 24, 8),
                    Placed(_outcomes(), 24, 5),
                    Placed(_lines(), 24, 16),
                )
            ),
            Row((Placed(panel("traces", "Spans of $trace", "run_spans", TRACES), 24, 18),), title="Spans"),
        ),
        variables=(typed("run", "Run"), variable("trace", "Trace", multi=False)),
        last="7d",
    )


def _facts() -> Json:
    return table(
        "Run $run", "run_facts", colours("result", **RESULT_COLOURS), fields("reason", custom__width=230),
        fields("/^(version|basis|outcome|trajectory|result)$/", custom__width=95),
    )  # fmt: skip


def _took() -> Json:
    return stat(
        "What it took",
        "run_size",
        ("duration_s", "tool_calls", "turns", "input_tokens", "output_tokens", "cost_usd"),
        defaults={"unit": "locale", "decimals": 0, "noValue": "–", "color": {"mode": "fixed", "fixedColor": "text"}},
        overrides=[
            fields("duration_s", unit="s", decimals=1, displayName="duration"),
            fields("cost_usd", unit="currencyUSD", decimals=3, displayName="cost"),
            fields("tool_calls", displayName="tool calls"),
            fields("input_tokens", displayName="input tokens"),
            fields("output_tokens", displayName="output tokens"),
        ],
    )


def _verdicts() -> Json:
    statuses = {"fail": RED, "pass": GREEN, "error": YELLOW, "unknown": GREY, "not_applicable": GREY, "pending": GREY}
    return table(
        "Verdicts", "run_verdicts", colours("status", **statuses), fields("/^(reason|fix)$/", custom__width=380),
        fields("status", custom__width=125),
        fields("check", custom__width=170),
    )  # fmt: skip


def _outcomes() -> Json:
    return table(
        "Reported outcomes", "run_outcomes", colours("result", **RESULT_COLOURS), fields("reason", custom__width=600)
    )


def _lines() -> Json:
    whole = {"type": "auto", "wrapText": True}
    return table(
        "Lines",
        "run_lines",
        fields("/^(n|depth)$/", custom__width=65),
        fields("/^(role|status)$/", custom__width=90),
        fields("agent", custom__width=110),
        fields("tool", custom__width=130),
        fields("duration_ms", unit="ms", decimals=1, displayName="duration", custom__width=90),
        fields("content", custom__width=460, custom__cellOptions=whole, custom__inspect=True),
        fields("error", custom__width=150, custom__inspect=True),
        colours("status", error=RED, ok=GREEN),
    )
