"""What a run cost: as reported, else by the public price of its model and tokens, and then said to be derived."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple

from collector.assemble.exchanges import Exchange
from collector.assemble.tree import DAY_NS, YEAR_2000_NS, YEAR_2100_NS

MILLION = 1_000_000


class Cost(NamedTuple):
    """USD; None where it is neither reported nor derivable for every request."""

    usd: float | None
    is_derived: bool


def cost_of(turns: Iterable[Exchange], beside: Iterable[Exchange], reported: float | None) -> Cost:
    """The cost of the requests `turns`; `beside` are log records that may tell it, `reported` an agent's own total.

    A sum over some of the requests would look like a cost, so it is all of them or none.
    """
    counted = [turn for turn in turns if turn.cost_usd is not None or turn.has_tokens]
    if counted and all(turn.cost_usd is not None for turn in counted):
        return Cost(sum(turn.cost_usd or 0.0 for turn in counted), False)
    told = [record.cost_usd for record in beside if record.cost_usd is not None]
    if told:
        return Cost(sum(told), False)
    if reported is not None:
        return Cost(reported, False)
    total = 0.0
    for turn in counted:
        cost = turn.cost_usd if turn.cost_usd is not None else _derived(turn)
        if cost is None:
            return Cost(None, False)
        total += cost
    return Cost(total, True) if counted else Cost(None, False)


def _derived(turn: Exchange) -> float | None:
    if not turn.model:
        return None
    day = min(max(turn.start, YEAR_2000_NS), YEAR_2100_NS) // DAY_NS
    price = _price(turn.model, turn.provider, day)
    if price is None:
        return None
    given, made = turn.input_tokens or 0, turn.output_tokens or 0
    rates = (price.input_mtok, price.output_mtok)
    if all(isinstance(rate, Decimal) for rate in rates):
        return (given * float(rates[0]) + made * float(rates[1])) / MILLION
    from genai_prices import Usage

    return float(price.calc_price(Usage(input_tokens=given, output_tokens=made))["total_price"])


@lru_cache(maxsize=4096)
def _price(model: str, provider: str, day: int) -> Any:
    """The price of a model on a day (of the epoch); None where it is not known. No request leaves the process."""
    from genai_prices import Usage, calc_price

    at = datetime.fromtimestamp(day * 86_400, UTC)
    for name, seller in ((model, provider or None), (model, None), (model.rpartition("/")[2], None)):
        try:
            found = calc_price(Usage(input_tokens=1), name, provider_id=seller, genai_request_timestamp=at)
        except (LookupError, ValueError):
            continue
        return found.model_price
    return None
