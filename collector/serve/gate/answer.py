"""The answer of a gate: the decision with everything it rests on, in the words of the contract."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import quote

from collector.config.keys import GateConfig
from collector.serve.gate.numbers import Numbers
from collector.serve.gate.rule import Evidence, Limits, decide, excluded_share
from collector.serve.sql import Row
from collector.serve.times import Window, rfc3339_ms

MOST_SHOWN = 10
FEW_DAYS = 5


def answered(policy: GateConfig, window: Window, numbers: Numbers) -> Row:
    """Everything but who asked and when: see `evidence_of` and `rule.decide` for the decision."""
    row = numbers.row
    seen = evidence_of(numbers, window)
    limits = Limits(policy.min, policy.max_excluded, policy.max_age)
    decision, reasons = decide(limits, seen)
    start = rfc3339_ms(window.start_ms)
    return {
        "decision": decision,
        "reasons": list(reasons),
        "explanation": [explained(reason, policy, seen) for reason in reasons],
        "guarantee": "year",
        "basis": policy.basis,
        "by": numbers.by,
        "service_version": _one_or_list(version for _, version in numbers.versions),
        "task_version": _one_or_list(row["task_versions"]),
        "checks_version": _one_or_list(row["checks_versions"]),
        "window": {"start": start, "end": rfc3339_ms(window.end_ms), "anchor": start},
        "n": row["n"],
        "c": row["c"],
        "excluded": _excluded(row, seen),
        "tasks": row["tasks"],
        "tasks_used": row["tasks_used"],
        "k": policy.k,
        "min": policy.min,
        "confidence": policy.confidence,
        "max_excluded": policy.max_excluded,
        "pass_hat_k": row["pass_hat_k"],
        "low": row["low"],
        "high": row["high"],
        "needed": row["needed"],
        "deff": row["deff"],
        "days": row["days"],
        "flag": "clustered_unknown" if row["days"] < FEW_DAYS else "",
        "last_three_days": {"n": row["recent_n"], "c": row["recent_c"], "high": row["recent_high"]},
        "newest": None if numbers.newest_ms is None else rfc3339_ms(numbers.newest_ms),
        "worst_tasks": [{"task_id": task, "n": n, "c": c, "pass_hat_k": hat} for task, n, c, hat in row["worst_tasks"]],
        "failing_checks": _failing_checks(numbers),
        "run_urls": [run_url(one) for one in _distinct([*numbers.critical, *numbers.failed])[:MOST_SHOWN]],
    }


def evidence_of(numbers: Numbers, window: Window) -> Evidence:
    """What the rule looks at. `selected` is asked of classes only: one task is used or has too few trials."""
    row, whole = numbers.row, numbers.by == "class"
    return Evidence(
        n=row["n"],
        low=row["low"],
        high=row["high"],
        recent_high=row["recent_high"],
        age_s=None if numbers.newest_ms is None else (window.end_ms - numbers.newest_ms) / 1000,
        attempted=row["attempted"],
        critical=len(numbers.critical),
        tasks=row["tasks"] if whole else 1,
        tasks_used=row["tasks_used"] if whole else 1,
        other_basis=row["other_basis"],
        other_checks=row["other_checks"],
        superseded=row["superseded"],
    )


def explained(reason: str, policy: GateConfig, seen: Evidence) -> str:
    """A reason as one plain sentence with its figures."""
    of: dict[str, Any] = {
        "critical": seen.critical,
        "share": excluded_share(seen),
        "basis": policy.basis,
        "min": policy.min,
    }
    of |= {"high": seen.high, "low": seen.low, "recent": seen.recent_high, "checks": seen.other_checks}
    of |= {"other": seen.other_basis, "used": seen.tasks_used, "tasks": seen.tasks, "older": seen.superseded}
    of |= {"most": policy.max_excluded, "days": policy.max_age / 86400}
    text = ONLY_OUTCOMES if (reason, policy.basis) == ("no_outcomes", "trajectory") else SENTENCES[reason]
    return text.format(**{name: 0.0 if value is None else value for name, value in of.items()})


SENTENCES = {
    "critical_failure": "{critical} runs of the window fail a check of severity critical.",
    "below_target": "pass^k is at most {high:.4f}: below {min:g}.",
    "last_three_days": "pass^k of the last three days is at most {recent:.4f}: below {min:g}.",
    "no_outcomes": "No trial has a reported outcome; {other} runs have none (--basis trajectory reads those).",
    "no_trials": "No trial of this gate ended in the window.",
    "superseded": "All {older} trials are of older task versions.",
    "checks_changed": "{checks} trials were judged by other checks than those in force: run `passhat regrade`.",
    "too_few": "pass^k is at least {low:.4f}: more passing trials are needed to show {min:g}.",
    "selected": "Only {used} of {tasks} tasks have k trials.",
    "excluded": "{share:.1%} of the trials count nowhere; at most {most:.1%} may.",
    "stale": "The newest trial is older than {days:g} days.",
}

# `no_outcomes` where the trajectory was asked for: the trials left out are of a task that has outcomes.
ONLY_OUTCOMES = (
    "No trial is judged by its path: the tasks of {other} runs have reported outcomes (--basis outcome reads those)."
)


def run_url(run: Row) -> str:
    """Where the API tells of a run; the project says which, where two have its id."""
    path = quote(run["run_id"], safe="").replace(".", "%2E")
    return f"/api/v1/runs/{path}?project={quote(run['project'], safe='')}"


def _excluded(row: Row, seen: Evidence) -> Row:
    names = ("errors", "invalid", "unknown", "incomplete", "pending", "superseded", "other_checks", "other_basis")
    return {"share": excluded_share(seen), **{name: row[name] for name in names}}


def _failing_checks(numbers: Numbers) -> list[Row]:
    """The checks that failed runs fail, most often first; critical ones lead."""
    critical: Counter[str] = Counter(check for run in numbers.critical for check in run["checks"])
    gating: Counter[str] = Counter(check for run in numbers.failed for check in run["checks"] if check not in critical)
    told = [(check, runs, "critical") for check, runs in critical.most_common()]
    told += [(check, runs, "") for check, runs in gating.most_common()]
    return [{"check_id": check, "runs": runs, "severity": severity} for check, runs, severity in told[:MOST_SHOWN]]


def _distinct(runs: Sequence[Row]) -> list[Row]:
    return list({(run["project"], run["run_id"]): run for run in runs}.values())


def _one_or_list(values: Iterable[str]) -> Any:
    """The value where there is one, null for none, else all of them."""
    found = sorted(set(values))
    return found[0] if len(found) == 1 else found or None
