"""The web application: the JSON API, metrics, health. Numbers come out of the views; nothing is computed here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI

from collector.config import Config
from collector.metrics import Metrics
from collector.removals import Removals
from collector.rules import assembly_policy_of
from collector.serve import health, outcomes, problems, reliability, runs
from collector.serve.access import Door, Hosts
from collector.serve.cases import router as cases
from collector.serve.clickhouse import route as clickhouse
from collector.serve.comparison import router as comparison
from collector.serve.docs import router as docs
from collector.serve.exporting import router as exporting
from collector.serve.freezing import router as freezing
from collector.serve.gate.route import router as gate
from collector.serve.judges import router as judges
from collector.serve.regrading import router as regrading
from collector.serve.removing import router as removing
from collector.serve.renormalising import router as renormalising
from collector.serve.retention import router as retention
from collector.serve.strict import StrictJSON
from collector.serve.task_gauges import TaskGauges
from collector.store.store import Store
from collector.tokens import Tokens

TITLE = "passhat"
ABOUT = (
    "Runs, verdicts, outcomes and reliability of AI agents. Errors are RFC 9457 problem documents. Times are RFC 3339 "
    "in UTC. Integers are JSON numbers with all their digits (64 bit); NaN and the infinities inside payloads are "
    "strings."
)


def web_app(
    store: Store,
    status: Callable[[], dict[str, Any]],
    config: Config,
    metrics: Metrics,
    removals: Removals | None = None,
) -> FastAPI:
    """The application over one store. `status` tells what the pipeline around it is doing; {} when there is none.

    `removals`: those that the pipeline takes to their end. Without it whoever asks for one does.
    """
    app = FastAPI(
        title=TITLE, description=ABOUT, docs_url=None, redoc_url=None, redirect_slashes=False,
        default_response_class=StrictJSON,
    )  # fmt: skip
    app.state.store = store
    app.state.status = status
    app.state.config = config
    app.state.definitions = config.checks or []
    app.state.metrics = metrics
    app.state.task_gauges = TaskGauges(store)
    app.state.upkeep = removals is not None
    app.state.removals = removals or Removals(store, assembly_policy_of(config), config.data / "spool.sqlite")
    app.state.sql = clickhouse.Desk(store, config, metrics)
    problems.install(app)
    reading = (runs.router, outcomes.router, reliability.router, gate, cases, health.router, docs, clickhouse.router)
    for router in (*reading, comparison, exporting, freezing, judges, regrading, removing, renormalising, retention):
        app.include_router(router)
    hosts = Hosts(config.listen.web, config.listen.allowed_hosts)
    app.add_middleware(Door, tokens=Tokens(config.auth), hosts=hosts, say=clickhouse.refusal)
    return app
