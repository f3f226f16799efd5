"""A verdict: what one check says of one run."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

VerdictStatus = Literal["pass", "fail", "error", "unknown", "not_applicable", "pending"]
Axis = Literal["trajectory", "calls", "outcome"]


class Verdict(Struct, frozen=True, omit_defaults=True):
    """`lines` are the line numbers the verdict rests on; `reason` is one plain sentence."""

    check_id: str
    kind: str
    status: VerdictStatus
    reason: str
    lines: tuple[int, ...] = ()
    axis: Axis = "trajectory"
    gate: bool = False
    severity: str = ""
    on_fail: str = "fail"
    check_version: str = ""
    fix: str = ""
    named: bool = True  # False: an advisory check that is there without being configured
