"""`passhat retention`: how long what is kept, and what is about to go."""

from __future__ import annotations

from collector.cli.options import Source
from collector.cli.out import local_time, result, result_json, table

UNITS = (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))
DAY_S = 86_400


def retention(source: Source) -> None:
    """Show rows and bytes of each table, how long it keeps them, and what expires within a week."""
    from collector.cli.client import api

    with api(source) as ask:
        answer = ask.get("/api/v1/retention")
    if source.json:
        result_json(answer)
        return
    rows = [
        (one["table"], age(one["keep_s"]), one["rows"], size(one["bytes"]), local_time(one["oldest"]), one["expired"],
         one["soon"])
        for one in answer["tables"]
    ]  # fmt: skip
    columns = ("table", "kept", "rows", "size", "oldest", "expired", "within 7 d")
    result(table(columns, rows, right=("rows", "size", "expired", "within 7 d")))


def age(seconds: int | None) -> str:
    """Days where they are whole, else hours or seconds."""
    if seconds is None:
        return "for ever"
    if seconds % DAY_S == 0:
        return f"{seconds // DAY_S} d"
    return f"{seconds / 3600:g} h" if seconds >= 3600 else f"{seconds} s"


def size(count: int) -> str:
    """Bytes in the unit people read."""
    for unit, factor in UNITS:
        if count >= factor:
            return f"{count / factor:.1f} {unit}"
    return f"{count} B"
