"""docs/emitters.md, written from what assembly makes of every recorded emitter:

python -m tests.collector.assemble.emitters_page > docs/emitters.md
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from semconv.run import Run
from semconv.trace_line import TraceLine
from tests.collector.assemble.build import runs_of
from tests.collector.assemble.emitters import DEVIATIONS, NESTED, PACKAGES, Deviation
from tests.collector.assemble.test_captures import unit
from tests.semconv.recorded import CAPTURES, meta

HEAD = """\
# Emitters: what each sends, and what it does not

Every row was measured: the recorded requests of one run of that emitter (`tests/captures`) were read by the dialects
and assembled, and the trace lines compared with what its script did. `5/5` calls: the script made five, five are
lines. What is missing is not on the wire; the last column says what and why, and `tests/collector/assemble/emitters.py`
has it line by line. A check that needs what was not sent answers `unknown`, never `fail`.

What to switch on, and how to name tasks, trials and runs, is on the page on [sending](sending.md); how a span is read,
and how to teach passhat another harness, on the page on [dialects](dialects.md).

- **calls**: logical calls, each once however many spans, log records and messages tell of it. **arguments**,
  **results**: of how many calls they are there; of a failed one the error counts. **failures**: failed calls that are
  told as failed.
- **texts**: lines of system, user and assistant. Some emitters send more than the script said: prompts of their own.
- **cost**: `reported`, or `derived` from model and tokens by public prices, and then flagged so.
- *Each request a trace of its own*: instrumentations of client libraries begin a new trace with each request unless
  the application has a span around them. Put `passhat.run.id` on the resource (`OTEL_RESOURCE_ATTRIBUTES`), a span
  around the run, or name the attribute that joins them in `runs.group_by`. Without any, each trace is a run, and the
  last of them tells the whole conversation.

| emitter | version | calls | arguments | results | failures | texts | tokens | cost | not sent, or told otherwise |
|---|---|---|---|---|---|---|---|---|---|
"""

TAIL = """
## How lines are put together

- **Order**: effective start (a child's is never before its parent's), end, span id. Calls asked for in one message
  follow its text, in the order they were asked for; their results come as they ended.
- **One call**: a request in a model's message, its spans (framework, SDK, MCP client and server), its log records and
  the result the next request repeats are one call by call id; else by nesting with the same tool and arguments; else
  by place between two requests. Two calls with one name stay two. Retries under one id are one call with `attempts`.
- **Arguments** say how they are known (`input_state`): `object`; `decoded` was encoded twice or printed by Python;
  `from_messages` stand in for a span that does not tell them; `text`, `truncated`, `not_captured`, `empty`.
- **Text** is told once, although each request repeats what came before it; what was said in earlier runs of the same
  conversation is not told again.
- **Agents**: `agent` is the nearest agent above, `depth` how many agents called one another down to it. The same agent
  reported twice, or one that only starts another, adds nothing to the depth.
- **The result line** is there once the run's root is: `subtype`, the final text or the error, turns, cost.
- **Flags of a run** say what is odd: `no_root`, `missing_parent`, `parent_cycle`, `self_parent`, `implausible_time`,
  `run_id_reused`, `run_id_shared` (named so in two ways), `id_conflict` (a span id came with two contents),
  `cost_derived`, `outcome_unreadable`. **`lossy`** says why something unseen may have happened all the same
  (`dropped_attributes`, `truncated_messages`, `missing_parent`, `unassigned_spans`): checks for absence are then
  `unknown`. A value that was cut (`truncated`) is seen on its own call and leaves the others as they are.
"""


def page() -> str:
    names = [name for name in CAPTURES if name in PACKAGES]
    return HEAD + "\n".join(row(name) for name in names) + "\n" + TAIL


def row(name: str) -> str:
    known = meta(name)
    runs = runs_of(unit(name))
    package = PACKAGES[name]
    cells = [known["convention"].replace("|", "\\|"), f"{package} {known['packages'][package]}"]
    cells += counts(name, runs)
    cells += [reported_tokens(runs), reported_cost(runs), why(name)]
    return "| " + " | ".join(cells) + " |"


def counts(name: str, runs: Sequence[Run]) -> list[str]:
    """What is there of what the script did: calls, arguments, results, failures, texts."""
    want: list[dict[str, Any]] = meta(name)["expected"]
    lines = [line for run in runs for line in run.lines]
    calls = [line for line in lines if line.role == "assistant" and line.tool]
    results = [line for line in lines if line.role == "tool" and (line.output is not None or line.error)]
    failed = [line for line in calls if line.status == "error"]
    paired = bool(DEVIATIONS.get(name, Deviation("")).paired)
    asked = sum(1 for line in want if line.get("tool") and (paired or line["role"] == "assistant"))
    answered = [line for line in want if line["role"] == "tool"]
    texts = {(line.role, line.text) for line in lines if is_text(line)}
    said = {
        (line["role"], line["text"])
        for line in want
        if line["role"] in ("system", "user", "assistant") and "text" in line
    }
    return [
        ratio(len(calls), asked),
        ratio(sum(line.input is not None for line in calls), asked),
        ratio(len(results), len(answered)),
        ratio(len(failed), sum(bool(line["error"]) for line in answered)),
        ratio(len(found(said, texts)), len(said)),
    ]


def is_text(line: TraceLine) -> bool:
    return line.role in ("system", "user", "assistant") and not line.tool


def found(said: Iterable[tuple[str, str]], texts: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    return [one for one in said if any(one[0] == role and one[1] in text for role, text in texts)]


def ratio(there: int, of: int) -> str:
    return f"{min(there, of)}/{of}" if of else "–"


def reported_tokens(runs: Sequence[Run]) -> str:
    return "yes" if any(run.input_tokens is not None for run in runs) else "no"


def reported_cost(runs: Sequence[Run]) -> str:
    costs = {"derived" if "cost_derived" in run.flags else "reported" for run in runs if run.cost_usd is not None}
    return ", ".join(sorted(costs)) or "no"


def why(name: str) -> str:
    if name in NESTED:
        return NESTED[name]
    return DEVIATIONS[name].why if name in DEVIATIONS else "nothing"


if __name__ == "__main__":
    print(page(), end="")
