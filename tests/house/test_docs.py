"""The documentation says what there is: each key, command, exit code, metric and view; its code blocks hold."""

from __future__ import annotations

import ast
import json
import re
from itertools import pairwise
from math import comb, isclose
from pathlib import Path
from typing import Any, cast

import pytest
import yaml
from pydantic import BaseModel
from typer.main import get_command

from collector import errors
from collector.cli.app import app
from collector.config import Config, duration_s, load, size_bytes
from collector.config.layers import env_names
from collector.metrics import Metrics
from collector.store.store import Store
from tests.house import sql_page
from tests.house.source_tree import ROOT, files, tree_of

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def page(name: str) -> str:
    return (ROOT / name).read_text()


def everything() -> str:
    return "\n".join(path.read_text() for path in PAGES)


def blocks(*languages: str) -> list[Any]:
    """The fenced blocks of all pages in these languages, as pytest parameters."""
    return [
        pytest.param(text, id=f"{path.name}-{number}")
        for path in PAGES
        for number, (language, text) in enumerate(_BLOCK.findall(path.read_text()), 1)
        if language in languages
    ]


# --- configuration --------------------------------------------------------------------------------------------------


def rows(text: str) -> dict[str, list[str]]:
    """The table rows of a page by each key in their first cell: the other cells."""
    found = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip()[1:-1].split("|")] if line.startswith("|") else []
        for key in re.findall(r"`([^`]+)`", cells[0]) if cells else []:
            found[key] = cells[1:]
    return found


def test_every_key_is_documented_with_its_default() -> None:
    documented = rows(page("docs/configuration.md"))
    for path in env_names().values():
        key = ".".join(map(str, path))
        assert key in documented, f"docs/configuration.md lacks {key}"
        assert same_default(documented[key][1], default_of(path)), (key, documented[key][1], default_of(path))


def default_of(path: tuple[str | int, ...]) -> object:
    value: object = Config().model_dump(mode="json", by_alias=True)
    for part in path:
        assert isinstance(value, dict)
        value = value[part]
    return value


def same_default(cell: str, default: object) -> bool:
    written = cell.strip("`")
    if default is None:
        return written in ("none", "built-in")
    if isinstance(default, bool | str):
        return written.lower() == str(default).lower()
    if isinstance(default, int | float):
        return default in (parsed(duration_s, written), parsed(size_bytes, written))
    listed = yaml.safe_load(written)
    return bool(default == listed or default == [str(one) for one in listed])


def parsed(parse: Any, text: str) -> object:
    try:
        return parse(text)
    except ValueError:
        return None


@pytest.mark.parametrize(("key", "place"), [("gates", "gates.NAME"), ("slos", "slos[]"), ("auth.tokens", "")])
def test_every_key_of_a_list_or_a_named_section_is_documented(key: str, place: str) -> None:
    text = page("docs/configuration.md")
    for name in inner_keys(key):
        assert (f"`{place}.{name}`" if place else name) in text, f"docs/configuration.md lacks {place or key}.{name}"


def inner_keys(key: str) -> list[str]:
    model: Any = Config
    for part in key.split("."):
        annotation = model.model_fields[part].annotation
        model = next((one for one in (annotation, *getattr(annotation, "__args__", ())) if is_model(one)), None)
    return [field.alias or name for name, field in model.model_fields.items()]


def is_model(one: object) -> bool:
    return isinstance(one, type) and issubclass(one, BaseModel)


def test_no_key_is_documented_that_does_not_exist() -> None:
    known = {".".join(map(str, path)) for path in env_names().values()} | {"listen.tls"}
    sections = {key.split(".")[0] for key in known}
    named = {key for key in rows(page("docs/configuration.md")) if key.split(".")[0] in sections and " " not in key}
    assert {key for key in named - known if not key.startswith("gates.NAME.") and "[]" not in key} == set()


