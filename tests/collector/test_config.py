"""`passhat.yaml` as people write it: keys, variables, layers, and what is said when something is wrong."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from collector.config import Config, load
from collector.errors import UsageError
from collector.receive.limits import Limits

CONTRACT_EXAMPLE = r"""
store:
  url: chdb:./passhat-data          # or clickhouse://user:${CH_PASSWORD}@host:8443/passhat?secure=true
  cluster: null
runs:
  task: []
  group_by: null
  settle_s: 10
  idle_s: 300
  max_age_s: 86400
trials:
  errors: exclude
  without_outcome: trajectory
  mature_s: 0
  outcome_events: [outcome, task_success]
  infrastructure_errors: [rate_limit, overloaded, timeout, connection, '429', '5xx']
actions: {}
tags:
  deploy: call.tool == 'Bash' && call.commands.exists(c, c.startsWith('kubectl apply'))
checks:
  - {id: tests-after-last-edit, kind: response, trigger: edit, response: test_run, gate: true}
  - {id: no-test-edits, kind: absence, of: test_edit, among: edit, gate: true}
  - {id: no-repeats, kind: repeats, at_most: 2, reset: edit, gate: true}
gates: {}
slos: []
cases: cases/
dialects: []
listen: {grpc: 127.0.0.1:4317, http: 127.0.0.1:4318, web: 127.0.0.1:8317, tls: {}, allowed_hosts: []}
auth: {tokens: [], tokens_file: null}
data: ./passhat-data
spool: {durability: fsync, max_bytes: 10GiB, min_free_bytes: 1GiB}
limits: {}
redact: {enabled: true, keys: [], patterns: [], content: on}
retention: {spans: 90d, logs: 30d, runs: 2y, verdicts: 2y}
export: {}
webhooks: []
judge: {}
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def config_of(text: str, env: dict[str, str] | None = None, flags: dict[str, object] | None = None) -> Config:
    Path("passhat.yaml").write_text(text)
    return load(env=env or {}, overrides=flags)


def error_of(text: str, env: dict[str, str] | None = None, flags: dict[str, object] | None = None) -> str:
    with pytest.raises(UsageError) as caught:
        config_of(text, env, flags)
    assert caught.value.exit_code == 2
    return str(caught.value)


def test_the_documented_example_is_the_defaults_apart_from_its_checks_and_tag() -> None:
    example = config_of(CONTRACT_EXAMPLE)
    assert example.checks is not None
    assert [check["id"] for check in example.checks] == ["tests-after-last-edit", "no-test-edits", "no-repeats"]
    assert example.checks[2]["at_most"] == 2
    assert example.checks[0]["gate"] is True
    assert example.tags["deploy"].endswith("c.startsWith('kubectl apply'))")
    same = example.model_copy(update={"checks": None, "tags": {}})
    assert same.model_dump() == config_of("").model_dump()


def test_no_file_is_the_same_as_an_empty_one() -> None:
    without = load(env={})
    assert without.model_dump() == config_of("").model_dump() == config_of("# nothing\n").model_dump()
    assert without.data == Path("passhat-data").absolute()


def test_a_key_with_nothing_after_it_keeps_its_default() -> None:
    config = config_of("store:\nruns:\n  settle_s:\nchecks:\n")
    assert config.store.cluster is None
    assert config.runs.settle_s == 10
    assert config.checks is None


def test_no_checks_is_not_the_same_as_an_empty_list_of_checks() -> None:
    assert config_of("").checks is None
    assert config_of("checks: []").checks == []


def test_limits_are_the_receivers_own() -> None:
    assert config_of("").limits.model_dump() == msgspec.structs.asdict(Limits())


def test_a_configuration_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        config_of("").runs.settle_s = 1  # type: ignore[misc]


# --- unknown and doubled keys ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sore:\n  url: chdb:x\n", "passhat.yaml:1: unknown key `sore` (did you mean `store`?)"),
        ("runs:\n  idle_s: 1\n  setle_s: 5\n", "passhat.yaml:3: unknown key `runs.setle_s` (did you mean `settle_s`?)"),
        ("settle_s: 5\n", "passhat.yaml:1: unknown key `settle_s` (did you mean `runs.settle_s`?)"),
        ("gates:\n  a: {clas: x}\n", "passhat.yaml:2: unknown key `gates.a.clas` (did you mean `class`?)"),
        (
            f"auth:\n  tokens:\n    - {{name: a, sha256: {'0' * 64}, scope: [read]}}\n",
            "passhat.yaml:3: unknown key `auth.tokens[0].scope` (did you mean `scopes`?)",
        ),
        ("judge: {modle: x}\n", "passhat.yaml:1: unknown key `judge.modle` (did you mean `model`?)"),
        (
            "listen: {zzz: 1}\n",
            "passhat.yaml:1: unknown key `listen.zzz` (known here: grpc, http, web, tls, allowed_hosts, announce_s)",
        ),
    ],
)
def test_an_unknown_key_is_refused_with_its_line_and_a_suggestion(text: str, said: str) -> None:
    assert said in error_of(text)


