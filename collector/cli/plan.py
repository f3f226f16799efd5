"""`passhat plan`: how many trials, and days, a gate takes before it can allow."""

from __future__ import annotations

import math
from typing import Annotated, Any

import typer

from collector.cli.options import Output
from collector.cli.out import result, result_json
from collector.errors import UsageError

WINDOW_DAYS = 28


def plan(
    output: Output,
    k: Annotated[int, typer.Option("--k", min=1, max=1000, help="The k of pass^k.")] = 3,
    least: Annotated[float, typer.Option("--min", help="What pass^k must reach.")] = 0.8,
    p: Annotated[float, typer.Option("--p", help="The pass rate you expect of one trial.")] = 1.0,
    per_day: Annotated[
        float | None, typer.Option("--per-day", help="Trials a day: days are told too.", show_default=False)
    ] = None,
    confidence: Annotated[float, typer.Option("--confidence", help="Of the interval.")] = 0.95,
    window: Annotated[int, typer.Option("--window-days", min=1, help="The gate's window, in days.")] = WINDOW_DAYS,
) -> None:
    """Say how many trials a gate takes: before someone asks the impossible.

    Trials in a row without a failure, and trials when the share --p of them passes. Independent trials are assumed;
    where trials of a day hang together it takes more (the gate's `deff` times as many).
    """
    from collector.store.scratch import calculated
    from collector.store.sqlfiles import statement

    for name, value, ends in (("--min", least, 1), ("--confidence", confidence, 1), ("--p", p, 1.0000001)):
        if not 0 < value < ends:
            raise UsageError(f"{name} must lie between 0 and 1")
    if per_day is not None and not 0 < per_day < math.inf:
        raise UsageError("--per-day must be above 0")
    asked = {"k": k, "min": least, "p": p, "alpha": 1 - confidence}
    numbers = calculated(statement("gate/plan"), asked)
    told = planned({**asked, "confidence": confidence, "per_day": per_day, "window_days": window}, numbers)
    if output.json:
        result_json(told)
    else:
        result("\n".join(sentences(told)))


def planned(asked: dict[str, Any], numbers: dict[str, Any]) -> dict[str, Any]:
    """The counts of the store's functions, and the days they take."""
    counts = {name: None if count is None else int(count) for name, count in numbers.items()}
    per_day, typical = asked["per_day"], counts["typical"]
    days = {name: None if not per_day or count is None else math.ceil(count / per_day)
            for name, count in counts.items() if name != "in_a_row_look"}  # fmt: skip
    return {
        **{name: asked[name] for name in ("k", "min", "p", "confidence", "per_day", "window_days")},
        "pass_hat_k": asked["p"] ** asked["k"],
        **counts,
        "days": days,
        "fits_window": None if days["typical"] is None else days["typical"] <= asked["window_days"],
        "reachable": typical is not None,
    }


def sentences(told: dict[str, Any]) -> list[str]:
    """The plan for people."""
    lines = [
        f"pass^{told['k']} >= {told['min']:g} at {told['confidence']:g}:",
        f"  {told['in_a_row']} trials in a row without a failure for a gate (holds for a year of looks),"
        f" {told['in_a_row_look']} for a single look",
    ]
    lines.append(f"  at a pass rate of {told['p']:g} (pass^{told['k']} {told['pass_hat_k']:.4f}): {_typical(told)}")
    if told["fits_window"] is False:
        pace = math.ceil(told["typical"] / told["window_days"])
        lines.append(
            f"  a window of {told['window_days']} days never holds that many: {pace} trials a day would do,"
            " or a longer window"
        )
    return lines


def _typical(told: dict[str, Any]) -> str:
    if told["typical"] is None:
        return "never: that is not above the minimum, or too near to it"
    days = told["days"]["typical"]
    return f"{told['typical']} trials" + ("" if days is None else f", {days} days at {told['per_day']:g} a day")
