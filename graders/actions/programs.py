"""What one simple command does: program and arguments to effects. Data first, small rules where data is not enough."""

from __future__ import annotations

import re
from collections.abc import Callable

from graders.actions.action import Kind
from graders.actions.code import deleted_paths, written_paths
from graders.actions.git import git_effects
from graders.actions.patch import patched_paths
from graders.actions.paths import SOURCE, is_scratch
from graders.actions.runners import is_test_run
from graders.actions.shell import Simple
from graders.actions.sql import sql_kind
from graders.actions.wrappers import base
from graders.words import words

Found = list[tuple[Kind, tuple[str, ...]]]
Argv = tuple[str, ...]

_NETWORK = words(
    """curl wget http https xh httpie aria2c nc ncat netcat socat telnet ssh scp sftp ftp lftp ping dig nslookup host
    traceroute aws gcloud gsutil az kubectl helm heroku vercel netlify flyctl fly rclone s3cmd ngrok openssl lynx w3m
    youtube-dl yt-dlp doctl gh glab"""
)
_READS = words(
    """cat head tail less more bat batcat nl tac od xxd hexdump strings wc md5sum sha256sum cmp diff file column pr
    fold jq yq"""
)
_GREPS = words("grep egrep fgrep rg ag ack zgrep")
_SQL_OPTIONS = {
    "psql": words("-c --command"), "mysql": words("-e --execute"), "mariadb": words("-e --execute"),
    "sqlite3": frozenset[str](),
    "duckdb": words("-c -s"), "clickhouse-client": words("-q --query"), "clickhouse": words("-q --query"),
    "bq": frozenset[str](),
    "snowsql": words("-q"), "sqlcmd": words("-Q -q"), "cqlsh": words("-e"), "trino": words("--execute"),
    "presto": words("--execute"),
    "cockroach": words("-e --execute"), "sqlite-utils": frozenset[str](),
}  # fmt: skip
_INSTALLS: dict[str, frozenset[str]] = {
    "pip": words("install"), "pip3": words("install"), "pipx": words("install inject"), "uv": words("add sync"),
    "poetry": words("add install"), "pipenv": words("install sync"), "pdm": words("add install sync"),
    "rye": words("add sync"),
    "conda": words("install create"), "mamba": words("install create"), "npm": words("install i ci add"),
    "pnpm": words("install i add"), "yarn": words("install add"), "bun": words("install i add"),
    "gem": words("install"),
    "bundle": words("install add"), "cargo": words("add install"), "go": words("get install"),
    "composer": words("require install"),
    "apt": words("install"), "apt-get": words("install"), "aptitude": words("install"), "apk": words("add"),
    "yum": words("install"),
    "dnf": words("install"), "brew": words("install"), "pacman": words("-S -Sy -Syu"), "zypper": words("install in"),
    "choco": words("install"), "winget": words("install"), "scoop": words("install"), "dotnet": words("add restore"),
    "snap": words("install"), "rustup": words("install"), "luarocks": words("install"), "cpanm": frozenset[str](),
    "easy_install": frozenset[str](),
    "mix": words("deps.get"), "opam": words("install"), "stack": words("install"), "nix-env": words("-i -iA"),
    "swift": words("package"),
    "gh": words("extension"), "code": words("--install-extension"), "pod": words("install"),
    "flutter": words("pub"), "dart": words("pub"),
}  # fmt: skip
# Formatters and fixers: program -> what makes it write; '' is always.
_FIXERS: dict[str, str] = {
    "black": "", "isort": "", "autopep8": "-i --in-place", "yapf": "-i --in-place", "autoflake": "-i --in-place",
    "pyupgrade": "",
    "prettier": "--write -w", "eslint": "--fix", "stylelint": "--fix", "biome": "--write --apply format",
    "standard": "--fix",
    "xo": "--fix", "gofmt": "-w", "goimports": "-w", "gofumpt": "-w", "rustfmt": "", "clang-format": "-i",
    "shfmt": "-w",
    "rubocop": "-a -A --autocorrect --auto-correct --autocorrect-all", "php-cs-fixer": "fix", "phpcbf": "",
    "ktlint": "-F --format",
    "google-java-format": "-i --replace", "swiftformat": "", "swiftlint": "--fix", "scalafmt": "",
    "ormolu": "-i --inplace",
    "fourmolu": "-i", "stylua": "", "nixfmt": "", "taplo": "fmt format", "sqlfluff": "fix format",
    "djlint": "--reformat",
    "buildifier": "", "dos2unix": "", "unix2dos": "", "oxlint": "--fix", "dprint": "fmt",
    "docformatter": "-i --in-place", "2to3": "-w",
}  # fmt: skip
_CHECK_ONLY = words("--check --diff --check-only --dry-run --list-different -l -c --version --help")


