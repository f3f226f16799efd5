"""Files that inline code writes: `python - <<EOF`, `node -e`, notebook cells. Read, never run.

Every pattern is bounded: the text comes from outside and must not make matching slow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_LONGEST = 64_000  # characters of code that are looked at
_MOST = 200  # calls that are looked at

# `open(target, "w")`, `fs.writeFileSync(target, …)`, `shutil.copy(source, target)`, `os.remove(target)`
_OPEN = re.compile(
    r"""\bopen\s{0,9}\((?P<target>[^,()]{1,300}|[^,()]{0,100}\([^()]{0,200}\)),
        \s{0,9}(?:mode\s{0,9}=\s{0,9})?[rbuf]{0,2}['"][rbt]{0,2}[wax+]""",
    re.VERBOSE,
)
_WRITE_CALL = re.compile(
    r"""\b(?:writeFileSync|writeFile|appendFileSync|appendFile|File\.write|IO\.write|file_put_contents|outputFileSync
    |Deno\.writeTextFile(?:Sync)?|Bun\.write)\s{0,9}\((?P<target>[^,()]{1,300})""",
    re.VERBOSE,
)
_MOVE = re.compile(
    r"\b(?:shutil\.(?:copy2?|copyfile|move|copytree)|os\.(?:rename|replace))\s{0,9}\([^,()]{1,300},(?P<target>[^,()]{1,300})"
)
_DELETE = re.compile(r"\b(?:os\.(?:remove|unlink)|shutil\.rmtree|unlinkSync|rmSync)\s{0,9}\((?P<target>[^,()]{1,300})")
# `target.write_text(…)`: the target stands in front of it
_METHOD = re.compile(r"""\.\s{0,9}(?:write_text|write_bytes|open\s{0,9}\(\s{0,9}['"][wax])""")
_OWNER = re.compile(r"(?:[\w.]{1,100}|\w{0,40}(?:\.\w{1,40})?\([^()]{0,200}\))\s{0,9}$")
_LITERAL = re.compile(r"""['"]([^'"\n]{1,300})['"]""")
_ASSIGNED = re.compile(
    r"""^[ \t]{0,80}(?:(?:const|let|var)[ \t]{1,9})?(\w{1,80})[ \t]{0,9}=[ \t]{0,9}
        (?:pathlib\.)?(?:Path\s{0,9}\(\s{0,9})?[rbf]{0,2}['"]([^'"\n]{1,300})['"]""",
    re.MULTILINE | re.VERBOSE,
)


def written_paths(code: str) -> tuple[str, ...] | None:
    """The files this code writes, as far as literals tell; None when it writes none."""
    code = code[:_LONGEST]
    found = [match["target"] for pattern in (_OPEN, _WRITE_CALL, _MOVE) for match in _some(pattern, code)]
    for match in _some(_METHOD, code):
        owner = _OWNER.search(code[max(0, match.start() - 300) : match.start()])
        found.append(owner[0] if owner is not None else "")
    return _named(found, code)


def deleted_paths(code: str) -> tuple[str, ...] | None:
    """The files this code deletes; None when it deletes none."""
    code = code[:_LONGEST]
    return _named([match["target"] for match in _some(_DELETE, code)], code)


def _some(pattern: re.Pattern[str], code: str) -> Iterator[re.Match[str]]:
    for number, match in enumerate(pattern.finditer(code)):
        if number >= _MOST:
            return
        yield match


def _named(targets: list[str], code: str) -> tuple[str, ...] | None:
    """The paths that the targets spell out, or that the variables they name were set to."""
    if not targets:
        return None
    variables = dict(_ASSIGNED.findall(code))
    paths: list[str] = []
    for target in targets:
        literal = _LITERAL.search(target)
        if literal:
            paths.append(literal[1])
        elif target.strip() in variables:
            paths.append(variables[target.strip()])
    return tuple(dict.fromkeys(paths))
