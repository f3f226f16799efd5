"""Find, read, merge, check, make absolute: one call from the outside world to a `Config`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from collector.config.document import FILE_RANK, read_document
from collector.config.keys import Config
from collector.config.layers import apply_env, apply_flags
from collector.config.problems import usage_error
from collector.config.source import KeyPath, Source
from collector.errors import UsageError

FILE_NAME = "passhat.yaml"
NEARLY = ("passhat.yml", ".passhat.yaml", "passhat.toml", "passhat.json")
EMBEDDED = "chdb:"


def load(
    path: Path | None = None, env: Mapping[str, str] | None = None, overrides: Mapping[str, object] | None = None
) -> Config:
    """The configuration in force.

    `path` is `--config`; `env` the environment (the process's when None); `overrides` are flags by dotted key
    (`data`, `listen.host`, `listen.grpc.port`), None where not given. Raises UsageError with the place.
    """
    env = os.environ if env is None else env
    source = Source()
    values: dict[str, Any] = {}
    source.file = _find(path, env, source)
    if source.file is not None:
        values = read_document(source.file, env, source)
    apply_env(values, env, source)
    apply_flags(values, overrides or {}, source)
    try:
        config = Config.model_validate(_without_nulls(values))
    except ValidationError as error:
        raise usage_error(error, source) from None
    _refuse_written_key(config, source)
    return _absolute(config, source)


def _refuse_written_key(config: Config, source: Source) -> None:
    """A file is copied, shown and committed: the key of a model is named in it, never written."""
    key, where = config.judge.api_key, ("judge", "api_key")
    if key and source.rank(where) == FILE_RANK and key not in source.secrets:
        raise UsageError(
            f"{source.where(where)}: judge.api_key: a key must come from the environment",
            hint="write ${JUDGE_API_KEY} (a variable named as a KEY, TOKEN or SECRET), or set PASSHAT_JUDGE__API_KEY",
        )


def _find(path: Path | None, env: Mapping[str, str], source: Source) -> Path | None:
    """`--config`, else PASSHAT_CONFIG, else ./passhat.yaml; a file that was named must be there."""
    named = path or (Path(env["PASSHAT_CONFIG"]) if env.get("PASSHAT_CONFIG") else None)
    if named is not None:
        if not named.is_file():
            by = "--config" if path else "PASSHAT_CONFIG"
            raise UsageError(f"{by}: there is no file {named}")
        return named
    if Path(FILE_NAME).is_file():
        return Path(FILE_NAME)
    source.warnings += tuple(f"{name} is not read: {FILE_NAME} would be" for name in NEARLY if Path(name).is_file())
    return None


def _without_nulls(values: dict[str, Any]) -> dict[str, Any]:
    """A key with nothing after it means its default, in every section alike."""
    return {
        key: _without_nulls(value) if isinstance(value, dict) and key not in ("checks", "actions") else value
        for key, value in values.items()
        if value is not None
    }


def _absolute(config: Config, source: Source) -> Config:
    """Paths of the file and defaults start at the file's folder, those of variables and flags where one is."""
    data = _path(config.data, ("data",), source)
    auth = config.auth
    if auth.tokens_file is not None:
        tokens_file = _path(auth.tokens_file, ("auth", "tokens_file"), source)
        auth = auth.model_copy(update={"tokens_file": tokens_file})
    tls = config.listen.tls
    files = {name: path for name in ("cert", "key", "client_ca") if (path := getattr(tls, name)) is not None}
    tls = tls.model_copy(update={n: _path(path, ("listen", "tls", n), source) for n, path in files.items()})
    redact = config.redact
    if redact.key_file is not None:
        redact = redact.model_copy(update={"key_file": _path(redact.key_file, ("redact", "key_file"), source)})
    done = config.model_copy(
        update={
            "data": data,
            "store": config.store.model_copy(update={"url": _store_url(config.store.url, data, source)}),
            "cases": _path(config.cases, ("cases",), source),
            "dialects": tuple(_path(one, ("dialects", i), source) for i, one in enumerate(config.dialects)),
            "auth": auth,
            "listen": config.listen.model_copy(update={"tls": tls}),
            "redact": redact,
        }
    )
    done._source = source
    return done


def _store_url(url: str, data: Path, source: Source) -> str:
    """An embedded store lies in `data` unless it was placed by the same or a stronger word.

    Else `--data DIR` would leave the store of a file that says `chdb:./passhat-data` behind.
    """
    if not url.startswith(EMBEDDED):
        return url
    where: KeyPath = ("store", "url")
    place = url.removeprefix(EMBEDDED)
    if place[:1] in ("", "?"):  # no directory named, perhaps options of the engine
        return f"{EMBEDDED}{data}{place}"
    if source.rank(where) == 0 or source.rank(("data",)) > source.rank(where):
        return f"{EMBEDDED}{data}"
    return f"{EMBEDDED}{_path(Path(place), where, source)}"


def _path(path: Path, key: KeyPath, source: Source) -> Path:
    from_file = source.file is not None and source.rank(key) <= FILE_RANK
    base = source.file.parent if from_file and source.file is not None else Path()
    return (base / path.expanduser()).absolute()
