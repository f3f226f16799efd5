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
    table,
    typed,
    variable,
)

ABOUT = "One run by its id. Come here from the run column of the other dashboards, or paste an id."


def run() -> Json:
    """The dashboard of one run: its lines and verdicts."""
    statuses = {"fail": RED, "pass": GREEN, "error": YELLOW, "unknown": GREY, "not_applicable": GREY, "pending": GREY}
    facts = table(
        "Run $run",
        "run_facts",
        colours("result", **RESULT_COLOURS),
        fields("duration_s", unit="s", decimals=1),
        fields("cost_usd", unit="currencyUSD", decimals=3),
    )
    lines = table(
        "Lines",
        "run_lines",
        fields("n", custom__width=50),
        fields("/^(role|status)$/", custom__width=90),
        fields("tool", custom__width=170),
        fields("duration_ms", unit="ms", decimals=1, custom__width=100),
        fields(
            "content", custom__width=700, custom__cellOptions={"type": "auto", "wrapText": True}, custom__inspect=True
        ),
        colours("status", error=RED, ok=GREEN),
    )
    verdicts = table("Verdicts", "run_verdicts", colours("status", **statuses), fields("reason", custom__width=420))
    return board(
        "passhat-run",
        "passhat: Run detail",
        ABOUT,
        (
            Row(
                (
                    Placed(facts, 24, 4),
                    Placed(verdicts, 16, 8),
                    Placed(table("Reported outcomes", "run_outcomes", colours("result", **RESULT_COLOURS)), 8, 8),
                    Placed(lines, 24, 16),
                )
            ),
            Row((Placed(panel("traces", "Spans of $trace", "run_spans", TRACES), 24, 18),), title="Spans"),
        ),
        variables=(typed("run", "Run"), variable("trace", "Trace", multi=False)),
        last="7d",
    )
