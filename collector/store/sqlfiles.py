"""The SQL of queries/: found in a checkout or an installed wheel, parsed as far as running it needs."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from msgspec import Struct

_CREATES = re.compile(
    r"^CREATE\s+(?:OR\s+REPLACE\s+)?(TABLE|VIEW|MATERIALIZED\s+VIEW|FUNCTION)"
    r"\s+(?:IF\s+NOT\s+EXISTS\s+)?(\w+)",
    re.IGNORECASE | re.MULTILINE,
)


class SqlFile(Struct, frozen=True):
    """One object a file: a header of comments, then one statement."""

    name: str  # path below queries/
    text: str

    @property
    def header(self) -> str:
        """The leading comment, without its dashes."""
        lines = self.text.splitlines()
        end = next((i for i, line in enumerate(lines) if not line.startswith("--")), len(lines))
        return "\n".join(line.removeprefix("--").strip() for line in lines[:end])

    @property
    def statement(self) -> str:
        """The statement without its comments."""
        return (
            "\n".join(line for line in self.text.splitlines() if not line.lstrip().startswith("--")).strip().rstrip(";")
        )

    @property
    def kind(self) -> str:
        """TABLE, VIEW, MATERIALIZED VIEW or FUNCTION; '' when the statement creates nothing."""
        found = _CREATES.search(self.statement)
        return " ".join(found[1].upper().split()) if found else ""

    @property
    def object(self) -> str:
        """The name of what it creates."""
        found = _CREATES.search(self.statement)
        return found[2] if found else ""

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()[:32]


def queries_root() -> Traversable:
    """`collector/_queries` of an installed wheel, else `queries/` of the checkout."""
    packaged = files("collector") / "_queries"
    return packaged if packaged.is_dir() else Path(__file__).parents[2] / "queries"


def schema_files() -> list[SqlFile]:
    """The numbered migrations, in order."""
    return sorted(_read("schema"), key=lambda file: file.name)


def view_files() -> list[SqlFile]:
    """Views and functions, each after those it mentions."""
    by_object = {file.object: file for file in sorted(_read("views"), key=lambda file: file.name)}
    placed: dict[str, SqlFile] = {}

    def place(file: SqlFile) -> None:
        for word in re.findall(r"\w+", file.statement):
            if word in by_object and word not in placed and word != file.object:
                place(by_object[word])
        placed[file.object] = file

    for file in by_object.values():
        if file.object not in placed:
            place(file)
    return list(placed.values())


@cache
def statement(name: str) -> str:
    """The statement of `queries/<name>.sql`, without its comments."""
    return SqlFile(name, (queries_root() / f"{name}.sql").read_text("utf-8")).statement


def _read(folder: str) -> list[SqlFile]:
    found = (queries_root() / folder).iterdir()
    return [SqlFile(f"{folder}/{path.name}", path.read_text("utf-8")) for path in found if path.name.endswith(".sql")]
