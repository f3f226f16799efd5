"""Attribute names the contract and every dialect rely on (CONTRACT.md section 2)."""

from __future__ import annotations

from typing import Final

RUN_ID: Final = "passhat.run.id"
RUN_END: Final = "passhat.run.end"
TASK_ID: Final = "passhat.task.id"
TASK_VERSION: Final = "passhat.task.version"
TASK_CLASS: Final = "passhat.task.class"
TASK_EXPECTED: Final = "passhat.task.expected"
TRIAL_ID: Final = "passhat.trial.id"
RETRY_OF: Final = "passhat.trial.retry_of"
OUTCOME: Final = "passhat.outcome"
OUTCOME_REASON: Final = "passhat.outcome.reason"
OUTCOME_SOURCE: Final = "passhat.outcome.source"
OUTCOME_RUN: Final = "passhat.outcome.run_id"
WORKSPACE_ID: Final = "passhat.workspace.id"
EXPERIMENT_ID: Final = "passhat.experiment.id"
PROJECT: Final = "passhat.project"
INPUT_STATE: Final = "passhat.call.input_state"

# Identity field to the attributes that give it, first found wins.
IDENTITY: Final[dict[str, tuple[str, ...]]] = {
    "run_id": (RUN_ID,),
    "task_id": (TASK_ID, "test.case.id", "test.case.name"),
    "task_version": (TASK_VERSION,),
    "task_class": (TASK_CLASS, "test.suite.name"),
    "expected": (TASK_EXPECTED,),
    "trial_id": (TRIAL_ID,),
    "retry_of": (RETRY_OF,),
    "outcome": (OUTCOME, "test.case.result.status"),
    "outcome_reason": (OUTCOME_REASON,),
    "workspace_id": (WORKSPACE_ID,),
    "experiment_id": (EXPERIMENT_ID, "cicd.pipeline.run.id"),
}

# Where harnesses put what their user calls metadata: `passhat.*` is read from there as well.
CARRIERS: Final = (
    "ai.telemetry.metadata.",
    "traceloop.association.properties.",
    "langsmith.metadata.",
    "langfuse.trace.metadata.",
    "langfuse.observation.metadata.",
    "lmnr.association.properties.metadata.",
    "mastra.metadata.",
)

EVENT_NAME: Final = "event.name"
ERROR_TYPE: Final = "error.type"

EXCEPTION_EVENT: Final = "exception"
EXCEPTION_TYPE: Final = "exception.type"
EXCEPTION_MESSAGE: Final = "exception.message"

EVALUATION_EVENT: Final = "gen_ai.evaluation.result"
EVALUATION_NAME: Final = "gen_ai.evaluation.name"
EVALUATION_LABEL: Final = "gen_ai.evaluation.score.label"
EVALUATION_SCORE: Final = "gen_ai.evaluation.score.value"
EVALUATION_EXPLANATION: Final = "gen_ai.evaluation.explanation"
RESPONSE_ID: Final = "gen_ai.response.id"

# The receiver's mark: a list of "reason where", one for each value that is not what was sent.
REPAIRED: Final = "passhat.repaired"
