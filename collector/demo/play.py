"""Send, wait, read back, compare."""

from __future__ import annotations

import secrets
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from msgspec import Struct

from collector.cli.private import Running, private_collector, until
from collector.demo.data import lab, lesson, matrix
from collector.demo.expected import differences
from collector.demo.read import Place, arrived, everything
from collector.demo.send import Delivery, send
from collector.demo.setting import demo_config
from collector.demo.show import sent_lines, text_of
from collector.errors import StoreError

PATIENCE_S = 90.0
AROUND = timedelta(hours=1)


class Played(Struct, frozen=True):
    """What the demo showed, and what of it is not what the lessons print."""

    shown: dict[str, Any]
    differences: list[str]

    def as_text(self) -> str:
        return text_of(self.shown) if self.shown else ""

    def as_json(self) -> dict[str, Any]:
        return {**self.shown, "differences": self.differences}


def run_demo(store_url: str | None, say: Callable[[str], None]) -> Played:
    """The whole way once, in a project of its own. `say` hears what is going on."""
    with tempfile.TemporaryDirectory(prefix="passhat-demo-") as folder:
        config = demo_config(Path(folder), store_url)
        with private_collector(config) as running:
            say(f"a private collector listens: gRPC {running.at.grpc}, HTTP {running.at.http}")
            return play(running, say)


def play(running: Running, say: Callable[[str], None]) -> Played:
    """The demo on a collector that runs."""
    now = datetime.now(UTC)
    trials = [*lesson(), *lab(), *matrix()]
    project = f"demo-{secrets.token_hex(4)}"
    delivery = send(trials, project, running.at, time.time_ns())
    for line in sent_lines(delivery.spans, delivery.events, delivery.posted):
        say(line)
    place = Place(
        running.collector.store,
        running.at.web,
        project,
        (now - AROUND).strftime("%Y-%m-%d %H:%M:%S"),
        (now + AROUND).strftime("%Y-%m-%d %H:%M:%S"),
    )
    judged = sum(1 for trial in trials if trial.outcome or trial.expected)
    try:
        until(lambda: arrived(place), lambda got: got == (len(trials), judged), "all verdicts", PATIENCE_S)
    except StoreError as error:
        got = arrived(place)
        missing = f"{error}: {got[0]} of {len(trials)} runs are over, {got[1]} of {judged} have their outcome"
        return Played({}, [*delivery.lost, missing])
    shown = everything(place)
    return Played(shown, [*delivery.lost, *_unsent(delivery), *differences(shown)])


def _unsent(delivery: Delivery) -> list[str]:
    """A way in that carried nothing was not shown."""
    return [f"{name} carried no span" for name, count in delivery.spans.items() if not count]
