"""The looks of `passhat doctor`, from the machine up to a trace that goes all the way."""

from __future__ import annotations

import errno
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

from collector.cli.arrivals import notes
from collector.cli.client import Api, api, run_path
from collector.cli.doctor import Finding, Findings, looked
from collector.cli.options import Source
from collector.cli.private import private_collector, until
from collector.cli.settings import load_config
from collector.cli.where import ANYWHERE
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
    """A running passhat: its stages as it tells them, what came in, and a trace through its own way in."""
    yield looked("stages", lambda: stages(ask))
    yield from arrived(ask)
    yield looked("trace", lambda: through(ask, receiver_of(ask, config)), "its log says what went wrong")


def arrived(ask: Api) -> Findings:
    """What was sent so far and what became of it: no fault of this machine, each with what to do."""
    try:
        told = ask.get("/api/v1/status")
    except OperatorError:
        return  # `stages` says why
    for what, found, hint in notes(told):
        yield Finding(what, True, found, hint)


def alone(source: Source, config: Config) -> Findings:
    """No passhat runs: could one, and does a private one work?"""
    ours = holds_ports(config)
    for name in ("grpc", "http", "web"):
        look = partial(free, getattr(config.listen, name), ours)
        yield looked(f"port {name}", look, f"set another with --{name}-port")
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


def holds_ports(config: Config) -> bool:
    """Whether a passhat answers at this configuration's web address: then the ports are in use by right."""
    host, port = split_address(config.listen.web)
    try:
        with api(Source(server=f"http://{join_address(ANYWHERE.get(host, host), port)}")) as ask:
            return bool(ask.get("/healthz").get("status") == "alive")
    except (OperatorError, OSError, AttributeError):
        return False


def free(address: str, ours: bool = False) -> str:
    """Nobody listens there, or a passhat does (`ours`). Raises OSError."""
    host, port = split_address(address)
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind((host, port))
        except OSError as error:
            if ours and error.errno == errno.EADDRINUSE:
                return f"{address} is held by a passhat that runs"
            raise
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
    """The URL where the running passhat takes OTLP/HTTP: as it says, else on its host at the configured port."""
    told = ask.get("/api/v1/status").get("listening") or {}
    own, port = split_address(told.get("http") or config.listen.http)
    asked = urlsplit(ask.where).hostname or "127.0.0.1"
    scheme = "https" if "http" in told.get("tls", ()) else "http"
    return f"{scheme}://{join_address(asked if own in ANYWHERE or not told else own, port)}"


def privately(config: Config, folder: Path) -> str:
    """A trace through a private collector with this configuration's words and checks, over a store of its own."""
    store = config.store.model_copy(update={"url": f"chdb:{folder}"})
    spool = config.spool.model_copy(update={"min_free_bytes": 0})  # room is looked at by itself
    apart = config.model_copy(update={"store": store, "spool": spool, "data": folder})
    with private_collector(apart) as running, api(Source(server=f"http://{running.at.web}")) as ask:
        return through(ask, f"http://{running.at.http}", alone=True)


def through(ask: Api, endpoint: str, *, alone: bool = False) -> str:
    """Send a small run by the stock exporter and wait for its lines. Raises OperatorError.

    The run counts nowhere: views leave its service out, whatever project a token puts it in. Where the token allows
    it, and the store is not thrown away anyway (`alone`), the run is removed again.
    """
    from collector.cli.trace import may_send, send_trace

    may_send(endpoint)
    started = time.monotonic()
    run_id = send_trace(endpoint, PROJECT)
    told = until(lambda: lines_of(ask, run_id), bool, "the lines of the trace it sent itself", PATIENCE_S)
    took = time.monotonic() - started
    removed = "" if alone else f"; {removal_of(ask, run_id, told['run']['project'])}"
    return f"sent, stored, assembled into {len(told['lines'])} lines and graded in {took:.1f} s{removed}"


def lines_of(ask: Api, run_id: str) -> dict[str, Any]:
    """All that is told of a closed run; nothing while it is unknown or open."""
    try:
        told: dict[str, Any] = ask.get(run_path(run_id))
    except NotFound:
        return {}
    return told if told["run"]["result"] != "pending" else {}


def removal_of(ask: Api, run_id: str, project: str) -> str:
    """Remove the run again, and say so; it counts nowhere either way."""
    try:
        ask.call("DELETE", run_path(run_id), params={"project": project})
    except OperatorError:
        return f"its run {run_id} stays (removing one takes the scope admin) and counts nowhere"
    return "its run is removed again"