def test_all_problems_are_said_at_once() -> None:
    said = error_of("sore: 1\nruns:\n  settle_s: soon\n").splitlines()
    assert len(said) == 2
    assert {line.split(": ")[0] for line in said} == {"passhat.yaml:1", "passhat.yaml:3"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("runs:\n  idle_s: 1\n  idle_s: 2\n", "passhat.yaml:3: key `idle_s` is there twice (first on line 2)"),
        ("data: a\n\ndata: a\n", "passhat.yaml:3: key `data` is there twice (first on line 1)"),
        ("checks:\n  - {id: a, id: b}\n", "passhat.yaml:2: key `id` is there twice (first on line 2)"),
    ],
)
def test_a_doubled_key_is_refused_at_every_level(text: str, said: str) -> None:
    assert error_of(text) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("runs: [\n", "passhat.yaml:2: "),
        ("- a\n", "passhat.yaml:1: the file must hold keys"),
        ("a\n", "passhat.yaml:1: the file must hold keys"),
        ("runs: 5\n", "passhat.yaml:1: `runs`: "),
        ("checks: {id: a}\n", "passhat.yaml:1: `checks`: "),
        ("checks: [a]\n", "passhat.yaml:1: `checks[0]`: "),
        ("data: &a [*a]\n", "contains itself"),
        ("{[a]: b}\n", "a key must be a name"),
        ("runs: {<<: 5}\n", "`<<` takes a mapping"),
        ("a: 1\n---\nb: 1\n", "passhat.yaml:2: "),
        ("store: !!python/object:os.system {}\n", "passhat.yaml:1: "),
    ],
)
def test_what_is_no_configuration_is_refused_with_its_place(text: str, said: str) -> None:
    assert said in error_of(text)


def test_a_file_that_is_not_text_is_refused() -> None:
    Path("passhat.yaml").write_bytes(b"data: \xff\n")
    with pytest.raises(UsageError, match="not UTF-8 text"):
        load(env={})


def test_aliases_and_merge_keys_work_and_do_not_multiply() -> None:
    config = config_of("runs: &r {settle_s: 1, idle_s: 2}\ngates:\n  a: &g {k: 5}\n  b: {<<: *g, min: 0.5}\n")
    assert (config.gates["b"].k, config.gates["b"].min) == (5, 0.5)
    assert config.runs.idle_s == 2
    bomb = "checks:\n - &a0 {x: y}\n" + "".join(
        f" - &a{i} {{x: [{', '.join([f'*a{i - 1}'] * 10)}]}}\n" for i in range(1, 9)
    )
    assert "far too many values" in error_of(bomb)


# --- values ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("90d", 90 * 86400),
        ("2y", 730 * 86400),
        ("1h30m", 5400),
        ("36h", 129600),
        ("600", 600),
        ("0", 0),
        ("2w", 1209600),
    ],
)
def test_durations(written: str, seconds: int) -> None:
    assert config_of(f"retention: {{spans: {written}}}").retention.spans == seconds


@pytest.mark.parametrize("written", ["soon", "5 minutes", "-1", "d", "1h!", "true", "[1]", "'1h 30'", ".inf"])
def test_what_is_no_duration(written: str) -> None:
    assert error_of(f"\nretention:\n  spans: {written}\n").startswith("passhat.yaml:3: `retention.spans`: ")


@pytest.mark.parametrize(
    ("written", "size"), [("10GiB", 10 << 30), ("1.5MiB", 3 << 19), ("500MB", 500_000_000), ("4096", 4096), ("0", 0)]
)
def test_sizes(written: str, size: int) -> None:
    assert config_of(f"spool: {{max_bytes: {written}}}").spool.max_bytes == size


@pytest.mark.parametrize("written", ["10 gigs", "-5", "GiB", "lots", "1e9"])
def test_what_is_no_size(written: str) -> None:
    assert "passhat.yaml:1: `spool.max_bytes`: " in error_of(f"spool: {{max_bytes: {written}}}")


@pytest.mark.parametrize(
    ("written", "address"),
    [("127.0.0.1:0", "127.0.0.1:0"), ("'[::1]:4317'", "[::1]:4317"), ("localhost:1", "localhost:1")],
)
def test_addresses(written: str, address: str) -> None:
    assert config_of(f"listen:\n  grpc: {written}\n").listen.grpc == address


