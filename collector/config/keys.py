"""Every key of `passhat.yaml`, its type and its default. docs/configuration.md says what each is for.

Unknown keys are refused: a misspelt `setle_s` that is silently ignored would grade runs too early.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import AfterValidator, BeforeValidator, Field, PrivateAttr, model_validator

from collector.config.judge import JudgeConfig
from collector.config.section import Count as Count
from collector.config.section import Section, http_url
from collector.config.source import Source
from collector.config.units import (
    DAY_S,
    GIB,
    HOUR_S,
    MIB,
    MINUTE_S,
    Address,
    Bytes,
    Seconds,
    Texts,
    WholeSeconds,
    as_list,
)

Scope = Literal["ingest", "label", "read", "admin"]
Listener = Literal["grpc", "http", "web"]
LeftOut = Literal["exclude", "fail"]
Status = Literal["pass", "fail", "error", "unknown", "not_applicable"]
Trouble = Literal["fail", "gate_denied", "slo_burn"]
Share = Annotated[float, Field(ge=0, le=1)]
Probability = Annotated[float, Field(gt=0, lt=1)]


def _tag_name(name: str) -> str:
    if not re.fullmatch(r"[a-z_][a-z0-9_]*", name):
        raise ValueError("a tag's name is lower-case letters, digits and _: it is a variable in expressions")
    return name


def _store_url(url: str) -> str:
    if not re.match(r"(chdb:|clickhouse://[^/]|https?://[^/])", url):
        raise ValueError("write chdb:DIRECTORY or clickhouse://user:password@host:8443/database?secure=true")
    return url


def _reader_url(url: str) -> str:
    if not re.match(r"(clickhouse://[^/]|https?://[^/])", url):
        raise ValueError("write clickhouse://reader:password@host:8443/database?secure=true")
    return url


def _pattern(text: str) -> str:
    from collector.redact.finder import problem_of  # brings an engine that few configurations need

    if problem := problem_of(text):
        raise ValueError(problem)
    return text


def _secret_key(name: str) -> str:
    if "passhat." in name:
        raise ValueError("passhat's own attributes are never redacted: they say which run it is")
    return name


def _kind(name: str) -> str:
    from collector.redact.secrets import KINDS

    if name not in KINDS:
        raise ValueError(f"no kind of secret: the kinds are {', '.join(KINDS)}")
    return name


Pattern = Annotated[str, AfterValidator(_pattern)]


class StoreConfig(Section):
    """Where spans, runs and verdicts are kept."""

    url: Annotated[str, AfterValidator(_store_url)] = Field(default="chdb:./passhat-data", repr=False)
    cluster: str | None = None
    reader_url: Annotated[str, AfterValidator(_reader_url)] | None = Field(default=None, repr=False)


class RunsConfig(Section):
    """What names a task, what ties traces into one run, and when a run is over."""

    task: Texts = ()
    task_class: Texts = ()
    group_by: str | None = None
    settle_s: Seconds = 10.0
    idle_s: Seconds = 300.0
    max_age_s: Seconds = 86400.0


class TrialsConfig(Section):
    """Which trials count, and as what."""

    errors: LeftOut = "exclude"
    incomplete: LeftOut = "exclude"
    without_outcome: Literal["trajectory", "unknown"] = "trajectory"
    mature_s: Seconds = 0.0
    retries: Literal["first", "all"] = "first"
    outcome_events: Texts = ("outcome", "task_success")
    infrastructure_errors: Texts = ("rate_limit", "overloaded", "timeout", "connection", "429", "5xx")


def _long_enough(seconds: int) -> int:
    if seconds < HOUR_S:
        raise ValueError(f"{seconds} seconds are no window of a gate: write {seconds}d for days, an hour is the least")
    return seconds


GateWindow = Annotated[WholeSeconds, AfterValidator(_long_enough)]


class GateConfig(Section):
    """A named policy of the gate; `task` or `class` says of what, neither means all tasks."""

    task: str | None = None
    class_: str | None = Field(None, alias="class")
    k: Count = 3
    min: Probability = 0.8
    confidence: Probability = 0.95
    window: GateWindow = 28 * DAY_S
    max_excluded: Share = 0.05
    max_age: WholeSeconds = 7 * DAY_S
    basis: Literal["outcome", "trajectory"] = "outcome"
    project: str | None = None
    environment: str | None = None
    service: str | None = None
    service_version: str | None = None
    agent: str | None = None
    model: str | None = None


class SloWindow(Section):
    """A burn-rate pair: firing when both windows burn faster than `burn`."""

    long: WholeSeconds
    short: WholeSeconds
    burn: Annotated[float, Field(gt=0)]


_BURN_PAIRS = (
    SloWindow(long=HOUR_S, short=5 * MINUTE_S, burn=14.4),
    SloWindow(long=6 * HOUR_S, short=30 * MINUTE_S, burn=6.0),
    SloWindow(long=3 * DAY_S, short=6 * HOUR_S, burn=1.0),
)


class SloConfig(Section):
    """A target for pass^k of a task or a class, read by the view `slo_burn`."""

    name: str
    task: str | None = None
    class_: str | None = Field(None, alias="class")
    k: Count = 1
    target: Probability
    windows: tuple[SloWindow, ...] = _BURN_PAIRS
    min_n: Count = 10


class TlsConfig(Section):
    """TLS of the listeners; `{}` is none. With `client_ca` clients must show a certificate of it."""

    cert: Path | None = None
    key: Path | None = None
    client_ca: Path | None = None
    listeners: Annotated[tuple[Listener, ...], BeforeValidator(as_list), Field(min_length=1)] = ("grpc", "http", "web")

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.cert is None) != (self.key is None):
            raise ValueError("`cert` and `key` belong together: name both")
        if self.cert is None and self.client_ca is not None:
            raise ValueError("`client_ca` needs `cert` and `key`")
        return self


class ListenConfig(Section):
    """Addresses, `host:port` each; port 0 is any free port."""

    grpc: Address = "127.0.0.1:4317"
    http: Address = "127.0.0.1:4318"
    web: Address = "127.0.0.1:8317"
    tls: TlsConfig = TlsConfig()
    allowed_hosts: Texts = ()
    announce_s: Seconds = 0.0


def _digest(value: object) -> object:
    """The token itself is never said again, even where it was written by mistake."""
    if not isinstance(value, str) or not re.fullmatch("[0-9a-fA-F]{64}", value):
        raise ValueError("must be the SHA-256 of the token, 64 hex digits: printf %s TOKEN | sha256sum")
    return value


def _scopes(value: object) -> object:
    values = [value] if isinstance(value, str) else value
    known = get_args(Scope)
    if not isinstance(values, list | tuple) or not values or any(one not in known for one in values):
        raise ValueError(f"must be a list of {', '.join(known)}, at least one")
    return tuple(values)


class TokenConfig(Section):
    """A bearer token by its SHA-256 in hex; the token itself is never written down."""

    name: str
    sha256: Annotated[str, BeforeValidator(_digest), Field(repr=False)]
    scopes: Annotated[tuple[Scope, ...], BeforeValidator(_scopes)]
    project: str | None = None


class AuthConfig(Section):
    """Who may do what."""

    tokens: tuple[TokenConfig, ...] = ()
    tokens_file: Path | None = None


class SpoolConfig(Section):
    """What is accepted and not yet stored."""

    durability: Literal["fsync", "os"] = "fsync"
    max_bytes: Bytes = 10 * GIB
    min_free_bytes: Bytes = GIB
    drain_s: Seconds = 10.0


class LimitsConfig(Section):
    """What one request may cost, and how much may be in flight at once (collector/receive/limits.py)."""

    max_request_bytes: Bytes = 64 * MIB
    max_response_bytes: Bytes = 4 * MIB
    inflight_bytes: Bytes = 256 * MIB
    inflight_wait_s: Seconds = 0.5
    read_timeout_s: Seconds = 30.0
    ack_timeout_s: Seconds = 5.0
    max_records: Count = 200_000
    max_attributes: Count = 10_000
    max_value_bytes: Bytes = 8 * MIB


class SqlConfig(Section):
    """What one statement over `/clickhouse` may cost, and how many run at once."""

    timeout_s: Annotated[Seconds, Field(gt=0)] = 60.0
    max_memory: Bytes = GIB
    max_rows: Count = 1_000_000
    max_bytes: Bytes = 64 * MIB
    readers: Count = 4


class RedactConfig(Section):
    """What never reaches the spool."""

    enabled: bool = True
    keys: Annotated[tuple[Annotated[str, AfterValidator(_secret_key)], ...], BeforeValidator(as_list)] = ()
    patterns: Annotated[tuple[Pattern, ...], BeforeValidator(as_list)] = ()
    also: Annotated[tuple[Literal["card", "email"], ...], BeforeValidator(as_list)] = ()
    never: Annotated[tuple[Annotated[str, AfterValidator(_kind)], ...], BeforeValidator(as_list)] = ()
    content: Literal["on", "off"] = "on"
    key_file: Path | None = None


class TelemetryConfig(Section):
    """What the collector says of itself over OTLP; off without an endpoint."""

    endpoint: Annotated[str, AfterValidator(http_url)] | None = None
    protocol: Literal["http/protobuf", "grpc"] = "http/protobuf"
    headers: dict[str, str] = Field(default={}, repr=False)
    interval_s: Annotated[Seconds, Field(gt=0)] = 60.0


class RetentionConfig(Section):
    """How long each table keeps its rows, in seconds; 0 keeps them for ever."""

    spans: WholeSeconds = 90 * DAY_S
    logs: WholeSeconds = 30 * DAY_S
    runs: WholeSeconds = 2 * 365 * DAY_S
    verdicts: WholeSeconds = 2 * 365 * DAY_S


class ExportConfig(Section):
    """Verdicts out as OTLP log events; off without an endpoint. `since`: how far back the first time."""

    endpoint: Annotated[str, AfterValidator(http_url)] | None = None
    protocol: Literal["http/protobuf", "grpc"] = "http/protobuf"
    headers: dict[str, str] = Field(default={}, repr=False)
    compression: Literal["gzip", "none"] = "gzip"
    timeout_s: Annotated[Seconds, Field(gt=0)] = 10.0
    since: WholeSeconds = 0
    statuses: Annotated[tuple[Status, ...], BeforeValidator(as_list)] = ("pass", "fail", "error", "unknown")


class WebhookConfig(Section):
    """Whom to tell when something starts going wrong, and when it is over."""

    url: Annotated[str, AfterValidator(http_url)] = Field(repr=False)
    on: Annotated[tuple[Trouble, ...], BeforeValidator(as_list), Field(min_length=1)] = ("gate_denied", "slo_burn")
    cooldown: WholeSeconds = HOUR_S
    headers: dict[str, str] = Field(default={}, repr=False)
    timeout_s: Annotated[Seconds, Field(gt=0)] = 10.0


class Config(Section):
    """The whole configuration, as `load` returns it: paths absolute, addresses normal, nothing left to look up.

    `checks` is None where the file names none: then the built-in ones are in force. Checks and actions are kept as
    written; the graders compile them and say what is wrong with them.
    """

    store: StoreConfig = StoreConfig()
    runs: RunsConfig = RunsConfig()
    trials: TrialsConfig = TrialsConfig()
    actions: dict[str, Any] = Field(default={})
    tags: dict[Annotated[str, AfterValidator(_tag_name)], str] = Field(default={})
    checks: list[dict[str, Any]] | None = None
    gates: dict[str, GateConfig] = Field(default={})
    slos: tuple[SloConfig, ...] = ()
    cases: Path = Path("cases")
    dialects: Annotated[tuple[Path, ...], BeforeValidator(as_list)] = ()
    listen: ListenConfig = ListenConfig()
    auth: AuthConfig = AuthConfig()
    data: Path = Path("passhat-data")
    spool: SpoolConfig = SpoolConfig()
    limits: LimitsConfig = LimitsConfig()
    sql: SqlConfig = SqlConfig()
    redact: RedactConfig = RedactConfig()
    retention: RetentionConfig = RetentionConfig()
    telemetry: TelemetryConfig = TelemetryConfig()
    export: ExportConfig = ExportConfig()
    webhooks: tuple[WebhookConfig, ...] = ()
    judge: JudgeConfig = JudgeConfig()

    _source: Source = PrivateAttr(default_factory=Source)

    @property
    def source(self) -> Source:
        """Where each value came from, and what was odd on the way."""
        return self._source

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is worth a line on stderr: environment variables that are nearly a key, a file that is not read."""
        return self._source.warnings

    def where(self, *path: str | int) -> str:
        """`passhat.yaml:12` for `where('checks', 0, 'kind')`; '' for a default. For errors found later."""
        return self._source.where(path)
