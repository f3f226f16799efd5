"""The commands, in the order of the data."""

from __future__ import annotations

from typing import Annotated

import typer

from collector.cli.checks import judges, list_checks, validate
from collector.cli.config_command import config
from collector.cli.dashboards import export
from collector.cli.delete import delete
from collector.cli.demo import demo
from collector.cli.doctor import doctor
from collector.cli.export import export as export_runs
from collector.cli.freeze import freeze
from collector.cli.gate import gate
from collector.cli.ingest import ingest
from collector.cli.mine import mine
from collector.cli.options import command
from collector.cli.outcome import outcome
from collector.cli.plan import plan
from collector.cli.query import query
from collector.cli.regrade import regrade, try_checks
from collector.cli.report import report
from collector.cli.retention import retention
from collector.cli.runs import runs, show
from collector.cli.serve import serve
from collector.cli.status import status

EXIT_CODES = (
    "Exit codes: 0 ok; 1 gate, checks test, doctor or demo not met; 2 usage, configuration or refused; "
    "3 unknown run or too few trials; 4 store, server or internal; 130 interrupted."
)

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,  # plain help: quick, and the same on every terminal
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"passhat {version('passhat')}")
        raise typer.Exit


@app.callback(epilog=EXIT_CODES)
def passhat(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """OpenTelemetry collector and grader for AI agents: verdicts on every run, pass@k and pass^k per task."""


FUNCTIONS = (
    serve, demo, ingest, runs, show, report, gate, plan, outcome, freeze, regrade, mine, export_runs, delete, retention,
    status, doctor, config, query,
)  # fmt: skip
for function in FUNCTIONS:
    app.command()(command(function))

checks = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="List, validate or try the checks of a configuration."
)
checks.command("list")(command(list_checks))
checks.command("validate")(command(validate))
checks.command("test")(command(try_checks))
checks.command("judges")(command(judges))
app.add_typer(checks, name="checks")

dashboards = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Grafana dashboards over the SQL endpoint.")
dashboards.command("export")(command(export))
app.add_typer(dashboards, name="dashboards")
