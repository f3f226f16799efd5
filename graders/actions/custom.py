"""The table in force: the built-in one, and what `actions` in the configuration adds."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, get_args

from msgspec import Struct

from graders.actions.action import Effect, Kind
from graders.actions.code import deleted_paths, written_paths
from graders.actions.lines import Line, line_of
from graders.actions.patch import patched_paths
from graders.actions.paths import joined
from graders.actions.sql import sql_kind
from graders.actions.tools import (
    CODE_KEYS,
    COMMAND_KEYS,
    EDITOR_VERBS,
    EDITORS,
    FOLDER_KEYS,
    INTERPRETERS,
    LIST_KEYS,
    PATCH_KEYS,
    PATH_KEYS,
    SHELLS,
    SQL_KEYS,
    TOOLS,
    Tool,
    normal,
)
from graders.actions.wrappers import script_file
from graders.errors import CheckError, did_you_mean
from graders.memo import remembered
from semconv.values import JsonValue

_NO_LINE = Line((), (), (), ())


class Done(Struct, frozen=True):
    """What a call set out to do. `shell` is the parsed command line; `paths` all paths among the arguments."""

    effects: tuple[Effect, ...]
    command: str = ""
    line: Line = _NO_LINE
    paths: tuple[str, ...] = ()
    certain: bool = True  # False: the arguments that decide were not captured whole


class Rule(Struct, frozen=True):
    """One entry of `actions`: a tool name (a glob), or the first words of a command."""

    kind: Kind
    tool: str = ""
    command: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.tool and not self.command:
            raise CheckError("an action needs a tool or a command")


class ActionTable:
    """Maps calls to effects. `extra` is the `actions` section: kind -> tool names or command lines."""

    def __init__(self, extra: Mapping[str, Any] | None = None) -> None:
        self.rules = tuple(rule for kind, entries in (extra or {}).items() for rule in _rules(kind, entries))
        self._commands = [rule for rule in self.rules if rule.command]
        self._tools = [rule for rule in self.rules if rule.tool]

    def done(self, tool: str, server: str, arguments: JsonValue, *, captured: bool = True) -> Done:
        """What a call of this tool with these arguments does. `captured` is False for cut or missing arguments."""
        name = _known_name(tool)
        if name in SHELLS:
            return self._shell(tool, server, arguments, captured=captured)
        paths = _paths(arguments) if isinstance(arguments, dict) else ()
        effects = self._built_in(name, arguments, paths, captured=captured)
        effects += self._configured(tool, server, paths)
        if effects and not captured and (name in EDITORS or name in INTERPRETERS):
            return Done(effects, paths=paths, certain=False)
        unclear = not captured and (
            name in EDITORS or name in INTERPRETERS or "sql_read" in TOOLS.get(name, _NONE).kinds
        )
        return Done(effects, paths=paths, certain=not unclear)

    def _shell(self, tool: str, server: str, arguments: JsonValue, *, captured: bool) -> Done:
        command, folder = _command(arguments)
        if not captured:
            return Done(self._configured(tool, server, ()), command=command, certain=False)
        line = line_of(command, folder)
        effects = line.effects + self._of_commands(line) + self._configured(tool, server, ())
        paths = tuple(dict.fromkeys(path for effect in effects for path in effect.paths))
        return Done(effects, command, line, paths)

    def _of_commands(self, line: Line) -> tuple[Effect, ...]:
        if not self._commands:
            return ()
        found: list[Effect] = []
        for argv, at in zip(line.argvs, line.starts, strict=True):
            known = next((effect for effect in line.effects if effect.at == at), None)
            for rule in self._commands:
                if _starts_with(argv, rule.command) or _starts_with(script_file(argv), rule.command):
                    told = known or Effect(rule.kind)
                    found.append(Effect(rule.kind, (), at, told.zero_is_success, told.nonzero_is_failure))
        return tuple(dict.fromkeys(found))

    def _configured(self, tool: str, server: str, paths: tuple[str, ...]) -> tuple[Effect, ...]:
        names = (tool, f"{server}.{tool}", f"{server}/{tool}", f"mcp__{server}__{tool}")
        return tuple(
            Effect(rule.kind, paths) for rule in self._tools if any(fnmatchcase(name, rule.tool) for name in names)
        )

    def _built_in(
        self, name: str, arguments: JsonValue, paths: tuple[str, ...], *, captured: bool
    ) -> tuple[Effect, ...]:
        if name in EDITORS:
            return _editor(name, arguments, paths)
        if name in INTERPRETERS:
            return _interpreter(arguments)
        tool = TOOLS.get(name)
        if tool is None or not _looks_the_part(tool, arguments, captured=captured):
            return ()
        if tool.kinds == ("sql_read",):
            return _sql(arguments)
        if tool.kinds == ("edit",) and not paths:
            return _patch(arguments)
        return tuple(Effect(kind, paths) for kind in tool.kinds)


_NONE = Tool(())
_PREFIXED = re.compile(r"[-.:/]|__")


@remembered
def _known_name(tool: str) -> str:
    """The name to look up: whole, else what follows a plugin's prefix (`Orders-refund_order`)."""
    name = normal(tool)
    if name in TOOLS or name in SHELLS or name in EDITORS or name in INTERPRETERS:
        return name
    return normal(_PREFIXED.split(tool)[-1])


def _rules(kind: str, entries: object) -> list[Rule]:
    kinds = get_args(Kind)
    if kind not in kinds:
        raise CheckError(f"there is no kind of action '{kind}'{did_you_mean(kind, kinds)}", key=f"actions.{kind}")
    if isinstance(entries, str | Mapping):
        entries = [entries]
    if not isinstance(entries, Sequence):
        raise CheckError("must be a list of tool names and command lines", key=f"actions.{kind}")
    return [rule for entry in entries for rule in _rule(kind, entry)]


