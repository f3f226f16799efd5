"""How often a gate is wrong: a year of hourly looks at many simulated histories, through the gate's own SQL.

    python -m bench.gate_errors [--histories 200]

prints the table of docs/gate.md: ever a false allow at the boundary (pass^k exactly min), and the share of looks that
allow when the agent is good, with independent and with clustered trials (intra-day correlation 0.05).
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import chdb

from collector.store.sqlfiles import statement, view_files

SETTINGS = ((3, 0.8, 20, 0.99), (3, 0.8, 100, 0.99), (5, 0.9, 100, 0.995))  # k, min, trials a day, a good agent
ALPHA = 0.05


def simulated(connection: Any, **asked: float) -> list[dict[str, Any]]:
    """One row per history; see queries/gate/simulated.sql."""
    told = connection.query(statement("gate/simulated"), "JSONEachRow", params={"seed": 1, "alpha": ALPHA, **asked})
    return [json.loads(line) for line in str(told.data()).splitlines()]


def row(connection: Any, histories: int, setting: tuple[int, float, int, float], icc: float) -> str:
    k, least, per_day, good = setting
    asked = {"histories": histories, "k": k, "min": least, "per_day": per_day, "icc": icc}
    at_the_boundary = simulated(connection, p=least ** (1 / k), **asked)
    when_good = simulated(connection, p=good, **asked)
    ever = sum(one["allows"] > 0 for one in at_the_boundary) / histories
    plain = sum(one["allows_plain"] > 0 for one in at_the_boundary) / histories
    looks = sum(one["looks"] for one in when_good)
    allowed = sum(one["allows"] for one in when_good) / looks
    return f"| {k}, {least:g} | {per_day} | {icc:g} | {ever:.3f} | {plain:.3f} | {allowed:.2f} (p {good:g}) |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--histories", type=int, default=200)
    histories = parser.parse_args().histories
    connection = chdb.connect(":memory:")
    for file in view_files():
        if file.kind == "FUNCTION":
            connection.query(file.statement)
    print("| k, min | trials a day | ICC | ever a false allow | the same without deff | looks allowed when good |")
    print("|---|---|---|---|---|---|")
    begun = time.monotonic()
    for icc in (0.0, 0.05):
        for setting in SETTINGS:
            print(row(connection, histories, setting, icc), flush=True)
    print(f"\n{histories} histories of 8,760 looks each; {time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    main()
