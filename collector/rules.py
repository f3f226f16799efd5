"""The configuration as each stage takes it: words to normalise with, checks and policy to grade with, limits."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import yaml

from collector.assemble import Policy
from collector.config import Config
from collector.errors import UsageError
from collector.grade.due import DuePolicy
from collector.grade.programs import Programs
from collector.receive.limits import Limits
from graders.check import Check
from graders.checkset import CheckSet
from graders.errors import CheckBroke, CheckError
from graders.trial import TrialPolicy
from semconv.dialect import DialectError
from semconv.facts import NORMALISER_VERSION
from semconv.words import Words


def words_of(config: Config) -> Words:
    """The vocabulary: the contract's attributes, the user's, and the dialects. Raises UsageError naming the file."""
    runs = config.runs
    dialects: list[dict[str, Any]] = []
    for path in config.dialects:
        dialect = read_yaml(path)
        try:
            Words(dialects=[*dialects, dialect])  # one may extend another named before it
        except DialectError as error:
            at = _line_of(path, str(error))
            raise UsageError(f"{path}{at}: {error}", hint="docs/dialects.md has the form of a dialect") from None
        dialects.append(dialect)
    return Words(
        task=runs.task,
        task_class=runs.task_class,
        group_by=runs.group_by,
        outcome_events=config.trials.outcome_events,
        dialects=dialects,
    )


def _line_of(path: Path, problem: str) -> str:
    """`:12` for the first key of the file that the problem names in backticks; its first line for one that lacks."""
    named = re.findall("`([^`]+)`", problem)
    lines = path.read_text().splitlines()
    for key in named:
        for number, line in enumerate(lines, 1):
            if re.match(rf"[\s{{,-]*['\"]?{re.escape(key)}['\"]?\s*:", line):
                return f":{number}"
    return ":1"


def words_digest(config: Config) -> str:
    """Tells sets of words apart: what `facts_of` finds depends on nothing else."""
    runs = config.runs
    parts = [
        NORMALISER_VERSION,
        runs.task,
        runs.task_class,
        runs.group_by,
        sorted(config.trials.outcome_events),
        [read_yaml(path) for path in config.dialects],
    ]
    return hashlib.blake2b(orjson.dumps(parts, default=str), digest_size=16).hexdigest()


def checks_of(config: Config, programs: Programs | None = None) -> CheckSet:
    """The checks in force, regression cases included. Raises UsageError with the line of the check at fault.

    `programs` tells what Python checks say of themselves; without it one is started for that and ended.
    """
    cases = [case for _, case in cases_of(config.cases)]
    try:
        checks = _with_models(config, _with_functions(config, programs))
        return CheckSet.compile(checks, config.tags, config.actions, trial_policy_of(config), cases)
    except CheckError as error:
        raise UsageError(f"{_where(config, error)}{error}", hint="docs/checks.md has every kind and key") from None


def judges_of(config: Config) -> dict[str, Check]:
    """The checks that ask a model, by id."""
    asking = [check for check in config.checks or () if check.get("kind") == "judge"]
    compiled = CheckSet.compile(_with_models(config, asking), config.tags) if asking else None
    return {check.id: check for check in compiled.checks} if compiled is not None else {}


def _with_models(config: Config, checks: list[dict[str, Any]] | None) -> list[dict[str, Any]] | None:
    """Judge checks with the model they ask and how it is asked: both belong to their version."""
    asked = {"api": config.judge.api, "parameters": config.judge.parameters}
    for check in checks or ():
        if check.get("kind") == "judge" and config.judge.url is None:
            raise CheckError(
                "nobody can be asked: judge.url is missing", check_id=str(check.get("id") or ""), key="kind"
            )
    return checks and [
        {"model": config.judge.model, **check, "asked": asked} if check.get("kind") == "judge" else check
        for check in checks
    ]


def refuse_missing_programs(config: Config, checks: CheckSet) -> None:
    """Raise UsageError with the line of a `command` check whose program is not there, or may not be run."""
    folder = config.source.file.parent if config.source.file else Path.cwd()
    for check in checks.checks:
        words = check.external.command if check.external is not None else ()
        if not words:
            continue
        program = str(folder / words[0]) if "/" in words[0] else words[0]
        if shutil.which(program) is None:
            error = CheckError(f"there is no program {words[0]} to run", check_id=check.id, key="command")
            raise UsageError(f"{_where(config, error)}{error}", hint="it is looked for from the configuration's folder")


def programs_of(config: Config) -> Programs:
    """What runs the user's own checks: in the folder of the configuration file, else where passhat was started."""
    return Programs(config.source.file.parent if config.source.file else Path.cwd())


