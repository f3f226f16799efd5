"""Output formats that may be asked for, and the content type ClickHouse gives each."""

from __future__ import annotations

DEFAULT = "TabSeparated"
_JSON = "application/json; charset=UTF-8"
_LINES = "application/x-ndjson; charset=UTF-8"
_TSV = "text/tab-separated-values; charset=UTF-8"
_CSV = "text/csv; charset=UTF-8"
_TEXT = "text/plain; charset=UTF-8"
_BYTES = "application/octet-stream"

# Left out: formats that read schema files, need a session, or speak another protocol.
CONTENT_TYPES: dict[str, str] = {
    name: kind
    for kind, names in {
        _JSON: "JSON JSONStrings JSONColumns JSONColumnsWithMetadata JSONCompact JSONCompactStrings JSONCompactColumns"
        " JSONObjectEachRow",
        _LINES: "JSONEachRow JSONLines JSONL NDJSON PrettyJSONEachRow JSONStringsEachRow JSONEachRowWithProgress"
        " JSONCompactEachRow JSONCompactEachRowWithNames JSONCompactEachRowWithNamesAndTypes JSONCompactStringsEachRow"
        " JSONCompactStringsEachRowWithNames JSONCompactStringsEachRowWithNamesAndTypes",
        _TSV: "TabSeparated TabSeparatedWithNames TabSeparatedWithNamesAndTypes TabSeparatedRaw"
        " TabSeparatedRawWithNames TabSeparatedRawWithNamesAndTypes TSV TSVWithNames TSVWithNamesAndTypes TSVRaw"
        " TSVRawWithNames TSVRawWithNamesAndTypes TSKV",
        _CSV: "CSV CSVWithNames CSVWithNamesAndTypes",
        _TEXT: "Pretty PrettyCompact PrettySpace PrettyNoEscapes PrettyCompactNoEscapes PrettySpaceNoEscapes Vertical"
        " Markdown Values LineAsString XML",
        _BYTES: "Native RowBinary RowBinaryWithNames RowBinaryWithNamesAndTypes Arrow ArrowStream Parquet ORC Avro"
        " MsgPack BSONEachRow Npy Null",
    }.items()
    for name in names.split()
}