def effects_of(simple: Simple, argv: Argv) -> Found:
    """The effects of one command whose wrappers are taken off, redirections apart."""
    program = base(argv[0])
    if is_test_run(argv):
        return [("test_run", ())]
    rule = _RULES.get(program)
    found: Found = rule(argv, simple) if rule is not None else []
    found += _by_table(program, argv, simple)
    return found


def _by_table(program: str, argv: Argv, simple: Simple) -> Found:
    found: Found = []
    if program in _NETWORK:
        found.append(("network", ()))
    if program in _READS:
        found += _read(_files(argv[1:], _READ_VALUED), simple)
    if program in _GREPS:
        found += _read(_after_pattern(argv[1:]), simple)
    if _installs(program, argv[1:]):
        found.append(("install", ()))
    if program in _SQL_OPTIONS:
        found += _sql(argv[1:], _SQL_OPTIONS[program], simple)
    writes = _FIXERS.get(program)
    if writes is not None and _fixes(argv[1:], writes.split()):
        found.append(("edit", ()))
    return found


_READ_VALUED = words("-n -c -s -w --lines --bytes -U")


def _files(rest: Argv, valued: frozenset[str]) -> tuple[str, ...]:
    files: list[str] = []
    skip = False
    for word in rest:
        if skip:
            skip = False
        elif word.startswith("-") and len(word) > 1:
            skip = word in valued
        elif word != "-":
            files.append(word)
    return tuple(files)


def _read(paths: tuple[str, ...], simple: Simple) -> Found:
    paths = paths + simple.reads
    return [("read", paths)] if paths else []


def _after_pattern(rest: Argv) -> tuple[str, ...]:
    files = _files(rest, words("-e -f -m -A -B -C --include --exclude -g --glob -t --type --max-count"))
    given = any(word in ("-e", "-f") or word.startswith(("--regexp", "--file")) for word in rest)
    return files if given else files[1:]


def _installs(program: str, rest: Argv) -> bool:
    verbs = _INSTALLS.get(program)
    if verbs is None:
        return False
    names = [word for word in rest if not word.startswith("-")]
    if program == "uv" and names[:2] in (["pip", "install"], ["pip", "sync"], ["tool", "install"]):
        return True
    if program == "yarn" and not names and not any(word in ("--version", "-v", "--help") for word in rest):
        return True
    return not verbs or any(word in verbs for word in (*names[:1], *rest[:1]))


def _fixes(rest: Argv, triggers: list[str]) -> bool:
    if any(word in _CHECK_ONLY for word in rest):
        return False
    return not triggers or any(word in triggers for word in rest)


def _sql(rest: Argv, options: frozenset[str], simple: Simple) -> Found:
    texts = [simple.stdin] if simple.stdin else []
    for at, word in enumerate(rest):
        if word in options and at + 1 < len(rest):
            texts.append(rest[at + 1])
        elif "=" in word and word.split("=", 1)[0] in options:
            texts.append(word.split("=", 1)[1])
        elif not word.startswith("-") and (at == 0 or rest[at - 1] not in options) and " " in word:
            texts.append(word)
    kinds = {kind for text in texts if (kind := sql_kind(text))}
    if "sql_write" in kinds:
        return [("sql_write", ())]
    return [("sql_read", ())] if kinds else []


def _sed(argv: Argv, simple: Simple) -> Found:
    words_given = tuple(word for word in argv[1:] if word)  # BSD: `sed -i '' script file`
    files = _files(words_given, words("-e -f --expression --file -l"))
    scripted = any(word in ("-e", "-f") or word.startswith(("--expression", "--file")) for word in argv[1:])
    files = files if scripted else files[1:]
    in_place = any(re.match(r"-[nErsuz]*i|--in-place", word) for word in argv[1:])
    if in_place:
        return [("edit", files)]
    return _read(files, simple)


def _perl(argv: Argv, simple: Simple) -> Found:
    if any(re.match(r"-\w*i", word) and not word.startswith(("-I", "-M")) for word in argv[1:]):
        files = _files(argv[1:], words("-e -E"))
        return [("edit", tuple(word for word in files if not re.search(r"[\s;/]\S*/[gimsx]*$", word)))]
    return _inline(argv, simple)


