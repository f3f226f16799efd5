"""Decisions of gates as text, as JUnit XML and as GitHub annotations. Names are data: escaped for each form."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from xml.etree import ElementTree

from collector.cli.out import cell, rate

Row = dict[str, Any]
LEVELS = {"allow": "notice", "insufficient": "warning", "deny": "error"}


def title(answer: Row) -> str:
    """What the gate is of: its name, else its tasks or classes."""
    return cell(answer["name"] or ", ".join([*answer["task"], *answer["class"]]) or "all tasks")


def summary(answer: Row) -> str:
    """One line: the decision, the rate with its ends, and why."""
    hat = "pass^" if answer["basis"] == "outcome" else "clean^"
    ends = f"{rate(answer['low'])} to {rate(answer['high'])}"
    line = f"{answer['decision']}: {title(answer)}: {hat}{answer['k']} {rate(answer['pass_hat_k'])} ({ends}), "
    line += f"min {answer['min']:g}, {answer['c']} of {answer['n']} trials passed"
    return " ".join([line + ".", *why(answer)])


def why(answer: Row) -> list[str]:
    """The reasons as sentences, and how many passing trials would be enough where too few are the reason."""
    needed = answer["needed"]
    more = [f"{needed} further passing trials in a row would do."] if "too_few" in answer["reasons"] and needed else []
    return [*answer["explanation"], *more]


def explained(answer: Row) -> str:
    """What the decision rests on, a line each."""
    beside = ", ".join(f"{name} {count}" for name, count in answer["excluded"].items() if name != "share" and count)
    three = answer["last_three_days"]
    lines = [
        f"gate {title(answer)}, decided {answer['decided_at']}, id {answer['gate_id']}",
        f"  window     {answer['window']['start']} to {answer['window']['end']}, anchored on a Monday (UTC)",
        f"  trials     n {answer['n']}, c {answer['c']}, excluded {answer['excluded']['share']:.1%}"
        f" (most {answer['max_excluded']:.1%}){': ' + beside if beside else ''}",
        f"  version    service {known(answer['service_version'])}, task {known(answer['task_version'])},"
        f" checks {known(answer['checks_version'])}",
        f"  estimate   by {answer['by']}, tasks {answer['tasks_used']} of {answer['tasks']}",
        f"  interval   {rate(answer['low'])} to {rate(answer['high'])} at {answer['confidence']:g} for a year of looks,"
        f" design effect {answer['deff']:.2f} over {answer['days']} days {answer['flag']}".rstrip(),
        f"  3 days     {three['c']} of {three['n']} passed, at most {rate(three['high'])}",
        f"  newest     {answer['newest'] or '-'}",
    ]
    lines += [f"  worst      {cell(one['task_id'])}: {one['c']} of {one['n']}" for one in answer["worst_tasks"]]
    lines += [f"  failing    {cell(one['check_id'])}: {one['runs']} runs {one['severity']}".rstrip()
              for one in answer["failing_checks"]]  # fmt: skip
    return "\n".join(lines + [f"  run        {cell(url)}" for url in answer["run_urls"]])


def known(value: object) -> str:
    """A version, several of them, `-` for none."""
    values = value if isinstance(value, list) else [value]
    return ", ".join(cell(one) or "-" for one in values) or "-"


def junit(answers: Sequence[Row]) -> str:
    """One suite, a test case a gate: denied is a failure, insufficient an error, so that neither is green."""
    count = [sum(answer["decision"] == one for answer in answers) for one in ("deny", "insufficient")]
    suite = ElementTree.Element(
        "testsuite", name="passhat gate", tests=str(len(answers)), failures=str(count[0]), errors=str(count[1])
    )
    for answer in answers:
        case = ElementTree.SubElement(suite, "testcase", classname="passhat.gate", name=title(answer))
        if answer["decision"] != "allow":
            tag = "failure" if answer["decision"] == "deny" else "error"
            told = ElementTree.SubElement(case, tag, type=answer["decision"], message=summary(answer))
            told.text = explained(answer)
        else:
            ElementTree.SubElement(case, "system-out").text = summary(answer)
    ElementTree.indent(suite)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(suite, encoding="unicode")


def github(answers: Sequence[Row]) -> Iterable[str]:
    """Workflow commands of GitHub Actions, one line a gate."""
    for answer in answers:
        level, name = LEVELS[answer["decision"]], _escaped(f"passhat gate {title(answer)}")
        name = name.replace(":", "%3A").replace(",", "%2C")
        yield f"::{level} title={name}::{_escaped(summary(answer))}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
