"""What both transports do with the bytes of a request: take them in within the limits, then wait for the spool."""

from __future__ import annotations

import asyncio

from collector.errors import Overloaded, TooLarge
from collector.receive.inflate import STEP, Inflater
from collector.receive.largest import largest
from collector.receive.otlp import Call, Receiver

INLINE_BYTES = 256 << 10  # larger bodies are decoded in a thread, so that small requests do not wait for them
SHARE_S = 0.02  # between two tries to get a share of the bytes in flight


class Intake:
    """A body as it arrives: inflated, within its own limit and its share of the bytes in flight. Free it in the end."""

    def __init__(self, receiver: Receiver, coding: str, call: Call) -> None:
        self._call = call
        self._harmless = receiver.harmless
        self._limits = receiver.limits
        self._in_flight = receiver.in_flight
        self._inflater = Inflater(coding, receiver.limits.max_request_bytes)
        self._held = 0

    async def feed(self, chunk: bytes) -> None:
        """Takes the next bytes. Raises TooLarge, BadData, or Overloaded when others hold all memory there is."""
        for start in range(0, len(chunk), STEP):
            try:
                self._inflater.feed(chunk[start : start + STEP])
            except TooLarge as error:
                raise TooLarge(f"{error}{self._largest()}: send smaller batches") from None
            await self._take(self._inflater.size - self._held)

    async def _take(self, size: int) -> None:
        deadline = asyncio.get_running_loop().time() + self._limits.inflight_wait_s
        while not self._in_flight.take(size):
            if asyncio.get_running_loop().time() >= deadline:
                raise Overloaded(f"{self._limits.inflight_bytes} bytes of other requests are in flight")
            await asyncio.sleep(SHARE_S)
        self._held += size

    def _largest(self) -> str:
        if self._call.encoding != "protobuf":
            return ""
        return largest(self._inflater.held, self._call.signal, self._harmless)

    def finish(self) -> bytes:
        """The whole body."""
        return self._inflater.finish()

    def free(self) -> None:
        """Gives the share back."""
        self._in_flight.give(self._held)
        self._held = 0


async def store(receiver: Receiver, call: Call, body: bytes) -> None:
    """Returns when the request is durable. Raises PermanentError or RetryableError, and nothing of it is kept then."""
    if len(body) > INLINE_BYTES:
        await asyncio.to_thread(receiver.begin, call, body)
    else:
        receiver.begin(call, body)
    try:
        async with asyncio.timeout(receiver.limits.ack_timeout_s):
            for future in call.durable:
                await asyncio.wrap_future(future)
    except TimeoutError:
        receiver.give_up(call)


def bearer(header: str) -> str | None:
    """The token of an Authorization header; None for another scheme."""
    scheme, _, token = header.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None
