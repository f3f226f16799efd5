"""docs/sql.md, made of what the SQL files say of themselves and the columns the engine gives them.

python -m tests.house.sql_page writes it again; a test says when that is due.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from collector.config import load
from collector.store.sqlfiles import SqlFile, schema_files, view_files
from collector.store.store import Store
from tests.house.source_tree import ROOT

PAGE = ROOT / "docs" / "sql.md"
PUBLIC_TABLES = ("spans", "logs", "trace_lines", "runs", "outcomes", "verdicts")
HEAD = """# Tables, views and functions

Database `passhat`. Read the views: they show current rows only. The tables hold what was received, and every revision.
This page is made of the headers in `queries/`: `python -m tests.house.sql_page` writes it again.

Views with parameters are called like functions; times are text (`2026-06-01 00:00:00`) or `DateTime64(3, 'UTC')`:

```sql
SELECT task_id, n, c, pass_hat_k, low, high
FROM task_reliability(start = now() - INTERVAL 7 DAY, end = now(), k = 3)
ORDER BY pass_hat_k
```

From the shell, over a store that no server holds:

```sh
passhat query --data passhat-data "SELECT task_id, result, count() FROM trials GROUP BY ALL ORDER BY ALL"
```

Windows are half-open, [start, end). Rates are never summed over task_version, checks_version or basis. NULL means that
nothing is known: there are fewer trials than k.
"""
_PARAMETER = re.compile(r"\{(\w+):((?:[^{}]|\([^()]*\))+)\}")
_SAMPLE = {"start": "'2026-01-01 00:00:00'", "end": "'2026-01-02 00:00:00'"}


def page() -> str:
    """The whole page."""
    objects = view_files()
    views = sorted((file for file in objects if file.kind == "VIEW"), key=lambda file: file.object.lower())
    functions = sorted((file for file in objects if file.kind == "FUNCTION"), key=lambda file: file.object.lower())
    tables = {file.object: file for file in schema_files()}
    with TemporaryDirectory() as folder:
        store = Store.open(load(env={}, overrides={"data": folder}).store, Path(folder))
        try:
            parts = [HEAD, "## Views"]
            parts += [section(file, signature(file), columns(store, call(file))) for file in views]
            parts += ["## Functions", *(section(file, formula(file), "") for file in functions), "## Tables"]
            parts += [section(tables[name], f"`{name}`", columns(store, name)) for name in PUBLIC_TABLES]
        finally:
            store.close()
    return "\n\n".join(part.strip() for part in parts) + "\n"


def section(file: SqlFile, title: str, columns_text: str) -> str:
    source = f"[queries/{file.name}](../queries/{file.name})"
    return f"### {title}\n\n{prose(file.header)}\n\n{columns_text}\n\n{source}".replace("\n\n\n\n", "\n\n")


def prose(header: str) -> str:
    """Header lines as text; an indented statement stays one."""
    lines = [f"    {line}" if re.match(r"SELECT |GROUP BY ", line) else line for line in header.splitlines()]
    text = "\n".join(lines)
    return re.sub(r"(?<!\n)\n(    SELECT)", r"\n\n\1", re.sub(r"(\n    GROUP BY[^\n]*)\n(?! )", r"\1\n\n", text))


def parameters(file: SqlFile) -> list[str]:
    """Names in the order people write them, whatever order the statement has."""
    named = dict.fromkeys(name for name, _ in _PARAMETER.findall(file.statement))
    order = ("start", "end", "step_s", "window_s", "k")
    return sorted(named, key=lambda name: (order.index(name) if name in order else len(order), name))


def signature(file: SqlFile) -> str:
    names = parameters(file)
    return f"`{file.object}({', '.join(names)})`" if names else f"`{file.object}`"


def call(file: SqlFile) -> str:
    given = ", ".join(f"{name} = {_SAMPLE.get(name, '3')}" for name in parameters(file))
    return f"{file.object}({given})" if given else file.object


def formula(file: SqlFile) -> str:
    found = re.search(r"AS\s*\(([^)]*)\)\s*->", file.statement)
    return f"`{file.object}({found[1] if found else ''})`"


def columns(store: Store, source: str) -> str:
    """`name` type, name type …, as the engine describes them."""
    described = store.query(f"DESCRIBE TABLE (SELECT * FROM {source})").rows
    return "Columns: " + ", ".join(f"`{name}` {plain(kind)}" for name, kind, *_ in described) + "."


def plain(kind: str) -> str:
    return re.sub(r"LowCardinality\(([^()]*)\)", r"\1", kind)


if __name__ == "__main__":
    PAGE.write_text(page())
    sys.stdout.write(f"wrote {PAGE}\n")
