"""JSON that any parser reads, and that loses nothing."""

import json
import math
from datetime import UTC, datetime

import pytest

from collector.serve.strict import dumps


def refuse(constant: str) -> None:
    raise AssertionError(f"bare {constant}")


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (2**63 - 1, 2**63 - 1),
        (-(2**63), -(2**63)),
        (2**64, 2**64),
        (math.nan, "NaN"),
        ([math.inf, {"x": -math.inf}], ["Infinity", {"x": "-Infinity"}]),
        ("a\x00b\ud800c", "a\x00b?c"),
        (b"\x00\xff", "AP8="),
        (datetime(2026, 11, 30, 12, tzinfo=UTC), "2026-11-30T12:00:00.000Z"),
        ((1, True, None, 0.1), [1, True, None, 0.1]),
        ("</script>\u2028", "</script>\u2028"),
    ],
)
def test_values_survive(value: object, told: object) -> None:
    assert json.loads(dumps(value), parse_constant=refuse) == told


def test_values_nested_beyond_reason_do_not_end_the_reply() -> None:
    deep: object = "bottom"
    for _ in range(5000):
        deep = [deep]
    assert b"nested too deep" in dumps({"deep": deep})
