"""A report for the tools around a pull request: JUnit XML and SARIF 2.1.0. Names and reasons in it are data."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

from collector.cli.out import cell

Row = dict[str, Any]
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
MAX_TEXT = 2_000
TAGS = {"fail": "failure", "error": "error"}
SKIPPED = ("invalid", "unknown", "incomplete", "pending")


def junit(runs: Sequence[Row]) -> str:
    """A suite per task version, a test case per run. What is neither passed nor failed is skipped, with the reason."""
    root = ElementTree.Element("testsuites", {"name": "passhat report", **_counts(runs)})
    suites: dict[str, list[Row]] = {}
    for run in runs:
        suites.setdefault(_task(run), []).append(run)
    for name in sorted(suites):
        suite = ElementTree.SubElement(root, "testsuite", {"name": name, **_counts(suites[name])})
        for run in suites[name]:
            _case(suite, run)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def sarif(runs: Sequence[Row]) -> str:
    """A result per failing or broken check of a run; its place is the run's trace, line by line."""
    rules: dict[str, Row] = {}
    results = []
    for run in runs:
        for verdict in failing(run):
            name = _text(verdict["check_id"])
            fix = _text(verdict["fix"])
            rule = {"id": name, "shortDescription": {"text": f"{_text(verdict['kind'])} check {name}"}}
            rules.setdefault(name, rule | ({"help": {"text": fix}} if fix else {}))
            results.append(_result(run, verdict, list(rules).index(name)))
    driver = {"name": "passhat", "rules": list(rules.values())}
    log = {"tool": {"driver": driver}, "columnKind": "utf16CodeUnits", "results": results}
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [log]}, indent=2) + "\n"


def failing(run: Row) -> list[Row]:
    """The verdicts a person is to look at, gates first."""
    some = [verdict for verdict in run["verdicts"] if verdict["status"] in TAGS]
    return sorted(some, key=lambda verdict: not verdict["gate"])


def told(verdict: Row) -> str:
    """A verdict in a line: what, why, where, and what to do."""
    lines = ", ".join(str(line) for line in verdict["lines"])
    where = f" (line{'s' if len(verdict['lines']) > 1 else ''} {lines})" if lines else ""
    fix = f" Fix: {_text(verdict['fix'])}" if verdict["fix"] else ""
    gate = "" if verdict["gate"] else " [advisory]"
    return f"{_text(verdict['check_id'])}: {verdict['status']}{gate}: {_text(verdict['reason'])}{where}{fix}"


def _case(suite: ElementTree.Element, run: Row) -> None:
    seconds = f"{run['duration_s'] or 0:.3f}"
    case = ElementTree.SubElement(suite, "testcase", classname=_task(run), name=_text(run["run_id"]), time=seconds)
    said = "\n".join(told(verdict) for verdict in failing(run))
    message = _text(run["reason"]) or run["result"]
    if run["result"] in TAGS:
        ElementTree.SubElement(case, TAGS[run["result"]], type=run["result"], message=message).text = said
    elif run["result"] in SKIPPED:
        ElementTree.SubElement(case, "skipped", message=f"{run['result']}: {message}")
        ElementTree.SubElement(case, "system-out").text = said
    elif said:
        ElementTree.SubElement(case, "system-out").text = said


def _counts(runs: Sequence[Row]) -> dict[str, str]:
    results = [run["result"] for run in runs]
    skipped = sum(results.count(result) for result in SKIPPED)
    return {
        "tests": str(len(results)),
        "failures": str(results.count("fail")),
        "errors": str(results.count("error")),
        "skipped": str(skipped),
    }


def _result(run: Row, verdict: Row, index: int) -> Row:
    level = "error" if verdict["gate"] and verdict["status"] == "fail" else "warning"
    identity = "\0".join((run["project"], run["run_id"], verdict["check_id"]))
    return {
        "ruleId": _text(verdict["check_id"]),
        "ruleIndex": index,
        "level": level,
        "message": {"text": f"{_task(run)}: {told(verdict)}"},
        "locations": [_location(run, line) for line in verdict["lines"] or [1]],
        "partialFingerprints": {"passhatVerdict/v1": hashlib.sha256(identity.encode()).hexdigest()},
        "properties": {"run_id": _text(run["run_id"]), "result": run["result"], "ended": run["ended"]},
    }


def _location(run: Row, line: int) -> Row:
    """SARIF wants files: a run stands for one, its trace lines for the file's lines."""
    place = f"passhat/{quote(run['project'], safe='')}/{quote(run['run_id'], safe='')}"
    return {
        "physicalLocation": {"artifactLocation": {"uri": place}, "region": {"startLine": line}},
        "logicalLocations": [{"fullyQualifiedName": f"{_text(run['run_id'])} line {line}", "kind": "element"}],
    }


def _task(run: Row) -> str:
    version = f" version {run['task_version']}" if run["task_version"] else ""
    return _text(f"{run['task_id']}{version}")


def _text(value: object) -> str:
    """One line without what XML cannot hold."""
    return cell(value, MAX_TEXT)