def _awk(argv: Argv, simple: Simple) -> Found:
    files = _files(argv[1:], words("-F -v -f -i --field-separator --assign --file"))
    files = files if "-f" in argv else files[1:]
    if "inplace" in argv:
        return [("edit", files)]
    return _read(files, simple)


def _tee(argv: Argv, simple: Simple) -> Found:
    files = tuple(path for path in _files(argv[1:], frozenset()) if not is_scratch(path))
    return [("edit", files)] if files else []


def _copy(argv: Argv, simple: Simple) -> Found:
    files = _files(argv[1:], words("-t -m -o -g -S --target-directory --mode"))
    if base(argv[0]) == "rsync" and any(re.match(r"[\w.@-]+:", path) for path in files):
        return [("network", ())]
    if len(files) < 2 or is_scratch(files[-1]):
        return []
    target = files[-1]
    sources = files[:-1]
    edited = tuple(f"{target.rstrip('/')}/{base(path)}" for path in sources) if target.endswith("/") else (target,)
    found: Found = [("edit", edited)]
    if base(argv[0]) == "mv":
        found.append(("delete", sources))
    return found


def _remove(argv: Argv, simple: Simple) -> Found:
    files = tuple(path for path in _files(argv[1:], frozenset()) if not is_scratch(path))
    return [("delete", files)] if files else []


def _patch(argv: Argv, simple: Simple) -> Found:
    if "--dry-run" in argv or "--check" in argv:
        return []
    text = simple.stdin or next((word for word in argv[1:] if "\n" in word), "")
    edited, deleted = patched_paths(text)
    if not edited and not deleted:
        edited = tuple(path for path in _files(argv[1:], words("-p -i -d -D -F -o -r")) if "\n" not in path)
    found: Found = [("edit", edited)] if edited or not deleted else []
    if deleted:
        found.append(("delete", deleted))
    return found


def _inline(argv: Argv, simple: Simple) -> Found:
    """Code given on the line or as a heredoc: `python -c`, `node -e`, `python - <<EOF`."""
    code = simple.stdin
    for option in ("-c", "-e", "--eval", "-r", "-E", "-p"):
        if option in argv[:-1]:
            code = argv[argv.index(option) + 1]
            break
    found: Found = []
    if code:
        written, deleted = written_paths(code), deleted_paths(code)
        if written is not None and not (written and all(is_scratch(path) for path in written)):
            found.append(("edit", tuple(path for path in written if not is_scratch(path))))
        if deleted is not None:
            found.append(("delete", deleted))
        if re.search(r"\b(?:requests|httpx|urllib|aiohttp|fetch|axios|socket)\b[.(]", code):
            found.append(("network", ()))
    return found


def _python(argv: Argv, simple: Simple) -> Found:
    if argv[1:3] in (("-m", "pip"), ("-m", "pip3")) and "install" in argv[3:5]:
        return [("install", ())]
    if argv[1:2] == ("-m",) and len(argv) > 2:
        module = argv[2]
        if module in _FIXERS or module in ("ruff", "pre_commit"):
            return effects_of(simple, (module.replace("_", "-"), *argv[3:]))
        return []
    if len(argv) > 2 and base(argv[1]) == "manage.py" and argv[2] == "makemigrations":
        return [] if "--check" in argv or "--dry-run" in argv else [("edit", ())]
    return _inline(argv, simple)


def _find(argv: Argv, simple: Simple) -> Found:
    found: Found = [("delete", ())] if "-delete" in argv else []
    for option in ("-exec", "-execdir", "-ok"):
        if option in argv:
            at = argv.index(option) + 1
            end = next((i for i in range(at, len(argv)) if argv[i] in (";", "+", "\\;")), len(argv))
            inner = tuple(word for word in argv[at:end] if word != "{}")
            if inner:
                found += [(kind, ()) for kind, _ in effects_of(simple, inner)]
    return found


def _curl(argv: Argv, simple: Simple) -> Found:
    options = ("-o", "--output", "-O", "--output-document")
    targets = tuple(argv[at + 1] for at in range(len(argv) - 1) if argv[at] in options and argv[at] != "-O")
    if base(argv[0]) == "wget" and "-O" in argv[:-1]:
        targets += (argv[argv.index("-O") + 1],)
    written = tuple(path for path in targets if SOURCE.search(path) and not is_scratch(path))
    return [("edit", written)] if written else []


