"""The worker that asks: follows what was graded, one question at a time, on a thread of its own.

Grading never waits for it. Nothing that waits is kept in memory: a run waits because its stored verdict says so, and
how far this was followed is in a file, so that a process that is killed asks at most one question again.
"""

from __future__ import annotations

import itertools
import logging
import time
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from collector.config import Config
from collector.grade.remembered import run_of
from collector.judge.answers import waits
from collector.judge.budget import price_of, refused
from collector.judge.model import Broke, Model, Reply, Unreachable
from collector.metrics import Metrics
from collector.outward.feed import GradedRun, graded_after
from collector.outward.progress import load, save
from collector.outward.ticker import Ticker
from collector.redact.configured import text_redactor_of
from collector.rules import judges_of
from collector.store.judgements import Judgement
from collector.store.store import Store
from graders.check import Check
from graders.checks.judge import Question, finding_of

POLL_S = 1.0
HOLD_S = 10.0
LONGEST_AFTER_S = 60.0
SECOND_NS = 1_000_000_000
FILE = "judge.json"

log = logging.getLogger("passhat.judge")


class Progress(Struct, frozen=True):
    """All that was graded until `read_to_ns` of the store's clock has been asked about."""

    read_to_ns: int


class Held(Exception):
    """Something else than the run stands in the way: it waits."""


class Asked(Struct, frozen=True):
    """One question of one check about one run."""

    project: str
    run_id: str
    check: Check
    question: Question

    @property
    def model(self) -> str:
        return self.check.judge.model if self.check.judge is not None else ""


class Said(Struct, frozen=True):
    """What is stored as the answer."""

    status: str
    reason: str
    lines: tuple[int, ...] = ()


class Cost(Struct, frozen=True):
    """What an answer took, in the words of `Judgement`."""

    answered: str = ""
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    took_ms: int = 0


class Judging:
    """Asks the configured model about each verdict that waits for it. Raises StoreError for progress it cannot read."""

    def __init__(self, store: Store, config: Config, metrics: Metrics) -> None:
        self._store, self._config, self._metrics = store, config.judge, metrics
        self._checks = judges_of(config)
        self._redact = text_redactor_of(config)
        self._model = Model(config.judge)
        self._file = config.data / FILE
        self._progress = load(self._file, Progress) or Progress(store.now_ns())
        save(self._file, self._progress)
        self._held = ""
        self._waiting = 0
        self._ticker = Ticker("judge", self._step)
        self.start = self._ticker.start

    def stop(self) -> None:
        """Ask no more; who waits is asked about after the next start."""
        self._ticker.stop()
        self._model.close()

    def status(self) -> dict[str, Any]:
        """How many verdicts of the page in hand wait, and for what."""
        return {"waiting": self._waiting, "held": self._held, "error": self._ticker.last_error}

    def _step(self) -> float:
        page = graded_after(self._store, self._progress.read_to_ns)
        wanted = [(run, self._checks[v.check_id]) for run in page.runs for v in run.verdicts if self._wants(v)]
        self._waiting = len(wanted)
        for run, check in wanted:
            if self._ticker.stopping:
                return 0.0
            try:
                self._judge(run, check)
            except Held as why:
                self._hold(str(why))
                return HOLD_S
            self._waiting -= 1
        if not wanted:
            self._hold("")
        if page.read_to_ns != self._progress.read_to_ns:
            self._progress = Progress(page.read_to_ns)
            save(self._file, self._progress)
        return 0.0 if page.more else POLL_S

    def _hold(self, why: str) -> None:
        """Keep what stands in the way ('' for nothing), and log where that begins and ends."""
        if why and not self._held and not self._ticker.stopping:
            log.warning("the judge is not asked, %d verdicts wait: %s", self._waiting, why)
        if self._held and not why:
            log.info("the judge is asked again")
        self._held = why

    def _wants(self, verdict: Any) -> bool:
        check = self._checks.get(verdict.check_id)
        return check is not None and check.version == verdict.version and waits(verdict)

    def _judge(self, graded: GradedRun, check: Check) -> None:
        """Ask, unless the same was asked before. Raises Held while the run may still wait."""
        run = run_of(self._store, graded.project, graded.run_id)
        if run is None or check.judge is None:
            return
        asked = Asked(graded.project, graded.run_id, check, check.judge.question(run))
        known = self._store.judgements.known(asked.project, check.version, asked.question.digest)
        if known is not None:
            self._metrics.judge.labels("cached").inc()
            self._keep(asked, Said(known.status, known.reason, known.lines), Cost(answered=known.answered))
            return
        late = self._store.now_ns() - graded.graded_ns > self._config.wait * SECOND_NS
        try:
            self._keep(asked, *self._ask(asked))
            self._hold("")
        except (Held, Unreachable) as why:
            if not late:
                raise Held(str(why)) from None
            self._metrics.judge.labels("given_up").inc()
            self._keep(asked, Said("unknown", f"The judge was not asked in time: {why}."))

    def _ask(self, asked: Asked) -> tuple[Said, Cost]:
        """What the model says, tried again with a limit. Raises Held, Unreachable."""
        hour, day = self._store.judgements.spent(self._store.now_ns())
        if over := refused(self._config, asked.question, hour, day):
            raise Held(over)
        shown = replace(asked.question, text=self._redact(asked.question.text))
        began = time.monotonic()
        for attempt in itertools.count(1):
            try:
                reply = self._model.ask(shown, asked.model)
            except Broke as why:
                self._metrics.judge.labels("broke").inc()
                if not why.again or attempt > self._config.retries:
                    return Said("error", f"The judge broke: {why}."), Cost(calls=attempt)
                if self._ticker.wait(2.0 ** (attempt - 1)):
                    raise Held("stopping") from None
            except Unreachable as why:
                self._metrics.judge.labels("unreachable").inc()
                self._ticker.wait(min(why.after_s, LONGEST_AFTER_S))
                raise
            else:
                self._metrics.judge.labels("answered").inc()
                found = finding_of(reply.text, asked.question.lines)
                cost = self._cost(reply, attempt, int((time.monotonic() - began) * 1000))
                return Said(found.status, found.reason, found.lines), cost
        raise AssertionError  # the count has no end

    def _cost(self, reply: Reply, calls: int, took_ms: int) -> Cost:
        taken, given = reply.input_tokens, reply.output_tokens
        self._metrics.judge_tokens.labels("input").inc(taken)
        self._metrics.judge_tokens.labels("output").inc(given)
        return Cost(reply.answered, calls, taken, given, price_of(self._config, taken, given), took_ms)

    def _keep(self, asked: Asked, said: Said, cost: Cost | None = None) -> None:
        """Store an answer and ask for the run to be graded with it; not of a run that was removed meanwhile."""
        if run_of(self._store, asked.project, asked.run_id) is None:
            return
        judgement = Judgement(
            project=asked.project,
            run_id=asked.run_id,
            check_id=asked.check.id,
            check_version=asked.check.version,
            input_digest=asked.question.digest,
            status=said.status,
            reason=self._redact(said.reason),
            lines=said.lines,
            model=asked.model,
            asked_ns=self._store.now_ns(),
            **asdict(cost or Cost()),
        )
        self._store.judgements.add(judgement)
        self._store.touch_runs([(asked.project, asked.run_id)])
