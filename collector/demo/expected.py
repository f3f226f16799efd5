"""What the lessons print. The demo compares; nothing it prints comes from here."""

from __future__ import annotations

from typing import Any

PASS, FAIL = "pass", "fail"

RUNS: dict[str, dict[str, Any]] = {
    "a": {
        "subtype": "success", "final_text": "Fixed; all tests pass.", "num_turns": 6, "lines": 10,
        "edits": [3, 6], "test_runs": [4, 7],
        "checks": {"tests-after-last-edit": PASS, "no-test-edits": PASS, "no-repeats": PASS},
        "result": PASS,
    },
    "b": {
        "subtype": "success", "final_text": "Fixed; all tests pass.", "num_turns": 4, "lines": 8,
        "edits": [2, 5, 6], "test_runs": [3],
        "checks": {"tests-after-last-edit": FAIL, "no-test-edits": FAIL, "no-repeats": PASS},
        "result": FAIL,
    },
}  # fmt: skip

LAB: dict[str, dict[str, Any]] = {
    "A": {"trajectory": PASS, "calls": PASS, "outcome": PASS, "answer": "32", "bad_calls": []},
    "B": {"trajectory": FAIL, "calls": PASS, "outcome": PASS, "answer": "32", "bad_calls": []},
    "C": {"trajectory": PASS, "calls": PASS, "outcome": FAIL, "answer": "23", "bad_calls": []},
    "D": {"trajectory": FAIL, "calls": FAIL, "outcome": FAIL, "answer": "15", "bad_calls": ["search"]},
}
DISAGREEMENTS = [
    {"run": "B", "meaning": "right_answer_bad_path"},
    {"run": "C", "meaning": "good_path_wrong_answer"},
]
LAB_RATES = {"k": 4, "n": 4, "c": 1, "pass_at_k": 1.0, "pass_hat_k": 0.0}
CASE = {
    "task": "the temperature in Paris plus 10", "input": "the temperature in Paris plus 10", "from_run": "D",
    "from_result": FAIL, "require_path": ["weather", "calculator"], "forbid_tool": ["search"], "expect_answer": "32",
}  # fmt: skip

MATRIX = {
    "fix-rounding": "PPPPP",
    "add-endpoint": "PPPPP",
    "rename-flag": "PP.PP",
    "null-guard": "P.PPP",
    "retry-on-429": ".PP.P",
    "migrate-config": "P..P.",
    "flaky-cache": "..P..",
    "cross-repo-bump": ".....",
}
SUITE = {"1": ("0.6000", "0.6000"), "3": ("0.8125", "0.3625"), "5": ("0.8750", "0.2500")}


def differences(shown: dict[str, Any]) -> list[str]:
    """What came back and is not what the lessons print, one sentence each."""
    found = [*_differ("run", RUNS, shown["runs"]), *_differ("transcript", LAB, _transcripts(shown["lab"]))]
    lab = shown["lab"]
    for what, wanted, got in (
        (
            "disagreements",
            DISAGREEMENTS,
            [{key: one[key] for key in ("run", "meaning")} for one in lab["disagreements"]],
        ),
        ("rates of the lab", LAB_RATES, lab["reliability"]),
        ("mined case", CASE, {key: lab["case"].get(key) for key in CASE}),
        ("matrix", MATRIX, {task: row["results"] for task, row in shown["matrix"]["tasks"].items()}),
        ("suite", SUITE, {k: _printed(row) for k, row in shown["matrix"]["suite"].items()}),
    ):
        if wanted != got:
            found.append(f"{what}: expected {wanted}, found {got}")
    return found


def _differ(what: str, wanted: dict[str, dict[str, Any]], got: dict[str, dict[str, Any]]) -> list[str]:
    return [
        f"{what} {name}, {key}: expected {value!r}, found {got.get(name, {}).get(key)!r}"
        for name, told in wanted.items()
        for key, value in told.items()
        if got.get(name, {}).get(key) != value
    ]


def _transcripts(lab: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {name: row for name, row in lab.items() if name in LAB}


def _printed(row: dict[str, float | None]) -> tuple[str, ...]:
    return tuple("-" if value is None else f"{value:.4f}" for value in (row["pass_at_k"], row["pass_hat_k"]))
