"""What is wrong with a configuration, in sentences with a place and, for unknown keys, a did-you-mean."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from collector.config.keys import Config
from collector.config.source import Source
from collector.errors import UsageError

HINT = "docs/configuration.md lists every key; `passhat config` shows what is in force"


def usage_error(error: ValidationError, source: Source) -> UsageError:
    """All problems of one configuration, one a line, in the order of the file."""
    return UsageError("\n".join(_sentence(item, source) for item in error.errors(include_input=False)), hint=HINT)


def _sentence(item: Any, source: Source) -> str:
    path: tuple[str | int, ...] = tuple(item["loc"])
    place = source.where(path)
    start = f"{place}: " if place else ""
    if item["type"] == "extra_forbidden":
        return f"{start}{_unknown(path)}"
    key = dotted(path)
    if item["type"] == "missing":
        return f"{start}`{key}` is missing"
    message = str(item["msg"]).removeprefix("Value error, ")
    return f"{start}`{key}`: {message[:1].lower()}{message[1:]}"


def _unknown(path: Sequence[str | int]) -> str:
    key, section = str(path[-1]), path[:-1]
    known = _known_in(section)
    text = f"unknown key `{dotted(path)}`"
    near = difflib.get_close_matches(key.lower(), known, n=1, cutoff=0.6)
    if near:
        return f"{text} (did you mean `{near[0]}`?)"
    elsewhere = [dotted(other) for other in _all_keys(Config) if other[-1] == key]
    if elsewhere:
        return f"{text} (did you mean `{elsewhere[0]}`?)"
    return f"{text} (known here: {', '.join(known)})"


def _known_in(section: Sequence[str | int]) -> list[str]:
    """The keys of the model at a path; names and list positions lead to the model inside."""
    annotation: Any = Config
    for part in section:
        model = _model_in(annotation)
        field = _field_of(model, str(part)) if model is not None and annotation is model else None
        annotation = field.annotation if field is not None else model
    model = _model_in(annotation)
    return [field.alias or name for name, field in model.model_fields.items()] if model else []


def _field_of(model: type[BaseModel], key: str) -> Any:
    return next((field for name, field in model.model_fields.items() if (field.alias or name) == key), None)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((model for inner in get_args(annotation) if (model := _model_in(inner))), None)


def _all_keys(model: type[BaseModel], at: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, field in model.model_fields.items():
        path = (*at, field.alias or name)
        yield path
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from _all_keys(field.annotation, path)


def dotted(path: Sequence[str | int]) -> str:
    """`auth.tokens[0].name` for ('auth', 'tokens', 0, 'name')."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text
