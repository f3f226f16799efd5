"""Whatever is in the file, the answer is a configuration or a UsageError that names a place."""

from __future__ import annotations

import string
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from collector.config import Config, load, shown
from collector.config.layers import env_names
from collector.errors import UsageError

KEYS = sorted({str(part) for path in env_names().values() for part in path} | {"x", "NAME", "<<", "${A}", "1"})
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(string.printable, max_size=12),
    st.sampled_from(["${A}", "${", "$$", "90d", "10GiB", "127.0.0.1:0", "chdb:", "clickhouse://u:p@h/d", "on", "*"]),
)  # fmt: skip
trees = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=12,
)


def answer(folder: Path, text: bytes) -> Config | UsageError:
    file = folder / "passhat.yaml"
    file.write_bytes(text)
    try:
        return load(file, {"A": "secret-of-a"})
    except UsageError as error:
        return error


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tree=st.dictionaries(st.sampled_from(KEYS), trees, max_size=4))
def test_any_tree_of_values_is_a_configuration_or_an_error_with_its_place(
    folder: Path, tree: dict[str, object]
) -> None:
    told = answer(folder, yaml.safe_dump(tree).encode())
    if isinstance(told, UsageError):
        assert str(folder / "passhat.yaml") in str(told)
    else:
        assert shown(told)


@settings(max_examples=150, deadline=None)
@given(text=st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode("utf-8", "replace")))
def test_any_bytes_are_a_configuration_or_an_error(folder: Path, text: bytes) -> None:
    told = answer(folder, text)
    assert isinstance(told, Config) or str(told)