def test_every_section_is_acted_upon() -> None:
    used = {
        node.attr
        for path in files("collector")
        if not str(path).startswith("collector/config/")
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Attribute)
    }
    assert set(Config.model_fields) - used == set()


# --- commands and exit codes ----------------------------------------------------------------------------------------


def commands() -> dict[str, Any]:
    group: Any = get_command(app)
    return dict(group.commands)


def test_every_command_is_documented() -> None:
    text = page("docs/commands.md")
    assert [name for name in commands() if f"`passhat {name}" not in text] == []


def test_every_command_of_a_group_is_documented() -> None:
    rows_of = {name: " ".join(cells) for name, cells in rows(page("docs/commands.md")).items()}
    for name, command in commands().items():
        for inner in getattr(command, "commands", {}):
            row = next((f"{key} {row}" for key, row in rows_of.items() if key.startswith(f"passhat {name}")), "")
            assert inner in row, f"docs/commands.md: passhat {name} {inner}"


def test_every_call_of_the_api_is_documented() -> None:
    from collector.serve.app import web_app

    named = page("docs/api.md") + page("docs/sql-endpoint.md")
    none = cast(Any, object())  # nothing is asked of it
    paths = web_app(none, dict, Config(), Metrics(), none).openapi()["paths"]
    lacking = [path for path in paths if path.replace("{run_id}", "") not in named.replace("{run_id}", "")]
    assert lacking == [], "docs/api.md"


def test_no_command_is_documented_that_does_not_exist() -> None:
    named = set(re.findall(r"`passhat ([a-z]+)", everything())) | set(re.findall(r"^passhat ([a-z]+)", shell(), re.M))
    assert named - set(commands()) == set()


def shell() -> str:
    return "\n".join(param.values[0] for param in blocks("sh"))


def test_every_exit_code_is_documented() -> None:
    codes = set(re.findall(r"^\| (\d+) \|", page("docs/commands.md"), re.M))
    raised = {str(error.exit_code) for error in vars(errors).values() if is_operator_error(error)}
    assert codes == raised | {"0", "1", "130"}


def is_operator_error(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, errors.OperatorError)


@pytest.mark.parametrize("text", blocks("sh"))
def test_shell_blocks_name_commands_flags_and_targets_that_exist(text: str) -> None:
    joined = text.replace("\\\n", " ")
    lines = [line for line in joined.splitlines() if line and not line.startswith("#")]
    assert lines
    for line in lines:
        words = line.split()
        if words[0] == "passhat":
            parameters = commands()[words[1]].params
            known = {option for parameter in parameters for option in (*parameter.opts, *parameter.secondary_opts)}
            assert {word.split("=")[0] for word in words if word.startswith("--")} - known == set()
        elif words[0] == "make":
            assert re.search(rf"^{re.escape(words[1])}:", page("Makefile"), re.M), words[1]
        else:
            assert words[0] in ("export", "source", "curl", "git", "cd", "cp", "docker", "pip", "printf"), line


# --- code blocks, links, figures ------------------------------------------------------------------------------------


def whole_files() -> list[Any]:
    """YAML blocks that are a `passhat.yaml`; others show a part, or a file of another kind."""
    return [one for one in blocks("yaml") if one.values[0].startswith("# passhat.yaml")]


@pytest.mark.parametrize("text", whole_files())
def test_configuration_blocks_load(text: str, tmp_path: Path) -> None:
    file = tmp_path / "passhat.yaml"
    file.write_text(text)
    load(file, {"CH_PASSWORD": "x"})


@pytest.mark.parametrize("text", blocks("python"))
def test_python_blocks_compile(text: str) -> None:
    compile(text, "block", "exec")


@pytest.mark.parametrize("text", blocks("json"))
def test_json_blocks_parse(text: str) -> None:
    json.loads(text)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_inside_the_repository_lead_somewhere(path: Path) -> None:
    links = [link for link in _LINK.findall(path.read_text()) if "://" not in link and not link.startswith("mailto:")]
    assert [link for link in links if not (path.parent / link).exists()] == []


