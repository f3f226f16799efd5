"""One way to ask: the HTTP API, of a running server or of a store opened here.

With `--data` the very same application answers in this process, so that both ways give the same numbers.
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from collector.cli.options import Source
from collector.cli.where import url_of
from collector.errors import NotFound, StoreError, UsageError

if TYPE_CHECKING:
    import ssl

    import httpx

    from collector.config import Config

TIMEOUT_S = 60.0
MOST_NAMED = 10  # runs that a beginning of an id may mean, told by name


class Api:
    """Calls of the API, errors told by exit code."""

    def __init__(self, client: httpx.AsyncClient, runner: asyncio.Runner, where: str) -> None:
        self._client = client
        self._runner = runner
        self.where = where

    def get(self, path: str, params: dict[str, Any] | None = None) -> Any:
        return self.call("GET", path, params=params)

    def post(self, path: str, body: object) -> Any:
        return self.call("POST", path, json=body)

    def call(self, method: str, path: str, **kwargs: Any) -> Any:
        """The JSON of the answer. Raises UsageError, NotFound or StoreError."""
        return _json(self.asked(method, path, **kwargs), self.where)

    def asked(self, method: str, path: str, **kwargs: Any) -> httpx.Response:
        """An answer that is no refusal, as it came. Raises UsageError, NotFound or StoreError."""
        reply = self.send(method, path, **kwargs)
        if reply.is_success:
            return reply
        raise refusal(reply, self.where)

    def send(self, method: str, path: str, **kwargs: Any) -> httpx.Response:
        """The answer as it came. Raises StoreError when none comes."""
        import httpx

        try:
            return self._runner.run(self._client.request(method, path, **kwargs))
        except httpx.ConnectError:
            raise StoreError(
                f"no passhat answers at {self.where}",
                hint="start `passhat serve`, name another with --server, or open a store with --data DIR",
            ) from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise StoreError(f"{self.where}: {type(error).__name__}: {error}") from None


@contextmanager
def api(source: Source) -> Iterator[Api]:
    """The API the options point at. Raises UsageError when they point at two."""
    if source.server and source.data:
        raise UsageError("--server and --data name two stores", hint="give one of them")
    if source.data:
        with _in_process(source) as opened:
            yield opened
        return
    import httpx

    server = source.server or url_of("web", source.config)
    url = server if "://" in server else f"http://{server}"
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
        raise UsageError(f"--server {server} is not an http:// or https:// address")
    # A proxy from the environment cannot reach this machine's loopback.
    proxied = not _loopback(url)
    client = httpx.AsyncClient(base_url=url, headers=_token(), timeout=TIMEOUT_S, trust_env=proxied, verify=_trust(url))
    with asyncio.Runner() as runner:
        try:
            yield Api(client, runner, url)
        finally:
            runner.run(client.aclose())


@contextmanager
def _in_process(source: Source) -> Iterator[Api]:
    import httpx

    from collector.cli.settings import load_config
    from collector.metrics import Metrics
    from collector.serve.app import web_app
    from collector.store.store import Store

    config = load_config(source.config, {"data": str(source.data)})
    if not config.data.is_dir():
        raise UsageError(f"--data: there is no directory {config.data}")
    store = Store.open(config.store, config.data)
    try:
        app = web_app(store, dict, _ours(config), Metrics())
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        client = httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=None)
        with asyncio.Runner() as runner:
            yield Api(client, runner, str(config.data))
            runner.run(client.aclose())
    finally:
        store.close()


def _ours(config: Config) -> Config:
    """Who can open the directory needs no token, and asks by a loopback name."""
    auth = config.auth.model_copy(update={"tokens": (), "tokens_file": None})
    return config.model_copy(update={"auth": auth, "listen": type(config.listen)()})


def refusal(reply: httpx.Response, where: str) -> UsageError | NotFound | StoreError:
    """The error a reply stands for: 4xx is the caller's (404 unknown run), anything else, or not ours, the server's."""
    try:
        body = reply.json()
    except ValueError:
        body = {}
    said = body if isinstance(body, dict) else {}
    detail = str(said.get("detail") or f"{where} answered {reply.status_code}")
    hint = str(said.get("hint") or "")
    if "problem+json" not in reply.headers.get("content-type", ""):
        return StoreError(f"{where} answered {reply.status_code}, and not as passhat's API does", hint=other_door(said))
    if reply.status_code == 404:
        return NotFound(detail, hint=hint)
    if 400 <= reply.status_code < 500:
        return UsageError(detail, hint=hint)
    return StoreError(detail, hint=hint)


def other_door(said: dict[str, Any]) -> str:
    """What to do when something else answers: perhaps passhat's own receiver."""
    if "/v1/traces" in str(said.get("message", "")):
        return "that is the OTLP port: commands ask the web port (8317); name it with --server or PASSHAT_SERVER"
    return "is --server the web address of a passhat (port 8317)?"


def run_path(run_id: str) -> str:
    """The path of a run: every character that could mean something else is percent-encoded, dots too."""
    return "/api/v1/runs/" + quote(run_id, safe="").replace(".", "%2E")


def run_told(ask: Api, text: str, params: dict[str, Any]) -> dict[str, Any]:
    """All of the run that `text` names: its whole id, else the beginning of one run's only.

    Raises NotFound for none, UsageError with some of them for several.
    """
    try:
        told: dict[str, Any] = ask.get(run_path(text), params)
    except NotFound as error:
        found = ask.get("/api/v1/runs", {**params, "prefix": text, "limit": MOST_NAMED + 1})["runs"]
        ids = list(dict.fromkeys(run["run_id"] for run in found))
        if not ids:
            raise error from None
        if len(ids) > 1:
            more = ", some of them" if len(ids) > MOST_NAMED else ""
            named = "\n".join(ids[:MOST_NAMED])
            raise UsageError(f"several runs begin with {text}{more}:\n{named}", hint="give more of the id") from None
        told = ask.get(run_path(ids[0]), params)
    return told


def _json(reply: httpx.Response, where: str) -> Any:
    try:
        return reply.json()
    except ValueError:
        raise StoreError(f"{where} answers, but not as passhat does", hint=other_door({})) from None


def _token() -> dict[str, str]:
    token = os.environ.get("PASSHAT_TOKEN")
    return {"Authorization": f"Bearer {token}"} if token else {}


def _trust(url: str) -> ssl.SSLContext | bool:
    """Whom to believe: the CA of PASSHAT_CA where it is named. Shows PASSHAT_CLIENT_CERT where one is asked for."""
    ca, own = os.environ.get("PASSHAT_CA"), os.environ.get("PASSHAT_CLIENT_CERT")
    if urlsplit(url).scheme != "https" or not (ca or own):
        return True
    import ssl

    try:
        context = ssl.create_default_context(cafile=ca)
        if own:
            context.load_cert_chain(own)
    except OSError as error:  # ssl.SSLError is one
        raise UsageError(f"PASSHAT_CA or PASSHAT_CLIENT_CERT: {error.strerror or error}") from None
    return context


def _loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
