"""What a statement may name: functions from a list, our own views, a few system tables. All else is refused.

What the engine knows beyond the list is read from the engine, so that a function that a newer version brings is refused
until somebody has looked at it.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from msgspec import Struct

from collector.serve.clickhouse.refusals import SqlError
from collector.store.guests import EngineRefused, Guest
from collector.store.sqlfiles import view_files

# Ways to make rows out of arguments; every other table function reads something.
TABLE_FUNCTIONS = frozenset({"generate_series", "generateseries", "numbers", "values", "view", "zeros"})
# Operators of the parser that are no entries of system.functions, and the cast it makes of a query parameter.
OPERATORS = frozenset({"_cast", "exists", "grouping", "lambda", "untuple"})
SYSTEM_TABLES = frozenset({"tables", "columns", "databases", "functions", "settings", "one", "numbers"})
# These show where the store lies on the disk; so would `*` over their tables.
PATH_COLUMNS = frozenset({"data_path", "data_paths", "metadata_path"})
PATH_TABLES = frozenset({"system.tables", "system.databases"})
_COMBINATOR = re.compile(
    r"(?:If|Array|Map|SimpleState|State|Merge|MergeState|ForEach|Distinct|OrDefault|OrNull|Resample|ArgMin|ArgMax)$"
)


class Allowed(Struct, frozen=True):
    """Names in lower case: ClickHouse takes many functions in any case, and refuses what has the wrong one."""

    functions: frozenset[str]
    aggregates: frozenset[str]
    views: frozenset[str]
    refused: frozenset[str]
    database: str
    others: frozenset[str]  # databases

    @classmethod
    def read(cls, guest: Guest, database: str) -> Allowed:
        """The lists, and what this engine has beyond them."""
        listed = listed_functions() | own("FUNCTION")
        known = _rows(guest, "SELECT lower(name), max(is_aggregate) FROM system.functions GROUP BY ALL")
        databases = {name.lower() for (name,) in _rows(guest, "SHOW DATABASES")}
        return cls(
            functions=frozenset(listed),
            aggregates=frozenset(name for name, aggregate in known if aggregate == "1" and name in listed),
            views=frozenset(own("VIEW")),
            refused=frozenset({name for name, _ in known} - listed - HARMLESS_NAMES),
            database=database,
            others=frozenset({*databases, "system", "information_schema", "default"} - {database.lower()}),
        )

    def function(self, name: str) -> bool:
        """Whether a call `name(…)` of a function is allowed, an aggregate with its combinators included."""
        if name.lower() in self.functions or name.lower() in OPERATORS:
            return True
        while found := _COMBINATOR.search(name):
            name = name[: found.start()]
            if name.lower() in self.aggregates:
                return True
        return False

    def source(self, name: str) -> bool:
        """Whether `FROM name(…)` is allowed: our own views with parameters, and rows made of arguments."""
        return name.removeprefix(f"{self.database}.") in self.views or name.lower() in TABLE_FUNCTIONS

    def table(self, chain: list[str]) -> bool:
        """Whether a table may be read by this name; one without a database is ours."""
        if len(chain) == 1:
            return True
        return len(chain) == 2 and (chain[0] == self.database or (chain[0] == "system" and chain[1] in SYSTEM_TABLES))


# Functions that may not be called, and whose names columns and aliases have: handed to another function by name alone
# (arrayMap(file, …) is a call) they do nothing, for they take no argument or only write text.
HARMLESS_NAMES = frozenset({"format", "hostname", "query_id", "session_user", "uptime", "user"})


@cache
def listed_functions() -> frozenset[str]:
    """functions.txt, in lower case."""
    text = (files("collector.serve.clickhouse") / "functions.txt").read_text("utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return frozenset(word.lower() for line in lines for word in line.split())


@cache
def own(kind: str) -> frozenset[str]:
    """Names of our own views, or of our own functions in lower case."""
    names = (file.object for file in view_files() if file.kind == kind)
    return frozenset(name.lower() if kind == "FUNCTION" else name for name in names)


def _rows(guest: Guest, sql: str) -> list[list[str]]:
    try:
        told = guest.query(sql, "TSV", {}).decode()
    except EngineRefused as error:
        raise SqlError.of_engine(str(error)) from error
    return [line.split("\t") for line in told.splitlines()]
