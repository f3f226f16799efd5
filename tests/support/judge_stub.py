"""A model on loopback that judges as it is told, in either form. Real sockets; keeps what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

PASS = '{"verdict": "pass", "reason": "It does.", "lines": [1]}'
FAIL = '{"verdict": "fail", "reason": "It does not.", "lines": [1]}'


class Asked(NamedTuple):
    """One request as it came."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def text(self) -> str:
        """What the user message says."""
        return str(self.body["messages"][-1]["content"])


class Stub:
    """`says` makes the answer's text; `status` other than 200 is answered instead; while `hold` is set it hangs."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.says: Callable[[Asked], str] = lambda _: PASS
        self.status = 200
        self.statuses: list[int] = []  # of the next answers, before `status`
        self.raw: bytes | None = None
        self.hold = threading.Event()
        self.hold.set()
        self.url = ""

    def reply(self, one: Asked) -> tuple[int, bytes]:
        self.asked.append(one)
        self.hold.wait(30)
        status = self.statuses.pop(0) if self.statuses else self.status
        if status != 200:
            return status, b'{"error": "no"}'
        if self.raw is not None:
            return 200, self.raw
        said = self.says(one)
        if "system" in one.body:
            usage = {"input_tokens": 70, "output_tokens": 7}
            blocks = [{"type": "text", "text": said}]
            return 200, json.dumps({"content": blocks, "model": "claude-x-1", "usage": usage}).encode()
        choices = [{"index": 0, "message": {"role": "assistant", "content": said}}]
        usage = {"prompt_tokens": 100, "completion_tokens": 10}
        return 200, json.dumps({"choices": choices, "model": "gpt-x-1", "usage": usage}).encode()


@contextmanager
def judge_stub() -> Iterator[Stub]:
    """A running stub."""
    stub = Stub()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            names = {name.lower(): value for name, value in self.headers.items()}
            status, said = stub.reply(Asked(self.path, names, body))
            with suppress(OSError):  # who asked may have given up
                self.send_response(status)
                self.send_header("Content-Length", str(len(said)))
                self.end_headers()
                self.wfile.write(said)

        def log_message(self, *_: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    stub.url = f"http://127.0.0.1:{server.server_port}/v1/chat/completions"
    try:
        yield stub
    finally:
        stub.hold.set()
        server.shutdown()
        server.server_close()
        thread.join()
