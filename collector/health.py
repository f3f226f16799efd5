"""What state the collector is in, why, and what to do about it: one answer for everybody who asks.

    starting ──▶ ok ◀──▶ degraded ──▶ stopping

Degraded is no reason to send elsewhere: what is acknowledged is durable, and a store may be away for hours. Not being
ready is: then requests are refused, or soon will be.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from math import inf
from typing import Literal, TypeAlias

from msgspec import Struct

from collector.metrics import Metrics
from collector.outward.ticker import Ticker
from collector.receive.shed import SHED_LOGS, SHED_SPANS
from collector.spool import SpoolStats

log = logging.getLogger("passhat.health")

State: TypeAlias = Literal["starting", "ok", "degraded", "stopping"]
Phase: TypeAlias = Literal["starting", "running", "stopping"]

FILLING = 0.7  # of the cap
BACKLOG_S = 60.0  # the oldest request waits longer than a slow insert takes
LATE_S = 60.0  # one batch, or one large unit, is graded for so long
STUCK_S = 120.0  # since the grading loop was last heard of
LOOK_S = 1.0
HINTS = {
    "tls": "put a certificate and a key that fit together in place: the next connection takes them",
    "spool": "look at the disk below `data`: space, permissions, faults; writes are tried again each second",
    "disk": "make room on the disk below `data`, or lower spool.min_free_bytes",
    "store": "look whether the store runs and answers at store.url; what is accepted waits in the spool meanwhile",
    "grade": "look whether the store answers, and in the log for a unit or check at fault; what is due is tried again",
    "upkeep": "it is tried again; removals and sweeping wait meanwhile",
}
OUTWARD_HINT = "look whether the receiver answers; what could not be told is told later"


class Problem(Struct, frozen=True):
    """One thing that is not well. `refuses`: requests are refused while it lasts."""

    stage: str
    error: str
    hint: str
    refuses: bool = False


class Health(Struct, frozen=True):
    """The state with its reasons; `ready`: requests are taken."""

    state: State
    ready: bool
    problems: tuple[Problem, ...] = ()


class Seen(Struct, frozen=True):
    """What is looked at: the spool and its bounds, the last error by stage, seconds without a sign of grading."""

    spool: SpoolStats
    max_bytes: int
    min_free_bytes: int
    errors: Mapping[str, str]
    waited_s: float = 0.0  # how long the oldest request has been in the spool
    silent_s: float = 0.0
    at_work: str = ""  # what is graded meanwhile


def health_of(phase: Phase, seen: Seen) -> Health:
    """The state of a collector in this phase. Problems that refuse requests come first."""
    problems = tuple(sorted((*_of_spool(seen), *_of_stages(seen)), key=lambda one: not one.refuses))
    if phase != "running":
        return Health(phase, False, problems)
    return Health("degraded" if problems else "ok", not any(one.refuses for one in problems), problems)


def _of_spool(seen: Seen) -> Iterator[Problem]:
    spool, share = seen.spool, seen.spool.bytes / max(1, seen.max_bytes)
    if spool.broken:
        yield Problem("spool", spool.broken, HINTS["spool"], refuses=True)
    if spool.free_bytes < seen.min_free_bytes:
        error = f"{spool.free_bytes} bytes are free, {seen.min_free_bytes} are kept free: requests are refused"
        yield Problem("disk", error, HINTS["disk"], refuses=True)
    elif spool.free_bytes < 2 * seen.min_free_bytes:
        error = f"{spool.free_bytes} bytes are free, at {seen.min_free_bytes} requests are refused"
        yield Problem("disk", error, HINTS["disk"])
    if share >= FILLING:
        error = f"{share:.0%} of spool.max_bytes are taken{_refused_at(share)}"
        yield Problem("spool", error, "the store is away or too slow: " + HINTS["store"], refuses=share >= 1)


def _refused_at(share: float) -> str:
    if share >= 1:
        return ": all requests are refused"
    if share >= SHED_SPANS:
        return ": logs and spans without a run id are refused"
    return ": logs are refused" if share >= SHED_LOGS else ""


def _of_stages(seen: Seen) -> Iterator[Problem]:
    for stage, error in seen.errors.items():
        if error:
            yield Problem(stage, error, HINTS.get(stage, OUTWARD_HINT))
    if seen.waited_s > BACKLOG_S and not seen.errors.get("store"):
        error = f"the oldest request has waited {seen.waited_s:.0f} s to be stored"
        yield Problem("store", error, "the store is slower than what arrives: give it more, or send less")
    if seen.at_work and seen.silent_s > LATE_S and not seen.errors.get("grade"):
        error = f"{seen.at_work} has been graded for {seen.silent_s:.0f} s, and all others wait"
        yield Problem("grade", error, "a run of many spans takes minutes; else a check may hang: the log says which")
    elif seen.silent_s > STUCK_S and not seen.errors.get("grade"):
        error = f"nothing was heard of grading for {seen.silent_s:.0f} s"
        yield Problem("grade", error, "a check may hang: the last lines of the log say which; else restart passhat")


class Filling:
    """How long the spool takes until it is full, as it grew in the last minute."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque(maxlen=60)

    def seconds_left(self, now_s: float, size: int, max_bytes: int) -> float:
        """Takes in the size at this moment. Infinite while it does not grow."""
        self._seen.append((now_s, size))
        began_s, before = self._seen[0]
        grown = size - before
        return inf if grown <= 0 else max(0.0, (max_bytes - size) * (now_s - began_s) / grown)


class Watch:
    """Looks once a second, and tells changes: in the log, to gRPC health, to Prometheus."""

    def __init__(self, look: Callable[[], Health], tell: Callable[[bool], None], metrics: Metrics) -> None:
        self._look = look
        self._tell = tell
        self._metrics = metrics
        self._known: dict[str, str] = {}
        ticker = Ticker("health", self.step)
        self.start, self.stop = ticker.start, ticker.stop

    def step(self) -> float:
        """One look; the seconds until the next."""
        health = self._look()
        self._tell(health.ready)
        found = {one.stage: f"{one.error} ({one.hint})" for one in health.problems}
        for stage in found.keys() - self._known.keys():
            log.warning("degraded: %s: %s", stage, found[stage])
        for stage in self._known.keys() - found.keys():
            log.info("well again: %s", stage)
        for stage in found.keys() | self._known.keys():
            self._metrics.problems.labels(stage).set(stage in found)
        self._known = found
        return LOOK_S
