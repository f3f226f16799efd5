"""Times people write: read exactly, refused when they say nothing."""

import pytest

from collector.serve.times import Asked, TimeError, Window, instant_ms, rfc3339, window_of

NOW = 1_793_000_000_000
DAY = 86_400_000


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01t00:00:00.001z", 1),
        ("1970-01-01T02:00:00+02:00", 0),
        ("1970-01-01T02:00:00 02:00", 0),  # '+' in a query string that nobody encoded
        ("1969-12-31T22:00:00-02:00", 0),
        ("2026-11-30T12:00:00.123456789Z", 1_796_040_000_123),
        ("2026-11-30T12:00:00.5Z", 1_796_040_000_500),
    ],
)
def test_rfc_3339_is_read_to_the_millisecond(text: str, ms: int) -> None:
    assert instant_ms(text) == ms


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-30",
        "2026-11-30T12:00:00",
        "2026-13-01T00:00:00Z",
        "20261130T120000Z",
        "2026-W01-1",
        "nan",
        "12",
        "now",
        "",
    ],
)
def test_anything_else_is_no_instant(text: str) -> None:
    assert instant_ms(text) is None


@pytest.mark.parametrize(
    ("asked", "window"),
    [
        (Asked(), Window(NOW - 7 * DAY, NOW)),
        (Asked(window="90m"), Window(NOW - 5_400_000, NOW)),
        (Asked(since="24h"), Window(NOW - DAY, NOW)),
        (Asked(since="7d", until="24h"), Window(NOW - 7 * DAY, NOW - DAY)),
        (Asked(window="1h", at="1970-01-02T00:00:00Z"), Window(DAY - 3_600_000, DAY)),
        (Asked(since="1970-01-01T00:00:00Z", until="1970-01-01T00:00:00.001Z"), Window(0, 1)),
        (Asked(window="52w", at="1970-01-02T00:00:00Z"), Window(0, DAY)),
    ],
)
def test_a_window_is_half_open_and_exact(asked: Asked, window: Window) -> None:
    assert window_of(asked, NOW) == window


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        (Asked(window="7"), "window"),
        (Asked(window="0d"), "window"),
        (Asked(window="-7d"), "window"),
        (Asked(window="7d", since="3d"), "window"),
        (Asked(at="1h", until="1h"), "at"),
        (Asked(since="yesterday"), "since"),
        (Asked(since="nan"), "since"),
        (Asked(until="2026-11-30"), "until"),
        (Asked(since="1h", until="2h"), "since"),
        (Asked(since="1h", until="1h"), "since"),
        (Asked(since="9999-01-01T00:00:00Z"), "since"),
        (Asked(since="1900-01-01T00:00:00Z"), "since"),
    ],
)
def test_a_time_that_cannot_be_meant_is_refused_by_name(asked: Asked, field: str) -> None:
    with pytest.raises(TimeError) as told:
        window_of(asked, NOW)
    assert told.value.field == field
    assert field in str(told.value) or "window is empty" in str(told.value)


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (1_796_040_000_123_456_789, "2026-11-30T12:00:00.123456789Z"),
        (1_796_040_000_123_456_000, "2026-11-30T12:00:00.123456Z"),
        (1_796_040_000_123_000_000, "2026-11-30T12:00:00.123Z"),
        (-1, "1969-12-31T23:59:59.999999999Z"),
    ],
)
def test_times_are_told_with_every_digit_that_counts(ns: int, text: str) -> None:
    assert rfc3339(ns) == text
