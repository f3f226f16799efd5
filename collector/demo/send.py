"""Send the demo's trials: each channel carries a third of them, outcomes take all three ways."""

from __future__ import annotations

from collections.abc import Sequence

import httpx
from msgspec import Struct

from collector.demo.channels import Channel, stock_channels
from collector.demo.data import Trial
from collector.demo.spans import STEP_NS, Recorder, trace_id_of
from collector.pipeline import Addresses

APART_NS = 2_000_000_000
LONGEST_NS = 40 * STEP_NS


class Delivery(Struct, frozen=True):
    """What was sent and acknowledged. `runs` maps a trial's name to its run id; `lost` says what was not taken."""

    runs: dict[str, str]
    spans: dict[str, int]
    events: int
    posted: int
    lost: tuple[str, ...]


def send(trials: Sequence[Trial], project: str, at: Addresses, end_ns: int) -> Delivery:
    """Send all trials, the last of them ending before `end_ns`."""
    resource = {"service.name": "passhat-demo", "service.version": "1", "passhat.project": project}
    start_ns = end_ns - len(trials) * APART_NS - LONGEST_NS
    runs: dict[str, str] = {}
    with stock_channels(at.grpc, at.http, resource) as channels:
        for number, trial in enumerate(trials):
            channel = channels[number % len(channels)]
            runs[trial.name] = _record(channel, trial, start_ns + number * APART_NS)
    posted = _post(trials, runs, project, at.web)
    return Delivery(
        runs=runs,
        spans={channel.name: channel.spans.acknowledged for channel in channels},
        events=sum(channel.logs.acknowledged for channel in channels),
        posted=posted,
        lost=tuple(_lost(channels)),
    )


def _record(channel: Channel, trial: Trial, start_ns: int) -> str:
    context = Recorder(channel.tracer, trial, start_ns).record()
    if trial.said_by == "event":
        channel.evaluation(context, trial.outcome, start_ns + LONGEST_NS)
    return trial.run_id or trace_id_of(context)


def _post(trials: Sequence[Trial], runs: dict[str, str], project: str, web: str) -> int:
    """Report the outcomes that come over the API, in one list."""
    told = [
        {"run_id": runs[trial.name], "result": trial.outcome, "source": "environment", "project": project}
        for trial in trials
        if trial.said_by == "api"
    ]
    reply = httpx.post(f"http://{web}/api/v1/outcomes", json=told, timeout=30, trust_env=False)
    reply.raise_for_status()
    return len(told)


def _lost(channels: Sequence[Channel]) -> list[str]:
    return [
        f"{channel.name}: {sent.failed} {what} were not acknowledged"
        for channel in channels
        for what, sent in (("spans", channel.spans), ("events", channel.logs))
        if sent.failed
    ]
