"""`passhat doctor` and `passhat runs` where spans arrive and no run comes of them; the doctor with tokens."""

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import pytest

from collector.cli.arrivals import HELP, notes
from collector.errors import PermanentError
from tests.cli.commands import here
from tests.support.serving import CLIENT, Serving

SCOPES = {"both": ["ingest", "read"], "reads": ["read"], "sends": ["ingest"]}
HTTP_SPAN = {
    "traceId": "1" * 32, "spanId": "2" * 16, "name": "GET /", "kind": 3,
    "startTimeUnixNano": "1793000000000000000", "endTimeUnixNano": "1793000000000000001",
}  # fmt: skip


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    tokens = [
        {"name": name, "sha256": hashlib.sha256(name.encode()).hexdigest(), "scopes": scopes, "project": "shop"}
        for name, scopes in SCOPES.items()
    ]
    with Serving(tmp_path_factory.mktemp("doctor"), {"auth": {"tokens": tokens}}) as one:
        yield one
        assert one.stop() == 0


def examined(serving: Serving, monkeypatch: pytest.MonkeyPatch, token: str) -> dict[str, Any]:
    monkeypatch.setenv("PASSHAT_SERVER", f"http://{serving.web}")
    monkeypatch.setenv("PASSHAT_TOKEN", token)
    done = here("doctor", "--json", "--config", str(serving.config_file))
    return {one["what"]: one for one in json.loads(done.stdout)["findings"]}


def test_with_a_token_of_a_project_the_run_is_in_none_of_its_numbers(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = examined(serving, monkeypatch, "both")
    assert "5 lines" in told["trace"]["found"], told
    assert "counts nowhere" in told["trace"]["found"]
    assert json.loads(here("runs", "--json").stdout)["runs"] == []
    assert json.loads(here("report", "--json").stdout)["tasks"] == []


@pytest.mark.parametrize(("token", "lacks"), [("reads", "ingest"), ("sends", "read"), ("nobody", "not known")])
def test_a_token_that_is_not_enough_is_the_cause_it_names(
    serving: Serving, monkeypatch: pytest.MonkeyPatch, token: str, lacks: str
) -> None:
    told = examined(serving, monkeypatch, token)
    failed = [one for one in told.values() if not one["ok"]]
    assert failed
    assert any(lacks in f"{one['found']} {one['hint']}" for one in failed), failed


def test_runs_says_why_there_is_none(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"http://{serving.http}"
    body = {"resourceSpans": [{"scopeSpans": [{"spans": [HTTP_SPAN]}]}]}
    sender = {"authorization": "Bearer sends"}
    assert CLIENT.post(f"{url}/v1/traces", json=body, headers=sender).status_code == 200
    assert CLIENT.post(url, json=body, headers=sender).status_code == 404
    serving_is_quiet(serving, monkeypatch)
    said = here("runs").stderr
    assert "unmapped: 1 of" in said
    assert "doctor FILE" in said
    assert "refused: 1 not_served" in said
    assert "/v1/traces" in said
    assert "1 accepted" in said
    assert "unmapped" not in here("runs", "--window", "1d").stderr


def serving_is_quiet(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait until all that was accepted is stored: what no dialect reads is counted then."""
    from tests.support.serving import until

    headers = {"authorization": "Bearer reads"}
    url = f"http://{serving.web}/api/v1/status"
    until(lambda: CLIENT.get(url, headers=headers).json(), lambda told: told["unmapped"] >= 1)
    monkeypatch.setenv("PASSHAT_SERVER", f"http://{serving.web}")
    monkeypatch.setenv("PASSHAT_TOKEN", "reads")


def test_every_reason_of_a_refusal_has_its_advice() -> None:
    reasons = {kind.reason for kind in PermanentError.__subclasses__()} | {PermanentError.reason}
    assert reasons <= set(HELP)


def test_notes_follow_the_way_and_hostile_names_stay_harmless() -> None:
    client = {"project": "p", "service": "\x1b[2J", "accepted": 2, "refused": 1, "last_reason": "bad_data"}
    status = {
        "clients": [client], "refused": {"bad_data": 1}, "unmapped": 2, "stored": {"traces": 2}, "not_a_run": 1,
        "lag": {"units_waiting": 3}, "blocked": [{"reason": "evidence", "runs": 4, "fix": "turn content on"}],
    }  # fmt: skip
    found = list(notes(status))
    assert [what for what, _, _ in found] == ["clients", "refused", "unmapped", "not_a_run", "waiting", "blocked"]
    assert "\x1b" not in str(found[0][1])
    assert all(hint for what, _, hint in found if what != "clients")
    assert list(notes({})) == []
    [(_, found, hint)] = notes({"clients": [{**client, "accepted": 0}]})
    assert "1 refused" in found
    assert "OTEL_EXPORTER_OTLP_ENDPOINT" in hint
