"""The kinds of checks: one small file each, a reader for its keys and a judgement over a scene."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from graders.checks.counting import Absence, Bounded, Existence
from graders.checks.each import Each
from graders.checks.external import External
from graders.checks.judge import Judge
from graders.checks.order import Order
from graders.checks.repeats import Loop, Repeats
from graders.checks.scene import Finding, Scene
from graders.checks.sequence import Precedence, Response
from graders.checks.spec import Spec
from graders.checks.totals import Assert, Budget


class Kind(Protocol):
    """What a kind of check does with a run that it applies to."""

    def judge(self, scene: Scene) -> Finding:
        """What this kind finds in the events of one run."""
        ...


KINDS: dict[str, Callable[[Spec], Kind]] = {
    "absence": Absence.read,
    "existence": Existence.read,
    "bounded": Bounded.read,
    "repeats": Repeats.read,
    "loop": Loop.read,
    "response": Response.read,
    "precedence": Precedence.read,
    "order": Order.read,
    "each": Each.read,
    "assert": Assert.read,
    "budget": Budget.read,
    "judge": Judge.read,
}
EXTERNAL_KINDS = ("python", "command")

__all__ = ["EXTERNAL_KINDS", "KINDS", "External", "Finding", "Judge", "Kind", "Scene", "Spec"]