@pytest.mark.parametrize("written", ["4317", "':4317'", "'host'", "host:99999", "'::1:4317'", "http://host:1"])
def test_what_is_no_address(written: str) -> None:
    assert "passhat.yaml:2: `listen.grpc`: " in error_of(f"listen:\n  grpc: {written}\n")


def test_scalars_of_typed_keys_are_text_as_written() -> None:
    config = config_of(
        "trials: {infrastructure_errors: [429, 1.10, on], outcome_events: solved}\n"
        "redact: {enabled: no, content: off}\nruns: {group_by: 12:30}\n"
    )
    assert config.trials.infrastructure_errors == ("429", "1.10", "on")
    assert config.trials.outcome_events == ("solved",)
    assert config.redact.enabled is False
    assert config.redact.content == "off"
    assert config.runs.group_by == "12:30"


def test_scalars_of_checks_have_the_type_they_look_like() -> None:
    checks = config_of("checks: [{a: 2, b: 0.5, c: true, d: '2', e: on, f: null, g: 12:30, h: [1, x]}]").checks
    assert checks == [{"a": 2, "b": 0.5, "c": True, "d": "2", "e": "on", "f": None, "g": "12:30", "h": [1, "x"]}]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("trials: {errors: drop}", "`trials.errors`: input should be 'exclude' or 'fail'"),
        ("gates: {a: {min: 1.5}}", "`gates.a.min`: input should be less than 1"),
        ("gates: {a: {k: 0}}", "`gates.a.k`: "),
        ("tags: {Deploy: x}", "`tags.Deploy"),
        ("store: {url: 'postgres://x/y'}", "`store.url`: write chdb:DIRECTORY or clickhouse://"),
        ("redact: {patterns: ['(']}", "`redact.patterns[0]`: not a regular expression"),
        ("auth: {tokens: [{name: a, sha256: abc, scopes: [read]}]}", "`auth.tokens[0].sha256`: "),
        ("slos: [{name: a}]", "`slos[0].target` is missing"),
    ],
)
def test_a_wrong_value_is_refused_by_name(text: str, said: str) -> None:
    message = error_of(text)
    assert message.startswith("passhat.yaml:1: ")
    assert said in message


# --- variables ------------------------------------------------------------------------------------------------------


def test_variables_are_filled_in_anywhere_in_a_value() -> None:
    env = {"HOST": "db", "PW": "p#s: [x", "N": "3", "EMPTY": ""}
    config = config_of(
        "store:\n  url: clickhouse://u:${PW}@${HOST}:${PORT:-8123}/passhat\n"
        "runs:\n  idle_s: ${N}\n  group_by: ${EMPTY:-session.id}\n"
        'checks: [{id: "a$$b", n: "${N}", re: \'x$\', cost: "$5"}]\n',
        env,
    )
    assert config.store.url == "clickhouse://u:p#s: [x@db:8123/passhat"
    assert config.runs.idle_s == 3
    assert config.runs.group_by == "session.id"
    assert config.checks == [{"id": "a$b", "n": "3", "re": "x$", "cost": "$5"}]


def test_a_plain_variable_in_a_check_has_the_type_it_looks_like() -> None:
    assert config_of("checks:\n  - at_most: ${N}\n", {"N": "3"}).checks == [{"at_most": 3}]


def test_what_a_variable_holds_is_not_filled_in_again() -> None:
    assert config_of("runs:\n  group_by: ${A}\n", {"A": "${B}"}).runs.group_by == "${B}"


def test_variables_in_comments_and_keys_are_left_alone() -> None:
    assert config_of("# ${NOT_SET}\ntags:\n  a: x # ${NOT_SET}\n").tags == {"a": "x"}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("${NOT_SET}", "passhat.yaml:2: the environment variable NOT_SET is not set"),
        ("clickhouse://u:${NOT_SET}@h/p", "passhat.yaml:2: the environment variable NOT_SET is not set"),
        ("${1A}", "passhat.yaml:2: `${` must be followed by a name"),
        ("${A", "passhat.yaml:2: `${` must be followed by a name"),
    ],
)
def test_a_variable_that_cannot_be_filled_in_is_an_error(value: str, said: str) -> None:
    assert error_of(f"store:\n  url: {value}\n").startswith(said)


def test_an_unquoted_variable_inside_brackets_is_explained() -> None:
    with pytest.raises(UsageError) as caught:
        config_of("runs:\n  task: [${A}]\n", {"A": "x"})
    assert str(caught.value).startswith("passhat.yaml:2: ")
    assert "needs quotes" in caught.value.hint
