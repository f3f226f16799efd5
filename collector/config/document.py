"""`passhat.yaml` → plain values, each with its line; `${VAR}` filled in, duplicates refused.

Scalars stay text, as written, wherever a key has a type: pydantic converts them, so `429` in a list of texts is
'429' and `content: on` is not a truth value. Only checks and actions, whose shape the graders know, are resolved
by the YAML 1.2 core schema.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from collector.config.source import KeyPath, Source
from collector.errors import UsageError

UNTYPED = ("checks", "actions")
MOST_VALUES = 100_000  # aliases of aliases grow without bound
FILE_RANK = 1

_VARIABLE = re.compile(r"\$\$|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}|\$\{")
_SECRET_NAME = re.compile(r"PASS|SECRET|TOKEN|KEY|CREDENTIAL|AUTH", re.IGNORECASE)
_NULL = re.compile(r"null|Null|NULL|~|")
_BOOL = re.compile(r"true|True|TRUE|false|False|FALSE")
_INT = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_CORE_TAGS = "tag:yaml.org,2002:"
_MERGE_TAG = "tag:yaml.org,2002:merge"


def read_document(path: Path, env: Mapping[str, str], source: Source) -> dict[str, Any]:
    """The file's values by key; origins and secrets go into `source`. Raises UsageError with the line."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not UTF-8 text (byte {error.start})") from None
    except yaml.YAMLError as error:
        raise _syntax_error(path, text, error) from None
    if node is None:
        return {}
    if not isinstance(node, MappingNode):
        raise UsageError(f"{path}:{_line(node)}: the file must hold keys, like `store:`")
    values = _Reader(path, env, source).value(node, ())
    assert isinstance(values, dict)
    return {key: value for key, value in values.items() if value is not None}


def parse_flow(text: str, *, resolve: bool) -> Any:
    """The value of a list or mapping written in an environment variable. Raises yaml.YAMLError, UsageError."""
    node = yaml.compose(text, Loader=yaml.SafeLoader)
    root: KeyPath = (UNTYPED[0],) if resolve else ()
    return None if node is None else _Reader(Path("value"), {}, Source(), fill=False).value(node, root)


class _Reader:
    """Walks the node tree once; nodes, not constructed objects, still know their lines."""

    def __init__(self, path: Path, env: Mapping[str, str], source: Source, *, fill: bool = True) -> None:
        self._path = path
        self._env = env
        self._source = source
        self._fill = fill
        self._open: list[Node] = []
        self._values = 0

    def value(self, node: Node, at: KeyPath) -> Any:
        """The Python value of a node: text, None, list or dict (and numbers and truth values where untyped)."""
        self._values += 1
        if node in self._open or self._values > MOST_VALUES:
            raise self._error(node, "an alias that contains itself, or far too many values")
        if not node.tag.startswith(_CORE_TAGS) or "python" in node.tag:
            raise self._error(node, f"the tag {node.tag} is not known")
        self._open.append(node)
        try:
            if isinstance(node, MappingNode):
                return self._mapping(node, at)
            if isinstance(node, SequenceNode):
                return [self._recorded(item, (*at, index)) for index, item in enumerate(node.value)]
            assert isinstance(node, ScalarNode)
            return self._scalar(node, at)
        finally:
            self._open.pop()

    def _recorded(self, node: Node, at: KeyPath, line: int = 0) -> Any:
        self._source.record(at, f"{self._path}:{line or _line(node)}", FILE_RANK)
        return self.value(node, at)

    def _mapping(self, node: MappingNode, at: KeyPath) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        own: dict[str, Any] = {}
        lines: dict[str, int] = {}
        for key_node, value_node in node.value:
            if key_node.tag == _MERGE_TAG:
                for base in value_node.value if isinstance(value_node, SequenceNode) else [value_node]:
                    merged = {**self._base(base, at), **merged}
                continue
            key = self._key(key_node)
            if key in lines:
                raise self._error(key_node, f"key `{key}` is there twice (first on line {lines[key]})")
            lines[key] = _line(key_node)
            own[key] = self._recorded(value_node, (*at, key), lines[key])
        return {**merged, **own}

    def _base(self, node: Node, at: KeyPath) -> dict[str, Any]:
        if not isinstance(node, MappingNode):
            raise self._error(node, "`<<` takes a mapping or a list of mappings")
        value: dict[str, Any] = self.value(node, at)
        return value

    def _key(self, node: Node) -> str:
        if not isinstance(node, ScalarNode):
            raise self._error(node, "a key must be a name")
        return str(node.value)

    def _scalar(self, node: ScalarNode, at: KeyPath) -> Any:
        text = str(node.value)
        filled = self._filled(node, text) if self._fill else text
        if node.style is not None:  # quoted or a block: text, whatever it looks like
            return filled
        if _NULL.fullmatch(text):
            return None
        return _resolved(filled) if at and at[0] in UNTYPED else filled

    def _filled(self, node: Node, text: str) -> str:
        """The text with its variables filled in; what is filled in is not looked at again."""

        def fill(match: re.Match[str]) -> str:
            if match[0] == "$$":
                return "$"
            if match[1] is None:
                raise self._error(node, "`${` must be followed by a name and `}` (write `$$` for a dollar)")
            return self._variable(node, match[1], match[2])

        return _VARIABLE.sub(fill, text)

    def _variable(self, node: Node, name: str, default: str | None) -> str:
        value = self._env.get(name)
        if default is not None and not value:
            value = default
        if value is None:
            raise self._error(
                node, f"the environment variable {name} is not set (`${{{name}:-default}}` gives a default)"
            )
        if value and _SECRET_NAME.search(name):
            self._source.secrets.append(value)
        return value

    def _error(self, node: Node, message: str) -> UsageError:
        return UsageError(f"{self._path}:{_line(node)}: {message}")


def _resolved(text: str) -> Any:
    """A plain scalar by the YAML 1.2 core schema: `on` and `12:30` are text, whatever YAML 1.1 made of them."""
    if _BOOL.fullmatch(text):
        return text.lower() == "true"
    if _INT.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    return text


def _syntax_error(path: Path, text: str, error: yaml.YAMLError) -> UsageError:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    if mark is None:
        return UsageError(f"{path}: {problem}")
    lines = text.splitlines()
    hint = ""
    if mark.line < len(lines) and "${" in lines[mark.line]:
        hint = "inside [ ] and { } a value with ${…} needs quotes"
    return UsageError(f"{path}:{mark.line + 1}: {problem}", hint=hint)


def _line(node: Node) -> int:
    return int(node.start_mark.line) + 1
