"""A receiver of HTTP posts on loopback, for what passhat tells others. Real sockets; answers as it is told."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple


class Post(NamedTuple):
    """One post as it came, its body inflated."""

    path: str
    headers: dict[str, str]
    body: bytes


class Sink:
    """`posts` are those that were taken; while `refuse` is set each is answered with that status.

    A body that holds `poison` is answered with 400, whatever else is in it.
    """

    def __init__(self) -> None:
        self.posts: list[Post] = []
        self.refused: list[Post] = []
        self.refuse = 0
        self.poison = b""
        self.reply = b""
        self.url = ""

    def take(self, post: Post) -> int:
        refuse = 400 if self.poison and self.poison in post.body else self.refuse
        (self.refused if refuse else self.posts).append(post)
        return refuse or 200


@contextmanager
def sink() -> Iterator[Sink]:
    """A running sink."""
    kept = Sink()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            names = {name.lower(): value for name, value in self.headers.items()}
            status = kept.take(Post(self.path, names, body))
            self.send_response(status)
            self.send_header("Content-Length", str(len(kept.reply)))
            self.end_headers()
            self.wfile.write(kept.reply)

        def log_message(self, *_: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    kept.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield kept
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
