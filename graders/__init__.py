"""The verdicts: checks over a run. Pure: imports semconv only.

    runs of trace lines ──CheckSet.grade──▶ verdicts ──trial.judge──▶ the result of a trial

`from graders import check, Run, Verdict` is what a Python check needs.
"""

from graders.check import Check
from graders.checkset import CheckSet
from graders.errors import CheckError
from graders.python_checks import check
from graders.trial import TrialPolicy, TrialResult, judge
from graders.verdict import Verdict
from semconv.run import Run

__all__ = ["Check", "CheckError", "CheckSet", "Run", "TrialPolicy", "TrialResult", "Verdict", "check", "judge"]