def _ruff(argv: Argv, simple: Simple) -> Found:
    if "--fix" in argv or ("format" in argv[1:2] and not any(word in _CHECK_ONLY for word in argv)):
        return [("edit", ())]
    return []


def _subcommand_edits(*verbs: str) -> Callable[[Argv, Simple], Found]:
    wanted = frozenset(verbs)

    def rule(argv: Argv, simple: Simple) -> Found:
        names = " ".join(word for word in argv[1:] if not word.startswith("-"))
        hit = any(names == verb or names.startswith(f"{verb} ") for verb in wanted)
        return [("edit", ())] if hit and not any(word in _CHECK_ONLY for word in argv[1:]) else []

    return rule


def _git(argv: Argv, simple: Simple) -> Found:
    return list(git_effects(argv))


def _gh(argv: Argv, simple: Simple) -> Found:
    names = [word for word in argv[1:] if not word.startswith("-")]
    found: Found = [("vcs", ())]
    if names[1:2] in (["comment"], ["review"]) or names[:2] in (["issue", "create"], ["pr", "create"]):
        found.append(("message_send", ()))
    return found


def _vcs(argv: Argv, simple: Simple) -> Found:
    return [("vcs", ())]


def _message(argv: Argv, simple: Simple) -> Found:
    return [("message_send", ())]


def _stripe(argv: Argv, simple: Simple) -> Found:
    names = [word for word in argv[1:] if not word.startswith("-")]
    moving = words("charges payment_intents refunds payouts transfers invoices checkout topups subscriptions")
    if (
        names[:1]
        and names[0] in moving
        and names[1:2]
        and names[1] in words("create confirm capture pay cancel update finalize")
    ):
        return [("payment", ()), ("network", ())]
    return [("network", ())]


def _truncate(argv: Argv, simple: Simple) -> Found:
    files = tuple(path for path in _files(argv[1:], words("-s --size")) if not is_scratch(path))
    return [("edit", files)] if files else []


def _dd(argv: Argv, simple: Simple) -> Found:
    files = tuple(word[3:] for word in argv[1:] if word.startswith("of=") and not is_scratch(word[3:]))
    return [("edit", files)] if files else []


def _aider(argv: Argv, simple: Simple) -> Found:
    return [
        (
            "edit",
            tuple(path for path in _files(argv[1:], words("--message -m --model --read -f")) if SOURCE.search(path)),
        )
    ]


_RULES: dict[str, Callable[[Argv, Simple], Found]] = {
    "git": _git, "gh": _gh, "glab": _gh, "hg": _vcs, "svn": _vcs, "jj": _vcs, "bzr": _vcs, "sl": _vcs, "gt": _vcs,
    "sed": _sed, "gsed": _sed, "perl": _perl, "ruby": _perl, "awk": _awk, "gawk": _awk, "mawk": _awk, "tee": _tee,
    "sponge": _tee,
    "cp": _copy, "mv": _copy, "install": _copy, "rsync": _copy, "ln": _copy, "dd": _dd, "truncate": _truncate,
    "rm": _remove, "rmdir": _remove, "unlink": _remove, "shred": _remove, "trash": _remove, "find": _find,
    "fd": _find,
    "patch": _patch, "apply_patch": _patch, "applypatch": _patch, "curl": _curl, "wget": _curl,
    "node": _inline, "php": _inline, "deno": _inline, "bun": _inline,
    "ruff": _ruff, "go": _subcommand_edits("fmt", "generate", "mod tidy", "fix"),
    "cargo": _subcommand_edits("fmt", "fix", "clippy fix"),
    "dotnet": _subcommand_edits("format"), "terraform": _subcommand_edits("fmt"), "mix": _subcommand_edits("format"),
    "deno-fmt": _subcommand_edits("fmt"),
    "npm": _subcommand_edits("run format", "run lint:fix", "run fix", "pkg set", "version"),
    "yarn": _subcommand_edits("format", "lint:fix", "run format", "run lint:fix"),
    "pnpm": _subcommand_edits("format", "run format", "lint:fix"),
    "pre-commit": _subcommand_edits("run"), "mail": _message, "mailx": _message, "sendmail": _message,
    "mutt": _message,
    "swaks": _message, "slack": _message, "twilio": _message, "stripe": _stripe, "aider": _aider,
}  # fmt: skip
for _name in (
    "python",
    "python2",
    "python3",
    "pypy",
    "pypy3",
    "ipython",
    *(f"python3.{minor}" for minor in range(8, 16)),
):
    _RULES[_name] = _python
