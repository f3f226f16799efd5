"""Hosts, origins, tokens and scopes."""

import hashlib
from pathlib import Path

import pytest
from starlette.datastructures import Headers

from collector.config.keys import AuthConfig, TokenConfig
from collector.errors import Forbidden, Unauthenticated, UsageError
from collector.serve.access import Hosts, grant_of, need
from collector.serve.problems import Refused
from collector.tokens import Grant, ScopeName, Tokens, ingest_authorizer


def token(name: str, *scopes: ScopeName, project: str | None = None) -> TokenConfig:
    return TokenConfig(name=name, sha256=hashlib.sha256(name.encode()).hexdigest(), scopes=scopes, project=project)


def sent(authorization: str) -> Headers:
    return Headers({"authorization": authorization})


def tokens(*given: TokenConfig, file: Path | None = None) -> Tokens:
    return Tokens(AuthConfig(tokens=given, tokens_file=file))


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
    need(grant_of(tokens(), Headers()), "admin")
    assert ingest_authorizer(tokens())(None).project is None


def test_a_token_grants_its_scopes_and_no_more() -> None:
    known = tokens(token("reader", "read"), token("boss", "admin", project="p"))
    grant = grant_of(known, sent("Bearer reader"))
    need(grant, "read")
    with pytest.raises(Refused) as told:
        need(grant, "label")
    assert told.value.status == 403
    need(grant_of(known, sent("bearer boss")), "label")
    assert grant_of(known, sent("Bearer boss")).project == "p"


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer wrong", "Basic reader", "reader", "Bearer reader2"])
def test_anything_else_is_nobody(header: str) -> None:
    with pytest.raises(Refused) as told:
        grant_of(tokens(token("reader", "read")), sent(header))
    assert told.value.status == 401
    assert "reader" not in str(told.value)


def test_sending_needs_the_scope_ingest_and_takes_the_tokens_project() -> None:
    authorize = ingest_authorizer(tokens(token("sender", "ingest", project="p"), token("reader", "read")))
    assert authorize("sender").project == "p"
    for refused, error in (
        (None, Unauthenticated),
        ("", Unauthenticated),
        ("x", Unauthenticated),
        ("reader", Forbidden),
    ):
        with pytest.raises(error):
            authorize(refused)


def test_a_tokens_file_is_read_again_when_it_changes(tmp_path: Path) -> None:
    file = tmp_path / "tokens.yaml"
    file.write_text("[]")
    known = tokens(file=file)
    assert known.required
    assert known.find("late") is None
    file.write_text(f"- {{name: late, sha256: {hashlib.sha256(b'late').hexdigest()}, scopes: [read]}}")
    assert known.find("late") == Grant("late", frozenset({"read"}))
    file.write_text("not: a list of tokens")
    assert known.find("late") is not None
    assert "late" not in known.error
    assert str(file) in known.error


def test_faults_of_a_tokens_file_name_entry_and_field(tmp_path: Path) -> None:
    file = tmp_path / "tokens.yaml"
    file.write_text("- {name: a, sha256: hunter2, scopes: [read]}\n- {name: b, scopes: [fly], colour: red}\n")
    with pytest.raises(UsageError) as raised:
        tokens(file=file)
    told = [line.removeprefix(f"auth.tokens_file {file}: ") for line in str(raised.value).splitlines()]
    assert [line.partition("]")[2].partition("`")[0] for line in told] == [".sha256", ".sha256", ".scopes", ".colour"]
    assert told[1] == "`[1].sha256` is missing"
    assert "hunter2" not in str(raised.value)
    file.write_bytes(b"\xff\xfe\xfa")
    with pytest.raises(UsageError, match="not YAML"):
        tokens(file=file)


def test_a_tokens_file_that_is_wrong_at_start_is_an_error(tmp_path: Path) -> None:
    for text in ("- {name: x}", "words", "- {name: x, sha256: zz, scopes: [read]}", "{"):
        (tmp_path / "tokens.yaml").write_text(text)
        with pytest.raises(UsageError):
            tokens(file=tmp_path / "tokens.yaml")
    with pytest.raises(UsageError):
        tokens(file=tmp_path / "missing.yaml")
