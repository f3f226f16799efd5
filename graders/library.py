"""Checks that are off unless named: `{use: force-push}`, with any key of their own overridden."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graders.errors import CheckError, did_you_mean

LIBRARY: dict[str, dict[str, Any]] = {}


def from_library(written: Mapping[str, Any]) -> Mapping[str, Any]:
    """The check as written, or, where it names one of the library (`use`, or an id without a kind), that one."""
    if "use" in written:
        name = str(written["use"])
        if name not in LIBRARY:
            problem = f"the library has no check '{name}'{did_you_mean(name, LIBRARY)}"
            raise CheckError(problem, check_id=str(written.get("id", "")), key="use")
        return {"id": name, **LIBRARY[name], **{key: value for key, value in written.items() if key != "use"}}
    if "kind" not in written and written.get("id") in LIBRARY:
        return {**LIBRARY[str(written["id"])], **written}
    return written
