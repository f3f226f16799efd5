"""A shell command line as the simple commands it runs, in order (tree-sitter, bash grammar).

Besides the words, each command knows what the exit status of the whole line says of it: after `pytest | tail` a 0 is
tail's, after `a && b` a 1 proves that b did not succeed and says nothing of a.
"""

from __future__ import annotations

import re
from bisect import bisect_left

import tree_sitter_bash
from msgspec import Struct
from tree_sitter import Language, Node, Parser

_PARSER = Parser(Language(tree_sitter_bash.language()))
# Characters that are parsed. The grammar's recovery from errors takes time in the square of a line's length, so what
# is longer is cut, after its heredocs (files that agents write) are taken out.
_LONGEST = 8_000
_LONGEST_BODY = 64_000
_HEREDOC = re.compile(r"(?<!<)<<-?[ \t]{0,9}(['\"]?)([A-Za-z_][\w.-]{0,60})\1")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_BODY = re.compile(r"^__heredoc_(\d+)__$", re.MULTILINE)
_DEEPEST = 60  # nested lists, subshells, substitutions
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "", "a": "", "b": "", "e": "\x1b"}
_WRITING = frozenset({">", ">>", ">|", "&>", "&>>", ">&"})


class Exit(Struct, frozen=True):
    """What the line's exit status tells of one command in it."""

    zero_is_success: bool = True
    nonzero_is_failure: bool = True


_TELLS = Exit()
_SILENT = Exit(zero_is_success=False, nonzero_is_failure=False)


class Simple(Struct, frozen=True):
    """One simple command: `words` without quotes, program first. `cwd` is where `cd` left the shell, '' unknown."""

    words: tuple[str, ...]
    exit: Exit = _TELLS
    writes: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    stdin: str = ""
    cwd: str = ""
    pipeline: int = 0  # commands of one pipeline share a number, 0 is none

    @property
    def text(self) -> str:
        return " ".join(self.words)


def parse(line: str) -> tuple[Simple, ...]:
    """The simple commands of a command line, in the order they are written. Never raises on broken syntax."""
    line, bodies = _without_bodies(line.replace("\0", ""))
    line = line[:_LONGEST]
    # The grammar's scanner asks C's ctype tables of any code point, which reads outside them: it gets ASCII only. One
    # byte a character, so that the nodes' places are places in the line itself.
    source = _NOT_ASCII.sub("x", line).encode("ascii")
    walk = _Walk(line, bodies)
    walk.node(_PARSER.parse(source).root_node, _TELLS, 0)
    return tuple(walk.found)


def _without_bodies(line: str) -> tuple[str, list[str]]:
    """A long line with a mark in place of each heredoc's body, and the bodies."""
    if len(line) <= _LONGEST:
        return line, []
    kept: list[str] = []
    bodies: list[str] = []
    rows = line.split("\n")
    places: dict[str, list[int]] = {}
    for number, row in enumerate(rows):
        places.setdefault(row.strip(), []).append(number)
    at = 0
    while at < len(rows):
        row = rows[at]
        kept.append(row)
        at += 1
        for found in _HEREDOC.finditer(row[:_LONGEST]):
            ends = places.get(found[2], [])
            following = bisect_left(ends, at)
            if following == len(ends):
                continue
            end = ends[following]
            kept += [f"__heredoc_{len(bodies)}__", rows[end]]
            bodies.append("\n".join(rows[at:end])[:_LONGEST_BODY])
            at = end + 1
    return "\n".join(kept), bodies


