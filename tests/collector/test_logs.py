"""Logs for machines: one JSON object a line, whatever ends up on stderr and whatever text is in it."""

from __future__ import annotations

import json
import subprocess
import sys

from tests.house.source_tree import ROOT

TALK = """
import logging, threading, warnings
from collector import logs
logs.setup("json")
logging.getLogger("passhat.test").warning("two\\nlines \\x1b[31m and a lone \\udcff")
warnings.warn("old")
def broken(): raise ValueError("in a thread")
thread = threading.Thread(target=broken, name="drain")
thread.start(); thread.join()
try: 1 / 0
except ZeroDivisionError: logging.getLogger("passhat.test").exception("no")
"""


def test_every_line_is_one_object() -> None:
    done = subprocess.run([sys.executable, "-c", TALK], capture_output=True, text=True, cwd=ROOT)
    told = [json.loads(line) for line in done.stderr.splitlines()]
    assert [(line["level"], line["logger"]) for line in told] == [
        ("warning", "passhat.test"),
        ("warning", "py.warnings"),
        ("error", "passhat"),
        ("error", "passhat.test"),
    ]
    assert told[0]["message"].startswith("two\nlines")
    assert "thread drain ended" in told[2]["message"]
    assert "ValueError: in a thread" in told[2]["exception"]
    assert "ZeroDivisionError" in told[3]["exception"]