def _rule(kind: Any, entry: object) -> list[Rule]:
    key = f"actions.{kind}"
    if isinstance(entry, str) and entry.strip():
        # one text serves both: `./run_tests.sh` is a command, `deploy_*` a tool, and neither is ever the other
        command = tuple(_split(entry, key))
        return [Rule(kind, command=command)] + ([Rule(kind, tool=entry)] if len(command) == 1 else [])
    if isinstance(entry, Mapping):
        unknown = [name for name in entry if name not in ("tool", "command")]
        if unknown:
            raise CheckError(f"unknown key '{unknown[0]}'{did_you_mean(str(unknown[0]), ('tool', 'command'))}", key=key)
        command = tuple(_split(str(entry["command"]), key)) if "command" in entry else ()
        return [Rule(kind, tool=str(entry.get("tool", "")), command=command)]
    raise CheckError("an entry is a tool name, a command line, or {tool: …} or {command: …}", key=key)


def _split(text: str, key: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise CheckError(f"'{text}' is no command line: {error}", key=key) from None


def _starts_with(argv: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    if len(argv) < len(pattern):
        return False
    first = fnmatchcase(argv[0], pattern[0]) or argv[0].removeprefix("./") == pattern[0].removeprefix("./")
    return first and all(fnmatchcase(word, want) for word, want in zip(argv[1:], pattern[1:], strict=False))


def _looks_the_part(tool: Tool, arguments: JsonValue, *, captured: bool) -> bool:
    if not tool.needs or not captured:
        return True
    return isinstance(arguments, dict) and any(key in tool.needs for key in arguments)


def _command(arguments: JsonValue) -> tuple[str, str]:
    """The command line and the folder it runs in."""
    if isinstance(arguments, str):
        return arguments, ""
    if not isinstance(arguments, dict):
        return "", ""
    folder = next((value for key in FOLDER_KEYS if isinstance(value := arguments.get(key), str)), "")
    for key in COMMAND_KEYS:
        value = arguments.get(key)
        if isinstance(value, dict):  # local_shell: {"action": {"command": [...]}}
            value = value.get("command")
        if isinstance(value, str):
            return value, folder
        if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
            return _joined_words(value), folder
    return "", folder


def _joined_words(argv: list[str]) -> str:
    if len(argv) == 3 and argv[0].rsplit("/", 1)[-1] in ("bash", "sh", "zsh") and argv[1] in ("-c", "-lc"):
        return argv[2]
    return shlex.join(argv)


def _paths(arguments: dict[str, Any]) -> tuple[str, ...]:
    found: list[str] = []
    for key, values in arguments.items():
        if isinstance(values, str):
            if values and key in PATH_KEYS:
                found.append(values)
        elif isinstance(values, list) and key in LIST_KEYS:
            for item in values:
                if isinstance(item, dict):
                    found += [value for name in PATH_KEYS if isinstance(value := item.get(name), str) and value]
                elif isinstance(item, str) and key != "edits":
                    found.append(item)
    return tuple(dict.fromkeys(joined("", path) for path in found))


def _editor(name: str, arguments: JsonValue, paths: tuple[str, ...]) -> tuple[Effect, ...]:
    verb = arguments.get("command", arguments.get("mode")) if isinstance(arguments, dict) else None
    kind = EDITOR_VERBS.get(verb.lower()) if isinstance(verb, str) else None
    if kind is None and isinstance(arguments, dict) and verb is None:
        kind = "read" if name == "fsread" else "edit"
    return (Effect(kind, paths),) if kind is not None else ()


def _interpreter(arguments: JsonValue) -> tuple[Effect, ...]:
    code = arguments if isinstance(arguments, str) else ""
    if isinstance(arguments, dict):
        code = next((value for key in CODE_KEYS if isinstance(value := arguments.get(key), str)), "")
    shell = "\n".join(line.lstrip()[1:] for line in code.splitlines() if line.lstrip().startswith("!"))
    effects = list(line_of(shell).effects) if shell else []
    written, deleted = written_paths(code), deleted_paths(code)
    if written is not None:
        effects.append(Effect("edit", written))
    if deleted is not None:
        effects.append(Effect("delete", deleted))
    return tuple(effects)


def _sql(arguments: JsonValue) -> tuple[Effect, ...]:
    texts = [arguments] if isinstance(arguments, str) else []
    if isinstance(arguments, dict):
        for key in SQL_KEYS:
            value = arguments.get(key)
            texts += (
                [value]
                if isinstance(value, str)
                else [v for v in value if isinstance(v, str)]
                if isinstance(value, list)
                else []
            )
    kinds = {kind for text in texts if (kind := sql_kind(text))}
    if "sql_write" in kinds:
        return (Effect("sql_write"),)
    return (Effect("sql_read"),) if kinds or not texts else ()


def _patch(arguments: JsonValue) -> tuple[Effect, ...]:
    """An edit whose paths stand in a patch text."""
    texts = [arguments] if isinstance(arguments, str) else []
    if isinstance(arguments, dict):
        texts = [value for key in PATCH_KEYS if isinstance(value := arguments.get(key), str)]
    for text in texts:
        edited, deleted = patched_paths(text)
        if edited or deleted:
            effects = [Effect("edit", tuple(joined("", path) for path in edited))] if edited else []
            effects += [Effect("delete", tuple(joined("", path) for path in deleted))] if deleted else []
            return tuple(effects)
    return (Effect("edit"),)
