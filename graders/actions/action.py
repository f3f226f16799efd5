"""An action: what a call did, whichever tool or command line did it."""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import Struct

Kind = Literal[
    "edit",
    "test_run",
    "read",
    "delete",
    "vcs",
    "network",
    "install",
    "sql_read",
    "sql_write",
    "ask_user",
    "message_send",
    "payment",
]
KINDS: tuple[Kind, ...] = get_args(Kind)

# Raise when the built-in table changes what a call is: verdicts before and after are not comparable.
TABLE_VERSION = 1


class Action(Struct, frozen=True):
    """`ok` is None where nothing tells. `at` is the place inside the call: shell commands act one after another."""

    kind: Kind
    paths: tuple[str, ...] = ()
    ok: bool | None = None
    at: int = 0


class Effect(Struct, frozen=True):
    """What a command line or a tool does when it works, before it is known whether it did.

    The two flags say what the exit status of the whole call tells of this part (see `shell.Exit`).
    """

    kind: Kind
    paths: tuple[str, ...] = ()
    at: int = 0
    zero_is_success: bool = True
    nonzero_is_failure: bool = True
