"""`passhat checks`: which checks are in force, and whether those of a configuration compile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from collector.cli.options import Output, Settings
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
    """Compile the checks, tags and actions of a configuration; exit 2 with the place when one is wrong."""
    checks = compiled(settings)
    if output.json:
        result_json({"checks": [check.id for check in checks.checks], "digest": checks.digest})
        return
    say(f"{len(checks.checks)} checks compile")


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
