"""`passhat status`: is it well, what waits, who sends, and what to do about what is not well."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from collector.cli.arrivals import judge_notes
from collector.cli.options import Source
from collector.cli.out import cell, result, result_json, table

Told = dict[str, Any]
WIDE = 1000
COUNTED = {"accepted": "accepted", "stored": "stored", "graded": "gradings since start", "refused": "refused"}
RECORDS = {"traces": "spans", "logs": "log records"}


def status(source: Source) -> None:
    """Say how a running passhat does: its health with what to do, what waits, who sends, what counts nowhere."""
    from collector.cli.client import api

    with api(source) as ask:
        told = ask.get("/api/v1/status")
    if source.json:
        result_json(told)
        return
    result("\n\n".join(part.rstrip() for part in (health(told), counts(told), clients(told), blocked(told)) if part))


def health(told: Told) -> str:
    """The state, then each problem with its way out."""
    lines = [f"health: {told.get('health', 'no passhat runs over this store')}"]
    for one in told.get("problems", ()):
        refuses = " (requests are refused)" if one["refuses"] else ""
        lines += [f"  {one['stage']}{refuses}: {cell(one['error'], WIDE)}", f"    do: {cell(one['hint'], WIDE)}"]
    return "\n".join(lines)


def counts(told: Told) -> str:
    """What came in since the start, and what is still on its way."""
    spool, lag = told.get("spool"), told.get("lag")
    lines = [f"{title}: {pairs(told[name])}" for name, title in COUNTED.items() if told.get(name)]
    if spool is not None:
        lines.append(
            f"spool: {spool['entries']} requests, {spool['bytes']} bytes, the oldest {spool['oldest_s']:.1f} s"
        )
        if spool.get("set_aside"):
            lines.append(f"set aside: {spool['set_aside']} files in the spool's quarantine, which nobody could read")
    if lag is not None:
        at_work = f", {lag['at_work']} for {lag['at_work_s']:.0f} s" if lag.get("at_work") else ""
        lines.append(f"grading: {lag['units_waiting']} wait{at_work}")
    lines += [f"{what}: {cell(f'{found}: {hint}', WIDE)}" for what, found, hint in judge_notes(told)]
    return "\n".join(lines)


def pairs(counted: dict[str, int]) -> str:
    return ", ".join(f"{count} {RECORDS.get(name, name)}" for name, count in counted.items())


def clients(told: Told) -> str:
    """Who sent lately."""
    seen = told.get("clients", ())
    if not seen:
        return ""
    rows = [
        (one["project"], one["service"], one["accepted"], clock(one["last_accepted_ns"]), one["refused"],
         one["last_reason"])
        for one in seen
    ]  # fmt: skip
    return table(("project", "service", "accepted", "last", "refused", "reason"), rows, right=("accepted", "refused"))


def clock(ns: int) -> str:
    """A time of this machine's zone; empty for never."""
    return datetime.fromtimestamp(ns / 1e9).astimezone().strftime("%Y-%m-%d %H:%M:%S") if ns else ""


def blocked(told: Told) -> str:
    """Runs of the last week that count nowhere, and what helps."""
    rows = [(one["reason"], one["runs"], one["fix"]) for one in told.get("blocked", ())]
    return table(("not counted because", "runs", "do"), rows, right=("runs",)) if rows else ""
