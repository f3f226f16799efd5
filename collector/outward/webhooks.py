"""Posts to configured URLs when something starts going wrong, and when it is over."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
from msgspec import Struct, field

from collector.config.keys import WebhookConfig
from collector.metrics import Metrics
from collector.outward import troubles
from collector.outward.alerts import Alert, Alerts, Trouble, given_up, post_of, posted
from collector.outward.feed import graded_after
from collector.outward.progress import load, save
from collector.outward.ticker import Ticker
from collector.serve.times import rfc3339_ms
from collector.store.store import Store

POLL_S = 2.0
MS_NS = 1_000_000
FILE = "webhooks.json"
FOR_GOOD = (400, 413, 422)  # this post will never do; other answers are about the hook, to be mended and tried again

log = logging.getLogger("passhat.outward")


class NotTaken(Exception):
    """A hook did not answer 2xx."""


class State(Struct):
    """How far gradings were looked at, and what each hook knows, by a digest of its URL: an URL may be a secret."""

    read_to_ns: int
    hooks: dict[str, Alerts] = field(default_factory=dict)


class Webhooks:
    """Looks for trouble and tells of it. Raises StoreError when its state cannot be read."""

    def __init__(self, store: Store, hooks: Sequence[WebhookConfig], data: Path, metrics: Metrics) -> None:
        self._store, self._hooks, self._metrics = store, hooks, metrics
        self._file = data / FILE
        self._state = load(self._file, State) or State(store.now_ns())
        self._wanted = {event for hook in hooks for event in hook.on}
        self._skipped, self._skipped_why = 0, ""
        self._client = httpx.Client(follow_redirects=False, trust_env=False)
        self._ticker = Ticker("webhooks", self._step)
        self.start = self._ticker.start

    def stop(self) -> None:
        """Tell no more; what was not told is told after the next start."""
        self._ticker.stop()
        self._client.close()

    def status(self) -> dict[str, Any]:
        """What is firing, what stands in the way of telling, and how many posts were refused for good."""
        known = [alert for alerts in self._state.hooks.values() for alert in list(alerts.known.values())]
        firing = sum(alert.trouble.firing for alert in known)
        skipped = {"skipped": self._skipped, "skipped_why": self._skipped_why}
        return {"firing": firing, "error": self._ticker.last_error, **skipped}

    def _step(self) -> float:
        found, more = self._troubles()
        now_ns = self._store.now_ns()
        for hook in self._hooks:
            alerts = self._state.hooks.setdefault(_name(hook), Alerts({}))
            for trouble in found:
                if trouble.event in hook.on:
                    alerts.see(trouble, now_ns)
        save(self._file, self._state)
        errors = [error for hook in self._hooks if (error := self._tell(hook, now_ns))]
        if errors:
            raise NotTaken("; ".join(errors))
        return 0.0 if more else POLL_S

    def _troubles(self) -> tuple[list[Trouble], bool]:
        found: list[Trouble] = []
        page = graded_after(self._store, self._state.read_to_ns)
        if "fail" in self._wanted:
            found += troubles.failing_tasks(self._store, page.runs)
        if "gate_denied" in self._wanted:
            found += troubles.gates(self._store)
        if "slo_burn" in self._wanted:
            found += troubles.objectives(self._store)
        self._state.read_to_ns = page.read_to_ns
        return found, page.more

    def _tell(self, hook: WebhookConfig, now_ns: int) -> str:
        """Post what is due to one hook; why it did not take it, '' when it did.

        A post that it refuses for good is left out: it must not stand before the others.
        """
        for alert in self._state.hooks[_name(hook)].due(hook.cooldown, now_ns):
            status, error = self._post(hook, alert, now_ns)
            result = "sent" if not error else "skipped" if status in FOR_GOOD else "failed"
            self._metrics.webhooks.labels(alert.trouble.event, result).inc()
            if result == "failed":
                return error
            if result == "skipped":
                log.warning("webhooks: left out %s: %s", alert.trouble.key, error)
                self._skipped, self._skipped_why = self._skipped + 1, f"{alert.trouble.key}: {error}"
            (given_up if error else posted)(alert, now_ns)
            save(self._file, self._state)
        return ""

    def _post(self, hook: WebhookConfig, alert: Alert, now_ns: int) -> tuple[int, str]:
        """(status, why it was not taken): status 0 where there was no answer."""
        body = post_of(alert)
        body |= {"since": rfc3339_ms(body["since"] // MS_NS), "at": rfc3339_ms(now_ns // MS_NS)}
        host = httpx.URL(hook.url).host
        try:
            reply = self._client.post(hook.url, json=body, headers=hook.headers, timeout=hook.timeout_s)
        except httpx.HTTPError as error:
            return 0, f"{host}: {type(error).__name__}"
        return reply.status_code, "" if reply.is_success else f"{host} answered {reply.status_code}"


def _name(hook: WebhookConfig) -> str:
    return hashlib.blake2b(f"{hook.url} {','.join(sorted(hook.on))}".encode(), digest_size=12).hexdigest()
