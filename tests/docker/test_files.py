"""The files of docker/: parsed, and held to rules that need no daemon. docs/containers.md says what was run by hand."""

from __future__ import annotations

import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from collector.cli.app import app
from collector.config import load
from collector.dashboards.parts import PLUGIN
from tests.house.source_tree import ROOT

DOCKER = ROOT / "docker"
YAML = sorted(
    path for path in DOCKER.rglob("*") if path.suffix in (".yaml", ".yml", ".example") and path.name != ".env.example"
)
DOCKERFILE = (DOCKER / "Dockerfile").read_text()


@pytest.mark.parametrize("path", YAML, ids=lambda path: str(path.relative_to(DOCKER)))
def test_yaml_parses(path: Path) -> None:
    assert list(yaml.safe_load_all(path.read_text()))


@pytest.mark.parametrize("path", sorted(DOCKER.rglob("*.xml")), ids=lambda path: str(path.relative_to(DOCKER)))
def test_xml_parses(path: Path) -> None:
    assert ET.parse(path).getroot().tag == "clickhouse"


def test_docker_is_no_package() -> None:
    assert list(DOCKER.rglob("*.py")) == []


# --- the image ------------------------------------------------------------------------------------------------------


def instructions(word: str) -> list[str]:
    joined = re.sub(r"\\\n\s*", "", DOCKERFILE)
    return [line.partition(" ")[2] for line in joined.splitlines() if line.startswith(word + " ")]


def test_the_image_is_small_not_root_and_healthy() -> None:
    assert len(instructions("FROM")) == 2
    assert all(base.startswith("${BASE}") for base in instructions("FROM"))
    (base,) = instructions("ARG")
    assert re.fullmatch(r"BASE=[\w.-]+:[\w.-]+", base), "a tag, and one that can be replaced"
    assert ":latest" not in base
    assert instructions("USER") == ["10001:10001"]
    assert instructions("HEALTHCHECK")
    assert instructions("VOLUME") == ["/data"]
    assert instructions("ADD") == []
    assert instructions("ENTRYPOINT")[0].startswith("["), "signals reach passhat, not a shell"
    for run in instructions("RUN"):
        assert "curl" not in run
        assert "sudo" not in run
        assert "apt-get install" not in run or "rm -rf /var/lib/apt/lists" in run


def test_what_is_copied_exists_and_is_not_ignored() -> None:
    ignored = (DOCKER / "Dockerfile.dockerignore").read_text().splitlines()
    kept = {line.removeprefix("!") for line in ignored if line.startswith("!")}
    for copied in instructions("COPY"):
        if copied.startswith("--from="):
            continue
        *sources, _ = copied.split()
        for source in sources:
            assert (ROOT / source).exists(), source
            assert any(source == name or source.startswith(f"{name}/") for name in kept), f"{source} is ignored"


@pytest.mark.parametrize("path", [DOCKER / "passhat" / "passhat.yaml", DOCKER / "kubernetes" / "base" / "passhat.yaml"])
def test_configurations_load(path: Path, tmp_path: Path) -> None:
    tokens = tmp_path / "tokens.yaml"
    tokens.write_text("[]")
    file = tmp_path / "passhat.yaml"
    file.write_text(path.read_text().replace("/etc/passhat-tokens/tokens.yaml", str(tokens)))
    config = load(file, {})
    assert config.store.url == "chdb:/data/store"
    assert config.data == Path("/data")
    assert config.listen.web == "0.0.0.0:8317"
    served = load(
        file,
        {"PASSHAT_STORE_URL": "clickhouse://u:p@h:8123/passhat", "PASSHAT_STORE__READER_URL": "clickhouse://r:p@h/x"},
    )
    assert served.store.url.startswith("clickhouse://")
    assert served.store.reader_url == "clickhouse://r:p@h/x"


# --- compose --------------------------------------------------------------------------------------------------------


def compose() -> dict[str, Any]:
    return dict(yaml.safe_load((DOCKER / "compose.yaml").read_text()))


def test_what_must_be_set_is_in_the_example() -> None:
    text = (DOCKER / "compose.yaml").read_text()
    named = set(re.findall(r"\$\{(\w+)", text))
    example = (DOCKER / ".env.example").read_text()
    assert {name for name in named if f"{name}=" not in example} == set()
    for required in re.findall(r"\$\{(\w+):\?", text):
        assert re.search(rf"^{required}=\S+$", example, re.M), required


def test_ports_are_published_on_loopback_and_services_are_confined() -> None:
    services = compose()["services"]
    for name, service in services.items():
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ())), name
    for name in ("passhat", "passhat-server"):
        assert services[name]["read_only"] is True
        assert services[name]["cap_drop"] == ["ALL"]
        assert "no-new-privileges:true" in services[name]["security_opt"]
    assert "ports" not in services["clickhouse"]


def test_mounted_files_exist() -> None:
    for service in compose()["services"].values():
        for mount in service.get("volumes", ()):
            source = mount.split(":")[0]
            assert not source.startswith("./") or (DOCKER / source).exists(), source
            assert source.startswith("./") or source in compose()["volumes"], source


def test_profiles_are_the_two() -> None:
    by_profile: dict[str, set[str]] = {}
    for name, service in compose()["services"].items():
        for profile in service["profiles"]:
            by_profile.setdefault(profile, set()).add(name)
    assert by_profile == {"embedded": {"passhat", "grafana"}, "server": {"passhat-server", "clickhouse", "grafana"}}


