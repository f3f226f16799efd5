"""Exit codes by real processes: 0 ok, 1 not met, 2 usage or refused, 3 unknown, 4 store or server, 130 interrupted."""

import json
import os
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from collector.store.lock import StoreLock
from tests.cli.commands import PASSHAT, environment, here, passhat
from tests.support.serving import Serving

NOBODY = "http://127.0.0.1:9"


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["frobnicate"], 2, "No such command"),
        (["runs", "--limit", "0"], 2, "--limit"),
        (["runs", "--nope"], 2, "--nope"),
        (["show"], 2, "RUN"),
        (["outcome", "r", "maybe"], 2, "maybe"),
        (["runs", "--server", "ftp://x"], 2, "ftp://x"),
        (["runs", "--server", NOBODY], 4, "no passhat answers"),
        (["report", "--server", NOBODY], 4, "no passhat answers"),
        (["outcome", "r", "pass", "--server", NOBODY], 4, "no passhat answers"),
        (["runs", "--server", NOBODY, "--data", "."], 2, "--server and --data"),
        (["runs", "--data", "not-there"], 2, "no directory"),
        (["query", "SELECT 1", "--server", NOBODY], 4, "no passhat answers"),
        (["query", "SELECT {x:Int32}", "--param", "x"], 2, "NAME=VALUE"),
        (["ingest", "not-there.json"], 2, "no file"),
        (["config", "--config", "not-there.yaml"], 2, "no file"),
        (["serve", "--config", "not-there.yaml"], 2, "no file"),
        (["serve", "--grpc-port", "65536"], 2, "65535"),
        (["serve", "--host", "0.0.0.0"], 2, "no token"),
    ],
)
def test_without_a_store(arguments: list[str], code: int, says: str) -> None:
    done = here(*arguments)
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("error: ")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["runs"], 0),
        (["runs", "--task", "none"], 0),
        (["show", "never"], 3),
        (["mine", "never"], 3),
        (["runs", "--since", "yesterday"], 2),
        (["runs", "--result", "passed"], 2),
        (["report", "--k", "0"], 2),
        (["report", "--window", "7d", "--since", "7d"], 2),
        (["query", "SELEC 1"], 2),
        (["query", "DROP TABLE runs"], 2),
        (["query", "SELECT file('/etc/hostname')"], 2),
        (["query", "SELECT * FROM nothing"], 2),
        (["query", "SELECT count() FROM trials"], 0),
    ],
)
def test_with_a_store(data: Path, arguments: list[str], code: int) -> None:
    done = here(*arguments, "--data", str(data))
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr


def test_a_store_in_use_is_told_with_a_way_out(data: Path) -> None:
    with StoreLock(data / "store.lock"):
        done = here("runs", "--data", str(data))
    assert done.returncode == 4
    assert f"process {os.getpid()}" in done.stderr
    assert "hint: " in done.stderr


def test_a_configuration_at_fault_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "passhat.yaml").write_text("runs:\n  setle_s: 3\n")
    for command in (["config"], ["serve"], ["checks", "list"], ["checks", "validate"]):
        done = here(*command)
        assert done.returncode == 2
        assert "passhat.yaml:2" in done.stderr
        assert "settle_s" in done.stderr


def test_a_check_at_fault_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "passhat.yaml").write_text("checks:\n  - {id: x, kind: absense, of: edit}\n")
    done = here("checks", "validate")
    assert done.returncode == 2
    assert "passhat.yaml:2" in done.stderr
    assert "absence" in done.stderr


@pytest.mark.parametrize(
    ("written", "line"),
    [("checks:\n  - {use: force-push}\n  - {kind: absence, of: edit}\n", 3),
     ("checks:\n  - {use: force-push}\n  - {use: forec-push}\n", 3),
     ("checks:\n  - {use: force-push}\n  - {use: only-under}\n", 3),
     ("checks:\n  - {id: a, kind: absence, of: edit}\n  - {id: a, kind: absence, of: edit}\n", 3),
     ("tags:\n  good: call.ok\n  bad: 'call.ok +'\nchecks: []\n", 3),
     ("actions:\n  mine: {tool: x}\n", 2)],
)  # fmt: skip
def test_every_check_at_fault_is_told_with_its_line(tmp_path: Path, written: str, line: int) -> None:
    (tmp_path / "passhat.yaml").write_text(written)
    done = here("checks", "validate")
    assert done.returncode == 2
    assert f"passhat.yaml:{line}" in done.stderr, done.stderr


