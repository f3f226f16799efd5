"""The section `judge`: which model is asked, how, and what that may cost."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from collector.config.section import Count, Section, http_url
from collector.config.units import DAY_S, Seconds, WholeSeconds


def _json_values(value: Any) -> Any:
    """Numbers and flags of a free map: scalars arrive as text."""
    if isinstance(value, dict):
        return {key: _json_values(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_json_values(inner) for inner in value]
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value


class JudgeBudget(Section):
    """What may be spent on asking models in some time; None for no limit."""

    calls: Count | None = None
    tokens: Count | None = None
    cost_usd: Annotated[float, Field(gt=0)] | None = None


class JudgePrice(Section):
    """USD for a million tokens."""

    input: Annotated[float, Field(ge=0)] = 0.0
    output: Annotated[float, Field(ge=0)] = 0.0


class JudgeConfig(Section):
    """The model behind `judge` checks; none is asked without an URL."""

    url: Annotated[str, AfterValidator(http_url)] | None = None
    api: Literal["openai", "anthropic"] = "openai"
    model: str | None = None
    api_key: str | None = Field(default=None, repr=False)
    parameters: Annotated[dict[str, Any], BeforeValidator(_json_values)] = Field(
        default={"temperature": 0, "max_tokens": 1024}
    )
    timeout_s: Annotated[Seconds, Field(gt=0)] = 60.0
    retries: Annotated[int, Field(ge=0, le=10)] = 2
    wait: WholeSeconds = DAY_S
    per_hour: JudgeBudget = JudgeBudget(calls=100)
    per_day: JudgeBudget = JudgeBudget(calls=1000)
    price: JudgePrice = JudgePrice()

    @model_validator(mode="after")
    def _priced(self) -> Self:
        limited = self.per_hour.cost_usd or self.per_day.cost_usd
        if limited and not (self.price.input and self.price.output):
            raise ValueError("a limit in USD needs `price`: {input, output}, USD for a million tokens")
        return self
