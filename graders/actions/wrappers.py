"""Commands that run another command: what is left when `sudo`, `uv run`, `docker exec …` are taken off.

Data: the words that start a wrapper, its options that take a value, and how many words of its own follow them.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from graders.words import words


class Wrapper(Struct, frozen=True):
    """`valued` options take the next word; `own` words (a container, a duration) precede the command."""

    valued: frozenset[str] = frozenset()
    own: int = 0


def _table(rows: Iterable[tuple[str, str, int]]) -> dict[str, dict[tuple[str, ...], Wrapper]]:
    table: dict[str, dict[tuple[str, ...], Wrapper]] = {}
    for start, valued, own in rows:
        head = tuple(start.split())
        table.setdefault(head[0], {})[head] = Wrapper(words(valued), own)
    return table


_WRAPPERS = _table(
    [
        ("sudo", "-u -g -h -p -C -r -t -T -U -D --user --group --chdir", 0),
        ("doas", "-u -C", 0),
        ("env", "-u -C -S --unset --chdir", 0),
        ("timeout", "-k -s --kill-after --signal", 1),
        ("gtimeout", "-k -s --kill-after --signal", 1),
        ("nice", "-n --adjustment", 0),
        ("ionice", "-c -n -p", 0),
        ("nohup", "", 0),
        ("setsid", "", 0),
        ("time", "-f -o --format --output", 0),
        ("command", "", 0),
        ("exec", "-a", 0),
        ("builtin", "", 0),
        ("stdbuf", "-i -o -e", 0),
        ("unbuffer", "", 0),
        ("xvfb-run", "-n -s -e -f -w --server-args --server-num", 0),
        ("catchsegv", "", 0),
        ("caffeinate", "-t -w", 0),
        ("watch", "-n -d --interval", 0),
        ("xargs", "-n -I -P -L -s -d -E -a --max-args --max-procs --replace --delimiter --arg-file", 0),
        ("parallel", "-j -N --jobs --delay", 0),
        ("flock", "-w -E --timeout", 1),
        ("strace", "-e -o -p", 0),
        ("valgrind", "", 0),
        ("chroot", "", 1),
        ("runuser", "-u -g", 0),
        ("uv run", "--with --with-editable --with-requirements --python -p --extra --group --only-group --no-group "
         "--package --project --directory --env-file --index --config-file --cache-dir", 0),
        ("uv tool run", "--with --from --python -p", 0),
        ("uvx", "--with --from --python -p", 0),
        ("pipx run", "--spec --python --pip-args", 0),
        ("poetry run", "-C --directory -P --project", 0),
        ("pipenv run", "", 0),
        ("pdm run", "-p --project", 0),
        ("rye run", "", 0),
        ("pixi run", "-e --environment --manifest-path", 0),
        ("conda run", "-n -p --name --prefix --cwd", 0),
        ("mamba run", "-n -p --name --prefix --cwd", 0),
        ("micromamba run", "-n -p --name --prefix --cwd", 0),
        ("npx", "-p --package -c --call", 0),
        ("pnpx", "-p --package", 0),
        ("bunx", "-p --package", 0),
        ("npm exec", "-p --package -w --workspace", 0),
        ("pnpm exec", "--filter -F -C --dir", 0),
        ("pnpm dlx", "--package", 0),
        ("yarn exec", "", 0),
        ("yarn dlx", "-p --package", 0),
        ("yarn run -T", "", 0),
        ("bun x", "", 0),
        ("cross-env", "", 0),
        ("dotenv", "-f -e -c", 0),
        ("nyc", "--reporter -r --temp-dir", 0),
        ("c8", "--reporter -r -o", 0),
        ("bundle exec", "", 0),
        ("rbenv exec", "", 0),
        ("pyenv exec", "", 0),
        ("asdf exec", "", 0),
        ("mise exec", "", 0),
        ("mise x", "", 0),
        ("rustup run", "", 1),
        ("devbox run", "", 0),
        ("direnv exec", "", 1),
        ("doppler run", "-p -c --project --config", 0),
        ("op run", "--env-file", 0),
        ("infisical run", "--env", 0),
        ("nix develop", "-f --file", 0),
        ("nix-shell", "-p -A --packages", 0),
        ("docker exec", "-e -u -w --env --user --workdir --env-file", 1),
        ("podman exec", "-e -u -w --env --user --workdir --env-file", 1),
        ("docker run", "-e -u -w -v -p -h -l -m --env --user --workdir --volume --publish --name --network --mount "
         "--entrypoint --env-file --platform --memory --cpus --add-host --label --hostname --pull", 1),
        ("podman run", "-e -u -w -v -p --env --user --workdir --volume --name --network --mount --entrypoint", 1),
        ("docker compose exec", "-e -u -w --env --user --workdir --index", 1),
        ("docker compose run", "-e -u -w -v --env --user --workdir --volume --name --entrypoint", 1),
        ("docker-compose exec", "-e -u -w --env --user --workdir --index", 1),
        ("docker-compose run", "-e -u -w -v --env --user --workdir --volume --name --entrypoint", 1),
        ("kubectl exec", "-c -n --container --namespace", 1),
        ("oc exec", "-c -n --container --namespace", 1),
        ("ssh", "-p -i -l -o -F -J -L -R -D -b -c -E -m -W", 1),
        ("coverage run", "--rcfile --source --omit --include --data-file --context --concurrency", 0),
        ("cargo with", "", 1),
        ("gotip", "", 0),
        ("hatch run", "-e --env", 0),
        ("hatch env run", "-e --env", 0),
        ("vendor/bin/sail", "", 0),
        ("./vendor/bin/sail", "", 0),
        ("sail", "", 0),
        ("ddev exec", "-s -d --service --dir", 0),
        ("lando", "", 0),
        ("wsl", "-d -u", 0),
        ("opam exec", "", 0),
        ("stack exec", "", 0),
        ("cabal exec", "", 0),
        ("poetry exec", "", 0),
        ("rlwrap", "", 0),
        ("faketime", "", 1),
        ("retry", "-t -d", 0),
    ]
)  # fmt: skip

_SHELLS = words("bash sh zsh dash ksh ash fish busybox")
_SHELL_OPTIONS_VALUED = words("-O +O -o +o --rcfile --init-file")
# Tools that take a whole command line as one argument of an option.
_LINE_OPTION = {
    "su": "-c",
    "script": "-c",
    "nix-shell": "--run",
    "watchexec": "-s",
    "npx": "-c",
    "flock": "-c",
    "runuser": "-c",
}
_MODULE_RUNNERS = words("uv coverage pdm")
_JOINED_HEADS = (3, 2, 1)


def script_of(argv: tuple[str, ...]) -> str | None:
    """The command line a shell is told to run (`bash -lc "…"`, `eval "…"`), None where this is no such call."""
    if not argv:
        return None
    program = base(argv[0])
    if program == "eval":
        return " ".join(argv[1:])
    if program in _LINE_OPTION and _LINE_OPTION[program] in argv[:-1]:
        return argv[argv.index(_LINE_OPTION[program]) + 1]
    if program == "nix" and "-c" in argv[:-1]:
        return " ".join(argv[argv.index("-c") + 1 :])
    if program not in _SHELLS:
        return None
    at = 1
    while at < len(argv) and argv[at].startswith(("-", "+")):
        option = argv[at]
        if not option.startswith("--") and option.startswith("-") and "c" in option:
            return argv[at + 1] if at + 1 < len(argv) else ""
        at += 2 if option in _SHELL_OPTIONS_VALUED else 1
    return None


def script_file(argv: tuple[str, ...]) -> tuple[str, ...]:
    """`bash run.sh -x` is the program `run.sh`; other commands stay as they are."""
    if base(argv[0]) in _SHELLS:
        rest = [at for at, word in enumerate(argv[1:], start=1) if not word.startswith(("-", "+"))]
        return argv[rest[0] :] if rest else argv
    if argv[0] in ("source", ".") and len(argv) > 1:
        return argv[1:]
    return argv


def unwrap(argv: tuple[str, ...]) -> tuple[str, ...]:
    """One layer taken off: the wrapped command, or the same words when nothing wraps."""
    argv = _without_assignments(argv)
    if not argv:
        return argv
    table = _WRAPPERS.get(argv[0]) or _WRAPPERS.get(base(argv[0]))
    if table is None:
        return argv
    named = (base(argv[0]), *argv[1:])
    for length in _JOINED_HEADS:
        wrapper = table.get(argv[:length]) or table.get(named[:length])
        if wrapper is not None:
            return _inner(argv, length, wrapper)
    return argv


def _inner(argv: tuple[str, ...], head: int, wrapper: Wrapper) -> tuple[str, ...]:
    own = wrapper.own
    at = head
    while at < len(argv):
        word = argv[at]
        if word == "-m" and argv[0] in _MODULE_RUNNERS:
            return ("python", *argv[at:])  # `uv run -m pytest`
        if word == "--":
            at += 1 + own if own and head == at else 1
            break
        if word.startswith("-") and len(word) > 1:
            at += 2 if word in wrapper.valued else 1
        elif own:
            own -= 1
            at += 1
        elif "=" in word and word.split("=", 1)[0].isidentifier():
            at += 1  # env A=1 B=2 command
        else:
            break
    if at < len(argv) and argv[at] == "--":
        at += 1
    if base(argv[0]) == "ssh" and at < len(argv):
        return ("sh", "-c", " ".join(argv[at:]))  # the other side's shell reads the words again
    if argv[0] == "coverage" and at < len(argv):
        return ("python", *argv[at:])
    return argv[at:] or argv


def _without_assignments(argv: tuple[str, ...]) -> tuple[str, ...]:
    at = 0
    while at < len(argv) and "=" in argv[at] and argv[at].split("=", 1)[0].isidentifier():
        at += 1
    return argv[at:]


def base(program: str) -> str:
    """The program's name without its folder."""
    name = program.rsplit("/", 1)[-1].rsplit("\\", 1)[-1]
    return name[:-4] if name.endswith((".exe", ".cmd", ".bat")) else name