@pytest.mark.parametrize(
    ("written", "said"),
    [("gates:\n  g: {window: 28}\n", "28d"),
     ("auth:\n  tokens:\n    - {name: a, sha256: s3cr3t, scopes: [read]}\n", "64 hex digits"),
     ("auth:\n  tokens:\n    - {name: a, sha256: '%s', scopes: []}\n", "ingest, label, read, admin"),
     ("auth:\n  tokens:\n    - {name: a, sha256: '%s', scopes: [reed]}\n", "ingest, label, read, admin"),
     ("checks:\n  - {id: c, kind: command, command: [./nope.sh]}\n", "no program ./nope.sh"),
     ("checks: [{id: c, kind: command, command: nowhere-to-be-found x}]\n", "no program nowhere-to-be-found")],
)  # fmt: skip
def test_what_would_only_fail_later_is_said_in_plain_words(tmp_path: Path, written: str, said: str) -> None:
    (tmp_path / "passhat.yaml").write_text(written.replace("%s", "a" * 64))
    done = here("checks", "validate")
    assert (done.returncode, said in done.stderr, "passhat.yaml:" in done.stderr) == (2, True, True), done.stderr
    assert "s3cr3t" not in done.stderr
    assert "pattern" not in done.stderr


@pytest.mark.parametrize(
    ("written", "line", "said"),
    [("priority: 3\nmatch: [{scope: x}]\n", 1, "name"), ("name: d\nmatsch:\n  - {scope: x}\n", 2, "matsch")],
)
def test_a_dialect_at_fault_is_told_with_its_line(tmp_path: Path, written: str, line: int, said: str) -> None:
    (tmp_path / "d.yaml").write_text(written)
    (tmp_path / "passhat.yaml").write_text("dialects: [d.yaml]\n")
    done = here("checks", "validate")
    assert (done.returncode, f"d.yaml:{line}: " in done.stderr, said in done.stderr) == (2, True, True), done.stderr


def test_the_choices_of_an_argument_are_shown_as_such() -> None:
    done = here("outcome", "x")
    assert done.returncode == 2
    assert "\\t" not in done.stderr


def test_checks_are_listed() -> None:
    rows = json.loads(here("checks", "list", "--json").stdout)
    assert [row["id"] for row in rows if row["gate"]] == ["tests-after-last-edit", "no-test-edits", "no-repeats"]
    done = here("checks", "validate", "--json")
    assert (done.returncode, len(json.loads(done.stdout)["checks"])) == (0, 6)


def test_the_configuration_is_shown_without_its_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PW", "hunter2hunter2")
    (tmp_path / "passhat.yaml").write_text("store: {url: 'clickhouse://me:${PW}@db:8443/x?secure=true'}\n")
    done = here("config", "--json")
    assert done.returncode == 0
    assert "hunter2" not in done.stdout
    keys = {row["key"]: row for row in json.loads(done.stdout)}
    assert "passhat.yaml:1" in keys["store.url"]["origin"]
    assert keys["runs.settle_s"]["value"] == 10.0


def test_a_reader_that_leaves_ends_the_command_quietly(data: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    command = [*PASSHAT, "query", "SELECT * FROM numbers(200000)", "--json", "--data", str(data)]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, cwd=data.parent, env=environment())
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "")


def test_ctrl_c_is_130_without_a_traceback(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*PASSHAT, "demo"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path, env=environment()
    )
    assert process.stderr is not None
    assert "collector listens" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert out == ""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_serve_stops_gracefully(tmp_path: Path, number: signal.Signals, code: int) -> None:
    serving = Serving(tmp_path).start()
    assert serving.process is not None
    serving.process.send_signal(number)
    assert serving.process.wait(30) == code
    log = serving.log.read_text()
    assert "Traceback" not in log
    assert "what is accepted is kept" in log
    serving.stop()


