"""The checks in force where none are configured: three that gate, three that only show."""

from __future__ import annotations

from typing import Any

GATING: tuple[dict[str, Any], ...] = (
    {
        "id": "tests-after-last-edit",
        "kind": "response",
        "trigger": "edit",
        "response": "test_run",
        "gate": True,
        "description": "tests ran after the last edit",
        "fix": "Run the tests once more after the last change.",
    },
    {
        "id": "no-test-edits",
        "kind": "absence",
        "of": "test_edit",
        "among": "edit",
        "gate": True,
        "description": "no test file edited",
        "fix": "Leave the tests as they are and change the code under test.",
    },
    {
        "id": "no-repeats",
        "kind": "repeats",
        "at_most": 2,
        "reset": "edit",
        "gate": True,
        "description": "no call repeated more than 2 times",
        "fix": "Read the result of the first call instead of calling again.",
    },
)
ADVISORY: tuple[dict[str, Any], ...] = (
    {
        "id": "tests-green-after-last-edit",
        "kind": "response",
        "trigger": "edit",
        "response": "test_pass",
        "description": "tests were seen green after the last edit",
        "fix": "Run the tests after the last change until they pass.",
    },
    {
        "id": "unrecovered-tool-error",
        "kind": "response",
        "trigger": "call.error != ''",
        "response": "call.ok",
        "same": "tool",
        "description": "each failed call was followed by one of the same tool that worked",
        "fix": "Look at the error and call the tool again, or say that it cannot be done.",
    },
    {
        "id": "no-loop",
        "kind": "loop",
        "period": [2, 3, 4],
        "at_most": 2,
        "description": "no circle of calls repeated more than 2 times",
        "fix": "Change the arguments or the plan instead of going round in a circle.",
    },
)
