"""CEL expressions: compiled once, checked at start, evaluated three-valued.

An evaluation error comes back from the runtime as a value of type ERROR whose `value()` is a truthy text, so the
type is looked at first. Such a value is a `Failure` here: it never matches, and callers decide whether it means
'does not match', 'fails' or 'unknown'.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from cel_expr_python import cel
from cel_expr_python.ext import ext_bindings, ext_math, ext_strings
from msgspec import Struct

from graders.errors import CheckBroke, CheckError, did_you_mean
from graders.fields import CALL_FIELDS, CALL_TYPE, RUN_FIELDS, RUN_TYPE, typed_pool
from graders.words import words

Role = Literal["call", "run", "pair"]

# Words of the language, and the variables of the roles: no tag may take them.
RESERVED = words(
    """true false null in as break const continue else for function if import let loop package namespace return var
    void while call run first then trigger response bool int uint double string bytes list map type size has all
    exists exists_one filter matches dyn duration timestamp math cel strings"""
)

_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*)
      | (?P<string>[rRbB]{0,2}(?:\"\"\"(?:\\.|(?!\"\"\").)*\"\"\"|'''(?:\\.|(?!''').)*'''
                   |"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))
      | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
      | (?P<number>\d[\w.]*)
      | (?P<mark>[^\s])""",
    re.VERBOSE | re.DOTALL,
)
_PROBLEM = re.compile(r"<input>:(\d+):(\d+): (.*)")
_UNDEFINED_FIELD = re.compile(r"undefined field '([^']*)' not found in struct 'passhat\.(call|run)'")
_UNDECLARED = re.compile(r"undeclared reference to '([^']*)'")
_CANNOT_CONVERT = re.compile(r"out of range|Non-CEL value")


class Failure(Struct, frozen=True):
    """An expression that could not be evaluated, and why, in the runtime's words."""

    why: str


class TooCostly(CheckBroke):
    """An expression over too many elements: nested `exists` over long runs. The check is at fault, not the run."""


class Expression:
    """A compiled expression. `names` are the variables it reads, `fields` every name behind a dot."""

    __slots__ = ("_program", "bare", "fields", "names", "source")

    def __init__(self, source: str, program: cel.Expression, tokens: _Tokens) -> None:
        self.source = source
        self.names = tokens.names
        self.fields = tokens.fields
        self.bare = tokens.bare
        self._program = program

    def wants(self, fields: Mapping[str, Any]) -> tuple[str, ...]:
        """Those of `fields` that evaluating needs: all where a variable is used as a whole."""
        if self.bare:
            return tuple(fields)
        return tuple(name for name in fields if name in self.fields)

    def value(self, data: Mapping[str, Any]) -> Any:
        """The plain value over these variables, or a `Failure`."""
        try:
            result = self._program.eval(data=data)
        except RuntimeError as error:
            if "Iteration budget" in str(error):
                raise TooCostly(f"'{self.source[:200]}' looks at more than 10,000 elements") from None
            result = self._program.eval(data=_representable(data))  # text that is no Unicode (a lone surrogate)
        value = result.value()
        if value is True or value is False:  # an error's value is text, never one of these
            return value
        if result.type() == cel.Type.ERROR:
            why = str(value)
            if not _CANNOT_CONVERT.search(why):
                return Failure(_plain_reason(why))
            result = self._program.eval(data=_representable(data))
            if result.type() == cel.Type.ERROR:
                return Failure(_plain_reason(str(result.value())))
        return result.plain_value()


class _Tokens(Struct, frozen=True):
    names: frozenset[str]
    fields: frozenset[str]
    bare: bool