@pytest.mark.parametrize("name", ["grpc", "http", "web"])
def test_a_port_in_use_is_2_and_named(tmp_path: Path, name: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        ports = {"grpc": "0", "http": "0", "web": "0", name: str(taken.getsockname()[1])}
        flags = [word for key, port in ports.items() for word in (f"--{key}-port", port)]
        done = passhat("serve", "--data", "d", *flags, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert f"listen.{name}" in done.stderr
    assert "in use" in done.stderr


def test_all_ports_in_use_are_named_before_anything_is_made(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
        ports = [str(taken.getsockname()[1]) for taken in (one, other)]
        flags = ["--grpc-port", "0", "--http-port", ports[0], "--web-port", ports[1]]
        done = passhat("serve", "--data", "made", *flags, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    for word in (*ports, "--http-port", "--web-port", "listen.http", "listen.web"):
        assert word in done.stderr
    assert "opening the store" not in done.stderr
    assert not (tmp_path / "made").exists()


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A server that asks for a token."""
    import hashlib

    token = {"name": "t", "sha256": hashlib.sha256(b"secret").hexdigest(), "scopes": ["read"]}
    with Serving(tmp_path_factory.mktemp("guarded"), {"auth": {"tokens": [token]}}) as serving:
        yield serving


def test_refused_is_2(guarded: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    server = ("--server", f"http://{guarded.web}")
    assert here("runs", *server).returncode == 2
    monkeypatch.setenv("PASSHAT_TOKEN", "wrong")
    assert here("runs", *server).returncode == 2
    monkeypatch.setenv("PASSHAT_TOKEN", "secret")
    assert here("runs", *server).returncode == 0
    monkeypatch.setenv("PASSHAT_SERVER", server[1])
    assert here("runs").returncode == 0
    done = here("outcome", "r", "pass", *server)
    assert done.returncode == 2
    assert "label" in done.stderr


def test_somebody_else_at_the_address_is_4() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()

        def answer() -> None:
            peer, _ = other.accept()
            peer.recv(4096)
            peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi")
            peer.close()

        thread = threading.Thread(target=answer)
        thread.start()
        done = here("runs", "--server", f"127.0.0.1:{other.getsockname()[1]}")
        thread.join()
    assert done.returncode == 4
    assert "not as passhat does" in done.stderr


def test_the_otlp_port_is_4_and_said_to_be_it(guarded: Serving) -> None:
    for command in (["runs"], ["show", "r"], ["outcome", "r", "pass"]):
        done = here(*command, "--server", f"http://{guarded.http}")
        assert done.returncode == 4, done.stderr
        assert "OTLP port" in done.stderr
        assert "8317" in done.stderr


def test_a_server_is_found_where_the_configuration_here_listens(
    guarded: Serving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "passhat.yaml").write_text(f"listen: {{web: '{guarded.web}', http: '{guarded.http}'}}\n")
    monkeypatch.setenv("PASSHAT_TOKEN", "secret")
    assert here("runs").returncode == 0
    file = tmp_path / "empty.json"
    file.write_text('{"resourceSpans": [{"scopeSpans": []}]}')
    assert "refused us (403)" in here("ingest", str(file)).stderr
    monkeypatch.setenv("PASSHAT_LISTEN__WEB", guarded.http)  # a variable is above the file
    assert here("runs").returncode == 4
    assert here("runs", "--server", f"http://{guarded.web}").returncode == 0


def test_doctor_is_1_when_something_is_not_well(tmp_path: Path) -> None:
    (tmp_path / "passhat.yaml").write_text(yaml.safe_dump({"spool": {"min_free_bytes": "1000TiB"}}))
    done = passhat("doctor", "--json", cwd=tmp_path)
    assert done.returncode == 1
    told = {one["what"]: one for one in json.loads(done.stdout)["findings"]}
    assert told["disk"]["ok"] is False
    assert told["disk"]["hint"]
    assert told["versions"]["ok"] is True
