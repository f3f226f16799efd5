"""HTTP by hand, for what a client library would never send or would hide."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def connection(endpoint: str, send: bytes = b"") -> Iterator[socket.socket]:
    """A connection to an `http://host:port` endpoint, with something sent already."""
    host, _, port = endpoint.removeprefix("http://").partition("/")[0].rpartition(":")
    with socket.create_connection((host.strip("[]"), int(port)), timeout=60) as sock:
        sock.sendall(send)
        yield sock


def head(
    length: int | None, *more: str, path: str = "/v1/traces", method: str = "POST", kind: str = "application/json"
) -> bytes:
    """A request header."""
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", *([f"Content-Type: {kind}"] if kind else []), *more]
    if length is not None:
        lines.append(f"Content-Length: {length}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def read_reply(sock: socket.socket, has_body: bool = True) -> tuple[int, dict[str, str], bytes]:
    """One reply, read by its own framing and not a byte further; fails when that is incomplete."""
    data = b""
    while not data.endswith(b"\r\n\r\n"):
        byte = sock.recv(1)
        assert byte, f"the connection ended inside the header: {data!r}"
        data += byte
    first, *lines = data.decode("latin-1").split("\r\n")
    headers = {k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in lines if line)}
    if not has_body:
        return int(first.split()[1]), headers, b""
    if headers.get("transfer-encoding") == "chunked":
        return int(first.split()[1]), headers, _chunks(sock)
    return int(first.split()[1]), headers, _exactly(sock, int(headers["content-length"]))


def _exactly(sock: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = sock.recv(size - len(data))
        assert piece, "the connection ended inside the body"
        data += piece
    return data


def _chunks(sock: socket.socket) -> bytes:
    body = b""
    while True:
        line = b""
        while not line.endswith(b"\r\n"):
            line += _exactly(sock, 1)
        size = int(line, 16)
        body += _exactly(sock, size)
        _exactly(sock, 2)
        if not size:
            return body
