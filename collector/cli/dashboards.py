"""`passhat dashboards export`: the Grafana dashboards as files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from collector.cli.options import Output
from collector.cli.out import result, result_json, say
from collector.errors import UsageError


def export(
    output: Output,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where the files go; it is made when missing.")],
) -> None:
    """Write the Grafana dashboards as JSON files, for file provisioning or import."""
    from collector.dashboards import write

    try:
        written = write(folder)
    except OSError as error:
        raise UsageError(f"cannot write into {folder}: {error.strerror}") from None
    if output.json:
        result_json([str(path) for path in written])
        return
    for path in written:
        result(str(path))
    say("load them with a provider of type `file`, or import one: docs/grafana.md")
