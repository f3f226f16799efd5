"""Options that several commands share: spelled and explained once, handed to a command as one value each."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

Texts = list[str] | None


def _some(flag: str, what: str) -> Any:
    return typer.Option(flag, metavar="TEXT", help=f"Only {what} (repeatable).", show_default=False)


class Group:
    """A dataclass whose fields are options."""


@dataclass
class Output(Group):
    """How the result is printed."""

    json: Annotated[bool, typer.Option("--json", help="Print the result as one JSON document.")] = False


@dataclass
class Settings(Group):
    """Which configuration, and which data directory."""

    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="DIR", help="The data directory: spool and store.", show_default=False),
    ] = None
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            metavar="FILE",
            help="Configuration [default: PASSHAT_CONFIG, else ./passhat.yaml].",
            show_default=False,
        ),
    ] = None

    def flags(self) -> dict[str, object]:
        """As overrides of `collector.config.load`."""
        return {"data": None if self.data is None else str(self.data)}


@dataclass
class Source(Output):
    """Where a command reads: a running server, or a data directory that no server holds."""

    server: Annotated[
        str | None,
        typer.Option(
            "--server",
            metavar="URL",
            help="A running passhat [default: PASSHAT_SERVER, else as --config listens: http://127.0.0.1:8317].",
            show_default=False,
        ),
    ] = None
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="DIR", help="Open the store in DIR; no server may hold it.", show_default=False),
    ] = None
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            metavar="FILE",
            help="Configuration [default: PASSHAT_CONFIG, else ./passhat.yaml].",
            show_default=False,
        ),
    ] = None


@dataclass
class Times(Group):
    """A half-open window [since, until)."""

    window: Annotated[
        str | None,
        typer.Option("--window", metavar="DURATION", help="How far back: 90m, 24h, 7d.", show_default=False),
    ] = None
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="TIME", help="Start: RFC 3339, or 24h, 7d back.", show_default=False),
    ] = None
    until: Annotated[
        str | None,
        typer.Option("--until", metavar="TIME", help="End, not included: RFC 3339, or 24h back.", show_default=False),
    ] = None

    def params(self) -> dict[str, Any]:
        """As query parameters of the API."""
        return given({"window": self.window, "since": self.since, "until": self.until})


@dataclass
class Filters(Group):
    """What is looked at; each may be given again for "or"."""

    project: Annotated[Texts, _some("--project", "this project")] = None
    environment: Annotated[Texts, _some("--environment", "this environment")] = None
    service: Annotated[Texts, _some("--service", "this service")] = None
    service_version: Annotated[Texts, _some("--service-version", "this version of the service")] = None
    agent: Annotated[Texts, _some("--agent", "this agent")] = None
    model: Annotated[Texts, _some("--model", "this model")] = None
    task_class: Annotated[Texts, _some("--class", "tasks of this class")] = None
    task_version: Annotated[Texts, _some("--version", "this version of a task")] = None
    basis: Annotated[Texts, _some("--basis", "results on this basis: outcome, trajectory")] = None

    def params(self) -> dict[str, Any]:
        """As query parameters of the API."""
        named = {field.name: getattr(self, field.name) for field in fields(self)}
        return given({{"task_class": "class", "task_version": "version"}.get(k, k): v for k, v in named.items()})


def given(values: dict[str, Any]) -> dict[str, Any]:
    """Without what was not given."""
    return {key: value for key, value in values.items() if value not in (None, [], "")}


def command(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as typer reads it: each parameter that is a `Group` becomes that group's options."""
    signature = inspect.signature(function, eval_str=True)
    groups = {p.name: p.annotation for p in signature.parameters.values() if _is_group(p.annotation)}
    own = [p.replace(kind=p.KEYWORD_ONLY) for p in signature.parameters.values() if p.name not in groups]
    shared = [parameter for group in groups.values() for parameter in _parameters(group)]

    def run(**values: Any) -> Any:
        made = {
            name: group(**{field.name: values.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        return function(**values, **made)

    run.__name__, run.__doc__ = function.__name__, function.__doc__
    run.__signature__ = inspect.Signature([*own, *shared])  # type: ignore[attr-defined]
    return run


def _is_group(annotation: object) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Group)


def _parameters(group: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
        )
        for field in fields(group)
    ]