def test_the_readme_leads_to_every_page() -> None:
    linked = {(ROOT / link).resolve() for link in _LINK.findall(page("README.md"))}
    assert [path.name for path in PAGES if path.parent == ROOT / "docs" and path.resolve() not in linked] == []


def test_the_matrix_of_the_readme_is_what_the_formulas_give() -> None:
    table = re.findall(r"^\| [\w-]+ \| ([■□]{5}) \| (\d) \| ([\d.]+) \| ([\d.]+) \|$", page("README.md"), re.M)
    assert len(table) == 8
    for marks, c, at, hat in table:
        passed = marks.count("■")
        assert passed == int(c)
        assert isclose(float(at), 1 - comb(5 - passed, 3) / comb(5, 3), abs_tol=1e-9)
        assert isclose(float(hat), comb(passed, 3) / comb(5, 3), abs_tol=1e-9)
    counts = [int(c) for _, c, _, _ in table]
    means = {k: (mean_at(counts, k), mean_hat(counts, k)) for k in (1, 3, 5)}
    for k in means:
        assert f"{means[k][0]:.4f}" in page("README.md")
        assert f"{means[k][1]:.4f}" in page("README.md")
    assert counts == sorted(counts, reverse=True)
    assert all(a >= b for a, b in pairwise(hat for _, hat in means.values()))


def mean_at(counts: list[int], k: int) -> float:
    return sum(1 - comb(5 - c, k) / comb(5, k) for c in counts) / len(counts)


def mean_hat(counts: list[int], k: int) -> float:
    return sum(comb(c, k) / comb(5, k) for c in counts) / len(counts)


# --- what passhat tells ---------------------------------------------------------------------------------------------


def test_every_metric_is_documented_with_its_labels_and_no_other() -> None:
    documented = {
        name: cells[1] for name, cells in rows(page("docs/metrics.md")).items() if name.startswith("passhat_")
    }
    collectors = Metrics().registry._collector_to_names
    real = {
        getattr(metric, "_name", ""): ", ".join(
            getattr(metric, "_labelnames", ())
        )  # prometheus_client has no public way
        for metric in collectors
    }
    assert documented == real


def test_every_reason_of_a_refusal_is_documented() -> None:
    reasons = {getattr(error, "reason", None) for error in vars(errors).values() if isinstance(error, type)} - {
        None,
        "unavailable",
    }
    assert [reason for reason in reasons if f"`{reason}`" not in page("docs/metrics.md")] == []


def test_every_view_is_documented() -> None:
    text = everything()
    names = [path.stem for path in sorted((ROOT / "queries" / "views").glob("*.sql"))]
    assert names
    assert [name for name in names if f"`{name}" not in text] == []


def test_the_sql_page_says_what_the_sql_files_say() -> None:
    assert page("docs/sql.md") == sql_page.page(), "write it again: python -m tests.house.sql_page"


def test_known_cases_are_shown_by_tests_that_exist() -> None:
    told = re.findall(r"(tests/[\w/]+\.py)((?:,? `\w+`)*)", (ROOT / "docs" / "known-cases.md").read_text())
    assert len(told) > 30
    for path, names in told:
        text = (ROOT / path).read_text()
        assert [name for name in re.findall(r"`(\w+)`", names) if f"def {name}(" not in text] == [], path


def test_pages_that_the_source_mentions_exist() -> None:
    mentioned = {
        name
        for path in files("collector", "graders", "semconv", "bench")
        for name in re.findall(r"docs/[\w-]+\.md", (ROOT / path).read_text())
    }
    assert [name for name in sorted(mentioned) if not (ROOT / name).is_file()] == []


@pytest.mark.parametrize("text", blocks("sql"))
def test_sql_blocks_run(text: str, tmp_path: Path) -> None:
    store = Store.open(load(env={}, overrides={"data": tmp_path}).store, tmp_path)
    try:
        assert store.query(text).rows == []
    finally:
        store.close()
