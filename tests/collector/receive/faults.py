"""A proxy that does to OTLP clients what networks and load balancers do: it breaks off, repeats, delays, refuses."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

FAULTS = ("503 for 3 s", "disconnect after the body", "disconnect before the reply", "duplicate", "5 s delay")
UNAVAILABLE = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n"


class _HangUp(Exception):
    """The client's connection is closed without a word."""


class HttpFaults:
    """An HTTP proxy to one server with one kind of fault; the first requests suffer it, `duplicate` all of them."""

    def __init__(self, upstream: str, fault: str) -> None:
        host, _, port = upstream.removeprefix("http://").partition(":")
        self._upstream = (host, int(port))
        self._fault = fault
        self._started = time.monotonic()
        self._requests = 0
        self.struck = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.http = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(10)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, suppress(OSError, _HangUp):
            while request := read_message(client):
                client.sendall(self._answer(request))

    def _answer(self, request: bytes) -> bytes:
        self._requests += 1
        first = self._requests == 1
        if self._fault == "503 for 3 s" and time.monotonic() - self._started < 3:
            self.struck += 1
            return UNAVAILABLE
        if self._fault == "disconnect after the body" and first:
            self.struck += 1
            raise _HangUp
        if self._fault == "5 s delay" and first:
            self.struck += 1
            time.sleep(5)
        reply = self._forward(request)
        if self._fault == "duplicate":
            self.struck += 1
            reply = self._forward(request)
        if self._fault == "disconnect before the reply" and first:
            self.struck += 1
            raise _HangUp
        return reply

    def _forward(self, request: bytes) -> bytes:
        with socket.create_connection(self._upstream, timeout=30) as server:
            server.sendall(request)
            return read_message(server)


def read_message(sock: socket.socket) -> bytes:
    """One whole HTTP message, b'' at the end of the connection."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = sock.recv(65536)
        if not piece:
            return b""
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    fields = dict(line.lower().split(b":", 1) for line in head.split(b"\r\n")[1:])
    complete: Callable[[bytes], bool]
    if fields.get(b"transfer-encoding", b"").strip() == b"chunked":
        complete = lambda body: body.endswith(b"0\r\n\r\n")  # noqa: E731
    else:
        size = int(fields.get(b"content-length", b"0"))
        complete = lambda body: len(body) >= size  # noqa: E731
    while not complete(body):
        piece = sock.recv(65536)
        if not piece:
            return b""
        body += piece
    return head + b"\r\n\r\n" + body


HEADERS, DATA, END_STREAM = 1, 0, 1


class GrpcFaults:
    """A TCP proxy to a gRPC server that reads HTTP/2 frames as they pass; the first call suffers the fault."""

    def __init__(self, upstream: str, fault: str) -> None:
        host, _, port = upstream.partition(":")
        self._upstream = (host, int(port))
        self._fault = fault
        self.struck = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.grpc = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(10)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._upstream)
                for pair in ((client, server, True), (server, client, False)):
                    threading.Thread(target=self._pump, args=pair, daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket, from_client: bool) -> None:
        try:
            for kind, flags, raw in frames(source, preface=from_client):
                self._strike(kind, flags, from_client)
                target.sendall(raw)
        except (OSError, _HangUp):
            pass
        for sock in (source, target):
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            sock.close()

    def _strike(self, kind: int, flags: int, from_client: bool) -> None:
        if self.struck:
            return
        if self._fault == "disconnect before the reply" and not from_client and kind == HEADERS:
            self.struck += 1
            raise _HangUp
        if from_client and kind == DATA and flags & END_STREAM:
            if self._fault == "disconnect after the body":
                self.struck += 1
                raise _HangUp
            if self._fault == "5 s delay":
                self.struck += 1
                time.sleep(5)


def frames(sock: socket.socket, *, preface: bool) -> Iterator[tuple[int, int, bytes]]:
    """Type, flags and bytes of each HTTP/2 frame; the client's preface comes as a frame of type -1."""
    file = sock.makefile("rb")
    with file:
        if preface:
            yield -1, 0, file.read(24)
        while len(head := file.read(9)) == 9:
            body = file.read(int.from_bytes(head[:3], "big"))
            yield head[3], head[4], head + body


@contextmanager
def http_faults(upstream: str, fault: str) -> Iterator[HttpFaults]:
    proxy = HttpFaults(upstream, fault)
    try:
        yield proxy
    finally:
        proxy.close()


@contextmanager
def grpc_faults(upstream: str, fault: str) -> Iterator[GrpcFaults]:
    proxy = GrpcFaults(upstream, fault)
    try:
        yield proxy
    finally:
        proxy.close()
