"""The looks of `passhat doctor`, from the machine up to a trace that goes all the way."""

from __future__ import annotations

import platform
import shutil
import socket
import tempfile
import time
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from collector.cli.client import Api, api
from collector.cli.doctor import Finding, Findings, looked
from collector.cli.options import Source
from collector.cli.private import private_collector, until
from collector.cli.settings import load_config
from collector.config import Config, join_address, split_address
from collector.errors import NotFound, OperatorError, StoreError

PACKAGES = ("passhat", "chdb-core", "clickhouse-connect", "grpcio", "protobuf", "fastapi", "opentelemetry-proto")
CLOCK_S = 5.0
PATIENCE_S = 30.0
PROJECT = "passhat-doctor"
DATA_HINT = "name another directory with --data, or make room"


def findings(source: Source) -> Findings:
    """Everything there is to see; what depends on something broken is not looked at."""
    yield looked("versions", versions)
    loaded: list[Config] = []
    yield looked("configuration", lambda: configuration(source, loaded))
    if not loaded:
        return
    [config] = loaded
    yield looked("disk", lambda: disk(config), DATA_HINT)
    running = answering(source)
    if running is None and source.server:
        with api(source) as ask:
            yield looked("server", lambda: str(ask.get("/healthz")))
        return
    if running is None:
        yield from alone(source, config)
        return
    with api(source) as ask:
        yield Finding("server", True, f"a passhat answers at {ask.where}")
        yield from of_server(ask, config)


def of_server(ask: Api, config: Config) -> Findings:
    """A running passhat: its stages as it tells them, and a trace through its own way in."""
    yield looked("stages", lambda: stages(ask))
    yield looked("trace", lambda: through(ask, f"http://{receiver_of(ask, config)}"), "its log says what went wrong")


def alone(source: Source, config: Config) -> Findings:
    """No passhat runs: could one, and does a private one work?"""
    for name in ("grpc", "http", "web"):
        address = getattr(config.listen, name)
        yield looked(f"port {name}", partial(free, address), f"set another with --{name}-port")
    yield looked("store", lambda: store(config), "docs/configuration.md: store.url")
    with tempfile.TemporaryDirectory(prefix="passhat-doctor-") as folder:
        yield looked("trace", lambda: privately(config, Path(folder)))


def versions() -> str:
    """Python and what passhat stands on."""
    found = [f"Python {platform.python_version()}"]
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"{name} as a checkout")
    return ", ".join(found)


def configuration(source: Source, loaded: list[Config]) -> str:
    """The configuration and its checks compile; it is put into `loaded`."""
    from collector.rules import checks_of, words_of

    config = load_config(source.config, {"data": None if source.data is None else str(source.data)})
    words_of(config)
    checks = checks_of(config)
    loaded.append(config)
    where = config.source.file or "defaults (no passhat.yaml here)"
    return f"{where}: {len(checks.checks)} checks compile"


def disk(config: Config) -> str:
    """Room where the data goes, and the right to write there. Raises StoreError."""
    folder = config.data
    while not folder.exists():
        folder = folder.parent
    free_bytes = shutil.disk_usage(folder).free
    if free_bytes < config.spool.min_free_bytes:
        raise StoreError(f"{free_bytes >> 20} MiB free at {folder}, less than spool.min_free_bytes", hint=DATA_HINT)
    with tempfile.TemporaryFile(dir=folder):
        pass
    return f"{free_bytes >> 30} GiB free at {folder}"


def free(address: str) -> str:
    """Nobody listens there. Raises OSError."""
    host, port = split_address(address)
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
    return f"{address} is free"


def store(config: Config) -> str:
    """The store opens, and its clock is ours. Raises StoreError. A store that is not there yet is not made here."""
    from collector.store.store import Store

    embedded = config.store.url.removeprefix("chdb:").partition("?")[0]
    if config.store.url.startswith("chdb:") and not Path(embedded).exists():
        return f"none yet; `passhat serve` makes it at {embedded}"
    opened = Store.open(config.store, config.data)
    try:
        return f"{opened.name}; {clock(opened.now_ns())}"
    finally:
        opened.close()


def clock(store_ns: int) -> str:
    """How far the store's clock is from ours: quiet is measured on the store's."""
    apart = store_ns / 1e9 - time.time()
    if abs(apart) > CLOCK_S:
        raise StoreError(f"the store's clock is {apart:+.0f} s from this machine's", hint="set both clocks by NTP")
    return f"clock {apart:+.3f} s"


def answering(source: Source) -> bool | None:
    """Whether a passhat answers where the options point; None when nobody does."""
    if source.data:
        return None
    try:
        with api(source) as ask:
            return bool(ask.get("/healthz"))
    except (OperatorError, OSError):
        return None


def stages(ask: Api) -> str:
    """What the running passhat says of its stages. Raises StoreError for one that is not well."""
    told = ask.get("/api/v1/status")
    ask.get("/readyz")
    if told.get("problems"):
        problems = told["problems"]
        hints = dict.fromkeys(one["hint"] for one in problems)
        raise StoreError("; ".join(f"{one['stage']}: {one['error']}" for one in problems), hint="; ".join(hints))
    spool, lag = told.get("spool", {}), told.get("lag", {})
    return f"spool {spool.get('entries', 0)} waiting, {lag.get('units_waiting', 0)} runs waiting to be graded"


def receiver_of(ask: Api, config: Config) -> str:
    """Where the running passhat takes OTLP/HTTP: as it says, else on its host at the configured port."""
    told = ask.get("/api/v1/status").get("listening") or {}
    host = urlsplit(ask.where).hostname or "127.0.0.1"
    return str(told.get("http") or join_address(host, split_address(config.listen.http)[1]))


def privately(config: Config, folder: Path) -> str:
    """A trace through a private collector with this configuration's words and checks, over a store of its own."""
    store = config.store.model_copy(update={"url": f"chdb:{folder}"})
    spool = config.spool.model_copy(update={"min_free_bytes": 0})  # room is looked at by itself
    apart = config.model_copy(update={"store": store, "spool": spool, "data": folder})
    with private_collector(apart) as running, api(Source(server=f"http://{running.at.web}")) as ask:
        return through(ask, f"http://{running.at.http}")


def through(ask: Api, endpoint: str) -> str:
    """Send a small run by the stock exporter and wait for its lines. Raises StoreError."""
    from collector.cli.trace import send_trace

    started = time.monotonic()
    run_id = send_trace(endpoint, PROJECT)
    told = until(lambda: lines_of(ask, run_id), bool, "the lines of the trace it sent itself", PATIENCE_S)
    return f"sent, stored, assembled into {len(told)} lines and graded in {time.monotonic() - started:.1f} s"


def lines_of(ask: Api, run_id: str) -> list[Any]:
    """The lines of a closed run; none while it is unknown or open."""
    from collector.cli.client import run_path

    try:
        told = ask.get(run_path(run_id), {"project": PROJECT})
    except NotFound:
        return []
    return list(told["lines"]) if told["run"]["result"] != "pending" else []
