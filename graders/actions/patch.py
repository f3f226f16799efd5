"""Files that a patch text touches: the `apply_patch` form and unified diffs."""

from __future__ import annotations

import re

_OWN = re.compile(r"^\*\*\* (Update|Add|Delete) File: (.+?)\s*$", re.MULTILINE)
_MOVED = re.compile(r"^\*\*\* Move to: (.+?)\s*$", re.MULTILINE)
_UNIFIED = re.compile(r"^(?:\+\+\+|---) (?:[ab]/)?(.+?)(?:\t.*)?\s*$", re.MULTILINE)


def patched_paths(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(edited, deleted) paths of a patch, in order, each once."""
    own = _OWN.findall(text)
    if own:
        edited = [path for verb, path in own if verb != "Delete"] + _MOVED.findall(text)
        return tuple(dict.fromkeys(edited)), tuple(path for verb, path in own if verb == "Delete")
    paths = [path for path in _UNIFIED.findall(text) if path != "/dev/null"]
    return tuple(dict.fromkeys(paths)), ()
