"""The guard: whether a statement that somebody wrote may run. `readonly = 1` alone is no wall.

With it the engine still reads any file (`file('/etc/passwd')`), asks any address (`DESCRIBE url(…)`), writes results to
files and kills queries. So a statement passes three walls, each enough against most attacks:

1. the engine's own formatter writes it anew: one statement, no comments, one spelling. That text is looked at, and
   that text runs. Every name before a parenthesis must be allowed, every name with a database a table that may be read.
2. the engine's own parser says what it is (`EXPLAIN AST`, which runs nothing): only the kinds of nodes listed here.
3. it runs on a handle of its own with `readonly = 1` and caps, set before it is.

The first wall sees what the second does not show (`* APPLY(file)`, `SHOW TABLES WHERE …`), the second tells a table
function from a function, which the first cannot.
"""

from __future__ import annotations

import re

from msgspec import Struct

from collector.serve.clickhouse.allowed import PATH_COLUMNS, PATH_TABLES, Allowed
from collector.serve.clickhouse.refusals import ACCESS_DENIED, READONLY, SqlError
from collector.serve.clickhouse.tail import Statement, split
from collector.serve.clickhouse.words import Word, words_of
from collector.store.guests import Guest, escaped

# Words of the grammar that may stand before a parenthesis, as the formatter writes them.
KEYWORDS = frozenset({
    "ALL", "AND", "ANY", "APPLY", "ARRAY", "AS", "ASOF", "BETWEEN", "BY", "COLUMNS", "CUBE", "DISTINCT", "EXCEPT",
    "FILTER", "FROM", "GLOBAL", "HAVING", "ILIKE", "IN", "INTERPOLATE", "INTERSECT", "IS", "JOIN", "LIKE", "LIMIT",
    "MATERIALIZED", "NOT", "OFFSET", "ON", "OR", "OVER", "PREWHERE", "QUALIFY", "REPLACE", "ROLLUP", "SAMPLE",
    "SELECT", "SETS", "STEP", "TABLE", "TO", "UNION", "USING", "WHERE", "WITH",
})  # fmt: skip
NODES = frozenset({
    "ArrayJoin", "Asterisk", "ColumnsApplyTransformer", "ColumnsExceptTransformer", "ColumnsListMatcher",
    "ColumnsRegexpMatcher", "ColumnsReplaceTransformer", "ColumnsReplaceTransformer::Replacement",
    "ColumnsTransformerList", "DescribeQuery", "ExpressionList", "Function", "Identifier", "InterpolateElement",
    "Literal", "OrderByElement", "QualifiedAsterisk", "QualifiedColumnsListMatcher",
    "QualifiedColumnsRegexpMatcher", "SampleRatio", "SelectIntersectExceptQuery", "SelectQuery",
    "SelectWithUnionQuery", "Subquery", "TableExpression", "TableIdentifier", "TableJoin", "TablesInSelectQuery",
    "TablesInSelectQueryElement", "WindowDefinition", "WindowListElement", "WithElement",
})  # fmt: skip
BEGINNINGS = ("SELECT", "WITH", "SHOW", "DESCRIBE", "EXISTS")
TOP = ("SelectWithUnionQuery", "SelectIntersectExceptQuery", "DescribeQuery")
_NODE = re.compile(r"^( *)([A-Z][A-Za-z]*(?:::[A-Z][A-Za-z]*)?)(?: (.*))?$")
_EXTRAS = re.compile(r" \((?:children \d+|alias .*)\)$")
# Statements that only tell names; what they show of other databases are names too.
_NAME, _LIKE = r"[A-Za-z_]\w*", r"( (NOT )?I?LIKE '[^']*')?( LIMIT \d+)?"
_TELLS = re.compile(
    rf"SHOW DATABASES{_LIKE}|SHOW (FULL )?TABLES( FROM {_NAME})?{_LIKE}"
    rf"|SHOW (EXTENDED )?(FULL )?COLUMNS FROM {_NAME}( FROM (?P<of>{_NAME}))?{_LIKE}"
    rf"|(EXISTS|SHOW CREATE) (TABLE|VIEW) ((?P<in>{_NAME})\.)?{_NAME}"
)
HINT = "SELECT from the tables and views of passhat: docs/sql-endpoint.md"


class Checked(Struct, frozen=True):
    """A statement that may run: `sql` is what was looked at."""

    sql: str
    format: str
    settings: tuple[tuple[str, str], ...]


def check(guest: Guest, allowed: Allowed, sql: str, params: dict[str, str]) -> Checked:
    """The statement as it may run. Raises SqlError, saying what is not allowed or where the syntax is wrong."""
    formatted = guest.query("SELECT formatQuerySingleLine({sql:String})", "TSVRaw", {"sql": escaped(sql)})
    text = formatted.decode().removesuffix("\n")
    words = words_of(text)
    if words[0].text not in BEGINNINGS:
        raise SqlError(READONLY, f"Cannot execute query in readonly mode: {HINT}")
    statement = split(text, words)
    if not _only_tells(allowed, statement.sql):
        _look_at_words(allowed, statement)
        _look_at_nodes(guest, allowed, statement, params)
    return Checked(statement.sql, statement.format, statement.settings)


