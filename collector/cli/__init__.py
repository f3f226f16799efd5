"""The command `passhat`: one module a command, heavy imports inside commands, exit codes in one place.

0 ok · 1 gate, `checks test`, doctor or demo not met · 2 usage, configuration, refused · 3 unknown run, too few
trials · 4 store, unreachable server, internal · 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from typing import Any, NoReturn

import typer

from collector.cli import out
from collector.cli.app import app
from collector.errors import OperatorError, PasshatError

INTERNAL, INTERRUPTED = 4, 130
# typer keeps its own copy of click from 0.26 on: its errors are found by descent, in both.
ClickError: Any = typer.BadParameter.__mro__[2]


def main() -> NoReturn:
    """Run the command line and leave with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        # A name in a trace may be in letters this terminal does not have; that must not end a report.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        code = run(sys.argv[1:])
        sys.stdout.flush()
    except (out.ReaderLeft, BrokenPipeError):
        # Nobody is there to be told, and the rest of the buffer must go somewhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """The exit code of a command line; errors are said on stderr."""
    try:
        code = app(args=arguments, prog_name="passhat", standalone_mode=False)
    except ClickError as error:
        return _usage(error)
    except OperatorError as error:
        out.complain(str(error), error.hint)
        return error.exit_code
    except PasshatError as error:
        out.complain(str(error))
        return INTERNAL
    except (KeyboardInterrupt, typer.Abort):
        out.say("interrupted")
        return INTERRUPTED
    except out.ReaderLeft:
        raise
    except Exception as error:
        return _internal(error)
    return code if isinstance(code, int) else 0


def _usage(error: Any) -> int:
    command = error.ctx.command_path if getattr(error, "ctx", None) else "passhat"
    text = error.format_message().expandtabs(2)  # the choices of an argument, one a line
    if type(error).__name__ == "NoArgsIsHelpError":
        out.say(text)
    else:
        out.complain(text, f"{command} --help")
    return int(error.exit_code)


def _internal(error: Exception) -> int:
    if os.environ.get("PASSHAT_DEBUG"):
        raise error
    out.complain(f"passhat failed: {type(error).__name__}: {error}", "set PASSHAT_DEBUG=1 to see where")
    return INTERNAL
