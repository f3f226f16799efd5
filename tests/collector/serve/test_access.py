"""Hosts, origins, tokens and scopes."""

import hashlib

import pytest
from msgspec import Struct

from collector.serve.access import Grant, Hosts, ScopeName, Tokens
from collector.serve.problems import Refused


class Token(Struct, frozen=True):
    name: str
    sha256: str
    scopes: tuple[ScopeName, ...]
    project: str | None = None


def token(name: str, *scopes: ScopeName, project: str | None = None) -> Token:
    return Token(name, hashlib.sha256(name.encode()).hexdigest(), scopes, project)


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8317", "localhost", "LOCALHOST:1", "[::1]:8317", "[::1]", "box.example:443"]
)
def test_our_own_names_are_ours(host: str) -> None:
    Hosts("127.0.0.1:8317", ["box.example"]).check(host)


@pytest.mark.parametrize(
    "host", ["", "evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8317", "[::2]:8317"]
)
def test_a_rebound_name_is_not(host: str) -> None:
    with pytest.raises(Refused) as told:
        Hosts("127.0.0.1:8317", []).check(host)
    assert told.value.status == 421


def test_beyond_loopback_any_name_will_do_unless_a_list_says_which() -> None:
    Hosts("0.0.0.0:8317", []).check("whatever.example")
    with pytest.raises(Refused):
        Hosts("0.0.0.0:8317", ["box.example"]).check("whatever.example")


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://localhost:3000", "http://127.0.0.1"])
def test_another_origin_may_not_write(origin: str) -> None:
    with pytest.raises(Refused) as told:
        Hosts("127.0.0.1:8317", []).check_origin(origin, "127.0.0.1:8317")
    assert told.value.status == 403


def test_the_same_origin_and_programs_may_write() -> None:
    hosts = Hosts("127.0.0.1:8317", [])
    hosts.check_origin("http://127.0.0.1:8317", "127.0.0.1:8317")
    hosts.check_origin("", "127.0.0.1:8317")


def test_without_tokens_everybody_who_can_connect_may_do_everything() -> None:
    Tokens([]).grant("").need("admin")


def test_a_token_grants_its_scopes_and_no_more() -> None:
    tokens = Tokens([token("reader", "read"), token("boss", "admin", project="p")])
    grant = tokens.grant("Bearer reader")
    grant.need("read")
    with pytest.raises(Refused) as told:
        grant.need("label")
    assert told.value.status == 403
    tokens.grant("bearer boss").need("label")
    assert tokens.grant("Bearer boss").project == "p"


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer wrong", "Basic reader", "reader", "Bearer reader2"])
def test_anything_else_is_nobody(header: str) -> None:
    with pytest.raises(Refused) as told:
        Tokens([token("reader", "read")]).grant(header)
    assert told.value.status == 401
    assert "reader" not in str(told.value)


def test_admin_is_every_scope() -> None:
    Grant(scopes=frozenset({"admin"})).need("read", "ingest")
