"""When trouble is told of: firing, again after the cooldown, resolved. Pure: times come in."""

from __future__ import annotations

import hashlib
from typing import Any

from msgspec import Struct

NS = 1_000_000_000


class Trouble(Struct, frozen=True):
    """Something that is wrong now, or that is right again. `key` is the same from one to the other."""

    event: str
    key: str
    firing: bool
    title: str
    details: dict[str, Any]


class Alert(Struct):
    """One trouble as one hook knows it. Times are ns; 0 is never. `told`: it knows of it, and not of its end."""

    trouble: Trouble
    since_ns: int
    told_ns: int = 0
    told: bool = False
    posts: int = 0


class Alerts(Struct):
    """What one hook has been told, by key of the trouble."""

    known: dict[str, Alert] = {}

    def see(self, trouble: Trouble, now_ns: int) -> None:
        """Take in how things are."""
        alert = self.known.get(trouble.key)
        if alert is None:
            if trouble.firing:
                self.known[trouble.key] = Alert(trouble, now_ns)
            return
        if trouble.firing and not alert.trouble.firing:
            alert.since_ns = now_ns
        alert.trouble = trouble

    def due(self, cooldown_s: float, now_ns: int) -> list[Alert]:
        """What is to be posted now: an end at once, a beginning unless one was told within the cooldown."""
        cool = [key for key, alert in self.known.items() if _over(alert, cooldown_s, now_ns)]
        for key in cool:
            del self.known[key]
        return [alert for alert in self.known.values() if _is_due(alert, cooldown_s, now_ns)]


def posted(alert: Alert, now_ns: int) -> None:
    """The hook knows. Only a beginning starts the cooldown."""
    alert.posts += 1
    alert.told = alert.trouble.firing
    if alert.trouble.firing:
        alert.told_ns = now_ns


def given_up(alert: Alert, now_ns: int) -> None:
    """The hook will never take this post: it knows of nothing. Trouble that lasts is told anew after the cooldown."""
    alert.posts += 1
    alert.told = False
    if alert.trouble.firing:
        alert.told_ns = now_ns


def post_of(alert: Alert) -> dict[str, Any]:
    """The body of a post. Its id is the same until the post was taken."""
    trouble = alert.trouble
    state = "firing" if trouble.firing else "resolved"
    said = f"{trouble.key}\0{state}\0{alert.since_ns}\0{alert.posts}"
    return {
        "id": hashlib.blake2b(said.encode(), digest_size=16).hexdigest(),
        "event": trouble.event,
        "state": state,
        "key": trouble.key,
        "title": trouble.title,
        "since": alert.since_ns,
        "details": trouble.details,
    }


def _over(alert: Alert, cooldown_s: float, now_ns: int) -> bool:
    cooled = now_ns - alert.told_ns >= cooldown_s * NS
    return not alert.trouble.firing and not alert.told and cooled


def _is_due(alert: Alert, cooldown_s: float, now_ns: int) -> bool:
    if not alert.trouble.firing:
        return alert.told
    return not alert.told_ns or now_ns - alert.told_ns >= cooldown_s * NS
