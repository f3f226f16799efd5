"""Flags over environment over file over defaults: what wins, where it came from, and what is shown of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from collector.config import Config, load, shown
from collector.errors import UsageError
from collector.rules import checks_of


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


def test_flags_win_over_environment_over_file() -> None:
    text = "runs: {settle_s: 1, idle_s: 1, max_age_s: 1}\n"
    env = {"PASSHAT_RUNS__IDLE_S": "2", "PASSHAT_RUNS__MAX_AGE_S": "2m"}
    config = config_of(text, env, {"runs.max_age_s": 3, "runs.idle_s": None})
    assert (config.runs.settle_s, config.runs.idle_s, config.runs.max_age_s) == (1, 2, 3)
    assert config.where("runs", "settle_s") == "passhat.yaml:1"
    assert config.where("runs", "idle_s") == "PASSHAT_RUNS__IDLE_S"
    assert config.where("runs", "max_age_s") == "flag runs.max_age_s"


def test_the_environment_sets_every_kind_of_key() -> None:
    config = load(
        env={
            "PASSHAT_STORE__URL": "clickhouse://u@h:8123/p#1",
            "passhat_redact__enabled": "false",
            "PASSHAT_RUNS__TASK": "[a.b, c.d]",
            "PASSHAT_RUNS__TASK_CLASS": "suite.name",
            "PASSHAT_CHECKS": "[{id: x, at_most: 2}]",
            "PASSHAT_GATES": "{nightly: {class: coding, k: 5}}",
            "PASSHAT_SPOOL__MAX_BYTES": "1GiB",
            "PASSHAT_DATA": "d",
            "PASSHAT_TRIALS__ERRORS": "",
        }
    )
    assert config.store.url == "clickhouse://u@h:8123/p#1"
    assert config.redact.enabled is False
    assert config.runs.task == ("a.b", "c.d")
    assert config.runs.task_class == ("suite.name",)
    assert config.checks == [{"id": "x", "at_most": 2}]
    assert (config.gates["nightly"].class_, config.gates["nightly"].k) == ("coding", 5)
    assert config.spool.max_bytes == 1 << 30
    assert config.data == Path("d").absolute()
    assert config.trials.errors == "exclude"
    assert [warning for warning in config.warnings if "sets nothing" in warning] == []


def test_a_wrong_value_in_the_environment_names_the_variable() -> None:
    with pytest.raises(UsageError, match=r"^PASSHAT_RUNS__IDLE_S: `runs.idle_s`: not a duration"):
        load(env={"PASSHAT_RUNS__IDLE_S": "soon"})
    with pytest.raises(UsageError, match=r"^PASSHAT_CHECKS: not a list or mapping"):
        load(env={"PASSHAT_CHECKS": "[{"})


def test_unknown_variables_are_ignored_but_a_near_miss_is_mentioned() -> None:
    config = load(
        env={
            "PASSHAT_RUNS__IDLE": "5",
            "PASSHAT_STORE_URL": "chdb:x",
            "PASSHAT_CONFIGG": "x",
            "PASSHAT_PORT": "tcp://10.0.0.1:4317",
            "PASSHAT_SERVICE_HOST": "10.0.0.1",
            "PASSHAT_STORE_SERVICE_PORT_HTTP": "80",
            "PASSHAT_PORT_4317_TCP_ADDR": "10.0.0.1",
            "PASSHAT_SOMETHING_ELSE": "1",
            "PASSHAT_SERVER": "http://h",
        }
    )
    assert config.runs.idle_s == 300
    assert config.warnings == (
        "PASSHAT_CONFIGG sets nothing (did you mean PASSHAT_CONFIG?)",
        "PASSHAT_RUNS__IDLE sets nothing (did you mean PASSHAT_RUNS__IDLE_S?)",
        "PASSHAT_STORE_URL sets nothing (did you mean PASSHAT_STORE__URL?)",
    )


def test_host_and_ports_change_one_half_of_an_address() -> None:
    text = "listen: {grpc: '10.0.0.1:1', http: '10.0.0.1:2'}\n"
    flags: dict[str, object] = {"listen.host": "::1", "listen.grpc.port": 0}
    listen = config_of(text, {}, flags).listen
    assert (listen.grpc, listen.http, listen.web) == ("[::1]:0", "[::1]:2", "[::1]:8317")
    assert config_of(text, {}, {"listen.web.port": 99}).listen.web == "127.0.0.1:99"
    assert error_of("", {}, {"listen.grpc.port": 70000}).startswith("--grpc-port: ")


def test_the_file_is_searched_by_flag_then_variable_then_here(tmp_path: Path) -> None:
    for name in ("flag", "variable"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "own.yaml").write_text(f"runs: {{group_by: {name}}}\n")
    Path("passhat.yaml").write_text("runs: {group_by: here}\n")
    env = {"PASSHAT_CONFIG": str(tmp_path / "variable/own.yaml")}
    assert load(tmp_path / "flag/own.yaml", env).runs.group_by == "flag"
    assert load(None, env).runs.group_by == "variable"
    assert load(None, {}).runs.group_by == "here"
    with pytest.raises(UsageError, match="--config: there is no file"):
        load(tmp_path / "no.yaml", env)
    with pytest.raises(UsageError, match="PASSHAT_CONFIG: there is no file"):
        load(None, {"PASSHAT_CONFIG": "no.yaml"})


def test_a_file_with_nearly_the_right_name_is_mentioned() -> None:
    Path("passhat.yml").write_text("runs: {settle_s: 1}\n")
    config = load(env={})
    assert config.runs.settle_s == 10
    assert config.warnings == ("passhat.yml is not read: passhat.yaml would be",)


def test_relative_paths_start_at_the_file_or_where_the_command_runs(tmp_path: Path) -> None:
    folder = tmp_path / "etc"
    folder.mkdir()
    file = folder / "my.yaml"
    file.write_text("data: d\ncases: c\ndialects: [x.yaml]\nauth: {tokens_file: t}\n")
    config = load(file, {})
    assert (config.data, config.cases, config.dialects) == (folder / "d", folder / "c", (folder / "x.yaml",))
    assert config.auth.tokens_file == folder / "t"
    assert load(file, {}, {"data": "e"}).data == tmp_path / "e"
    assert load(file, {"PASSHAT_CASES": "f"}).cases == tmp_path / "f"


@pytest.mark.parametrize(
    ("text", "env", "flags", "store"),
    [
        ("", {}, {}, "passhat-data"),
        ("data: d\n", {}, {}, "d"),
        ("data: d\nstore: {url: 'chdb:'}\n", {}, {}, "d"),
        ("data: d\nstore: {url: 'chdb:?max_threads=1'}\n", {}, {}, "d?max_threads=1"),
        ("data: d\nstore: {url: 'chdb:s'}\n", {}, {}, "s"),
        ("data: d\nstore: {url: 'chdb:s'}\n", {}, {"data": "e"}, "e"),
        ("store: {url: 'chdb:s'}\n", {"PASSHAT_DATA": "e"}, {}, "e"),
        ("data: d\n", {"PASSHAT_STORE__URL": "chdb:s"}, {}, "s"),
        ("data: d\n", {"PASSHAT_STORE__URL": "chdb:s"}, {"data": "e"}, "e"),
    ],
)
def test_an_embedded_store_follows_data(
    text: str, env: dict[str, str], flags: dict[str, object], store: str, tmp_path: Path
) -> None:
    assert config_of(text, env, flags).store.url == f"chdb:{tmp_path / store}"


# --- what people see ------------------------------------------------------------------------------------------------


def test_every_value_is_shown_with_its_origin() -> None:
    text = "runs:\n  settle_s: 1\n  task: [a]\nchecks:\n  - {id: x}\ngates:\n  n: {k: 5}\n"
    config = config_of(text, {"PASSHAT_DATA": "d"}, {"listen.host": "127.0.0.2"})
    rows = {row.key: (row.value, row.origin) for row in shown(config)}
    assert rows["runs.settle_s"] == (1.0, "passhat.yaml:2")
    assert rows["runs.task"] == (["a"], "passhat.yaml:3")
    assert rows["runs.idle_s"] == (300.0, "default")
    assert rows["checks[0]"] == ({"id": "x"}, "passhat.yaml:5")
    assert rows["gates.n.k"] == (5, "passhat.yaml:7")
    assert rows["gates.n.min"] == (0.8, "default")
    assert rows["data"][1] == "PASSHAT_DATA"
    assert rows["listen.web"] == ("127.0.0.2:8317", "--host")


def test_no_secret_is_shown_in_the_dump_the_repr_or_an_error() -> None:
    secret, digest = "hunter2secret", "ab" * 32
    text = (
        "store:\n  url: clickhouse://u:in-file-pw@h:8443/p?secure=true&password=in-query-pw\n"
        f"auth:\n  tokens:\n    - {{name: ci, sha256: {digest}, scopes: [ingest]}}\n"
        'checks:\n  - {id: x, kind: command, command: "run --as ${MY_TOKEN}"}\n'
    )
    config = config_of(text, {"MY_TOKEN": secret})
    everything = f"{shown(config)} {config!r} {config.auth!r} {config.store!r}"
    for hidden in ("in-file-pw", "in-query-pw", digest):
        assert hidden not in everything
    assert secret not in str(shown(config))
    rows = {row.key: row.value for row in shown(config)}
    assert rows["store.url"] == "clickhouse://u:***@h:8443/p?secure=true&password=***"
    assert rows["auth.tokens[0].sha256"] == "***"
    assert rows["auth.tokens[0].name"] == "ci"
    assert rows["checks[0]"]["command"] == "run --as ***"
    for broken in (f"store: {{url: 'mysql://u:{secret}@h'}}", f"auth: {{tokens: [{{sha256: {secret}}}]}}"):
        assert secret not in error_of(broken)


def test_a_secret_from_the_environment_is_masked_too() -> None:
    config = load(env={"PASSHAT_STORE__URL": "clickhouse://u:hunter2@h/p"})
    assert "hunter2" not in str(shown(config))


def test_the_key_of_a_judge_comes_from_the_environment_only(tmp_path: Path) -> None:
    file = tmp_path / "passhat.yaml"
    file.write_text("judge:\n  url: http://h/v1\n  api_key: sk-written-down\n")
    with pytest.raises(UsageError, match=r"passhat\.yaml:3: judge\.api_key: a key must come from the environment"):
        load(file, {})
    file.write_text("judge: {url: 'http://h/v1', api_key: '${MODEL}'}\n")
    with pytest.raises(UsageError, match=r"judge\.api_key") as told:  # what is not named as a secret would be shown
        load(file, {"MODEL": "sk-1"})
    assert "sk-1" not in f"{told.value} {told.value.hint}"
    file.write_text("judge: {url: 'http://h/v1', api_key: '${JUDGE_KEY}'}\n")
    assert load(file, {"JUDGE_KEY": "sk-2"}).judge.api_key == "sk-2"
    file.unlink()
    assert load(None, {"PASSHAT_JUDGE__API_KEY": "sk-3"}).judge.api_key == "sk-3"


def test_a_judges_parameters_are_numbers_and_its_limits_have_a_price(tmp_path: Path) -> None:
    file = tmp_path / "passhat.yaml"
    file.write_text(
        "judge:\n  parameters: {temperature: 0.5, stream: false, stop: [a], response_format: {type: json_object}}\n"
    )
    assert load(file, {}).judge.parameters == {
        "temperature": 0.5, "stream": False, "stop": ["a"], "response_format": {"type": "json_object"}
    }  # fmt: skip
    file.write_text("judge: {per_day: {cost_usd: 5}}\n")
    with pytest.raises(UsageError, match="needs `price`"):
        load(file, {})
    file.write_text("checks: [{id: j, kind: judge, criterion: x, model: m}]\n")
    with pytest.raises(
        UsageError, match=r"passhat\.yaml:1: check 'j', kind: nobody can be asked: judge\.url is missing"
    ):
        checks_of(load(file, {}))
