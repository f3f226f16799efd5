"""Sockets bound before anything is served, so that a port in use is an error at once and port 0 is known at once."""

from __future__ import annotations

import asyncio
import errno
import socket
import threading
from typing import Any

import uvicorn

from collector.config import join_address, split_address
from collector.config.keys import ListenConfig
from collector.errors import UsageError
from collector.receive.slow_clients import BoundedHttp
from collector.tls import Certificates

BACKLOG = 2048
LOOPBACK = ("127.0.0.1", "localhost", "::1")
START_S = 15.0


def bind(address: str, what: str) -> list[socket.socket]:
    """Listening sockets for `host:port`; loopback means 127.0.0.1 and, where the machine has it, ::1.

    Raises UsageError naming the key of the configuration when the port is taken.
    """
    host, port = split_address(address)
    first = _listen("127.0.0.1" if host in LOOPBACK else host, port, what)
    if host not in LOOPBACK:
        return [first]
    taken = first.getsockname()[1]
    try:
        return [first, _listen("::1", taken, what)]
    except (UsageError, OSError):
        # No IPv6 here, or another program holds the port on ::1: 127.0.0.1 alone serves every stock exporter.
        return [first]


class Doors:
    """The sockets of a collector: those of HTTP bound, that of gRPC (which binds its own) only tried."""

    def __init__(self) -> None:
        self.http: list[socket.socket] = []
        self.web: list[socket.socket] = []

    def close(self) -> None:
        """Closes what is bound; a server that took a socket over has closed it by then."""
        for sock in (*self.http, *self.web):
            sock.close()


def bind_all(listen: ListenConfig) -> Doors:
    """Every listener's socket. Raises one UsageError that names all addresses that cannot be had."""
    doors = Doors()
    failed: list[UsageError] = []
    for name in ("grpc", "http", "web"):
        try:
            sockets = bind(getattr(listen, name), f"listen.{name}")
        except UsageError as error:
            failed.append(error)
            continue
        if name == "grpc":
            for sock in sockets:
                sock.close()
        else:
            setattr(doors, name, sockets)
    if failed:
        doors.close()
        hints = [error.hint for error in failed if error.hint]
        if len(hints) > 1:
            hints = [
                "stop what listens there, or set other ports: --grpc-port, --http-port, --web-port (0: any free port)"
            ]
        raise UsageError("\n".join(map(str, failed)), hint="".join(hints))
    return doors


def _listen(host: str, port: int, what: str) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        sock.bind((host, port))
        sock.listen(BACKLOG)
    except OSError as error:
        sock.close()
        if error.errno == errno.EADDRINUSE:
            raise UsageError(
                f"{what}: {join_address(host, port)} is in use",
                hint=f"stop the program that listens there, or set another port: {_flag(what)} (0: any free port)",
            ) from None
        if error.errno in (errno.EADDRNOTAVAIL, errno.EACCES) or isinstance(error, socket.gaierror):
            raise UsageError(
                f"{what}: cannot listen on {join_address(host, port)}: {error.strerror or error}"
            ) from None
        raise
    sock.setblocking(False)
    return sock


def _flag(what: str) -> str:
    """The key and the flag that set a port."""
    return f"{what}, --{what.removeprefix('listen.')}-port"


class WebServer:
    """An ASGI app served by uvicorn in a thread of its own, on sockets already bound."""

    def __init__(
        self,
        app: Any,
        sockets: list[socket.socket],
        *,
        keep_alive_s: int = 60,
        certificates: Certificates | None = None,
    ) -> None:
        self._sockets = sockets
        host, port = sockets[0].getsockname()[:2]
        self.address = join_address(host, port)
        settings = uvicorn.Config(
            app,
            http=BoundedHttp,
            log_config=None,
            access_log=False,
            server_header=False,
            lifespan="off",
            timeout_keep_alive=keep_alive_s,
            timeout_graceful_shutdown=5,
        )
        if certificates is not None:
            settings.load()  # first: loading would put uvicorn's own context, of files it reads once, in place of ours
            settings.ssl = certificates.server_context()
        self._server = uvicorn.Server(settings)
        self._thread = threading.Thread(target=self._run, name=f"web {self.address}", daemon=True)
        self._up = threading.Event()
        self._failed: BaseException | None = None

    def start(self) -> None:
        """Return once the server accepts."""
        self._thread.start()
        if not self._up.wait(START_S):
            raise RuntimeError(f"{self.address} did not start within {START_S:.0f} s")
        if self._failed is not None:
            raise self._failed

    def leave(self) -> None:
        """Accept no more; what is in flight is finished meanwhile."""
        self._server.should_exit = True

    def stop(self, timeout_s: float = 8.0) -> None:
        """Finish the requests in flight, accept no more."""
        self.leave()
        self._thread.join(timeout_s)
        for sock in self._sockets:
            sock.close()

    def _run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=self._server.config.get_loop_factory()) as runner:
                runner.run(self._serve())
        except BaseException as error:
            self._failed = error
        finally:
            self._up.set()

    async def _serve(self) -> None:
        serving = asyncio.ensure_future(self._server.serve(sockets=self._sockets))
        while not self._server.started and not serving.done():
            await asyncio.sleep(0.005)
        self._up.set()
        await serving
