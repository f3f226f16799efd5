"""From calls to actions: what a tool call did, whatever the harness calls the tool."""

from graders.actions.action import KINDS, TABLE_VERSION, Action, Kind
from graders.actions.custom import ActionTable
from graders.actions.paths import is_test_path, same_path

__all__ = ["KINDS", "TABLE_VERSION", "Action", "ActionTable", "Kind", "is_test_path", "same_path"]
