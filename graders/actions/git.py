"""What git commands do: all are `vcs`; some change the files of the working tree, some talk to a server."""

from __future__ import annotations

import re

from graders.actions.action import Kind
from graders.words import words

Found = list[tuple[Kind, tuple[str, ...]]]

_VALUED = words("-C -c --git-dir --work-tree --namespace --exec-path")
_NETWORK = words("push pull fetch clone ls-remote")
_CHANGES_TREE = words("apply am merge rebase cherry-pick revert pull")
_ABOUT_A_FILE = re.compile(r"(?:/|\.)\w+$|^\.{1,2}$|/$")


def git_effects(argv: tuple[str, ...]) -> Found:
    """The effects of `git …` (also of `gh`, `hg`, `svn`, `jj` by `vcs` alone)."""
    at = 1
    while at < len(argv) and argv[at].startswith("-"):
        at += 2 if argv[at] in _VALUED else 1
    if at >= len(argv):
        return []
    verb, rest = argv[at], argv[at + 1 :]
    found: Found = [("vcs", ())]
    if verb in _NETWORK or (verb in ("submodule", "remote") and "update" in rest):
        found.append(("network", ()))
    paths = _changed(verb, rest)
    if paths is not None:
        found.append(("edit", paths))
    if verb == "rm" and "--cached" not in rest:
        found.append(("delete", _plain(rest)))
    if verb == "clean" and any(word.startswith("-") and "f" in word for word in rest):
        found.append(("delete", ()))
    if verb in ("show", "diff", "blame", "grep", "log") or (verb == "cat-file"):
        found.append(("read", tuple(_after_dashes(rest) or ())))
    return found


def _changed(verb: str, rest: tuple[str, ...]) -> tuple[str, ...] | None:
    """The files of the working tree that change, () when it is not said which, None when none does."""
    if verb in ("checkout", "restore"):
        return _restored(verb, rest)
    if verb == "stash":
        return () if not rest or rest[0] in ("push", "save", "pop", "apply") or rest[0].startswith("-") else None
    if verb == "reset":
        return () if "--hard" in rest or "--merge" in rest or "--keep" in rest else None
    if verb == "mv":
        return _plain(rest)
    if verb == "apply":
        return None if any(word in ("--check", "--stat", "--cached", "--numstat", "--summary") for word in rest) else ()
    if verb in _CHANGES_TREE:
        return None if "--abort" in rest and verb != "am" else ()
    return None


def _restored(verb: str, rest: tuple[str, ...]) -> tuple[str, ...] | None:
    """`checkout -- f`, `checkout HEAD~1 f`, `restore f` change files; switching a branch is left to `vcs`."""
    named = _after_dashes(rest)
    if named is not None:
        return named
    if verb == "restore":
        if "--staged" in rest and "--worktree" not in rest and "-W" not in rest:
            return None
        return tuple(path for path in _plain(rest) if path not in ("HEAD",))
    if any(word in ("-b", "-B", "--orphan", "-t", "--track", "--detach") for word in rest):
        return None
    files = tuple(
        word for word in _plain(rest) if _ABOUT_A_FILE.search(word) and not re.match(r"(?:origin|upstream)/", word)
    )
    if len(_plain(rest)) == 1 and files and not re.search(r"\.\w{1,5}$|^\.{1,2}$|/$", files[0]):
        return None  # feature/login is a branch, src/app.py a file
    return files or None


def _after_dashes(rest: tuple[str, ...]) -> tuple[str, ...] | None:
    return rest[rest.index("--") + 1 :] if "--" in rest else None


def _plain(rest: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for word in rest if not word.startswith("-"))
