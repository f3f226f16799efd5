"""A model on loopback that speaks OpenAI's chat completions: it calls the first tool once, then repeats its answer."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps(_completion(asked)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing: what the test prints is what counts."""


def _completion(asked: dict[str, Any]) -> dict[str, Any]:
    last = asked["messages"][-1]
    said: dict[str, Any] = {"role": "assistant", "content": None}
    if last["role"] == "tool":
        said["content"] = f"I looked: {last['content']}"
    else:
        function = {"name": asked["tools"][0]["function"]["name"], "arguments": '{"order_id": "A1"}'}
        said["tool_calls"] = [{"id": "call_1", "type": "function", "function": function}]
    reason = "stop" if said["content"] else "tool_calls"
    return {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1_793_000_000, "model": asked["model"],
        "choices": [{"index": 0, "message": said, "finish_reason": reason}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }  # fmt: skip


@contextmanager
def stub_model() -> Iterator[str]:
    """The base URL of a running stub."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
