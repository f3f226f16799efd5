"""Secrets in texts: every kind is found, wherever it stands, and ordinary text stays as it is."""

from __future__ import annotations

import json
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collector.errors import UsageError
from collector.redact.secrets import BY_CONTEXT, KINDS, card, luhn
from tests.collector.redact.build import ORDINARY, SAMPLES, redacted, redactor

# Their first letters are common inside words: they must begin one.
NEEDS_A_START = ("databricks", "slack")
MARK = re.compile(r"\[redacted:([a-z_]+):([0-9a-f]{8})\]")


@pytest.mark.parametrize(("kind", "text", "secret"), SAMPLES, ids=lambda part: str(part)[:24])
def test_each_kind_is_replaced_and_what_stands_around_it_stays(kind: str, text: str, secret: str) -> None:
    after = redacted(text.format(secret))
    mark = MARK.search(after)
    assert mark is not None
    assert mark[1] == kind
    assert after == text.format(mark[0])


@pytest.mark.parametrize(("kind", "text", "secret"), SAMPLES, ids=lambda part: str(part)[:24])
@pytest.mark.parametrize("wrap", ["quoted", "twice", "escaped", "behind a line break", "python"])
def test_json_inside_a_text_hides_nothing(kind: str, text: str, secret: str, wrap: str) -> None:
    whole = text.format(secret)
    inner = {
        "quoted": lambda: json.dumps({"note": whole, "n": 1}),
        "twice": lambda: json.dumps({"arguments": json.dumps({"note": whole})}),
        "escaped": lambda: '{"note": "' + "".join(f"\\u{ord(c):04x}" for c in whole) + '"}',
        "behind a line break": lambda: json.dumps({"note": f"first line\n{whole}\nlast line"}),
        "python": lambda: repr({"note": whole, "ok": True}),
    }[wrap]()
    after = redacted(inner)
    assert MARK.search(after)
    assert secret not in after
    if wrap != "python":  # still JSON, with the mark where the secret was
        told = json.dumps(json.loads(after)) if wrap != "twice" else json.loads(after)["arguments"]
        assert MARK.search(told)


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_stays_byte_for_byte(text: str) -> None:
    assert redacted(text) == text
    assert redacted(json.dumps({"text": text})) == json.dumps({"text": text})


def test_values_behind_secret_keys_go_whatever_they_look_like() -> None:
    text = '{"password": "hunter2", "n": 5, "o": {"apiKey": 12345, "cookies": ["a=b", "c"]}, "secret": null}'
    after = json.loads(redacted(text))
    assert after["n"] == 5
    assert after["secret"] is None
    for value in (after["password"], after["o"]["apiKey"], *after["o"]["cookies"]):
        assert MARK.fullmatch(value)
    escaped = redacted(json.dumps({"arguments": '{"client_secret": "abc", "user": "bob"}'}))
    assert MARK.fullmatch(json.loads(json.loads(escaped)["arguments"])["client_secret"])
    assert json.loads(json.loads(escaped)["arguments"])["user"] == "bob"


def test_a_cut_off_text_loses_its_secrets_too() -> None:
    assert "hunter" not in redacted('{"user": "bob", "password": "hunt' + "er2")
    assert "hunter" not in redacted('{"a": "cut \\"password\\": \\"hunter')


def test_ids_in_json_stay_so_that_calls_find_their_results() -> None:
    text = json.dumps({"tool_call_id": SAMPLES[0][2], "id": SAMPLES[0][2], "passhat.task.id": SAMPLES[0][2]})
    assert redacted(text) == text
    assert MARK.search(redacted(json.dumps({"AccessKeyId": SAMPLES[14][2]})))


def test_equal_secrets_have_equal_marks_and_different_ones_different_marks() -> None:
    one, other = SAMPLES[0][2], SAMPLES[0][2] + "x"
    marks = MARK.findall(redacted(f"{one} {other} {one}"))
    assert marks[0] == marks[2]
    assert marks[0] != marks[1]


@pytest.mark.parametrize("before", ["Authorization: Bearer ", "Bearer ", "password = ", "--token ", "?api_key="])
def test_what_stands_before_a_secret_never_hides_it(before: str) -> None:
    for kind, _, secret in SAMPLES:
        if kind not in BY_CONTEXT and "\n" not in secret:
            assert secret not in redacted(f"x {before}{secret} y"), (before, kind)
            assert secret not in redacted(f"x {before}{'only-words-' * 8}{secret} y") or kind in NEEDS_A_START


