"""How tables are laid out: the one place where the SQL of queries/ is rendered for a topology.

`embedded` and `server` run it as written. A cluster would replace `ENGINE = XMergeTree(…)` by its Replicated form,
add `ON CLUSTER`, and put a Distributed table over each; that needs servers to prove it on, so it is refused.
"""

from __future__ import annotations

from collector.errors import UsageError


def render(statement: str, *, cluster: str | None) -> str:
    """The statement as this topology runs it. Raises UsageError for a cluster."""
    if cluster is not None:
        raise UsageError(
            f"store.cluster: {cluster}: tables on a cluster are not supported yet",
            hint="leave store.cluster out: one ClickHouse server, or the embedded store",
        )
    return statement
