"""When trouble is told of: nothing twice, no end without a beginning, no end left out."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from collector.outward.alerts import NS, Alerts, Trouble, post_of, posted

COOLDOWN_S = 100


def trouble(firing: bool, key: str = "fail/default/t/") -> Trouble:
    return Trouble("fail", key, firing, "t", {})


def told(alerts: Alerts, firing: bool | None, at_s: int, taken: bool = True) -> list[str]:
    """The states posted at a time, when things are so; None: nothing new was seen."""
    if firing is not None:
        alerts.see(trouble(firing), at_s * NS)
    due = alerts.due(COOLDOWN_S, at_s * NS)
    states = [str(post_of(alert)["state"]) for alert in due]
    for alert in due if taken else []:
        posted(alert, at_s * NS)
    return states


def test_firing_is_told_once_again_after_the_cooldown_and_its_end() -> None:
    alerts = Alerts({})
    said = [told(alerts, True, 1), told(alerts, True, 2), told(alerts, None, 100), told(alerts, None, 101)]
    assert said == [["firing"], [], [], ["firing"]]
    assert told(alerts, False, 102) == ["resolved"]
    assert told(alerts, False, 103) == []


def test_what_flaps_within_the_cooldown_is_told_once() -> None:
    alerts = Alerts({})
    assert [told(alerts, flag, at) for at, flag in enumerate([True, False, True, False, True], 1)] == [
        ["firing"], ["resolved"], [], [], []
    ]  # fmt: skip
    assert told(alerts, None, 101) == ["firing"]


def test_an_end_nobody_heard_the_beginning_of_is_not_told() -> None:
    alerts = Alerts({})
    assert told(alerts, False, 1) == []
    assert told(alerts, True, 2, taken=False) == ["firing"]
    assert told(alerts, False, 3) == []


def test_a_post_that_was_not_taken_comes_again_with_the_same_id() -> None:
    alerts = Alerts({})
    alerts.see(trouble(True), NS)
    (first,) = alerts.due(COOLDOWN_S, NS)
    one = post_of(first)["id"]
    (second,) = alerts.due(COOLDOWN_S, 50 * NS)
    assert post_of(second)["id"] == one
    posted(second, 50 * NS)
    (third,) = alerts.due(COOLDOWN_S, 150 * NS)
    assert post_of(third)["id"] != one


@given(st.lists(st.tuples(st.sampled_from([True, False, None]), st.integers(1, 150), st.booleans()), max_size=40))
def test_posts_alternate_as_far_as_ends_go_and_memory_is_freed(steps: list[tuple[bool | None, int, bool]]) -> None:
    alerts, now, states, fired = Alerts({}), 0, list[str](), list[int]()
    for firing, wait_s, taken in steps:
        now += wait_s
        new = told(alerts, firing, now, taken)
        if taken:
            states += new
            fired += [now] * new.count("firing")
    assert states[:1] in ([], ["firing"])
    assert all(pair != ("resolved", "resolved") for pair in itertools.pairwise(states))
    assert all(later - earlier >= COOLDOWN_S for earlier, later in itertools.pairwise(fired))
    told(alerts, False, now + 1)
    told(alerts, False, now + COOLDOWN_S + 1)
    told(alerts, False, now + 2 * COOLDOWN_S + 2)
    assert alerts.known == {}
