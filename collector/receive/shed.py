"""What is refused first while the spool fills: logs, then spans that name no run, then everything.

Each is told to come back in a second and counted: what exporters still hold is sent again once the store keeps up.
"""

from __future__ import annotations

from typing import Any

from collector.errors import Shed
from collector.journal import Signal
from semconv.names import RUN_ID

SHED_LOGS = 0.90  # of spool.max_bytes: from here on no logs
SHED_SPANS = 0.95  # and from here on no request without a run id


def shed(signal: Signal, request: Any, share: float) -> None:
    """Raises Shed for a request whose class is not taken while this `share` of the spool is."""
    if not SHED_LOGS <= share < 1:  # at the cap the spool itself refuses, whatever it is
        return
    if signal == "logs":
        raise Shed(f"the spool is {share:.0%} full: logs are refused, so that spans still fit")
    if share >= SHED_SPANS and not _names_a_run(request):
        raise Shed(f"the spool is {share:.0%} full: spans without {RUN_ID} are refused, so that runs still fit")


def _names_a_run(request: Any) -> bool:
    for group in request.resource_spans:
        if _has_id(group.resource):
            return True
        if any(_has_id(span) for scope in group.scope_spans for span in scope.spans):
            return True
    return False


def _has_id(element: Any) -> bool:
    return any(attribute.key == RUN_ID for attribute in element.attributes)
