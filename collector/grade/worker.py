"""The child process that runs Python checks: a broken, slow or greedy one costs its own verdict, not the collector.

Frames on stdin and stdout: four bytes of length (big endian), then JSON. A request is `{"function": "module:name",
"run": {…}}`, or without `run` to be told what the function is. The reply is `{"ok": {…}}` or `{"error": "…"}`.
"""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from collections.abc import Callable
from typing import Any, BinaryIO

import msgspec

from graders.checks.external import finding_of
from graders.python_checks import checks_in
from semconv.run import Run

LENGTH_BYTES = 4


class Request(msgspec.Struct):
    """A function and the run it is to judge; without a run it is only described."""

    function: str
    run: Run | None = None


def serve(requests: BinaryIO, replies: BinaryIO) -> None:
    """Answer requests until the other side closes."""
    decode, encode = msgspec.json.Decoder(Request).decode, msgspec.json.Encoder(enc_hook=repr).encode
    while (body := read_frame(requests)) is not None:
        try:
            reply: dict[str, Any] = {"ok": answer(decode(body))}
        except BaseException as error:  # SystemExit too: a check that calls exit() must not look like a crash of ours
            reply = {"error": f"{type(error).__name__}: {error}"[:2_000]}
        write_frame(replies, encode(reply))


def answer(request: Request) -> dict[str, Any]:
    """The finding of the function on the run, or what the function says of itself."""
    function = load(request.function)
    if request.run is None:
        return described(function)
    finding = finding_of(function(request.run))
    return {"status": finding.status, "reason": finding.reason, "lines": finding.lines}


def load(name: str) -> Callable[..., Any]:
    """The function `module:name`. Raises ImportError saying which part is missing."""
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise ImportError(f"'{name}' is not module:name")
    found: Any = importlib.import_module(module)
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise ImportError(f"module '{module}' has no '{attribute}'")
        found = getattr(found, part)
    if not callable(found):
        raise ImportError(f"'{name}' is not a function")
    return found  # type: ignore[no-any-return]


def described(function: Callable[..., Any]) -> dict[str, Any]:
    """The keys of its `@check` and the text of its module: another text is another version of the check."""
    module = inspect.getmodule(function)
    source = inspect.getsource(module) if module is not None else ""
    (keys,) = checks_in({"it": function}, source) or [{"source": source}]
    return {key: value for key, value in keys.items() if key != "function"}


def read_frame(stream: BinaryIO) -> bytes | None:
    """The next frame, None at the end."""
    head = stream.read(LENGTH_BYTES)
    if len(head) < LENGTH_BYTES:
        return None
    return stream.read(int.from_bytes(head, "big"))


def write_frame(stream: BinaryIO, body: bytes) -> None:
    stream.write(len(body).to_bytes(LENGTH_BYTES, "big") + body)
    stream.flush()


def main() -> None:
    """Keep the pipes for frames alone: what a check prints goes to stderr."""
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    requests = os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), sys.stdin.fileno())
    serve(requests, replies)


if __name__ == "__main__":
    main()
