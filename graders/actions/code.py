"""Files that inline code writes: `python - <<EOF`, `node -e`, notebook cells. Read, never run."""

from __future__ import annotations

import re

_WRITE_OPEN = re.compile(
    r"""\bopen\s*\(\s*(?P<target>[^,()]+|[^,()]*\([^()]*\))\s*,\s*(?:mode\s*=\s*)?[rbuf]*['"][^'"]*[wax+][^'"]*['"]"""
)
_WRITE_TEXT = re.compile(
    r"""(?P<target>[\w.]+|Path\s*\([^()]*\)|pathlib\.Path\s*\([^()]*\)|\([^()]*\))\s*\.\s*(?:write_text|write_bytes|open\s*\(\s*['"][wax])"""
)
_WRITE_CALL = re.compile(
    r"""\b(?:writeFileSync|writeFile|appendFileSync|appendFile|File\.write|IO\.write|file_put_contents|outputFileSync
    |Deno\.writeTextFile(?:Sync)?|Bun\.write)\s*\(\s*(?P<target>[^,()]+)""",
    re.VERBOSE,
)
_MOVES = re.compile(
    r"""\b(?:shutil\.(?:copy2?|copyfile|move|copytree)|os\.(?:rename|replace))\s*\([^,()]+,\s*(?P<target>[^,()]+)"""
)
_DELETES = re.compile(r"""\b(?:os\.(?:remove|unlink)|shutil\.rmtree|unlinkSync|rmSync)\s*\(\s*(?P<target>[^,()]+)""")
_LITERAL = re.compile(r"""['"]([^'"\n]{1,400})['"]""")
_ASSIGNED = re.compile(
    r"""^\s*(?:const|let|var)?\s*(\w+)\s*=\s*(?:pathlib\.)?(?:Path\s*\(\s*)?[rbf]?['"]([^'"\n]+)['"]""", re.MULTILINE
)


def written_paths(code: str) -> tuple[str, ...] | None:
    """The files this code writes, as far as literals tell; None when it writes none."""
    return _targets(code, (_WRITE_OPEN, _WRITE_TEXT, _WRITE_CALL, _MOVES))


def deleted_paths(code: str) -> tuple[str, ...] | None:
    """The files this code deletes; None when it deletes none."""
    return _targets(code, (_DELETES,))


def _targets(code: str, patterns: tuple[re.Pattern[str], ...]) -> tuple[str, ...] | None:
    code = code[:64_000]
    found = [match["target"] for pattern in patterns for match in pattern.finditer(code)]
    if not found:
        return None
    names = dict(_ASSIGNED.findall(code))
    paths: list[str] = []
    for target in found:
        literal = _LITERAL.search(target)
        if literal:
            paths.append(literal[1])
        elif target.strip() in names:
            paths.append(names[target.strip()])
    return tuple(dict.fromkeys(paths))
