"""The SQL functions against three packages that people know: inspect-ai's reducers, holdline, passwedge.

holdline is small and always there. The other two are not among the development packages: inspect-ai takes 300 MB and
wants an older python-dateutil than is pinned here, passwedge brings NumPy and SciPy (216 MB). Both are run by

    python -m venv peers && peers/bin/pip install inspect-ai passwedge
    PASSHAT_PEERS=peers/bin/python pytest tests/queries/test_peers.py

All n up to 60 agreed on 2026-11-30: holdline 0.2.1, inspect-ai 0.3.285, passwedge 0.0.1a2.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from collector.store.store import Store

SCRIPT = Path(__file__).with_name("peers.py")
ELSEWHERE = os.environ.get("PASSHAT_PEERS")
MOST = 60 if ELSEWHERE else 24


def estimates(python: str, most: int) -> dict[str, list[list[Any]]]:
    told = subprocess.run([python, str(SCRIPT), str(most)], capture_output=True, text=True, check=True, timeout=300)
    return json.loads(told.stdout)  # type: ignore[no-any-return]


def agree(store: Store, rows: list[list[Any]]) -> None:
    """Every estimate is ours, to thirteen digits, and unknown exactly where ours is."""
    ours = store.query(
        f"""SELECT n, c, k, passAtK(n, c, k), passHatK(n, c, k)
        FROM (SELECT number + 1 AS n FROM numbers({MOST})) AS a
        CROSS JOIN (SELECT number AS c FROM numbers({MOST + 1})) AS b
        CROSS JOIN (SELECT number + 1 AS k FROM numbers({MOST + 1})) AS d
        WHERE c <= n AND k <= n + 1
        ORDER BY n, c, k"""
    ).rows
    for mine, theirs in zip(ours, rows, strict=True):
        assert all(same(one, other) for one, other in zip(mine, theirs, strict=True)), (mine, theirs)


def same(ours: float | None, theirs: float | None) -> bool:
    if ours is None or theirs is None:
        return ours is theirs
    return math.isclose(ours, theirs, rel_tol=1e-13, abs_tol=1e-13)


def test_holdline(store: Store) -> None:
    agree(store, estimates(sys.executable, MOST)["holdline"])


@pytest.mark.skipif(not ELSEWHERE, reason="PASSHAT_PEERS names no Python that has inspect-ai and passwedge")
@pytest.mark.parametrize("peer", ["inspect-ai", "passwedge"])
def test_those_installed_elsewhere(store: Store, peer: str) -> None:
    assert ELSEWHERE
    found = estimates(ELSEWHERE, MOST)
    assert peer in found, f"{ELSEWHERE} has no {peer}"
    agree(store, found[peer])
