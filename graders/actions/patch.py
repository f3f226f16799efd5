"""Files that a patch text touches: the `apply_patch` form and unified diffs."""

from __future__ import annotations

import re

_OWN = re.compile(r"^\*\*\* (Update|Add|Delete) File: (.+)$", re.MULTILINE)
_MOVED = re.compile(r"^\*\*\* Move to: (.+)$", re.MULTILINE)
_UNIFIED = re.compile(r"^(?:\+\+\+|---) (?:[ab]/)?([^\n\t]+)", re.MULTILINE)


def patched_paths(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(edited, deleted) paths of a patch, in order, each once."""
    own = [(verb, path.strip()) for verb, path in _OWN.findall(text)]
    if own:
        edited = [path for verb, path in own if verb != "Delete"] + [path.strip() for path in _MOVED.findall(text)]
        return tuple(dict.fromkeys(edited)), tuple(path for verb, path in own if verb == "Delete")
    paths = [path.strip() for path in _UNIFIED.findall(text)]
    return tuple(dict.fromkeys(path for path in paths if path and path != "/dev/null")), ()
