"""`passhat mine`: a run that went wrong becomes a regression case."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from collector.cli.options import Source, given
from collector.cli.out import cell, result, result_json, say
from collector.errors import UsageError

CHECKING = ("require_path", "forbid_tool", "expect_answer")


def mine(
    source: Source,
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run id, as `passhat runs` lists it.")],
    expect: Annotated[
        str | None, typer.Option("--expect", metavar="TEXT", help="The right answer.", show_default=False)
    ] = None,
    case_id: Annotated[
        str | None, typer.Option("--id", metavar="NAME", help="The case's name.", show_default=False)
    ] = None,
    project: Annotated[
        str | None,
        typer.Option("--project", metavar="TEXT", help="The run's project, where two have its id.", show_default=False),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Where to write it; - is stdout [default: cases/<id>.yaml].",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Write the regression case of a run: its input, path, forbidden tools, answer.

    The path comes from the task's `order` check, the forbidden tools from calls that failed an `each` check, the
    answer from what the harness said was expected. What is unknown stays empty: nothing is guessed.
    """
    from collector.cli.client import api, run_told

    told = given({"expect": expect, "id": case_id, "project": project})
    with api(source) as ask:
        run_id = run_told(ask, run, given({"project": project}))["run"]["run_id"]
        case = ask.post("/api/v1/cases", {"run_id": run_id, **told})
    if not any(case.get(key) for key in CHECKING):
        say(f"this case checks nothing yet: fill {', '.join(CHECKING)}, or give --expect")
    if source.json:
        result_json(case)
    if out == "-":
        if not source.json:
            result(yaml_of(case))
        return
    path = Path(out) if out else _cases_folder(source) / f"{case['id']}.yaml"
    _write(path, yaml_of(case))
    (say if source.json else result)(cell(path, 1000))


def yaml_of(case: dict[str, Any]) -> str:
    """The case as YAML, keys in the order of the contract."""
    import yaml

    return yaml.safe_dump(case, sort_keys=False, allow_unicode=True, width=110)


def _cases_folder(source: Source) -> Path:
    from collector.cli.settings import load_config

    return load_config(source.config).cases


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError(f"{path} is there already", hint="name another with --id or --out") from None