def _with_functions(config: Config, programs: Programs | None) -> list[dict[str, Any]] | None:
    """The checks as written, Python ones with the keys of their `@check` below the written ones, and their source."""
    if not any(_is_python(check) for check in config.checks or ()):
        return config.checks
    asked = programs or programs_of(config)
    try:
        return [{**_keys_of(check, asked), **check} if _is_python(check) else check for check in config.checks or ()]
    finally:
        if programs is None:
            asked.close()


def _is_python(check: dict[str, Any]) -> bool:
    return check.get("kind") == "python" and isinstance(check.get("function"), str)


def _keys_of(check: dict[str, Any], programs: Programs) -> dict[str, Any]:
    try:
        return programs.describe(check["function"])
    except CheckBroke as error:
        raise CheckError(str(error), check_id=str(check.get("id") or ""), key="function") from None


def definitions_of(config: Config) -> str:
    """What the checks in force were compiled from, as the register of checks keeps it."""
    cases = [case for _, case in cases_of(config.cases)]
    parts = {"checks": config.checks, "tags": config.tags, "actions": config.actions, "cases": cases}
    return orjson.dumps(parts, default=str).decode()


def cases_of(folder: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The regression cases of a folder by file, in order of their names."""
    for path in sorted(folder.glob("*.y*ml")) if folder.is_dir() else ():
        yield path, {"id": path.stem, **read_yaml(path)}


def read_yaml(path: Path) -> dict[str, Any]:
    """A YAML file that must be a map. Raises UsageError naming file and line."""
    try:
        read = yaml.safe_load(path.read_text())
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise UsageError(f"{path}{f':{mark.line + 1}' if mark else ''}: not YAML: {error}") from None
    if not isinstance(read, dict):
        raise UsageError(f"{path}: must be a map of keys")
    return read


def trial_policy_of(config: Config) -> TrialPolicy:
    """The part of `trials` that decides results."""
    trials = config.trials
    return TrialPolicy(
        without_outcome=trials.without_outcome,
        mature_s=trials.mature_s,
        outcome_events=trials.outcome_events,
        infrastructure_errors=trials.infrastructure_errors,
    )


def store_policy_of(config: Config) -> dict[str, str]:
    """What every collector and every query must agree on, as the store's `policy` table keeps it."""
    trials = config.trials
    slos = [slo.model_dump(mode="json", by_alias=True) for slo in config.slos]
    counted = {"errors": trials.errors, "incomplete": trials.incomplete, "retries": trials.retries}
    return {**counted, "slos": orjson.dumps(slos).decode()}


def due_policy_of(config: Config) -> DuePolicy:
    return DuePolicy(config.runs.settle_s, config.runs.idle_s, config.runs.max_age_s)


def assembly_policy_of(config: Config) -> Policy:
    return Policy(group_by=config.runs.group_by or "", outcome_events=frozenset(config.trials.outcome_events))


def limits_of(config: Config) -> Limits:
    """The receiver's limits: the configuration has the same names."""
    return Limits(**config.limits.model_dump())


def _where(config: Config, error: CheckError) -> str:
    """`passhat.yaml:12: ` for the check, tag or action at fault, `FILE: ` for a case."""
    for path, case in cases_of(config.cases):
        if error.check_id == case["id"] or error.check_id.startswith(f"case:{case['id']}/"):
            return f"{path}: "
    written = config.checks or []
    named = [index for index, check in enumerate(written) if error.check_id and check.get("id") == error.check_id]
    at_fault = named[-1] if named else next((n for n, check in enumerate(written) if _says(config, check, error)), None)
    if at_fault is None:
        found = config.where(*error.key.split(".", 1)) if error.key else ""
        return f"{found}: " if found else ""
    key = ("checks", at_fault, error.key)
    found = config.where(*key) if error.key in written[at_fault] else ""
    found = found or config.where("checks", at_fault)
    return f"{found}: " if found else ""


def _says(config: Config, check: dict[str, Any], error: CheckError) -> bool:
    """Whether this check alone gives this error: one without an id, or not in the library, cannot be told by its id."""
    try:
        CheckSet.compile([check], config.tags, config.actions)
    except CheckError as said:
        return str(said) == str(error)
    return False
