"""Reliability: can the agents be relied on, since when, on which tasks, and which runs show it."""

from __future__ import annotations

from collector.dashboards.board import Placed, Row, board
from collector.dashboards.parts import (
    BLUE,
    GREEN,
    GREY,
    PURPLE,
    RATE,
    RATE_STEPS,
    RED,
    RESULT_COLOURS,
    UNKNOWN,
    YELLOW,
    Json,
    annotation,
    bars,
    choice,
    coloured_rates,
    colours,
    fields,
    link_of,
    panel,
    rates,
    runs_lead,
    series,
    stat,
    steps,
    table,
    variable,
)
from collector.dashboards.parts import TIME_SERIES as LONG

ABOUT = (
    "pass@k: at least one of k tries passes. pass^k: all of them do. Rates are of one basis, are blank where there are "
    "fewer trials than k, and have their number of trials beside them. The same numbers as in `passhat report`."
)

BASES = (("outcome", "outcome (pass^k)"), ("trajectory", "trajectory (clean^k)"))
WINDOWS = (("86400", "1 day"), ("604800", "7 days"), ("2419200", "28 days"))


def reliability() -> Json:
    """The dashboard of pass@k and pass^k by task and suite."""
    return board(
        "passhat-reliability",
        "passhat: Reliability",
        ABOUT,
        (
            Row((*_state(), Placed(_objectives(), 24, 6))),
            Row(_trend(), title="Over time"),
            Row((Placed(_tasks(), 24, 12), Placed(_states(), 16, 12), Placed(_spread(), 8, 12)), title="Tasks"),
            Row(_one(), title="One task: $one", collapsed=True),
            Row((Placed(_breakdown(), 24, 9),), title="By service, agent and model", collapsed=True),
            Row(_evidence(), title="Evidence", collapsed=True),
        ),
        variables=(
            variable("project", "Project"),
            variable("class", "Class"),
            variable("task", "Task"),
            choice("basis", "Basis", "outcome", *BASES),
            choice("k", "k", "3", *((k, k) for k in ("1", "2", "3", "5", "8"))),
            choice("window", "Window", "604800", *WINDOWS),
            variable("one", "One task", of="task", multi=False),
        ),
        annotations=(annotation("New versions", "agents", "purple"), annotation("Checks in force", "checks", "blue")),
        last="7d",
        refresh="1m",
    )


def _state() -> tuple[Placed, ...]:
    rate = {**RATE, "thresholds": RATE_STEPS, "color": {"mode": "thresholds"}}
    count = {"unit": "locale", "decimals": 0, "color": {"mode": "fixed", "fixedColor": "text"}}
    firing = {"unit": "short", "decimals": 0, "thresholds": steps((None, GREEN), (1, RED))}
    waits = steps((None, "text"), (3600, YELLOW), (86400, RED))
    oldest = [fields("oldest_s", unit="s", displayName="oldest", thresholds=waits, color={"mode": "thresholds"})]

    def rated(title: str, name: str, field: str, shown: str, beside: str) -> Json:
        beside_it = _plain(beside, "over tasks" if beside == "tasks_used" else "trials")
        named = [fields(field, displayName=shown), beside_it]
        return stat(title, name, (field, beside), defaults=rate, overrides=named)

    return (
        Placed(rated("All of $k tries pass", "reliability_suite", "pass_hat_k", "pass^$k", "tasks_used"), 4, 4),
        Placed(rated("One of $k tries passes", "reliability_suite", "pass_at_k", "pass@$k", "n"), 4, 4),
        Placed(rated("$k requests in a row", "reliability_stream", "stream_pass_hat_k", "all pass", "n"), 4, 4),
        Placed(stat("Trials", "reliability_counts", ("n", "errors", "unknown", "incomplete"), defaults=count), 6, 4),
        Placed(stat("Open runs", "reliability_open", ("open", "oldest_s"), defaults=count, overrides=oldest), 4, 4),
        Placed(
            stat("Firing", "reliability_firing", ("firing",), defaults=firing, color="background", text="value"), 2, 4
        ),
    )


def _plain(field: str, shown: str) -> Json:
    """A count beside a rate: how much it rests on."""
    plain = {"mode": "fixed", "fixedColor": "text"}
    return fields(field, unit="locale", decimals=0, displayName=shown, color=plain, min=None, max=None)


def _objectives() -> Json:
    return table(
        "Objectives",
        "reliability_objectives",
        fields("/^burn_(long|short)$/", decimals=2, noValue="–"),
        fields("long_s", unit="s", displayName="long window"),
        fields("short_s", unit="s", displayName="short window"),
        fields("slo", displayName="objective", custom__width=200),
        rates("target"),
        colours("state", firing=RED, ok=GREEN),
    )


