"""What an endpoint answers, and what that means: to be read, to be tried again, to wait for. Real HTTP on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from collector.config.judge import JudgeBudget, JudgeConfig
from collector.judge.budget import refused
from collector.judge.model import Broke, Model, Reply, Unreachable
from collector.store.judgements import Spent
from graders.checks.judge import Question
from tests.support.judge_stub import Stub, judge_stub

QUESTION = Question("system", "text" * 100, frozenset({1}))


@pytest.fixture(scope="module")
def stub() -> Iterator[Stub]:
    with judge_stub() as running:
        yield running


def ask(stub: Stub, **changed: Any) -> Reply:
    model = Model(JudgeConfig(**{"url": stub.url, "timeout_s": 5, **changed}))
    try:
        return model.ask(QUESTION, "m")
    finally:
        model.close()


@pytest.mark.parametrize("status", [401, 403, 404, 429, 502, 503, 504])
def test_a_closed_door_is_no_answer(stub: Stub, status: int) -> None:
    stub.statuses = [status]
    with pytest.raises(Unreachable, match=str(status)):
        ask(stub)


@pytest.mark.parametrize(("status", "again"), [(500, True), (529, True), (400, False), (413, False), (302, False)])
def test_what_is_refused_may_be_worth_another_attempt(stub: Stub, status: int, again: bool) -> None:
    stub.statuses = [status]
    with pytest.raises(Broke, match=str(status)) as told:
        ask(stub)
    assert told.value.again is again


def test_an_endpoint_that_hangs_breaks_in_time(stub: Stub) -> None:
    stub.hold.clear()
    try:
        with pytest.raises(Broke, match=r"longer than 0\.2 s"):
            ask(stub, timeout_s=0.2)
    finally:
        stub.hold.set()


def test_nobody_there_is_no_answer() -> None:
    with pytest.raises(Unreachable, match="ConnectError"):
        Model(JudgeConfig(url="http://127.0.0.1:1/x")).ask(QUESTION, "m")


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"[]",
        b"null",
        b'{"choices": [{"message": {"content": null}}]}',
        b'{"choices": [{"message": {"content": ["pass"]}}]}',
        b'{"content": "pass"}',
        b'{"choices": []}' + b" " * (2 << 20),
        b"\xff\xfe",
    ],
)
def test_what_is_no_answer_is_an_empty_one(stub: Stub, raw: bytes) -> None:
    stub.raw = raw
    try:
        said = ask(stub)
    finally:
        stub.raw = None
    assert (said.text, said.input_tokens, said.output_tokens) == ("", 102, 1)  # four characters a token


def test_a_key_is_in_a_header_and_in_no_representation(stub: Stub) -> None:
    config = JudgeConfig(url=stub.url, api_key="k-123")
    assert "k-123" not in repr(config)
    Model(config).ask(QUESTION, "m")
    assert stub.asked[-1].headers["authorization"] == "Bearer k-123"
    Model(JudgeConfig(url=stub.url)).ask(QUESTION, "m")
    assert "authorization" not in stub.asked[-1].headers


@pytest.mark.parametrize(
    ("limits", "hour", "day", "why"),
    [
        ({}, Spent(10**6, 10**9, 1e6), Spent(10**6, 10**9, 1e6), ""),
        ({"per_hour": {"calls": 3}}, Spent(2), Spent(99), ""),
        ({"per_hour": {"calls": 3}}, Spent(3), Spent(3), "judge.per_hour.calls (3) is used up"),
        ({"per_day": {"calls": 3}}, Spent(0), Spent(3), "judge.per_day.calls (3) is used up"),
        ({"per_day": {"tokens": 1000}}, Spent(), Spent(1, 697), ""),
        ({"per_day": {"tokens": 1000}}, Spent(), Spent(1, 699), "judge.per_day.tokens (1000) is used up"),
        ({"per_hour": {"cost_usd": 1}}, Spent(1, 0, 0.999), Spent(), "judge.per_hour.cost_usd (1) is used up"),
    ],
)  # fmt: skip
def test_a_question_waits_when_it_would_cost_too_much(
    limits: dict[str, Any], hour: Spent, day: Spent, why: str
) -> None:
    price = {"input": 10, "output": 10}
    config = JudgeConfig(**{"per_hour": JudgeBudget(), "per_day": JudgeBudget(), "price": price, **limits})
    assert refused(config, QUESTION, hour, day) == why
