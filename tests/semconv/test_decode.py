"""Values come out of every wrapping harnesses put them in; what cannot be decoded stays and says so."""

from __future__ import annotations

import time

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semconv.decode import arguments, count_of, is_cut, is_withheld, number_of, plain, result, text_of, unwrapped
from semconv.resolve import facts_of
from semconv.words import Words
from tests.semconv.recorded import ready_input

ORDER = {"order_id": "A-17", "amount": 12.5, "note": "it's ok", "urgent": True, "coupon": None}

STATES = {
    "json_text": "object",
    "double_encoded": "decoded",
    "kvlist": "object",
    "python_repr": "decoded",
    "message_list": "from_messages",
    "truncated": "truncated",
    "empty": "empty",
    "not_an_object": "text",
}


def test_arguments_in_many_encodings() -> None:
    spans, expected = ready_input("I13")
    found = {facts.call_id.removeprefix("call-"): facts for facts in (facts_of(span, Words()) for span in spans)}
    calls = {name: facts for name, facts in found.items() if facts.operation == "tool"}
    assert len(calls) == expected["tool_calls"]
    assert {name: facts.input_state for name, facts in calls.items()} == STATES
    for name in expected["equal_to_canonical"]:
        assert calls[name].input == expected["canonical_arguments"] == ORDER
    sent = {span.attributes.get("gen_ai.tool.call.id"): span.attributes for span in spans}
    for name in expected["arguments_unparsed_raw_kept"]:
        assert calls[name].input == sent[f"call-{name}"]["gen_ai.tool.call.arguments"]
    assert calls["truncated"].lossy == ("truncated",)


@pytest.mark.parametrize(
    ("sent", "value", "state"),
    [
        (None, None, "not_captured"),
        ("  ", None, "empty"),
        ("{}", {}, "object"),
        ({"a": b"\xff"}, {"a": "\\xff"}, "object"),
        ('"{\\"a\\": 1}"', {"a": 1}, "decoded"),
        ('"\\"{\\\\\\"a\\\\\\": 1}\\""', {"a": 1}, "decoded"),
        ("{'a': (1, 2), 'b': {None: -1.5e3}}", {"a": [1, 2], "b": {"None": -1500.0}}, "decoded"),
        ('[{"role": "user", "content": "x"}, {"role": "tool", "content": "{\\"a\\": 1}"}]', {"a": 1}, "from_messages"),
        ('"A-17"', "A-17", "text"),
        ("A-17", "A-17", "text"),
        ("[1, 2]", "[1, 2]", "text"),
        ([1, 2], "[1,2]", "text"),
        (17, "17", "text"),
        (True, "true", "text"),
        ("<REDACTED>", None, "not_captured"),
        ("__REDACTED__", None, "not_captured"),
        ("[Scrubbed due to 'session']", None, "not_captured"),
        ("***", None, "not_captured"),
        ('{"a": "half', '{"a": "half', "truncated"),
        ("{'a': 'half", "{'a': 'half", "truncated"),
        ('{"q": "long ... [truncated]', '{"q": "long ... [truncated]', "truncated"),
        ("cat a.txt ...[truncated 120 chars]", "cat a.txt ...[truncated 120 chars]", "truncated"),
        ('{"a": 1} and more', '{"a": 1} and more', "text"),
        ("*** Begin Patch\n*** Update File: a.py {", "*** Begin Patch\n*** Update File: a.py {", "text"),
        ('{"a": NaN, "b": -Infinity}', {"a": "NaN", "b": "-Infinity"}, "object"),
        ('{"big": 123456789012345678901234567890}', {"big": 123456789012345678901234567890}, "object"),
        ('{"a": "\\ud800"}', {"a": "\\ud800"}, "object"),
    ],
)
def test_each_form_of_arguments(sent: object, value: object, state: str) -> None:
    assert arguments(sent) == (value, state)