class Compiler:
    """Compiles the expressions of one set of checks. `tags` are the names usable as true/false variables."""

    def __init__(self, tags: Iterable[str]) -> None:
        self._tags = tuple(tags)
        self._pool = typed_pool()
        self._environments: dict[tuple[str, ...], tuple[cel.Env, cel.Env]] = {}

    def predicate(self, source: object, role: Role = "call", pair: tuple[str, str] = ("first", "then")) -> Expression:
        """An expression that must be true or false."""
        expression, kind = self._compile(source, role, pair)
        if kind not in (cel.Type.BOOL, cel.Type.DYN):
            raise CheckError(f"must be true or false, but '{expression.source}' is {kind.name().lower()}")
        return expression

    def valued(self, source: object) -> Expression:
        """An expression over `call` of any type (`per`)."""
        return self._compile(source, "call", ("", ""))[0]

    def names_in(self, source: object) -> frozenset[str]:
        """The variables a text names, compilable or not."""
        return _tokens_of(str(source), frozenset()).names

    def fields_in(self, source: object) -> frozenset[str]:
        """The names behind dots in a text."""
        return _tokens_of(str(source), frozenset()).fields

    def _compile(self, source: object, role: Role, pair: tuple[str, str]) -> tuple[Expression, cel.Type]:
        if not isinstance(source, str) or not source.strip():
            raise CheckError("an expression is missing here")
        variables = pair if role == "pair" else (role,)
        checker, runner = self._environment(variables, with_tags=role != "pair")
        try:
            kind = checker.compile(source).return_type()
            program = runner.compile(source)
        except RuntimeError as error:
            raise self._problem(str(error), source, variables) from None
        tokens = _tokens_of(source, frozenset(variables))
        _check_patterns(source, runner)
        return Expression(source, program, tokens), kind

    def _environment(self, variables: tuple[str, ...], *, with_tags: bool) -> tuple[cel.Env, cel.Env]:
        if variables not in self._environments:
            tags = dict.fromkeys(self._tags, cel.Type.BOOL) if with_tags else {}
            typed = {name: RUN_TYPE if name == "run" else CALL_TYPE for name in variables}
            loose = dict.fromkeys(variables, cel.Type.DYN)
            extensions = [ext_strings.ExtStrings(), ext_math.ExtMath(), ext_bindings.ExtBindings()]
            checker = cel.NewEnv(descriptor_pool=self._pool, variables=typed | tags, extensions=extensions)
            self._environments[variables] = (checker, cel.NewEnv(variables=loose | tags, extensions=extensions))
        return self._environments[variables]

    def _problem(self, text: str, source: str, variables: tuple[str, ...]) -> CheckError:
        found = _PROBLEM.search(text)
        if found is None:
            return CheckError(text.strip().splitlines()[0])
        line, column, problem = int(found[1]), int(found[2]), found[3].strip()
        if field := _UNDEFINED_FIELD.search(problem):
            known = CALL_FIELDS if field[2] == "call" else RUN_FIELDS
            problem = f"a {field[2]} has no field '{field[1]}'{did_you_mean(field[1], known)}"
        elif name := _UNDECLARED.search(problem):
            # of `run.calls` the runtime says that 'run.calls' is not known, and points at the dot
            root = name[1].split(".")[0]
            line, column = _place_of_name(source, root) or (line, column)
            problem = f"nothing is called '{root}' here{did_you_mean(root, (*variables, *self._tags))}"
        problem = problem.replace("passhat.call", "call").replace("passhat.run", "run")
        return CheckError(problem, line=line, column=column)


def _place_of_name(source: str, name: str) -> tuple[int, int] | None:
    """Where a variable is first read, as (line, column)."""
    for match in _TOKEN.finditer(source):
        if match.lastgroup == "name" and match.group() == name and source[: match.start()].rstrip()[-1:] != ".":
            before = source[: match.start()]
            return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
    return None


def _tokens_of(source: str, variables: frozenset[str]) -> _Tokens:
    names: set[str] = set()
    fields: set[str] = set()
    bare = False
    found = [match for match in _TOKEN.finditer(source) if match.lastgroup != "comment"]
    for at, match in enumerate(found):
        if match.lastgroup != "name":
            continue
        after_dot = at > 0 and found[at - 1].group() == "."
        if after_dot:
            fields.add(match.group())
            continue
        names.add(match.group())
        followed = at + 1 < len(found) and found[at + 1].group() == "."
        bare = bare or (match.group() in variables and not followed)
    return _Tokens(frozenset(names), frozenset(fields), bare)


def _check_patterns(source: str, environment: cel.Env) -> None:
    """Refuse constant regular expressions that RE2 cannot compile: such a pattern would never match."""
    found = [match for match in _TOKEN.finditer(source) if match.lastgroup != "comment"]
    for at, match in enumerate(found[:-2]):
        if match.group() != "matches" or found[at + 1].group() != "(":
            continue
        literal = _pattern_literal(found[at + 2 :])
        if literal is None:
            continue
        result = environment.compile(f"''.matches({literal.group()})").eval(data={})
        if result.type() == cel.Type.ERROR:
            before = source[: literal.start()]
            line = before.count("\n") + 1
            column = literal.start() - (before.rfind("\n") + 1) + 1
            raise CheckError(_plain_reason(str(result.value())), line=line, column=column)


def _pattern_literal(rest: list[re.Match[str]]) -> re.Match[str] | None:
    """The text literal that is the last argument of this call, None when the pattern is computed."""
    depth = 0
    start = 0
    for at, token in enumerate(rest):
        mark = token.group() if token.lastgroup == "mark" else ""
        if mark in ("(", "[", "{"):
            depth += 1
        elif mark == ")" and depth == 0:
            return rest[start] if at - start == 1 and rest[start].lastgroup == "string" else None
        elif mark in (")", "]", "}"):
            depth -= 1
        elif mark == "," and depth == 0:
            start = at + 1
    return None


def _plain_reason(why: str) -> str:
    """`NOT_FOUND: Key not found in map : "zz"` as people say it."""
    text = why.split(": ", 1)[-1] if re.match(r"[A-Z_]+: ", why) else why
    if missing := re.match(r'Key not found in map : "(.*)"', text):
        return f"there is no '{missing[1]}'"
    if overload := re.match(r"No matching overloads found : _?(.*?)_?\((.*)\)", text):
        return f"{overload[1]} does not apply to {overload[2].replace('int64', 'int')}"
    return text


def _representable(value: Any) -> Any:
    """The value with what the runtime refuses made acceptable: lone surrogates, integers beyond 64 bits, tuples."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**64 else float(min(max(value, -(10**300)), 10**300))
    if isinstance(value, Mapping):
        return {_representable(str(name)): _representable(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_representable(item) for item in value]
    return value
