"""Which settings a caller may choose, which are heard and not heeded, and what caps every query."""

from __future__ import annotations

import re
from collections.abc import Iterable

from collector.config.keys import SqlConfig
from collector.serve.clickhouse.refusals import READONLY, SqlError

# Of the transport, or hints that clients send unasked: nothing is lost when they are ignored.
IGNORED = frozenset({
    "add_http_cors_header", "buffer_size", "cancel_http_readonly_queries_on_client_close", "client_protocol_version",
    "compress", "connect_timeout", "database", "decompress", "default_format", "enable_http_compression",
    "http_headers_progress_interval_ms", "http_receive_timeout", "http_send_timeout", "http_zlib_compression_level",
    "http_write_exception_in_output_format", "log_comment", "log_queries", "max_threads", "query", "query_id",
    "quota_key", "receive_timeout", "send_logs_level", "send_progress_in_http_headers", "send_timeout",
    "session_check", "session_id", "session_timeout", "user", "wait_end_of_query",
})  # fmt: skip
# How values are written and counted; none names a file, a format schema or an expression.
CHOOSABLE = frozenset({
    "bool_false_representation", "bool_true_representation", "date_time_output_format", "extremes",
    "format_csv_delimiter", "group_by_use_nulls", "join_use_nulls", "limit", "offset", "max_bytes_to_read",
    "max_rows_to_read", "output_format_arrow_compression_method", "output_format_arrow_string_as_string",
    "output_format_binary_write_json_as_string", "output_format_csv_crlf_end_of_line",
    "output_format_decimal_trailing_zeros", "output_format_json_array_of_rows",
    "output_format_json_escape_forward_slashes", "output_format_json_named_tuples_as_objects",
    "output_format_json_quote_64bit_floats", "output_format_json_quote_64bit_integers",
    "output_format_json_quote_decimals", "output_format_json_quote_denormals", "output_format_json_validate_utf8",
    "output_format_native_encode_types_in_binary_format",
    "output_format_native_use_flattened_dynamic_and_json_serialization",
    "output_format_parquet_compression_method", "output_format_parquet_string_as_string", "output_format_pretty_color",
    "output_format_pretty_grid_charset", "output_format_pretty_max_rows", "output_format_pretty_row_numbers",
    "output_format_write_statistics", "prefer_column_name_to_alias", "session_timezone", "union_default_mode",
})  # fmt: skip
CAPPED = ("max_execution_time", "max_memory_usage", "max_result_rows", "max_result_bytes")
_VALUE = re.compile(r"[\w.+:/, -]{0,64}")


def settings_of(asked: Iterable[tuple[str, str]], caps: SqlConfig) -> dict[str, str]:
    """What a query runs with, without `readonly`. Raises SqlError for a setting that nobody may choose."""
    most = {
        "max_execution_time": caps.timeout_s,
        "max_memory_usage": caps.max_memory,
        "max_result_rows": caps.max_rows,
        "max_result_bytes": caps.max_bytes,
    }
    chosen = {"session_timezone": "UTC"}
    for name, value in asked:
        if name in CAPPED:
            wanted = float(value) if re.fullmatch(r"\d{1,15}(\.\d{1,9})?", value) else 0
            most[name] = min(most[name], wanted) if wanted > 0 else most[name]
        elif name in CHOOSABLE and _VALUE.fullmatch(value):
            chosen[name] = value
        elif name == "readonly" and value in ("1", "2"):
            continue  # it is
        elif name not in IGNORED:
            raise SqlError(READONLY, f"Cannot modify '{name[:64]}' setting in readonly mode")
    whole = {name: f"{value:g}" if name == "max_execution_time" else str(int(value)) for name, value in most.items()}
    # One row of a function may cost as much as a table: what a single block makes is bounded too.
    fixed = {"result_overflow_mode": "throw", "timeout_overflow_mode": "throw", "allow_introspection_functions": "0"}
    return {**chosen, **whole, **fixed, "function_range_max_elements_in_block": "50000000"}