class _Walk:
    """The state of walking one line: variables set so far, where `cd` went, shell options."""

    def __init__(self, line: str, bodies: list[str]) -> None:
        self.line = line
        self.bodies = bodies
        self.found: list[Simple] = []
        self.variables: dict[str, str] = {}
        self.functions: dict[str, Node] = {}
        self.cwd = ""
        self.stop_on_error = False
        self.pipefail = False
        self.pipelines = 0

    def node(self, node: Node, exit_: Exit, depth: int) -> None:
        if depth > _DEEPEST:
            return
        match node.type:
            case "program" | "compound_statement" | "do_group":
                self.sequence(node, exit_, depth)
            case "subshell":
                before = self.cwd
                self.sequence(node, exit_, depth)
                self.cwd = before
            case "list":
                self.chain(node, exit_, depth)
            case "pipeline":
                self.pipeline(node, exit_, depth)
            case "redirected_statement":
                self.redirected(node, exit_, depth)
            case "command":
                self.command(node, exit_, depth)
            case "function_definition":
                self.define(node)
            case "variable_assignment":
                self.assign(node, exit_, depth)
            case "for_statement" | "c_style_for_statement" | "while_statement" | "if_statement" | "case_statement":
                self.branches(node, depth)
            case "negated_command" | "else_clause" | "elif_clause" | "case_item" | "declaration_command":
                self.branches(node, depth)
            case _:
                self.substitutions(node, depth)

    def sequence(self, node: Node, exit_: Exit, depth: int) -> None:
        """`a; b`: the status is the last one's, unless `set -e` makes a 0 speak for all."""
        children = [child for child in node.named_children if child.type not in ("comment", "heredoc_body")]
        for at, child in enumerate(children):
            following = child.next_sibling
            if following is not None and following.type == "&":
                told = _SILENT
            elif at == len(children) - 1:
                told = exit_
            elif self.stop_on_error:
                told = Exit(exit_.zero_is_success, nonzero_is_failure=False)
            else:
                told = _SILENT
            self.node(child, told, depth + 1)

    def chain(self, node: Node, exit_: Exit, depth: int) -> None:
        """`a && b`, `a || b`. Long chains lean to the left: walked without recursion."""
        steps: list[tuple[Node, str]] = []
        while node.type == "list" and len(node.named_children) == 2:
            left, right = node.named_children
            operator = next((child.type for child in node.children if child.type in ("&&", "||")), "&&")
            steps.append((right, operator))
            node = left
        told = exit_
        plan: list[tuple[Node, Exit]] = []
        for right, operator in steps:
            if operator == "&&":
                plan.append((right, told))
                told = Exit(told.zero_is_success, nonzero_is_failure=False)
            else:
                alternative = Exit(zero_is_success=False, nonzero_is_failure=told.nonzero_is_failure)
                plan.append((right, alternative))
                told = alternative
        self.node(node, told, depth + 1)
        for child, child_exit in reversed(plan):
            self.node(child, child_exit, depth + 1)

    def pipeline(self, node: Node, exit_: Exit, depth: int) -> None:
        self.pipelines += 1
        number = self.pipelines
        start = len(self.found)
        parts = node.named_children
        for at, child in enumerate(parts):
            if self.pipefail:
                told = Exit(exit_.zero_is_success, nonzero_is_failure=False)
            else:
                told = exit_ if at == len(parts) - 1 else _SILENT
            self.node(child, told, depth + 1)
        for at in range(start, len(self.found)):
            simple = self.found[at]
            self.found[at] = Simple(
                simple.words, simple.exit, simple.writes, simple.reads, simple.stdin, simple.cwd, number
            )

    def redirected(self, node: Node, exit_: Exit, depth: int) -> None:
        body = node.child_by_field_name("body")
        start = len(self.found)
        redirects = [child for child in node.named_children if child.type.endswith("_redirect")]
        if body is not None:
            self.node(body, exit_, depth + 1)
        writes, reads, stdin = self.redirects(redirects, depth)
        if len(self.found) == start and (writes or reads):
            self.found.append(Simple((":",), exit_, cwd=self.cwd))  # a bare `> file`
        if len(self.found) > start:
            last = self.found[-1]
            self.found[-1] = Simple(
                last.words,
                last.exit,
                last.writes + writes,
                last.reads + reads,
                last.stdin or stdin,
                last.cwd,
                last.pipeline,
            )
        for redirect in redirects:  # `cat <<EOF | tee x` hangs the rest of the pipeline on the redirect
            for child in redirect.named_children:
                if child.type in ("pipeline", "command", "list", "redirected_statement"):
                    self.node(child, exit_, depth + 1)

    def redirects(self, nodes: list[Node], depth: int) -> tuple[tuple[str, ...], tuple[str, ...], str]:
        writes: list[str] = []
        reads: list[str] = []
        stdin = ""
        for node in nodes:
            if node.type == "heredoc_redirect":
                bodies = [child for child in node.named_children if child.type == "heredoc_body"]
                stdin = self.body(self.text(bodies[0])) if bodies else ""
                for child in node.named_children:
                    if child.type == "file_redirect":
                        more_writes, more_reads, _ = self.redirects([child], depth)
                        writes.extend(more_writes)
                        reads.extend(more_reads)
                continue
            target = node.named_children[-1] if node.named_children else None
            if target is None:
                continue
            word = self.word(target, depth)
            if node.type == "herestring_redirect":
                stdin = word
                continue
            operators = {child.type for child in node.children}
            if operators & _WRITING and not (">&" in operators and (word.isdigit() or word == "-")):
                writes.append(word)
            elif "<" in operators:
                reads.append(word)
        return tuple(writes), tuple(reads), stdin

    def body(self, text: str) -> str:
        """The text of a heredoc, put back where it was taken out."""
        mark = _BODY.match(text)
        return self.bodies[int(mark[1])] if mark is not None and int(mark[1]) < len(self.bodies) else text

    def command(self, node: Node, exit_: Exit, depth: int) -> None:
        words: list[str] = []
        redirects: list[Node] = []
        for child in node.named_children:
            if child.type == "variable_assignment":
                self.substitutions(child, depth)
            elif child.type.endswith("_redirect"):
                redirects.append(child)
            elif child.type == "command_name":
                words.append(self.word(child.named_children[0], depth) if child.named_children else self.text(child))
            else:
                words.append(self.word(child, depth))
        if not words:
            return
        if words[0] in self.functions:
            body = self.functions.pop(words[0])
            self.node(body, exit_, depth + 1)
            self.functions[words[0]] = body
            return
        writes, reads, stdin = self.redirects(redirects, depth)
        self.found.append(Simple(tuple(words), exit_, writes, reads, stdin, self.cwd))
        self.builtin(words)

    def builtin(self, words: list[str]) -> None:
        """What changes the shell for the commands behind: `cd`, `set -e`, `set -o pipefail`."""
        if words[0] in ("cd", "pushd") and len(words) > 1:
            target = words[-1]
            if target.startswith("/"):
                self.cwd = target
            elif target.startswith(("~", "$", "-")):
                self.cwd = ""
            else:
                self.cwd = f"{self.cwd}/{target}" if self.cwd else target
        elif words[0] == "set":
            flags = " ".join(words[1:])
            self.stop_on_error = self.stop_on_error or bool(re.search(r"(^| )-\w*e", flags))
            self.pipefail = self.pipefail or "pipefail" in flags

    def assign(self, node: Node, exit_: Exit, depth: int) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None or value is None:
            return
        if value.type == "command_substitution":
            self.sequence(value, exit_, depth + 1)
        else:
            self.variables[self.text(name)] = self.word(value, depth)

    def define(self, node: Node) -> None:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is not None and body is not None:
            self.functions[self.text(name)] = body

    def branches(self, node: Node, depth: int) -> None:
        """Commands that the line's status says nothing of: conditions, branches, loop bodies, `! a`."""
        for child in node.named_children:
            self.node(child, _SILENT, depth + 1)

    def substitutions(self, node: Node, depth: int) -> None:
        """Commands inside `$(…)`, backticks and `<(…)` anywhere below a word."""
        stack = [node]
        while stack:
            current = stack.pop()
            if current.type in ("command_substitution", "process_substitution"):
                before = self.cwd
                for child in current.named_children:
                    self.node(child, _SILENT, depth + 1)
                self.cwd = before
            else:
                stack.extend(reversed(current.named_children))

    def word(self, node: Node, depth: int) -> str:
        """The text of a word as the program would get it, as far as the line itself tells."""
        match node.type:
            case "raw_string":
                return self.text(node)[1:-1]
            case "ansi_c_string":
                return _ESCAPED.sub(lambda match: _ESCAPES.get(match[1], match[1]), self.text(node)[2:-1])
            case "string":
                self.substitutions(node, depth)
                return self.expand(re.sub(r'\\(["\\$`])', r"\1", self.text(node)[1:-1]))
            case "concatenation":
                return "".join(self.word(child, depth) for child in node.named_children)
            case "word":
                return re.sub(r"\\(.)", r"\1", self.text(node))
            case _:
                self.substitutions(node, depth)
                return self.expand(self.text(node))

    def text(self, node: Node) -> str:
        return self.line[node.start_byte : node.end_byte]

    def expand(self, text: str) -> str:
        if "$" not in text or not self.variables:
            return text
        return _VARIABLE.sub(lambda match: self.variables.get(match[1] or match[2], match[0]), text)
