"""How much asking models may cost, in the last hour and in the last day. Pure: what was spent comes in."""

from __future__ import annotations

from collector.config.judge import JudgeBudget, JudgeConfig
from collector.store.judgements import Spent
from graders.checks.judge import Question

CHARS_A_TOKEN = 4  # where nobody counted: roughly, and rather too many tokens than too few
ANSWER_TOKENS = 200
MILLION = 1_000_000


def refused(config: JudgeConfig, question: Question, hour: Spent, day: Spent) -> str:
    """Why the question must wait, '' when it need not."""
    tokens = estimate(question.system + question.text)
    more = Spent(1, tokens + ANSWER_TOKENS, price_of(config, tokens, ANSWER_TOKENS))
    return _over(config.per_hour, hour, more, "hour") or _over(config.per_day, day, more, "day")


def estimate(text: str) -> int:
    """Tokens of a text that nobody counted."""
    return len(text) // CHARS_A_TOKEN + 1


def price_of(config: JudgeConfig, input_tokens: int, output_tokens: int) -> float:
    """In USD by `judge.price`, 0 without one."""
    return (input_tokens * config.price.input + output_tokens * config.price.output) / MILLION


def _over(limit: JudgeBudget, spent: Spent, more: Spent, span: str) -> str:
    for name in ("calls", "tokens", "cost_usd"):
        most = getattr(limit, name)
        if most is not None and getattr(spent, name) + getattr(more, name) > most:
            return f"judge.per_{span}.{name} ({most:g}) is used up"
    return ""
