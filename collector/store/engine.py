"""How tables are laid out: the one place where the SQL of queries/ is rendered for a topology.

A store in this process and one server run a statement as it is written. On a cluster a table `x` becomes `x_local`,
replicated, on every shard, and `x` itself a Distributed table over those:

- what is received is spread by trace (`SHARDED`), so that all versions of a span meet on one shard;
- what is graded lies on the first shard (`ON_ONE_SHARD`): hours are counted again from what is there, all of it;
- a feed copies on the shard where a row was inserted, from the local table to the local table;
- views and functions are the same text everywhere.
"""

from __future__ import annotations

import re

# The expression whose remainder is the shard. Columns of the key that never change, so twins always meet.
SHARDED = {
    "spans": "cityHash64(trace_id)",
    "logs": "cityHash64(unit)",
    "arrivals": "cityHash64(unit)",
    "joins": "cityHash64(join_key)",
}
ON_ONE_SHARD = "0"
# A view asks each shard with what the whole says; an insert is done when a majority of replicas has it, and a read
# sees all inserts that are done: a grader reads its own runs back.
CLUSTER_SETTINGS = {
    "distributed_product_mode": "global",
    "prefer_global_in_and_join": 1,
    "distributed_foreground_insert": 1,
    "insert_quorum": "auto",
    "select_sequential_consistency": 1,
}
_TABLE = re.compile(r"^CREATE TABLE IF NOT EXISTS (\w+)\b", re.MULTILINE)
_ENGINE = re.compile(r"\bENGINE = (\w*MergeTree)(?:\(([^()]*)\))?")
_FEED = re.compile(r"^CREATE MATERIALIZED VIEW IF NOT EXISTS (\w+) TO (\w+) AS", re.MULTILINE)
_MADE = re.compile(r"^CREATE OR REPLACE (VIEW|FUNCTION) (\w+) AS", re.MULTILINE)
_CHANGED = re.compile(r"^(ALTER|DROP) (TABLE(?: IF EXISTS)?) `?(\w+)`?")
_REPLICA = "'/clickhouse/tables/{database}/{table}/{shard}', '{replica}'"


def render(statement: str, *, cluster: str | None) -> list[str]:
    """The statements this topology runs for one of ours."""
    if cluster is None:
        return [statement]
    on = f"ON CLUSTER '{cluster}'"
    if found := _TABLE.search(statement):
        return _table(statement, found[1], on, cluster)
    if found := _FEED.search(statement):
        return [_feed(statement, found, on)]
    if found := _MADE.search(statement):
        return [_MADE.sub(rf"CREATE OR REPLACE \1 \2 {on} AS", statement, count=1)]
    if found := _CHANGED.search(statement):
        return _changed(statement, found, on)
    return [statement]


def _table(statement: str, name: str, on: str, cluster: str) -> list[str]:
    local = _TABLE.sub(f"CREATE TABLE IF NOT EXISTS {name}_local {on}", statement, count=1)
    local = _ENGINE.sub(_replicated, local, count=1)
    shard = SHARDED.get(name, ON_ONE_SHARD)
    over = f"Distributed('{cluster}', currentDatabase(), '{name}_local', {shard})"
    return [local, f"CREATE TABLE IF NOT EXISTS {name} {on} AS {name}_local ENGINE = {over}"]


def _replicated(found: re.Match[str]) -> str:
    arguments = f"{_REPLICA}, {found[2]}" if found[2] else _REPLICA
    return f"ENGINE = Replicated{found[1]}({arguments})"


def _feed(statement: str, found: re.Match[str], on: str) -> str:
    head = f"CREATE MATERIALIZED VIEW IF NOT EXISTS {found[1]} {on} TO {found[2]}_local AS"
    body = statement[found.end() :]
    # The table a feed reads is the one it is triggered by: the local one, or it would never run.
    return head + re.sub(r"\bFROM (\w+)\b", lambda source: f"FROM {source[1]}_local", body)


def _changed(statement: str, found: re.Match[str], on: str) -> list[str]:
    """A change of a table's rows or rules is made where they lie; a table that goes, goes everywhere."""
    verb, kind, name = found.groups()
    rest = statement[found.end() :]
    if verb == "ALTER":
        return [f"ALTER {kind} {name}_local {on}{rest}"]
    return [f"DROP {kind} {name} {on} SYNC"]
