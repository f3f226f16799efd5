"""The SQL functions against exact fractions, and the interval against its definition in another language."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from collector.store.store import Store

MOST = 60


def test_both_estimators_are_exact_for_every_n_up_to_60(store: Store) -> None:
    """n, c and k over all their values: 40,000 rows in one query."""
    rows = store.query(
        f"""SELECT n, c, k, passAtK(n, c, k) AS at, passHatK(n, c, k) AS hat
        FROM (SELECT number AS n FROM numbers({MOST + 1})) AS a
        CROSS JOIN (SELECT number AS c FROM numbers({MOST + 1})) AS b
        CROSS JOIN (SELECT number + 1 AS k FROM numbers({MOST + 1})) AS d
        WHERE c <= n"""
    ).rows
    assert len(rows) == (MOST + 1) * (MOST + 2) // 2 * (MOST + 1)
    for n, c, k, at, hat in rows:
        if n < k:
            assert (at, hat) == (None, None), (n, c, k)
            continue
        exact = Fraction(math.comb(c, k), math.comb(n, k))
        assert hat == pytest.approx(float(exact), rel=1e-13, abs=0), (n, c, k)
        missed = Fraction(math.comb(n - c, k), math.comb(n, k))
        assert at == pytest.approx(float(1 - missed), rel=1e-13, abs=1e-15), (n, c, k)
        if n**k < 2**52:  # thresholds such as 0.2 must compare as they should
            assert hat == float(exact), (n, c, k)


@pytest.mark.parametrize(
    ("n", "c", "k"), [(10**6, 999_000, 5), (10**9, 10**9 - 1, 100), (5_000, 2_500, 1_000), (10**7, 3, 4)]
)
def test_large_numbers_neither_overflow_nor_drift(store: Store, n: int, c: int, k: int) -> None:
    exact = (
        Fraction(math.comb(c, k), math.comb(n, k)) if n < 10**8 else math.prod(Fraction(c - i, n - i) for i in range(k))
    )
    ((hat,),) = store.query(f"SELECT passHatK({n}, {c}, {k})").rows
    assert hat == pytest.approx(float(exact), rel=1e-10)


@pytest.mark.parametrize(
    ("call", "value"),
    [
        ("passHatK(0, 0, 1)", None),
        ("passHatK(3, 3, 0)", None),
        ("passAtK(2, 2, 3)", None),
        ("passHatK(3, 2, 3)", 0.0),
        ("passAtK(3, 1, 3)", 1.0),
        ("passHatK(3, 2, 4294967295)", None),
        ("passHatK(toUInt64(5), toUInt64(3), toUInt32(2))", 0.3),
        ("csLow(0, 0, 0.05)", None),
        ("csHigh(0, 0, 0.05)", None),
        ("csLow(5, 0, 0.05)", 0.0),
        ("csHigh(5, 5, 0.05)", 1.0),
        ("lookLow(0, 0, 3, 1.)", None),
        ("lookHigh(0, 0, 3, 1.)", None),
        ("designEffect(0, 0, 0, 0.)", 1.0),
    ],
)
def test_the_edges(store: Store, call: str, value: float | None) -> None:
    assert store.query(f"SELECT {call}").rows == [(value,)]


def statistic(n: float, c: float, p: float) -> float:
    """log of B(c + 1/2, n - c + 1/2) / B(1/2, 1/2) / (p^c (1 - p)^(n - c)): below log(1/alpha) inside the interval."""
    beta = math.lgamma(c + 0.5) + math.lgamma(n - c + 0.5) - math.lgamma(n + 1) - math.log(math.pi)
    return beta - (c * math.log(p) if c else 0) - ((n - c) * math.log1p(-p) if n > c else 0)


@pytest.mark.parametrize("alpha", [0.05, 0.05 / 53, 0.5])
def test_the_sequence_is_the_solution_of_its_equation(store: Store, alpha: float) -> None:
    """At both ends the statistic is log(1/alpha), or the end is 0 or 1: no other point is an end of the interval."""
    rows = store.query(
        f"""SELECT n, c, csLow(n, c, {alpha}), csHigh(n, c, {alpha})
        FROM
        (
            SELECT arrayJoin([1, 2, 5, 7.5, 20, 100, 1000, 100000]) AS n,
                arrayJoin([0, 0.01, 0.1, 0.5, 0.8, 0.99, 1]) * n AS c
        )"""
    ).rows
    assert len(rows) == 56
    for n, c, low, high in rows:
        assert 0 <= low <= c / n <= high <= 1
        for end, outer in ((low, 0), (high, 1)):
            if 1e-9 < end < 1 - 1e-9 and end != outer:
                assert statistic(n, c, end) == pytest.approx(-math.log(alpha), abs=1e-6), (n, c, end)
        assert low > 0 or c < 0.5
        assert high < 1 or n - c < 0.5


def test_trials_in_a_row_that_a_gate_costs_are_those_simulated(store: Store) -> None:
    """reference: k 3, min .8: 78 per look, 135 for the year; k 5, min .9: 306 and 506; k 5, min .95: 665 and 1076."""
    rows = store.query(
        """SELECT k, min, alpha, arrayFirst(n -> pow(csLow(n, n, alpha), k) >= min, range(1, 1200)) AS needed
        FROM
        (
            SELECT arrayJoin([(3, 0.8), (5, 0.9), (5, 0.95)]) AS gate, gate.1 AS k, gate.2 AS min,
                arrayJoin([0.05, 0.05 / 53]) AS alpha
        )"""
    ).rows
    assert {(k, least, alpha < 0.05): needed for k, least, alpha, needed in rows} == {
        (3, 0.8, False): 78, (3, 0.8, True): 135,
        (5, 0.9, False): 306, (5, 0.9, True): 506,
        (5, 0.95, False): 665, (5, 0.95, True): 1076,
    }  # fmt: skip
