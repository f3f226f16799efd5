"""What stores of traces were reported to fail at: many tiny parts, payload in the way, keys full of ids, handles."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from collector.config.keys import SqlConfig
from collector.dashboards.statements import sql
from collector.normalise import drain
from collector.serve.clickhouse.settings import settings_of
from collector.store.guests import EmbeddedGuests
from collector.store.rows import Batch, span_row
from collector.store.store import Store
from semconv.facts import Facts
from tests.collector.dashboards.items import items
from tests.support.grafana import ALL, Times, panel_sql
from tests.support.stores import BASE_NS, SECOND, Place, graded, span, trace

PAYLOAD = "".join(chr(97 + (n * 7919) % 26) for n in range(30_000))
SPANS = 6_000


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    data: Path = tmp_path_factory.mktemp("known")
    opened = Store.open(Place(f"chdb:{data}"), data)
    yield opened
    opened.close()


def insert(store: Store, first: int, attributes: list[dict[str, str]]) -> None:
    rows = []
    for place, given in enumerate(attributes):
        one = span(trace(1 + first // 10 + place // 10), first + place + 1, start_ns=BASE_NS, attributes=given)
        rows.append(span_row("default", BASE_NS, one, Facts(operation="tool", tool="Bash")))
    store.insert(Batch(rows, []))


def test_a_trickle_makes_few_parts() -> None:
    """open-telemetry/opentelemetry-collector-contrib#47843, hyperdxio/hyperdx#2151: an insert for each request."""
    assert drain.LINGER_S >= 0.5
    assert drain.MAX_ROWS >= 5_000


def test_panels_do_not_read_the_payload_of_spans(embedded: Store) -> None:
    """langwatch/langwatch#2645: reading one key of an attribute map read all payload, and ran out of memory."""
    for start in range(0, SPANS, 1_000):
        insert(embedded, start, [{"big": f"{start + n} {PAYLOAD}", "small": "x"} for n in range(1_000)])
    embedded.write_gradings([graded(trace(1 + n), "pass", BASE_NS + n * SECOND) for n in range(100)])
    times = Times(BASE_NS // 1_000_000 - 86_400_000, BASE_NS // 1_000_000 + 400 * 86_400_000, 3_600_000)
    chosen = {"project": ALL, "class": ALL, "task": ALL, "service": ALL, "agent": ALL, "tool": ALL,
              "basis": ("trajectory",), "k": ("3",), "window": ("86400",), "one": ("book",)}  # fmt: skip
    parts = "SELECT sum(data_uncompressed_bytes) FROM system.parts WHERE active AND table = 'spans'"
    assert embedded.query(parts).rows[0][0] > 150 << 20
    guests = EmbeddedGuests(embedded.target)
    little = settings_of([("join_use_nulls", "1")], SqlConfig(max_memory=100 << 20))
    for item in items():
        if item.board == "passhat-run" or item.kind == "variable":
            continue
        with guests.handle(little) as guest:
            guest.query(panel_sql(item.sql, chosen, times).replace("SETTINGS join_use_nulls = 1", ""), "Native", {})


def test_sort_keys_hold_ids_times_and_short_names(embedded: Store) -> None:
    """SigNoz/signoz-otel-collector#458: raw values in the primary key took tens of gigabytes."""
    long = {"input", "output", "text", "attributes", "attr_string", "body", "facts", "resource", "events", "name"}
    tables = "SELECT name, sorting_key FROM system.tables WHERE database = 'passhat' AND sorting_key != ''"
    rows = embedded.query(tables).rows
    keys = {str(table): set(re.split(r",\s*", str(key))) for table, key in rows}
    assert len(keys) > 20
    del keys["policy"], keys["schema_migrations"]  # a few rows, named by us
    assert {table: key & long for table, key in keys.items() if key & long} == {}


def test_attribute_keys_with_ids_inside_cost_no_more_than_values(embedded: Store) -> None:
    """letsencrypt/boulder#8571: keys with ids in them blew up a low-cardinality column."""
    insert(embedded, 50_000, [{f"request.{n}.{place}": "x" for place in range(20)} for n in range(1_000)])
    with EmbeddedGuests(embedded.target).handle(settings_of([], SqlConfig(max_memory=200 << 20))) as guest:
        said = guest.query("SELECT uniq(arrayJoin(mapKeys(attr_string))) > 19000 FROM spans", "TSV", {})
    assert said == b"1\n"


def test_the_embedded_engine_keeps_no_logs_of_its_own(embedded: Store) -> None:
    """langfuse/langfuse#13123: system log tables a thousand times larger than the data."""
    stored = "SELECT countIf(engine LIKE '%MergeTree') FROM system.tables WHERE database = 'system'"
    assert embedded.query(stored).rows == [(0,)]


def test_rows_go_by_age_and_not_by_mutations() -> None:
    """maximhq/bifrost#7098: retention by many delete mutations filled the disks."""
    source = (Path(__file__).parents[3] / "collector" / "store" / "retention.py").read_text()
    assert "MODIFY TTL" in source
    assert "DELETE" not in source


def test_a_long_read_leaves_other_handles_alone(embedded: Store) -> None:
    """chdb-io/chdb-core#130: a handle that streams answered others with nothing."""
    guests = EmbeddedGuests(embedded.target)
    said: list[bytes] = []

    def read() -> None:
        with guests.handle(settings_of([], SqlConfig())) as guest:
            said.append(guest.query("SELECT number, sipHash64(number) FROM numbers(900000)", "Native", {}))

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    answers = []
    while any(thread.is_alive() for thread in threads):
        answers.append(embedded.query("SELECT count() > 0 FROM runs").rows)
        embedded.insert(Batch([], []))
    for thread in threads:
        thread.join()
    assert {len(one) for one in said} == {len(said[0])}
    assert len(said) == 3
    assert len(said[0]) > 900_000 * 16
    assert answers
    assert all(rows == [(1,)] or rows == [(True,)] for rows in answers)


def test_pipeline_alert_reads_no_payload() -> None:
    assert not re.search(r"attr_|facts|resource", sql("alert_pipeline"))
