"""Paths of calls: which belong to tests, which are scratch, when two name the same file."""

from __future__ import annotations

import posixpath
import re

from graders.memo import remembered
from graders.words import words

_TEST_FOLDERS = words(
    """test tests __tests__ __test__ spec specs e2e testdata test_data __snapshots__ __mocks__ cypress unittests
    unit_tests integration_tests functional_tests androidtest iostest testfixtures unit-tests integration-tests
    functional-tests e2e-tests tests-e2e unittest testsuite testsuites t xt"""
)
_TEST_FOLDER_SHAPE = re.compile(
    r"(?:[._-](?:unit|integration|functional|acceptance)?tests?|(?<=[a-z])Tests)$", re.IGNORECASE
)
_TEST_FILE = re.compile(
    r"""^(?:
        conftest\.py | tests?\.(?:py|rs|js|ts|rb|go|sh|pl|lua) | test_.*\.\w+ | .*_(?:test|tests|spec|unittest)\.\w+
      | .*[.-](?:test|tests|spec|e2e|e2e-spec|cy)\.(?:[cm]?[jt]sx?|vue|svelte|coffee|dart|lua)
      | .*\.(?:snap|bats|feature)
    )$""",
    re.VERBOSE,
)
_TEST_CLASS = re.compile(
    r"^(?:.*[a-z0-9](?:Test|Tests|TestCase|IT|ITCase|Spec|Specs|Suite)|Tests?[A-Z]\w*)"
    r"\.(?:java|kt|kts|scala|groovy|cs|vb|fs|php|swift|m|mm|cpp|cc|cxx|h|hs|dart|ex|exs|rb|ts|js)$"
)
_SCRATCH = re.compile(r"^(?:/dev/|/proc/|/tmp/|/var/tmp/|/private/tmp/|/private/var/folders/|\$\{?TMPDIR\}?/)")
_LOG = re.compile(r"\.(?:log|out|err|pid|tmp|lock|trace|prof)$")
SOURCE = re.compile(
    r"""\.(?:py|pyi|pyx|ipynb|js|mjs|cjs|jsx|ts|mts|cts|tsx|vue|svelte|go|rs|java|kt|kts|scala|groovy|rb|erb|php|cs|fs|vb
    |c|h|cc|cpp|cxx|hpp|hh|m|mm|swift|dart|ex|exs|erl|hs|ml|mli|clj|cljs|lua|pl|pm|r|jl|zig|nim|sh|bash|zsh|fish|ps1|sql
    |html|css|scss|sass|less|toml|yaml|yml|cfg|ini|gradle|cmake|mk|tf|proto|graphql|sol|nix|jinja|j2|tmpl)$""",
    re.VERBOSE | re.IGNORECASE,
)


@remembered
def is_test_path(path: str) -> bool:
    """Whether a path is a test file, by its name or a folder it lies in, in the languages people use."""
    parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    if not parts:
        return False
    *folders, name = parts
    if _TEST_FILE.match(name) or _TEST_CLASS.match(name):
        return True
    return any(folder.lower() in _TEST_FOLDERS or bool(_TEST_FOLDER_SHAPE.search(folder)) for folder in folders)


def is_scratch(path: str) -> bool:
    """Whether a shell redirection to this path leaves the code as it was: devices, temporary folders, logs."""
    return path in ("", "-") or bool(_SCRATCH.match(path) or _LOG.search(path))


@remembered
def joined(folder: str, path: str) -> str:
    """The path as seen from `folder` ('' is unknown), without `.` and `..` where they can be resolved."""
    path = path.replace("\\", "/")
    if path.startswith("file://"):
        path = path[7:]
    if folder and not path.startswith(("/", "~", "$")) and not re.match(r"[A-Za-z]:/", path):
        path = f"{folder}/{path}"
    return posixpath.normpath(path) if path else ""


def same_path(a: str, b: str) -> bool:
    """Whether two paths may be taken for one file: equal, or one is the other's tail from a folder on."""
    if a == b:
        return True
    if a.startswith("/") == b.startswith("/"):
        return False
    absolute, relative = (a, b) if a.startswith("/") else (b, a)
    return absolute.endswith(f"/{relative}")
