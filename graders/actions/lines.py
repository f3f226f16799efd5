"""From a command line to effects: parse, take wrappers off, look each simple command up."""

from __future__ import annotations

from msgspec import Struct

from graders.actions.action import Effect, Kind
from graders.actions.paths import SOURCE, is_scratch, joined
from graders.actions.programs import effects_of
from graders.actions.shell import Exit, Simple, parse
from graders.actions.wrappers import base, script_file, script_of, unwrap
from graders.memo import remembered

_DEEPEST = 8  # `bash -c "sudo bash -c …"`
_ECHOES = frozenset({"cat", "echo", "printf", ":", "true"})


class Line(Struct, frozen=True):
    """A parsed command line. `commands` is the text of each simple command, wrapped ones with and without."""

    commands: tuple[str, ...]
    starts: tuple[int, ...]  # for each of `commands` the place its effects carry
    effects: tuple[Effect, ...]
    argvs: tuple[tuple[str, ...], ...]


@remembered
def line_of(command: str, folder: str = "") -> Line:
    """What a command line does when run in `folder` ('' is unknown)."""
    build = _Build()
    build.line(command, folder, Exit(), 0)
    return Line(tuple(build.commands), tuple(build.starts), tuple(build.effects), tuple(build.argvs))


class _Build:
    def __init__(self) -> None:
        self.commands: list[str] = []
        self.starts: list[int] = []
        self.effects: list[Effect] = []
        self.argvs: list[tuple[str, ...]] = []
        self.at = 0

    def line(self, command: str, folder: str, outer: Exit, depth: int) -> None:
        simples = parse(command)
        testing = {simple.pipeline for simple in simples if simple.pipeline and self._tests(simple)}
        for simple in simples:
            told = Exit(
                outer.zero_is_success and simple.exit.zero_is_success,
                outer.nonzero_is_failure and simple.exit.nonzero_is_failure,
            )
            cwd = joined(folder, simple.cwd) if simple.cwd else folder
            self.simple(simple, cwd, told, depth, noisy=simple.pipeline in testing)

    def _tests(self, simple: Simple) -> bool:
        return any(kind == "test_run" for argv in _layers(simple.words) for kind, _ in effects_of(simple, argv))

    def simple(self, simple: Simple, cwd: str, told: Exit, depth: int, *, noisy: bool) -> None:
        self.at += 1
        at = self.at
        found: list[tuple[Kind, tuple[str, ...]]] = []
        for argv in _layers(simple.words):
            self.commands.append(" ".join(argv))
            self.starts.append(at)
            self.argvs.append(argv)
            script = script_of(argv)
            if script is not None and depth < _DEEPEST:
                self.adds(found, cwd, told, at)
                found = []
                self.line(script, cwd, told, depth + 1)
                break
            found += effects_of(simple, script_file(argv))
            if any(kind != "network" for kind, _ in found):  # `kubectl exec … -- pytest` is both
                break
        if noisy:  # `pytest | tee report.txt`
            found = [(kind, paths) for kind, paths in found if kind != "edit" or any(map(SOURCE.search, paths))]
        self.adds(found, cwd, told, at)
        self.redirections(simple, cwd, told, at, noisy=noisy)

    def redirections(self, simple: Simple, cwd: str, told: Exit, at: int, *, noisy: bool) -> None:
        """Files written by `>`. What a test run writes its report to is an edit only where it is source."""
        written = [path for path in simple.writes if not is_scratch(path) and (not noisy or SOURCE.search(path))]
        tests = noisy or any(effect.kind == "test_run" and effect.at == at for effect in self.effects)
        written = [path for path in written if not tests or SOURCE.search(path)]
        if written:
            # the shell opens the file before the program runs: only an echo that fails shows that it could not
            certain = told.nonzero_is_failure and base(simple.words[0]) in _ECHOES
            self.add("edit", tuple(written), cwd, Exit(told.zero_is_success, certain), at)
        if simple.reads and not any(effect.kind == "read" and effect.at == at for effect in self.effects):
            self.add("read", simple.reads, cwd, told, at)

    def adds(self, found: list[tuple[Kind, tuple[str, ...]]], cwd: str, told: Exit, at: int) -> None:
        for kind, paths in found:
            self.add(kind, paths, cwd, told, at)

    def add(self, kind: Kind, paths: tuple[str, ...], cwd: str, told: Exit, at: int) -> None:
        resolved = tuple(joined(cwd, path) for path in paths if path)
        self.effects.append(Effect(kind, resolved, at, told.zero_is_success, told.nonzero_is_failure))


def _layers(argv: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The words, then with one wrapper after the other taken off."""
    layers: list[tuple[str, ...]] = []
    while argv and len(layers) < _DEEPEST:
        layers.append(argv)
        inner = unwrap(argv)
        if inner == argv:
            break
        argv = inner
    return layers