def _only_tells(allowed: Allowed, sql: str) -> bool:
    """SHOW and EXISTS, of our own database where they tell more than names."""
    found = _TELLS.fullmatch(sql)
    return found is not None and (found["of"] or found["in"] or allowed.database) in (allowed.database, "system")


def _look_at_words(allowed: Allowed, statement: Statement) -> None:
    """The first wall."""
    words, at = statement.words, 0
    while at < len(words):
        if words[at].kind != "name":
            at += 1
            continue
        chain = _chain(words, at)
        at += 2 * len(chain) - 1
        called = at < len(words) and words[at].text == "(" and words[at].kind == "sign"
        if called:
            _look_at_call(allowed, chain)
        else:
            _look_at_name(allowed, [word.text for word in chain])


def _chain(words: list[Word], at: int) -> list[Word]:
    """The name at a place with all that follows after dots."""
    chain = [words[at]]
    while at + 2 < len(words) and words[at + 1].text == "." and words[at + 2].kind == "name":
        at += 2
        chain.append(words[at])
    return chain


def _look_at_call(allowed: Allowed, chain: list[Word]) -> None:
    name = ".".join(word.text for word in chain)
    keyword = len(chain) == 1 and not chain[0].quoted and name in KEYWORDS
    matcher = chain[-1].text == "COLUMNS" and not chain[-1].quoted
    if not keyword and not matcher and not allowed.function(name) and not allowed.source(name):
        raise refused(f"the function {name}")


def _look_at_name(allowed: Allowed, chain: list[str]) -> None:
    if chain[-1].lower() in allowed.refused:
        # Functions are called by name alone too: arrayMap(file, …), * APPLY file.
        raise refused(f"the name {chain[-1]}, which is that of a function,")
    if chain[-1].lower() in PATH_COLUMNS:
        raise refused(f"the column {chain[-1]}")
    if chain[0].lower() in allowed.others and not allowed.table(chain[:2]):
        raise refused(f"the table {'.'.join(chain[:2])}")


def _look_at_nodes(guest: Guest, allowed: Allowed, statement: Statement, params: dict[str, str]) -> None:
    """The second wall."""
    told = guest.query(f"EXPLAIN AST {statement.sql}", "TSVRaw", params).decode()
    nodes = [_node(line) for line in told.splitlines() if line]
    if not nodes or nodes[0].kind not in TOP:
        kind = nodes[0].kind if nodes else "nothing"
        raise SqlError(READONLY, f"Cannot execute query in readonly mode ({kind}): {HINT}")
    paths = any(node.kind == "TableIdentifier" and node.name in PATH_TABLES for node in nodes)
    above: list[Node] = []
    for node in nodes:
        del above[node.depth :]
        _look_at_node(allowed, node, above[-1] if above else None)
        counted = len(above) > 1 and above[-2].name == "count"
        if paths and not counted and ("Asterisk" in node.kind or "Matcher" in node.kind):
            raise refused("* over system.tables or system.databases (name the columns)")
        above.append(node)


class Node(Struct, frozen=True):
    """One line of what the parser tells."""

    depth: int
    kind: str
    name: str


def _node(line: str) -> Node:
    found = _NODE.match(line)
    if found is None:
        raise refused("a part of this statement")
    name = found[3] or ""
    while (shorter := _EXTRAS.sub("", f" {name}").removeprefix(" ")) != name:
        name = shorter
    return Node(len(found[1]), found[2], name)


def _look_at_node(allowed: Allowed, node: Node, parent: Node | None) -> None:
    if node.kind not in NODES:
        raise refused(f"{node.kind} in a statement")
    if node.kind == "Function":
        in_from = parent is not None and parent.kind == "TableExpression"
        if not (allowed.source(node.name) if in_from else allowed.function(node.name)):
            raise refused(f"the {'table ' if in_from else ''}function {node.name}")
    if node.kind == "TableIdentifier" and not allowed.table(node.name.split(".")):
        raise refused(f"the table {node.name}")
    if node.kind == "Identifier" and _whole_system_table(node.name):
        raise refused(f"{node.name} as a value")


def _whole_system_table(name: str) -> bool:
    """`x IN system.tables` names a table where a value is due."""
    first, _, rest = name.partition(".")
    return first.lower() == "system" and "." not in rest


def refused(what: str) -> SqlError:
    """The error for something that nobody may use here."""
    return SqlError(ACCESS_DENIED, f"{what} is not allowed here: {HINT}")
