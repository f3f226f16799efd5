"""`/clickhouse`: SQL for people, read only, as ClickHouse's own HTTP protocol.

    request ──asked──▶ statement, parameters, settings
                            │ guard: the engine's parser says what it is, lists say what it may name
                            ▼
    a handle of its own, `readonly = 1`, with caps ──▶ bytes in the format asked for, passed through

Grafana's ClickHouse data source, clickhouse-connect, the JavaScript client and `passhat query` read the embedded store
and a server through it alike. docs/sql-endpoint.md is for those who use it.
"""
