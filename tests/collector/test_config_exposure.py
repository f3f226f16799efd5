"""Listening wide without a token is refused unless someone says it is meant."""

from __future__ import annotations

import pytest

from collector.config import Config, load, refuse_open_door
from collector.errors import UsageError

TOKEN = f"[{{name: a, sha256: {'0' * 64}, scopes: [ingest]}}]"


def config_at(address: str, **env: str) -> Config:
    return load(env={"PASSHAT_LISTEN__HTTP": address, **env})


@pytest.mark.parametrize("address", ["127.0.0.1:1", "127.8.9.1:1", "[::1]:1", "localhost:1"])
def test_loopback_is_open(address: str) -> None:
    refuse_open_door(config_at(address))


@pytest.mark.parametrize("address", ["0.0.0.0:1", "[::]:1", "192.168.1.2:1", "my-host:1", "localhost.evil.example:1"])
def test_anything_else_needs_a_token_or_a_word(address: str) -> None:
    with pytest.raises(UsageError, match="no token is configured") as caught:
        refuse_open_door(config_at(address))
    assert address in str(caught.value)
    assert "--unsafe-no-auth" in caught.value.hint
    refuse_open_door(config_at(address), unsafe_no_auth=True)
    refuse_open_door(config_at(address, PASSHAT_AUTH__TOKENS=TOKEN))
    refuse_open_door(config_at(address, PASSHAT_AUTH__TOKENS_FILE="tokens"))
