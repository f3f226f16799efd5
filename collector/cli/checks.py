"""`passhat checks`: which checks are in force, and whether those of a configuration compile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from collector.cli.options import Output, Settings, Source, given
from collector.cli.out import result, result_json, say, table

if TYPE_CHECKING:
    from graders import Check, CheckSet

COLUMNS = ("id", "kind", "gate", "axis", "tasks", "classes", "description")


def list_checks(output: Output, settings: Settings) -> None:
    """List the checks a configuration puts in force."""
    rows = [row_of(check) for check in compiled(settings).checks]
    if output.json:
        result_json(rows)
        return
    result(table(COLUMNS, [[shown(row[column]) for column in COLUMNS] for row in rows]))


def validate(output: Output, settings: Settings) -> None:
    """Compile the checks, tags, actions and dialects of a configuration; exit 2 with the place when one is wrong."""
    from collector.cli.settings import load_config
    from collector.rules import checks_of, refuse_missing_programs, words_of

    config = load_config(settings.config, settings.flags())
    words_of(config)
    checks = checks_of(config)
    refuse_missing_programs(config, checks)
    if output.json:
        result_json({"checks": [check.id for check in checks.checks], "digest": checks.digest})
        return
    say(f"{len(checks.checks)} checks compile")


def judges(
    source: Source,
    project: Annotated[
        list[str] | None,
        typer.Option("--project", metavar="TEXT", help="Only this project (repeatable).", show_default=False),
    ] = None,
) -> None:
    """Show how far judge checks agree with people: TPR, TNR and kappa against human outcomes, 95 % intervals."""
    from collector.cli.client import api

    with api(source) as ask:
        answer = ask.get("/api/v1/judges", given({"project": project}))
    if source.json:
        result_json(answer)
        return
    rows = [
        (one["check_id"], one["project"], "yes" if one["in_force"] else "", one["model"], one["judged"],
         one["labelled"],
         *(rate(one[name]) for name in ("tpr", "tnr", "kappa")), one["calibration"])
        for one in answer["judges"]
    ]  # fmt: skip
    columns = ("check", "project", "in force", "model", "judged", "labelled", "TPR", "TNR", "kappa", "calibration")
    result(table(columns, rows, right=("judged", "labelled")) if rows else "no judge check is in force or has judged")


def rate(told: dict[str, float | None]) -> str:
    """`0.93 [0.81, 0.98]`, `-` where there is none."""
    if told["value"] is None:
        return "-"
    return f"{told['value']:.2f} [{told['low']:.2f}, {told['high']:.2f}]"


def compiled(settings: Settings) -> CheckSet:
    """The checks of the configuration. Raises UsageError with the line at fault."""
    from collector.cli.settings import load_config
    from collector.rules import checks_of

    return checks_of(load_config(settings.config, settings.flags()))


def row_of(check: Check) -> dict[str, Any]:
    """A check as `--json` tells it."""
    return {
        "id": check.id,
        "kind": check.kind,
        "gate": check.gate,
        "axis": check.axis,
        "tasks": list(check.tasks),
        "classes": list(check.classes),
        "description": check.description,
        "version": check.version,
    }


def shown(value: object) -> str:
    """A value of a check as one cell: yes or nothing for a flag, names with commas."""
    if isinstance(value, bool):
        return "yes" if value else ""
    return ", ".join(value) if isinstance(value, list) else str(value)
