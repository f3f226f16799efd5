"""What other packages make of n trials of which c passed: a reference only, run in whatever Python has them.

    python peers.py MOST

prints one JSON object: by package, `[n, c, k, pass@k, pass^k]` for every n up to MOST, c up to n and k up to n + 1. A
package refuses n < k with a ValueError or gives NaN: null here. Packages that are not there are left out.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator

Estimate = Callable[[int, int, int], float]
Row = tuple[int, int, int, float | None, float | None]


def holdline() -> tuple[Estimate, Estimate]:
    from holdline.stats import pass_at_k, pass_hat_k

    return pass_at_k, pass_hat_k


def passwedge() -> tuple[Estimate, Estimate]:
    from passwedge.metrics.capability import pass_at_k, pass_pow_k

    return pass_at_k, pass_pow_k


def inspect_ai() -> tuple[Estimate, Estimate]:
    """Its reducers take the scores themselves."""
    from inspect_ai.scorer import Score, pass_at, pass_k

    def reduced(reducer: Callable[[int], Callable[[list[Score]], Score]]) -> Estimate:
        return lambda n, c, k: float(reducer(k)([Score(value=1.0)] * c + [Score(value=0.0)] * (n - c)).value)

    return reduced(pass_at), reduced(pass_k)


PEERS = {"holdline": holdline, "inspect-ai": inspect_ai, "passwedge": passwedge}


def rows(most: int, at: Estimate, hat: Estimate) -> Iterator[Row]:
    for n in range(1, most + 1):
        for c in range(n + 1):
            for k in range(1, n + 2):
                yield n, c, k, told(at, n, c, k), told(hat, n, c, k)


def told(estimate: Estimate, n: int, c: int, k: int) -> float | None:
    try:
        value = estimate(n, c, k)
    except ValueError:
        return None
    return None if math.isnan(value) else value


def main() -> None:
    found: dict[str, list[Row]] = {}
    for name, peer in PEERS.items():
        try:
            at, hat = peer()
        except ImportError:
            continue
        found[name] = list(rows(int(sys.argv[1]), at, hat))
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