def _trend() -> tuple[Placed, ...]:
    lines = series(
        "pass^$k and pass@$k, window $window",
        "reliability_over_time",
        RATE,
        overrides=[_line("pass_hat_k", "pass^$k", BLUE), _line("pass_at_k", "pass@$k", GREEN)],
    )
    behind = series(
        "Trials behind it",
        "reliability_trials_over_time",
        {"unit": "short", "decimals": 0},
        overrides=[fields("tasks_used", displayName="tasks with $k trials", custom__axisPlacement="right")],
    )
    return Placed(lines, 16, 9), Placed(behind, 8, 9)


def _line(field: str, shown: str, color: str) -> Json:
    return fields(field, displayName=shown, color={"mode": "fixed", "fixedColor": color})


def _tasks() -> Json:
    here = "/d/passhat-reliability?${__url_time_range}&${datasource:queryparam}&${basis:queryparam}&${k:queryparam}"
    this = "${__value.raw:percentencode}"
    change = steps((None, RED), (-0.05, "text"), (0.05, GREEN))
    return table(
        "Tasks: the least reliable first",
        "reliability_tasks",
        link_of("task", "This task alone", f"{here}&var-task={this}&var-one={this}", custom__width=160),
        coloured_rates("pass_hat_k"),
        rates("/^(pass_1|pass_at_k|low|high|worst)$/"),
        fields("pass_hat_k", displayName="pass^$k"),
        fields("pass_at_k", displayName="pass@$k"),
        fields(
            "change",
            unit="percentunit",
            decimals=1,
            mappings=[UNKNOWN],
            thresholds=change,
            custom__width=80,
            custom__cellOptions={"type": "color-text"},
        ),
        fields("/^(version|n|passed|left_out)$/", custom__width=75),
        fields("/^(class|checks|project)$/", custom__width=80),
        fields("flag", custom__width=145),
        colours("flag", never_passes=RED, flaky=YELLOW, too_few=GREY, clustered_unknown=GREY, shared_workspace=PURPLE),
    )


def _states() -> Json:
    shown = {"0": (RED, "all fail"), "1": (YELLOW, "some fail"), "2": (GREEN, "all pass")}
    options = {value: {"color": color, "text": text, "index": int(value)} for value, (color, text) in shown.items()}
    return panel(
        "state-timeline",
        "Each task day by day",
        "reliability_states",
        LONG,
        defaults={
            "unit": "short",
            "noValue": "no trial",
            "custom": {"fillOpacity": 80, "lineWidth": 0, "spanNulls": False},
            "mappings": [{"type": "value", "options": options}],
            "color": {"mode": "fixed"},
        },
        options={
            "mergeValues": True,
            "showValue": "never",
            "alignValue": "left",
            "rowHeight": 0.85,
            "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True},
            "tooltip": {"mode": "single", "sort": "none"},
        },
        overrides=[fields("/.*/", displayName="${__field.labels.task}")],
    )


def _spread() -> Json:
    return bars("How many tasks pass how often", "reliability_spread", "rate", _line("tasks", "tasks", BLUE))


def _one() -> tuple[Placed, ...]:
    edge = {"custom__lineWidth": 0, "custom__showPoints": "never", "color": {"mode": "fixed", "fixedColor": BLUE}}
    hidden = {"legend": True, "tooltip": False, "viz": False}
    band = series(
        "pass^$k of $one with its interval",
        "reliability_one_task",
        RATE,
        overrides=[
            _line("pass_hat_k", "pass^$k", BLUE),
            fields("high", **edge, custom__fillBelowTo="low", custom__fillOpacity=15, custom__hideFrom=hidden),
            fields("low", **edge, custom__hideFrom=hidden),
        ],
    )
    return (Placed(band, 24, 9),)


def _breakdown() -> Json:
    return table(
        "Who is reliable",
        "reliability_breakdown",
        coloured_rates("stream_pass_hat_k"),
        fields("stream_pass_hat_k", displayName="$k in a row pass", custom__width=130),
        rates("/^(pass_1|low|high)$/"),
    )


def _evidence() -> tuple[Placed, ...]:
    meaning = {"right_answer_bad_path": YELLOW, "good_path_wrong_answer": RED}
    runs = table(
        "Runs",
        "reliability_runs",
        runs_lead(),
        colours("result", **RESULT_COLOURS),
        fields("duration_s", unit="s", decimals=1),
        fields("cost_usd", unit="currencyUSD", decimals=3),
    )
    return (
        Placed(table("Checks", "reliability_checks", rates("fail_rate")), 12, 9),
        Placed(table("Runs that do not count", "reliability_left_out", colours("result", **RESULT_COLOURS)), 12, 9),
        Placed(
            table(
                "Outcome and trajectory differ", "reliability_disagreements", runs_lead(), colours("meaning", **meaning)
            ),
            24,
            8,
        ),
        Placed(runs, 24, 12),
    )
