"""docs/redaction.md names every kind and every name that is secret."""

from __future__ import annotations

from collector.redact.names import SECRET_NAMES
from collector.redact.secrets import KINDS, OPTIONAL_KINDS
from tests.collector.redact.test_content import TOLD_TWICE
from tests.house.source_tree import ROOT

PAGE = (ROOT / "docs" / "redaction.md").read_text()


def test_every_kind_is_on_the_page() -> None:
    assert [kind for kind in (*KINDS, *OPTIONAL_KINDS, "pattern") if f"`{kind}`" not in PAGE] == []


def test_every_secret_name_is_on_the_page() -> None:
    same = {"apikey": "api_key", "cookies": "cookie", "credential": "credentials", "secret_access_key": "access_key"}
    assert [name for name in SECRET_NAMES if same.get(name, name) not in PAGE] == []


def test_the_number_of_emitters_that_need_arguments_is_the_tests() -> None:
    assert f"that are {len(TOLD_TWICE)}:" in PAGE
