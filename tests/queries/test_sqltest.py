"""Every `.sqltest` beside this file, in process and over HTTP."""

from __future__ import annotations

from pathlib import Path

import pytest

from collector.store.store import Store
from tests.queries import sqltest

HERE = Path(__file__).parent
CASES = [(path.stem, case) for path in sorted(HERE.glob("*.sqltest")) for case in sqltest.cases_of(path)]


@pytest.mark.parametrize(("file", "case"), CASES, ids=[f"{file}: {case.name}" for file, case in CASES])
def test_sqltest(file: str, case: sqltest.Case, store: Store) -> None:
    sqltest.run(case, store)


def broken(store: Store, text: str, tmp_path: Path) -> str:
    path = tmp_path / "broken.sqltest"
    path.write_text(text)
    (case,) = sqltest.cases_of(path)
    with pytest.raises(AssertionError) as told:
        sqltest.run(case, store)
    return str(told.value)


LOADED = "case a\nload\n  run task result ended\n  r1 book pass 2026-03-01T10:05\n"


@pytest.mark.parametrize(
    "rows",
    ["  book 2 1", "  book 1 0.9", "  book 1 NULL", "  book 1 1/2", "", "  book 1 1\n  other 1 1", "  'book ' 1 1"],
)
def test_a_wrong_expectation_fails(store: Store, rows: str, tmp_path: Path) -> None:
    told = broken(store, f"{LOADED}eval task_reliability k=1\n  task_id n pass_hat_k\n{rows}\n", tmp_path)
    assert "line 5" in told


def test_the_right_expectation_holds(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "right.sqltest"
    path.write_text(f"{LOADED}eval task_reliability k=1\n  task_id n pass_hat_k pass_at_k\n  book 1 1.00 1/1\n")
    (case,) = sqltest.cases_of(path)
    sqltest.run(case, store)
