"""Flags over environment over file: what each layer says is put into one tree of values."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from typing import Any, get_args, get_origin

import yaml
from pydantic import BaseModel

from collector.config.document import UNTYPED, parse_flow
from collector.config.keys import Config
from collector.config.source import KeyPath, Source
from collector.config.units import join_address, split_address
from collector.errors import UsageError

PREFIX = "PASSHAT_"
NOT_KEYS = frozenset(
    {"PASSHAT_CONFIG", "PASSHAT_SERVER", "PASSHAT_TOKEN", "PASSHAT_DEBUG", "PASSHAT_CA", "PASSHAT_CLIENT_CERT"}
)
ENV_RANK, FLAG_RANK = 2, 3
NEAR = 0.88

# What a Kubernetes cluster puts into every pod beside a service called passhat or passhat-something.
_INJECTED = re.compile(r".*_(SERVICE_HOST|SERVICE_PORT\w*|PORT|PORT_[0-9]+_(TCP|UDP|SCTP)\w*)")
_FLAGS = {
    "data": "--data",
    "listen.host": "--host",
    "listen.grpc.port": "--grpc-port",
    "listen.http.port": "--http-port",
    "listen.web.port": "--web-port",
}
_LISTENERS = ("grpc", "http", "web")


def env_names() -> dict[str, KeyPath]:
    """Each environment variable that sets a key, `PASSHAT_STORE__URL` for `store.url`."""
    return {PREFIX + "__".join(str(part) for part in path).upper(): path for path, _ in _fields(Config)}


def apply_env(values: dict[str, Any], env: Mapping[str, str], source: Source) -> None:
    """Put what the environment says over `values`. An empty variable is an unset one, as OpenTelemetry has it."""
    known = env_names()
    annotations = dict(_fields(Config))
    layer = _Layer(values, source, ENV_RANK)
    warnings = []
    for name in sorted(env):
        upper = name.upper()
        if not upper.startswith(PREFIX) or upper in NOT_KEYS or not env[name]:
            continue
        path = known.get(upper)
        if path is None:
            warnings += _near_miss(name, known)
            continue
        text = env[name]
        layer.put(path, _container(name, path, text) if _is_container(annotations[path]) else text, name)
    source.warnings += tuple(warnings)


def apply_flags(values: dict[str, Any], flags: Mapping[str, object], source: Source) -> None:
    """Put flags over `values`: dotted keys, and `listen.host`, `listen.grpc.port` and its kin. None is not given."""
    layer = _Layer(values, source, FLAG_RANK)
    for key, value in flags.items():
        if value is None:
            continue
        origin = _FLAGS.get(key, f"flag {key}")
        if key == "listen.host":
            for listener in _LISTENERS:
                layer.readdress(listener, origin, host=str(value))
        elif key.startswith("listen.") and key.endswith(".port"):
            layer.readdress(key.split(".")[1], origin, port=int(str(value)))
        else:
            layer.put(tuple(key.split(".")), value, origin)


class _Layer:
    """One layer being put over the values below it."""

    def __init__(self, values: dict[str, Any], source: Source, rank: int) -> None:
        self._values = values
        self._source = source
        self._rank = rank

    def put(self, path: KeyPath, value: Any, origin: str) -> None:
        at = self._values
        for part in path[:-1]:
            inner = at.get(str(part))
            # A section that is no mapping is an error of the file: leave it for validation to say so.
            if inner is not None and not isinstance(inner, dict):
                return
            at = at.setdefault(str(part), {}) if inner is None else inner
        at[str(path[-1])] = value
        self._source.forget(path)
        for one in (path, *_leaves(value, path)):
            self._source.record(one, origin, self._rank)

    def readdress(self, listener: str, origin: str, *, host: str = "", port: int = -1) -> None:
        """Change host or port of one listener and leave the other as it is."""
        section = self._values.get("listen")
        written = section.get(listener) if isinstance(section, dict) else None
        try:
            old_host, old_port = split_address(str(written or getattr(Config().listen, listener)))
            new = join_address(host.strip("[]") or old_host, old_port if port < 0 else port)
            split_address(new)
        except ValueError as error:
            raise UsageError(f"{origin}: {host or port}: {error}") from None
        self.put(("listen", listener), new, origin)


def _leaves(value: Any, path: KeyPath) -> Iterator[KeyPath]:
    items: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from _leaves(inner, (*path, key))


def _fields(model: type[BaseModel], at: KeyPath = ()) -> Iterator[tuple[KeyPath, Any]]:
    """Every key that is no section of its own, with its type."""
    for name, field in model.model_fields.items():
        path = (*at, field.alias or name)
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from _fields(field.annotation, path)
        else:
            yield path, field.annotation


def _is_container(annotation: Any) -> bool:
    origin = get_origin(annotation)
    if origin in (list, dict, tuple):
        return True
    return any(_is_container(inner) for inner in get_args(annotation)) if origin is not None else False


def _container(name: str, path: KeyPath, text: str) -> Any:
    try:
        return parse_flow(text, resolve=path[0] in UNTYPED)
    except (yaml.YAMLError, UsageError) as error:
        problem = getattr(error, "problem", None) or str(error)
        raise UsageError(f"{name}: not a list or mapping in YAML: {problem}") from None


def _near_miss(name: str, known: Mapping[str, KeyPath]) -> list[str]:
    upper = name.upper()
    if _INJECTED.fullmatch(upper):
        return []
    near = difflib.get_close_matches(upper, [*known, *NOT_KEYS], n=1, cutoff=NEAR)
    return [f"{name} sets nothing (did you mean {near[0]}?)"] if near else []
