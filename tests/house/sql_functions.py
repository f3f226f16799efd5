"""The functions people may call over SQL, made of the engine's own list and the rules below.

python -m tests.house.sql_functions writes collector/serve/clickhouse/functions.txt again. A newer engine brings new
functions: a test fails then, and whoever runs this reads the difference before committing it.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable
from tempfile import TemporaryDirectory

import chdb

from tests.house.source_tree import ROOT

PAGE = ROOT / "collector" / "serve" / "clickhouse" / "functions.txt"
HEAD = """# Functions that people may call. `python -m tests.house.sql_functions` writes this file, by its rules.
# Left out is all that reads files, settings, dictionaries or the network, waits, writes, or tells of the machine.
"""
# Whole categories that do one of those, or that nobody needs for reading runs.
REFUSED_CATEGORIES = (
    "", "AI", "Dictionary", "Embedded Dictionary", "Internal", "Introspection", "Machine Learning", "Other",
    "Time Series",
)  # fmt: skip
# Looked at one by one: nothing but their arguments goes in, nothing but a value comes out.
ALLOWED = {
    "bar", "blockNumber", "blockSize", "byteSize", "caseWithExpression", "chdb", "countDigits", "currentDatabase",
    "defaultValueOfArgumentType", "defaultValueOfTypeName", "digits", "finalizeAggregation", "flipCoordinates",
    "formatReadableDecimalSize", "formatReadableQuantity", "formatReadableSize", "formatReadableTimeDelta",
    "getSizeOfEnumType", "getSubcolumn", "identity", "ignore", "indexHint", "initializeAggregation", "isConstant",
    "isDecimalOverflow", "lowCardinalityIndices", "lowCardinalityKeys", "materialize", "minSampleSizeContinuous",
    "minSampleSizeConversion", "neighbor", "parseISO8601Duration", "parseReadableSize", "parseReadableSizeOrNull",
    "parseReadableSizeOrZero", "parseTimeDelta", "revision", "rowNumberInAllBlocks", "rowNumberInBlock",
    "runningAccumulate", "runningDifference", "runningDifferenceStartingWithFirstValue", "seriesDecomposeSTL",
    "seriesOutliersDetectTukey", "timeSeriesFromGrid", "timeSeriesRange", "toColumnTypeName", "toTypeName", "transform",
    "variantElement", "variantType", "version", "visibleWidth",
}  # fmt: skip
REFUSED = {
    "aggThrow",  # fails on purpose
    "flameGraph",  # needs introspection
    "format",  # also a table function
    "formatRow", "formatRowNoNewline", "groupFormat",  # formats may read schema files
    "generateSnowflakeID",  # keeps state
    "printf",  # pads to any width, and the caps of memory hear of it when it is there
}  # fmt: skip


def page(ask: Callable[[str], str]) -> str:
    """The whole file; `ask` runs a statement and gives tab-separated text."""
    return HEAD + "".join(section(title, names) for title, names in allowed(ask).items())


def allowed(ask: Callable[[str], str]) -> dict[str, list[str]]:
    """Allowed names by category."""
    sql = """
        SELECT
            f.name, if(f.is_aggregate, 'Aggregates', if(f.alias_to = '', f.categories, of.categories)) AS category,
            if(f.alias_to = '', f.name, f.alias_to) AS original
        FROM system.functions AS f LEFT JOIN system.functions AS of ON of.name = f.alias_to
        WHERE f.origin = 'System' ORDER BY category, f.name"""
    found: dict[str, list[str]] = {}
    for line in ask(sql).splitlines():
        name, category, original = line.split("\t")
        fine = original in ALLOWED or (category not in REFUSED_CATEGORIES and original not in REFUSED)
        if fine and name not in REFUSED and not name.startswith("__"):
            found.setdefault(category, []).append(name)
    return found


def section(title: str, names: list[str]) -> str:
    return f"\n# {title}\n{textwrap.fill(' '.join(names), 118, break_long_words=False, break_on_hyphens=False)}\n"


def main() -> None:
    with TemporaryDirectory() as folder:
        engine = chdb.connect(f"{folder}/engine")
        PAGE.write_text(page(lambda sql: engine.query(sql, "TSV").bytes().decode()))
        engine.close()
    sys.stdout.write(f"wrote {PAGE}\n")


if __name__ == "__main__":
    main()