@pytest.mark.parametrize("profile", ["embedded", "server"])
def test_docker_compose_accepts_the_file(profile: str) -> None:
    command = shutil.which("docker-compose")
    if command is None:
        pytest.skip("docker-compose is not installed here")
    done = subprocess.run(
        [command, "--env-file", ".env.example", "-f", "compose.yaml", "--profile", profile, "config"],
        cwd=DOCKER, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert yaml.safe_load(done.stdout)["services"]["grafana"]["ports"] == ["127.0.0.1:3000:3000/tcp"]


# --- Grafana, ClickHouse, Kubernetes --------------------------------------------------------------------------------


def test_grafana_reads_passhats_endpoint() -> None:
    (source,) = yaml.safe_load((DOCKER / "grafana/provisioning/datasources/passhat.yaml").read_text())["datasources"]
    assert (source["type"], source["uid"]) == (PLUGIN, "passhat")
    assert (source["jsonData"]["protocol"], source["jsonData"]["path"]) == ("http", "/clickhouse")
    assert "enableRowLimit" not in source["jsonData"], "it cuts results without a word"
    (provider,) = yaml.safe_load((DOCKER / "grafana/provisioning/dashboards/passhat.yaml").read_text())["providers"]
    mounts = compose()["services"]["grafana"]["volumes"]
    assert any(mount.split(":")[1] == provider["options"]["path"] for mount in mounts)
    assert PLUGIN in compose()["services"]["grafana"]["environment"]["GF_PLUGINS_PREINSTALL_SYNC"]


def test_clickhouse_users_have_the_least_they_need() -> None:
    root = ET.parse(DOCKER / "clickhouse/users.d/passhat.xml").getroot()
    users = {user.tag: user for user in root.find("users") or ()}
    assert users["default"].get("remove") == "1"
    grants = {name: [grant.text or "" for grant in user.iter("query")] for name, user in users.items()}
    assert all(re.match(r"GRANT (SELECT|SHOW)", grant) for grant in grants["passhat_reader"])
    assert not any("system.*" in grant or "*.*" in grant for grant in grants["passhat_reader"])
    assert grants["health"] == ["GRANT SELECT ON system.one"]
    profiles = {profile.tag: profile for profile in root.find("profiles") or ()}
    assert profiles["passhat_reader"].findtext("readonly") == "2"
    for name in ("passhat", "passhat_reader"):
        password = users[name].find("password")
        assert password is not None
        assert password.get("from_env")
        assert not (password.text or "").strip()


def test_clickhouse_keeps_its_own_logs_small() -> None:
    """B159: system log tables outgrew the data a thousand times over."""
    root = ET.parse(DOCKER / "clickhouse/config.d/passhat.xml").getroot()
    removed = {node.tag for node in root if node.get("remove") == "1"}
    assert {"trace_log", "metric_log", "asynchronous_metric_log", "text_log", "part_log", "query_thread_log"} <= removed
    assert "TTL" in (root.findtext("query_log/engine") or "")


def test_kubernetes_fits_together() -> None:
    base = DOCKER / "kubernetes" / "base"
    kustomization = yaml.safe_load((base / "kustomization.yaml").read_text())
    for name in kustomization["resources"] + kustomization["configMapGenerator"][0]["files"]:
        assert (base / name).is_file()
    (stateful,) = yaml.safe_load_all((base / "statefulset.yaml").read_text())
    services = {s["metadata"]["name"]: s for s in yaml.safe_load_all((base / "service.yaml").read_text())}
    spec, pod = stateful["spec"], stateful["spec"]["template"]["spec"]
    labels = spec["template"]["metadata"]["labels"]
    assert spec["selector"]["matchLabels"] == labels
    assert all(service["spec"]["selector"] == labels for service in services.values())
    assert spec["serviceName"] in services
    (container,) = pod["containers"]
    ports = {port["name"] for port in container["ports"]}
    assert {port["targetPort"] for service in services.values() for port in service["spec"]["ports"]} <= ports
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsUser"] == 10001
    volumes = {v["name"] for v in pod["volumes"]} | {
        claim["metadata"]["name"] for claim in spec["volumeClaimTemplates"]
    }
    assert {mount["name"] for mount in container["volumeMounts"]} == volumes
    assert spec["replicas"] == 1


# --- systemd --------------------------------------------------------------------------------------------------------


def unit() -> str:
    return (DOCKER / "systemd" / "passhat.service").read_text()


def setting(name: str) -> str:
    (found,) = re.findall(rf"^{name}=(.*)$", unit(), re.MULTILINE)
    return str(found)


def test_the_unit_starts_what_there_is_and_lets_it_finish() -> None:
    options = {option for parameter in get_command(app).commands["serve"].params for option in parameter.opts}  # type: ignore[attr-defined]
    assert setting("ExecStart").split()[1] == "serve"
    assert {word for word in setting("ExecStart").split() if word.startswith("--")} <= options
    config = load(env={})
    assert int(setting("TimeoutStopSec")) > config.listen.announce_s + 3 * 8 + config.spool.drain_s
    assert setting("DynamicUser") == "yes"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    file = tmp_path / "passhat.service"
    file.write_text(re.sub(r"^ExecStart=\S+", f"ExecStart={shutil.which('true')}", unit(), flags=re.MULTILINE))
    done = subprocess.run(["systemd-analyze", "verify", str(file)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
