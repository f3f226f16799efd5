"""A sender for a measurement: pre-built requests, in its own process, over HTTP or gRPC, as fast as asked.

Says `ready` once the requests are built, sends after a line on stdin, then tells what it saw. Refused requests (503,
UNAVAILABLE) are sent again after a second, as exporters do.
"""

from __future__ import annotations

import http.client
import json
import sys
import threading
import time
from collections.abc import Callable, Sequence

import grpc

from bench.batches import Request, requests

CONNECTIONS = 4
METHOD = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
RETRY_S = 1.0

Send = Callable[[bytes], bool]  # true when acknowledged, false when refused for now


def main(transport: str, address: str, spans: int, spans_per_s: float, runs: int) -> None:
    """Send `spans` spans in requests of `runs` runs; `spans_per_s` 0 is as fast as it goes."""
    sent = list(requests(spans, runs))
    print("ready", flush=True)
    sys.stdin.readline()
    lanes = [Lane(sent[lane::CONNECTIONS], SENDERS[transport](address)) for lane in range(CONNECTIONS)]
    began = time.time()
    for lane in lanes:
        lane.start(began, spans_per_s / CONNECTIONS)
    for lane in lanes:
        lane.thread.join()
    ended = time.time()
    acks = sorted(ms for lane in lanes for ms in lane.acks_ms)
    told = {
        "began": began,
        "ended": ended,
        "requests": len(sent),
        "spans": sum(request.spans for request in sent),
        "bytes": sum(len(request.payload) for request in sent),
        "refused": sum(lane.refused for lane in lanes),
        "ack_p50_ms": percentile(acks, 50),
        "ack_p99_ms": percentile(acks, 99),
    }
    print(json.dumps(told), flush=True)


class Lane:
    """One connection with its share of the requests; requests are due at a steady pace, late ones at once."""

    def __init__(self, share: Sequence[Request], send: Send) -> None:
        self._share = share
        self._send = send
        self.acks_ms: list[float] = []
        self.refused = 0

    def start(self, began: float, spans_per_s: float) -> None:
        self.thread = threading.Thread(target=self._run, args=(began, spans_per_s), daemon=True)
        self.thread.start()

    def _run(self, began: float, spans_per_s: float) -> None:
        due = began
        for request in self._share:
            if spans_per_s:
                time.sleep(max(0.0, due - time.time()))
                due += request.spans / spans_per_s
            asked = time.perf_counter()
            while not self._send(request.payload):
                self.refused += 1
                time.sleep(RETRY_S)
            self.acks_ms.append(1000 * (time.perf_counter() - asked))


def over_http(address: str) -> Send:
    """OTLP/HTTP with protobuf on one kept connection."""
    host, _, port = address.rpartition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=60)
    headers = {"Content-Type": "application/x-protobuf"}

    def send(payload: bytes) -> bool:
        connection.request("POST", "/v1/traces", payload, headers)
        reply = connection.getresponse()
        body = reply.read()
        if reply.status not in (200, 503):
            raise SystemExit(f"HTTP {reply.status}: {body[:300]!r}")
        return reply.status == 200

    return send


def over_grpc(address: str) -> Send:
    """OTLP/gRPC on one channel."""
    channel = grpc.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)])
    call: Callable[..., bytes] = channel.unary_unary(METHOD, bytes, bytes)

    def send(payload: bytes) -> bool:
        try:
            call(payload, timeout=60)
        except grpc.RpcError as error:
            if error.code() is not grpc.StatusCode.UNAVAILABLE:
                raise
            return False
        return True

    return send


SENDERS = {"http": over_http, "grpc": over_grpc}


def percentile(values: Sequence[float], percent: int) -> float:
    """The smallest value that so many percent do not exceed."""
    return values[min(len(values) - 1, -(-len(values) * percent // 100) - 1)]


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5]))