@pytest.mark.parametrize(
    "text",
    [
        "{'a': __import__('os').system('true')}",
        "{'a': open('/etc/passwd').read()}",
        "{'a': [x for x in (1, 2)]}",
        "{'a': lambda: 1}",
        "{'a': f'{1}'}",
        "{'a': 2**2**2**2**2**2}",
        "{" + "1+" * 20_000 + "1}",
        "{'a': " + "-" * 20_000 + "1}",
        "{" * 300 + "}" * 300,
        "{'a':" * 200 + "1" + "}" * 200,
        '{"a":' * 200 + "1" + "}" * 200,
        '{"a":' * 20_000 + "1" + "}" * 20_000,
        "{'a': '" + "x" * 1_000_000 + "'}",
    ],
)
def test_text_is_parsed_and_never_evaluated(text: str) -> None:
    started = time.process_time()
    value, state = arguments(text)
    assert (value, state) == (text, "text")
    assert time.process_time() - started < 0.5


@given(st.text() | st.binary().map(lambda raw: "{'a': " + repr(raw)) | st.text().map(lambda text: '{"a": ' + text))
def test_any_text_gives_a_value_that_can_be_stored(text: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    msgspec.json.encode(arguments(text)[0])
    msgspec.json.encode(result(text))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES)
def test_any_attribute_value_becomes_strict_json(value: object) -> None:
    encoded = msgspec.json.encode(plain(value))
    assert b"NaN" not in encoded.replace(b'"NaN"', b"") or "NaN" in str(value)
    msgspec.json.decode(encoded)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), JSON, max_size=5))
def test_json_and_python_text_of_one_object_give_the_object(value: dict[str, object]) -> None:
    text = msgspec.json.encode(value).decode()
    assert arguments(text) == (value, "object")
    assert arguments(msgspec.json.encode(text).decode()) == (value, "decoded")
    if value:
        assert arguments(repr(value))[0] == value


@given(st.dictionaries(st.text(min_size=1), JSON, min_size=1, max_size=5), st.data())
def test_json_cut_anywhere_is_called_cut(value: dict[str, object], data: st.DataObject) -> None:
    text = msgspec.json.encode(value).decode()
    cut = text[: data.draw(st.integers(1, len(text) - 1))]
    assert is_cut(cut)
    assert arguments(cut) == (cut, "truncated")


@pytest.mark.parametrize(
    ("sent", "value"),
    [
        ("", ""),
        ("plain", "plain"),
        ('{"a": 1}', {"a": 1}),
        ("[1]", [1]),
        ("12.0", "12.0"),
        ("true", "true"),
        ('"text"', "text"),
        ('"{\\"a\\": 1}"', {"a": 1}),
        ('"quoted" and more', '"quoted" and more'),
        ("<REDACTED>", None),
        ("<html>", "<html>"),
        ({"a": float("nan")}, {"a": "NaN"}),
        (None, None),
    ],
)
def test_each_form_of_result(sent: object, value: object) -> None:
    assert result(sent) == value


def test_wrappers_come_off_arguments_only_where_they_hold_some() -> None:
    keys = ("kwargs", "input")
    assert unwrapped({"args": [], "kwargs": {"a": 1}}, keys) == {"a": 1}
    assert unwrapped({"input": "{'a': 1}"}, keys) == "{'a': 1}"
    assert unwrapped({"input": "plain words", "b": 1}, keys) == {"input": "plain words", "b": 1}
    assert unwrapped({"a": 1}, keys) == {"a": 1}


def test_names_counts_and_numbers_in_other_types() -> None:
    assert [text_of(value) for value in ("a", '"a"', None, 7, {"a": 1}, '"')] == ["a", "a", "", "7", '{"a":1}', '"']
    assert [count_of(value) for value in (3, "3", 3.0, -1, True, "x", None)] == [3, 3, 3, None, None, None, None]
    assert [number_of(value) for value in (0.5, "0.5", float("inf"), "nan", False)] == [0.5, 0.5, None, None, None]


@pytest.mark.parametrize("text", ["<redacted>", "[REDACTED]", "(hidden)", "<not serializable>", "****", "_masked_"])
def test_placeholders_are_withheld_content(text: str) -> None:
    assert is_withheld(text)


@pytest.mark.parametrize("text", ["", "redacted", "the <REDACTED> order", "<b>", "[1]", "{}", "*", "N/A"])
def test_content_is_not_taken_for_a_placeholder(text: str) -> None:
    assert not is_withheld(text)
