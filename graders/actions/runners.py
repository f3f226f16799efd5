"""Which command lines run tests, in the languages people use."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

from graders.actions.paths import is_test_path
from graders.actions.wrappers import base
from graders.words import words

Argv = tuple[str, ...]

# Asking a runner about itself runs nothing.
_INFO = words(
    """--version --help -h --collect-only --co --fixtures --markers --setup-plan --list --list-tests --listTests
    --showConfig --show-config --print-config --no-run -list --dry-run --listtests"""
)
_ASKS_OF = {"tox": words("-l devenv"), "nox": words("-l"), "ctest": words("-N --show-only"), "mocha": words("-V")}
# Programs that do nothing but run tests.
_ALWAYS = words(
    """pytest py.test nosetests nose2 green ward trial stestr zope-testrunner behave robot lettuce radish jest vitest
    mocha ava tape tap jasmine wtr testcafe nightwatch gotestsum richgo ginkgo rspec cucumber phpunit paratest
    pest behat phpspec simple-phpunit codecept vstest.console xunit.console nunit3-console nunit-console ctest prove
    bats shellspec busted elm-test sbt-test testthat kcov-test xctest jest-cli mocha-parallel-tests pytest-3 pytest3
    zunit roundup cargo-nextest tox nox ptw pytest-watch playwright-test"""
)
_PYTHON = re.compile(r"^(?:python|pypy|python3|pypy3|py)(?:\d?(?:\.\d+)?)?$")
_PYTHON_MODULES = words(
    """pytest py.test unittest nose nose2 doctest trial twisted.trial tox nox behave green ward xdist
    testtools.run stestr test zope.testrunner robot"""
)
# `test`, `tests:unit`, `unit-test`, `e2e`: names of scripts and of targets.
_TEST_NAME = re.compile(
    r"(?:^|[:_./-])(?:tests?|specs?|check|e2e|unittests?|pytest|jest|vitest|rspec|phpunit|ctest)(?:$|[:_./-])"
)
_SCRIPT_NAME = re.compile(
    r"(?:^|[:_./-])(?:tests?|specs?|e2e|unit|unittests?|integration|pytest|jest|vitest|mocha|cypress|playwright)(?:$|[:_./-])"
)
_NOT_A_RUN = re.compile(
    r"(?:lint|build|fmt|format|types?|deps|clean|setup|install|prepare|fixtures?|server|data)(?:$|[:_.-])"
)
_GRADLE_TASK = re.compile(r"^(?:test|check|build|verify|\w*[a-z]Tests?|test[A-Z]\w*|connectedCheck|allTests|jvmTest)$")
_MAVEN_GOALS = words("test verify install package integration-test deploy surefire:test failsafe:integration-test")


def is_test_run(argv: Argv) -> bool:
    """Whether this simple command (wrappers taken off) runs tests."""
    program = base(argv[0])
    rest = argv[1:]
    if program in _ALWAYS:
        return not _asks(rest) and not _ASKS_OF.get(program, frozenset()).intersection(rest)
    if _PYTHON.match(program):
        return _python(rest)
    rule = _RULES.get(program)
    return rule is not None and not _asks(rest) and rule(rest)


def runner_name(argv: Argv) -> str:
    """The name under which a summary of this runner's output may be read: the program, or python's module."""
    program = base(argv[0])
    if _PYTHON.match(program) and "-m" in argv[:-1]:
        return argv[argv.index("-m") + 1]
    return program


def _asks(rest: Argv) -> bool:
    return any(word in _INFO or word == "-V" for word in rest)


def _plain(rest: Argv) -> list[str]:
    return [word for word in rest if not word.startswith("-")]


def _python(rest: Argv) -> bool:
    at = 0
    while at < len(rest) and rest[at].startswith("-") and rest[at] not in ("-m", "-c", "-"):
        at += 2 if rest[at] in ("-W", "-X") else 1
    if at >= len(rest):
        return False
    if rest[at] == "-m" and at + 1 < len(rest):
        return _python_module(rest[at + 1], rest[at + 2 :])
    script, arguments = rest[at], rest[at + 1 :]
    name = base(script)
    if name in ("manage.py", "setup.py", "django-admin.py"):
        return "test" in _plain(arguments)[:1] and not _asks(arguments)
    if name in ("runtests.py", "runtest.py") or base(script) in ("pytest", "py.test"):
        return not _asks(arguments)
    return script.endswith(".py") and is_test_path(name) and name != "conftest.py"


def _python_module(module: str, rest: Argv) -> bool:
    if module in _PYTHON_MODULES:
        return not _asks(rest)
    if module == "coverage" and rest[:1] == ("run",):
        return _python(rest[1:])
    if module == "django":
        return rest[:1] == ("test",)
    return module in ("poethepoet", "invoke") and bool(_script(_plain(rest)))


def _script(names: list[str]) -> bool:
    """Whether the first name is a script for tests: `test`, `test:unit`, `e2e`, not `test:lint`, `build-tests`."""
    if not names:
        return False
    name = names[0]
    return bool(_SCRIPT_NAME.search(name)) and not re.search(r"(?:lint|build|types?|typecheck)(?:$|[:_-])", name)


def _npm(rest: Argv) -> bool:
    names = _without_values(rest, words("-w --workspace --prefix -C --filter -F --dir --cwd --loglevel --config"))
    if names[:1] in (["test"], ["t"], ["tst"], ["it"], ["cit"], ["install-test"]):
        return True
    if names[:1] in (["run"], ["run-script"], ["rum"], ["urn"]):
        return _script(names[1:])
    if names[:1] in (["workspace"], ["workspaces"]):
        return _npm(tuple(word for word in names[2 if names[0] == "workspace" else 1 :] if word != "foreach"))
    return False


def _yarn(rest: Argv) -> bool:
    names = _without_values(rest, words("--cwd --filter -F -C --dir"))
    if names[:1] in (["add"], ["remove"], ["install"], ["why"], ["info"], ["config"], ["cache"], ["up"], ["dlx"]):
        return False
    if names[:1] == ["node"]:
        return _node(tuple(names[1:]))
    return _npm(rest) or _script(names) or bool(names and names[0] in _ALWAYS)


def _without_values(rest: Argv, valued: frozenset[str]) -> list[str]:
    names: list[str] = []
    skip = False
    for word in rest:
        if skip:
            skip = False
        elif word == "--":
            break
        elif word.startswith("-"):
            skip = word in valued
        else:
            names.append(word)
    return names


def _node(rest: Argv) -> bool:
    if "--test" in rest:
        return True
    scripts = [word for word in rest if not word.startswith("-")]
    return bool(scripts) and (
        base(scripts[0]) in _ALWAYS or is_test_path(base(scripts[0])) or _bin_of_runner(scripts[0])
    )


def _bin_of_runner(script: str) -> bool:
    return bool(re.search(r"node_modules/(?:\.bin/)?(?:jest|vitest|mocha|ava|tap|jasmine)(?:/|$)", script))


def _bun(rest: Argv) -> bool:
    return _yarn(rest) or rest[:1] == ("test",)


def _first(*names: str) -> Callable[[Argv], bool]:
    wanted = frozenset(names)
    return lambda rest: bool(_plain(rest)) and _plain(rest)[0] in wanted


def _go(rest: Argv) -> bool:
    names = _without_values(rest, words("-C -modfile -mod"))
    if names[:1] != ["test"] or "-c" in rest:
        return False
    return not any(pair in (("-run", "^$"), ("-run", "NONE"), ("-run", "XXX")) for pair in pairwise(rest))


def _cargo(rest: Argv) -> bool:
    names = [word for word in _plain(rest) if not word.startswith("+")]
    if names[:1] in (["test"], ["t"], ["tarpaulin"], ["llvm-cov"], ["insta"], ["careful"], ["hack"], ["miri"]):
        return names[0] in ("test", "t", "tarpaulin", "llvm-cov") or "test" in names
    return names[:2] in (["nextest", "run"], ["nextest", "r"])


def _maven(rest: Argv) -> bool:
    if any(re.match(r"-D(?:skipTests|maven\.test\.skip)(?:$|=true)", word) for word in rest):
        return False
    return any(name in _MAVEN_GOALS for name in _plain(rest))


def _gradle(rest: Argv) -> bool:
    if "-m" in rest:
        return False
    skipped = {rest[at + 1].rsplit(":", 1)[-1] for at in range(len(rest) - 1) if rest[at] in ("-x", "--exclude-task")}
    tasks = [
        name.rsplit(":", 1)[-1]
        for name in _without_values(rest, words("-x --exclude-task -p -b --tests -P -I --console"))
    ]
    return "test" not in skipped and any(bool(_GRADLE_TASK.match(task)) for task in tasks)


def _make(rest: Argv) -> bool:
    if any(word in ("-n", "--just-print", "--recon", "-q", "--question") for word in rest):
        return False
    targets = [
        name for name in _without_values(rest, words("-C -f -I -j -l -o -W --directory --file -d")) if "=" not in name
    ]
    return any(bool(_TEST_NAME.search(name)) and not _NOT_A_RUN.search(name) for name in targets)


def _cmake(rest: Argv) -> bool:
    return "--build" in rest and any(
        rest[at] in ("--target", "-t") and rest[at + 1] in ("test", "check", "RUN_TESTS") for at in range(len(rest) - 1)
    )


def _task_runner(rest: Argv) -> bool:
    names = _without_values(rest, words("-f --justfile -d --working-directory --dir -c --collection"))
    return any(_make((name,)) or _script([name]) for name in names[:1])


def _nx(rest: Argv) -> bool:
    names = _plain(rest)
    if names[:1] == ["run"] and len(names) > 1:
        return bool(_SCRIPT_NAME.search(names[1].split(":", 1)[-1]))
    if names[:1] in (["affected"], ["run-many"]):
        joined = " ".join(rest)
        return bool(re.search(r"(?:-t|--targets?)[= ]\S*(?:test|e2e)|affected[:]?(?:test|e2e)", joined))
    return names[:1] in (["test"], ["e2e"], ["affected:test"], ["component-test"])


def _turbo(rest: Argv) -> bool:
    names = [name for name in _plain(rest) if name != "run"]
    return any(_script([name]) for name in names)


def _rake(rest: Argv) -> bool:
    return any(
        name.split("[", 1)[0].split(":", 1)[0] in ("test", "spec", "cucumber", "features") for name in _plain(rest)
    )


def _rails(rest: Argv) -> bool:
    return any(name in ("test", "spec", "t") or name.startswith("test:") for name in _plain(rest)[:1])


def _ruby(rest: Argv) -> bool:
    if any(word in ("-e", "-c") for word in rest):
        return False
    return any(is_test_path(word) and word.endswith(".rb") for word in _plain(rest))


def _artisan(rest: Argv) -> bool:
    names = _plain(rest)
    if names[:1] and base(names[0]) in ("artisan", "bin/phpunit", "phpunit", "pest", "simple-phpunit", "paratest"):
        return base(names[0]) != "artisan" or names[1:2] == ["test"]
    return bool(names) and names[0].endswith("Test.php")


def _composer(rest: Argv) -> bool:
    names = _plain(rest)
    return _script(names[1:]) if names[:1] in (["run"], ["run-script"]) else _script(names)


def _sbt(rest: Argv) -> bool:
    return any(re.match(r"(?:\S*/)?(?:test|testOnly|testQuick|it:test|Test/test\w*)(?:$| )", word) for word in rest)


def _clojure(rest: Argv) -> bool:
    return any(re.match(r"-[MXT]:\S*test", word) for word in rest)


def _xcodebuild(rest: Argv) -> bool:
    return any(word in ("test", "test-without-building") for word in rest)


def _perl(rest: Argv) -> bool:
    names = _plain(rest)
    return bool(names) and (names[0].endswith(".t") or (names[0] == "Build" and names[1:2] == ["test"]))


def _cypress(rest: Argv) -> bool:
    return _plain(rest)[:1] == ["run"] or _plain(rest)[:2] == ["run", "component"]


def _hatch(rest: Argv) -> bool:
    names = _without_values(rest, words("-e --env"))
    return names[:1] == ["test"] or (
        names[:1] == ["run"] and _script([names[1].split(":")[-1]] if len(names) > 1 else [])
    )


def _run_script(rest: Argv) -> bool:
    return rest[:1] == ("run",) and _script(_plain(rest[1:])) and not is_test_path(rest[1] if len(rest) > 1 else "")


def _project_script(rest: Argv) -> bool:
    """`uv run poe test`, `inv test`: the task runners of Python projects."""
    return _script(_plain(rest))


_RULES: dict[str, Callable[[Argv], bool]] = {
    "npm": _npm, "pnpm": _yarn, "yarn": _yarn, "yarnpkg": _yarn, "bun": _bun, "node": _node, "tsx": _node,
    "ts-node": _node,
    "deno": lambda rest: rest[:1] == ("test",) or (rest[:1] in (("task",), ("run",)) and _script(_plain(rest[1:]))),
    "react-scripts": _first("test"), "craco": _first("test"), "vue-cli-service": _first("test:unit", "test:e2e"),
    "ng": _first("test", "e2e", "t", "e"), "nx": _nx, "turbo": _turbo,
    "lerna": lambda rest: rest[:1] == ("run",) and _script(_plain(rest[1:])),
    "rush": _first("test"), "wireit": _project_script, "playwright": _first("test"), "cypress": _cypress,
    "wdio": _first("run"),
    "karma": _first("start", "run"), "cucumber-js": lambda rest: True, "hardhat": _first("test"),
    "truffle": _first("test"),
    "forge": _first("test"), "anchor": _first("test"), "vite-plus": _first("test"),
    "go": _go, "cargo": _cargo, "cross": _cargo, "bazel": _first("test", "coverage"),
    "bazelisk": _first("test", "coverage"),
    "buck": _first("test"), "buck2": _first("test"), "pants": _first("test"), "please": _first("test"),
    "plz": _first("test"),
    "mvn": _maven, "mvnw": _maven, "mvnd": _maven, "gradle": _gradle, "gradlew": _gradle, "ant": _task_runner,
    "sbt": _sbt, "mill": lambda rest: any(word.split(".")[-1].startswith("test") for word in _plain(rest)),
    "lein": _first("test", "midje", "kaocha"), "clojure": _clojure, "clj": _clojure, "kaocha": lambda rest: True,
    "rake": _rake,
    "rails": _rails,
    "ruby": _ruby, "m": lambda rest: bool(rest), "spring": _first("rspec", "test"), "crystal": _first("spec"),
    "php": _artisan, "sail": _first("test", "phpunit", "pest"), "artisan": _first("test"), "composer": _composer,
    "dotnet": _first("test", "vstest"), "make": _make, "gmake": _make, "ninja": _make, "just": _task_runner,
    "task": _task_runner,
    "go-task": _task_runner, "mage": _task_runner, "inv": _project_script, "invoke": _project_script,
    "poe": _project_script,
    "doit": _project_script,
    "earthly": lambda rest: any(word.startswith("+") and _script([word[1:]]) for word in rest),
    "cmake": _cmake, "meson": _first("test"), "swift": _first("test"), "xcodebuild": _xcodebuild,
    "flutter": _first("test"),
    "dart": _first("test"),
    "mix": lambda rest: bool(_plain(rest)) and (_plain(rest)[0] == "test" or _plain(rest)[0].startswith("test.")),
    "rebar3": _first("eunit", "ct", "proper"), "stack": _first("test"),
    "cabal": _first("test", "v2-test", "new-test"),
    "zig": lambda rest: rest[:1] == ("test",) or rest[:2] == ("build", "test"), "dune": _first("test", "runtest"),
    "nimble": _first("test"), "perl": _perl, "terraform": _first("test"), "tofu": _first("test"),
    "molecule": _first("test", "verify"),
    "hatch": _hatch, "pdm": _run_script, "rye": lambda rest: rest[:1] == ("test",) or _run_script(rest),
    "pixi": _run_script,
    "poetry": lambda rest: False, "django-admin": _first("test"), "avocado": _first("run"),
    "testify": lambda rest: True,
    "mise": lambda rest: rest[:1] in (("run",), ("r",)) and _script(_plain(rest[1:])), "devbox": _run_script,
    "moon": _turbo,
}  # fmt: skip