def test_a_second_time_nothing_changes() -> None:
    for _, text, secret in SAMPLES:
        once = redacted(json.dumps({"password": "x1y2z3a4", "note": text.format(secret)}))
        assert redacted(once) == once


def test_cards_and_addresses_only_where_asked_for() -> None:
    text = "card 4111 1111 1111 1111, order 4111111111111112, id 41111111111111111, mail a.b@example.co.uk, x@y"
    assert redacted(text) == text
    after = redacted(text, also=("card", "email"))
    assert [kind for kind, _ in MARK.findall(after)] == ["card", "email"]
    assert "4111111111111112" in after
    assert "41111111111111111" in after


@pytest.mark.parametrize(
    "number", ["4111111111111111", "5555555555554444", "2223003122003222", "378282246310005", "6011111111111117"]
)
def test_card_numbers_by_issuer_and_check_digit(number: str) -> None:
    assert card(number.encode())
    assert not card((number[:-1] + str((int(number[-1]) + 1) % 10)).encode())
    assert luhn(b"1111111111111117")
    assert not card(b"1111111111111117")  # no issuer begins with it


def test_a_kind_can_be_left_alone() -> None:
    assert "jwt" in KINDS
    jwt = next(secret for kind, _, secret in SAMPLES if kind == "jwt")
    assert redacted(jwt, never=("jwt",)) == jwt


# --- a user's own ---------------------------------------------------------------------------------------------------


def test_patterns_and_keys_of_the_user() -> None:
    assert MARK.findall(redacted("ticket ACME-123456", patterns=[r"\bACME-[0-9]{6}\b"]))[0][0] == "pattern"
    assert redacted("ticket ACME-12345", patterns=[r"^ACME-[0-9]{6}$"]) == "ticket ACME-12345"
    assert MARK.fullmatch(redacted("ACME-123456", patterns=[r"^ACME-[0-9]{6}$"]))
    assert redacted("pin: 1234 ok", patterns=[r"pin: (\d{4})"]).startswith("pin: [redacted:pattern:")
    assert MARK.search(redacted("Straße 12a", patterns=["Straße [0-9]+a"]))
    kept = json.loads(redacted('{"X-Tenant-Code": "abc", "tenantCode": "abc", "other": "abc"}', keys=["tenant_code"]))
    assert [bool(MARK.fullmatch(value)) for value in kept.values()] == [True, True, False]


@pytest.mark.parametrize("pattern", [".", r"\w+", "(?s).*", "[a-z]", "a*", r"\S{2,}", "^"])
def test_a_pattern_that_erases_nearly_everything_is_refused(pattern: str) -> None:
    with pytest.raises(UsageError, match="would erase"):
        redactor(patterns=[pattern])


@pytest.mark.parametrize("pattern", ["(", r"(?<=a)b{3}c", r"(a)\1xyz"])
def test_a_pattern_that_is_none_is_refused_with_the_reason(pattern: str) -> None:
    with pytest.raises(UsageError, match="RE2"):
        redactor(patterns=[pattern])


# --- whatever the text ----------------------------------------------------------------------------------------------


@settings(max_examples=300, deadline=None)
@given(st.text(st.characters(codec=None), max_size=200), st.text("\"'\\{}[]:, \n", max_size=40))
def test_any_text_is_rewritten_without_an_error_and_a_secret_in_it_is_found(text: str, noise: str) -> None:
    secret = next(secret for kind, _, secret in SAMPLES if kind == "github")
    assert secret not in redacted(f"{text}{noise} {secret} {noise}{text}")


@pytest.mark.parametrize(
    "unit",
    ["-----BEGIN PRIVATE KEY-----", "sk-", "ey" + "Jaaaaaaaaagh" + "p_" + "a" * 30, "://u:pppp", "\"'", "\\",
     '[{"password":', "4111111111111111", "a@b.", '"a":1,', '\\u0073\\"', '{\\"password\\":\\"x\\"}', "\\'", "'"],
)  # fmt: skip
def test_a_hostile_text_costs_time_in_proportion(unit: str) -> None:
    def seconds(size: int) -> float:
        text = '"password":' + unit * (size // len(unit))
        began = time.process_time()
        redacted(text, also=("card", "email"))
        return time.process_time() - began

    seconds(1 << 10)
    small, large = max(seconds(1 << 14), 0.01), seconds(1 << 19)
    assert large < 32 * 6 * small, f"{unit!r}: {small:.3f} s, then {large:.3f} s for 32 times as much"
