"""A receiver in a process of its own, to be killed: prints where it listens, then serves until it is told to stop."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.collector.receive.serving import listening

if __name__ == "__main__":
    with listening(Path(sys.argv[1])) as running:
        print(json.dumps({"http": running.http, "grpc": running.grpc}), flush=True)
        sys.stdin.read()
