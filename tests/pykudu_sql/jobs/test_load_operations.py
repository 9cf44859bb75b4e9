"""Loads that change rows, and rules of the table that leave rows out."""

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pykudu_sql.jobs.load import LoadOptions, load
from pykudu_sql.storage.errors import DataError
from tests.pykudu_sql.jobs.job_tables import (
    PLAIN_TABLE,
    Rows,
    content,
    read_rejects,
    run,
    write_texts,
)

LOCAL = LoadOptions(engine="local")
CHECKED_TABLE = "CREATE TABLE t (id BIGINT PRIMARY KEY, i INT CHECK (i > 0))"


@pytest.fixture
def table(path: str) -> str:
    run(path, PLAIN_TABLE, "INSERT INTO t (id, v, i) VALUES (1, 'a', 1), (2, 'b', 2), (3, 'c', 3)")
    return path


@pytest.mark.parametrize(
    ("text", "operation", "expected"),
    [
        ('{"id":1,"i":10}\n{"I":5,"id":2}', "upsert", [(1, "a", 10), (2, "b", 5), (3, "c", 3)]),
        ('{"id":1,"i":10}\n{"id":2}\n', "update", [(1, "a", 10), (2, "b", None), (3, "c", 3)]),
        ('{"id":1}\n{"id":2}\n', "delete", [(3, "c", 3)]),
        ('[{"id":1},{"id":3}]', "delete", [(2, "b", 2)]),
    ],
)
def test_objects_leave_those_columns_alone_that_none_of_them_names(
    table: str, tmp_path: Path, text: str, operation: str, expected: Rows
) -> None:
    paths = write_texts(tmp_path, {"a.json": text})
    load(table, "t", paths, replace(LOCAL, operation=operation))
    assert content(table, "SELECT id, v, i FROM t ORDER BY id") == expected


@pytest.mark.parametrize("operation", ["insert", "upsert"])
def test_a_row_that_breaks_a_constraint_is_left_out_and_counted_as_such(
    path: str, tmp_path: Path, operation: str
) -> None:
    run(path, CHECKED_TABLE)
    aside, paths = tmp_path / "bad", write_texts(tmp_path, {"a.csv": "id,i\n1,1\n2,-1\n"})
    options = replace(LOCAL, operation=operation, rejects=str(aside))
    assert "1 that breaks a constraint" in load(path, "t", paths, options).text()
    (reject,) = read_rejects(aside)
    assert reject["line"] == 3 and "violates CHECK constraint" in reject["reason"]
    assert content(path) == [(1, 1)]


def test_a_value_too_large_for_a_cell_is_a_reject(table: str, tmp_path: Path) -> None:
    aside = tmp_path / "bad"
    paths = write_texts(tmp_path, {"a.csv": f"id,v\n8,{'x' * 70_000}\n9,z\n"})
    assert load(table, "t", paths, replace(LOCAL, rejects=str(aside))).rejected == 1
    assert "value too large for column 'v'" in read_rejects(aside)[0]["reason"]
    assert content(table, "SELECT v FROM t WHERE id > 3") == [("z",)]


def test_a_decimal_that_rounding_would_make_longer_is_a_reject(path: str, tmp_path: Path) -> None:
    run(path, "CREATE TABLE t (id BIGINT PRIMARY KEY, d DECIMAL(5,2))")
    values = pa.array([Decimal("999.999"), Decimal("1.500")], pa.decimal128(6, 3))
    pq.write_table(pa.table({"id": [1, 2], "d": values}), tmp_path / "a.parquet")
    aside = tmp_path / "bad"
    options = replace(LOCAL, rejects=str(aside))
    assert load(path, "t", [str(tmp_path / "a.parquet")], options).rejected == 1
    assert "999.999 has more digits" in read_rejects(aside)[0]["reason"]


def test_an_error_names_the_first_rows_of_the_files_whatever_is_wrong_with_them(
    path: str, tmp_path: Path
) -> None:
    run(path, CHECKED_TABLE)
    lines = [f"{number},{'x' if number % 2 else -1}" for number in range(20)]
    paths = write_texts(tmp_path, {"a.csv": "\n".join(["id,i", *lines])})
    with pytest.raises(DataError, match=r"^20 rows do not fit") as caught:
        load(path, "t", paths, LOCAL)
    shown = [line.partition(":")[0][-6:] for line in caught.value.message.splitlines()[1:6]]
    assert shown == ["line 2", "line 3", "line 4", "line 5", "line 6"]
