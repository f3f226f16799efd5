"""One question to a model over HTTP, in two forms: OpenAI's chat completions, Anthropic's messages."""

from __future__ import annotations

from typing import Any

import httpx
import msgspec
from msgspec import Struct

from collector.config.judge import JudgeConfig
from collector.judge.budget import estimate
from graders.checks.judge import Question

MOST_BYTES = 1 << 20
ANTHROPIC_VERSION = "2023-06-01"
# The endpoint or the way there is at fault, whatever it is asked: wait, and lose no question over it.
NOT_THE_QUESTION = (401, 403, 404, 407, 408, 429, 502, 503, 504)
AGAIN = (500, 529)


class Reply(Struct, frozen=True):
    """What a model said, as what it says it answered, and the tokens that took."""

    text: str
    answered: str
    input_tokens: int
    output_tokens: int


class Unreachable(Exception):
    """Nothing was asked: the endpoint is away, busy, or lets nobody in. `after_s`: when to come again, 0 if unsaid."""

    def __init__(self, why: str, after_s: float = 0.0) -> None:
        super().__init__(why)
        self.after_s = after_s


class Broke(Exception):
    """It was asked and gave no answer. `again`: another attempt may."""

    def __init__(self, why: str, *, again: bool) -> None:
        super().__init__(why)
        self.again = again


class _Usage(Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None


class _Message(Struct):
    content: str | None = None


class _Choice(Struct):
    message: _Message


class _Block(Struct):
    type: str
    text: str = ""


class _Body(Struct):
    """Of either form: one has `choices`, the other `content`."""

    choices: list[_Choice] = []
    content: list[_Block] = []
    model: str = ""
    usage: _Usage | None = None


class Model:
    """The endpoint of `judge`. One question at a time."""

    def __init__(self, config: JudgeConfig) -> None:
        assert config.url is not None
        self._config, self._url = config, config.url
        self._client = httpx.Client(timeout=config.timeout_s, follow_redirects=False, trust_env=False)

    def close(self) -> None:
        self._client.close()

    def ask(self, question: Question, model: str) -> Reply:
        """One attempt. Raises Unreachable, Broke."""
        try:
            with self._client.stream(
                "POST", self._url, json=self._body(question, model), headers=self._headers()
            ) as reply:
                body = _bounded(reply)
        except httpx.TimeoutException:
            raise Broke(f"it took longer than {self._config.timeout_s:g} s", again=True) from None
        except (httpx.ConnectError, httpx.UnsupportedProtocol) as error:
            raise Unreachable(f"{httpx.URL(self._url).host}: {type(error).__name__}") from None
        except httpx.HTTPError as error:
            raise Broke(type(error).__name__, again=True) from None
        if reply.is_success:
            return self._reply(body, question)
        if reply.status_code in NOT_THE_QUESTION:
            raise Unreachable(f"it answered {reply.status_code}", _after(reply))
        raise Broke(f"it answered {reply.status_code}", again=reply.status_code in AGAIN)

    def _body(self, question: Question, model: str) -> dict[str, Any]:
        told = [{"role": "user", "content": question.text}]
        if self._config.api == "anthropic":
            return {"model": model, "system": question.system, "messages": told, **self._config.parameters}
        system = {"role": "system", "content": question.system}
        return {"model": model, "messages": [system, *told], **self._config.parameters}

    def _headers(self) -> dict[str, str]:
        key = self._config.api_key
        if self._config.api == "anthropic":
            return {"anthropic-version": ANTHROPIC_VERSION, **({"x-api-key": key} if key else {})}
        return {"authorization": f"Bearer {key}"} if key else {}

    def _reply(self, body: bytes, question: Question) -> Reply:
        """What cannot be read is an empty answer: the judge said nothing, and that is `unknown`."""
        try:
            read = msgspec.json.decode(body, type=_Body)
        except (msgspec.DecodeError, RecursionError):
            read = _Body()
        said = (read.choices[0].message.content or "") if read.choices else ""
        said = said or "".join(block.text for block in read.content if block.type == "text")
        usage = read.usage or _Usage()
        taken = usage.prompt_tokens if usage.prompt_tokens is not None else usage.input_tokens
        given = usage.completion_tokens if usage.completion_tokens is not None else usage.output_tokens
        return Reply(
            said,
            read.model[:200],
            max(0, estimate(question.system + question.text) if taken is None else taken),
            max(0, estimate(said) if given is None else given),
        )


def _bounded(reply: httpx.Response) -> bytes:
    body = b""
    for piece in reply.iter_bytes():
        body += piece
        if len(body) > MOST_BYTES:
            return b""
    return body


def _after(reply: httpx.Response) -> float:
    try:
        return max(0.0, float(reply.headers.get("retry-after", "0")))
    except ValueError:
        return 0.0
