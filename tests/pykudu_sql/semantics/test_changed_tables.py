"""Which table an UPDATE, DELETE or MERGE changes, where several have its name."""

from collections.abc import Iterator

import pytest

import pykudu_sql

TABLES = {"default.t": 1, "db.t": 2, "db.u": 3}
AMBIGUOUS = "'t' is ambiguous: .* have the name"
HIDDEN = "a WITH query has the name of the table to be changed, 't'"


@pytest.fixture
def connection() -> Iterator[pykudu_sql.Connection]:
    with pykudu_sql.connect(":memory:", autocommit=True) as opened:
        opened.execute("CREATE DATABASE db")
        for name, v in TABLES.items():
            opened.execute(f"CREATE TABLE {name} (k INT PRIMARY KEY, v INT)")
            opened.execute(f"INSERT INTO {name} VALUES (1, {v}), (2, {v}), ({v} + 2, {v})")
        yield opened


def values(connection: pykudu_sql.Connection) -> dict[str, list[int]]:
    return {
        name: [v for (v,) in connection.execute(f"SELECT v FROM {name} ORDER BY k").fetchall()]
        for name in TABLES
    }


BEFORE = {"default.t": [1, 1, 1], "db.t": [2, 2, 2], "db.u": [3, 3, 3]}


@pytest.mark.parametrize(
    ("statement", "changed", "left"),
    [
        ("UPDATE t SET v = 9 FROM db.u t WHERE t.k = 1", "db.u", [9, 3, 3]),
        ("UPDATE x SET v = 9 FROM db.t x JOIN t ON x.k = t.k", "db.t", [9, 9, 2]),
        ("UPDATE t SET v = 9 FROM t JOIN db.u ON t.k = u.k", "default.t", [9, 9, 1]),
        ("UPDATE u SET v = 9 FROM db.u JOIN t ON t.k = u.k", "db.u", [9, 9, 3]),
        ("UPDATE db.t SET v = 9 FROM db.t WHERE k = 1", "db.t", [9, 2, 2]),
        ("UPDATE db.t SET v = 9 FROM t AS x WHERE t.k = x.k", "db.t", [9, 9, 2]),
        ("UPDATE t SET v = 9 FROM (SELECT k FROM t WHERE k > 1) s WHERE t.k = s.k", "default.t",
         [1, 9, 9]),
        ("DELETE FROM t USING (SELECT k FROM db.t) s WHERE t.k = s.k", "default.t", [1]),
        ("UPDATE t SET t.v = u.v FROM db.u WHERE t.k = u.k", "default.t", [3, 3, 1]),
        ("INSERT INTO db.t VALUES (1, 9) ON CONFLICT (k) DO UPDATE SET T.V = excluded.v", "db.t",
         [9, 2, 2]),
        ("MERGE INTO t AS x USING db.u ON x.k = u.k WHEN MATCHED THEN UPDATE SET x.v = u.v",
         "default.t", [3, 3, 1]),
        ("DELETE FROM db.t USING t AS x WHERE t.k = x.k", "db.t", [2]),
        ("DELETE t FROM t, db.u WHERE t.k = u.k", "default.t", [1]),
        ("UPDATE db.t SET v = default.t.v FROM default.t WHERE db.t.k = default.t.k", "db.t",
         [1, 1, 2]),
        ("UPDATE t SET v = 9 FROM db.t WHERE db.t.k = default.t.k", "default.t", [9, 9, 1]),
        ("UPDATE t SET v = 9 FROM db.t WHERE db.t.k = 3", "default.t", [1, 1, 1]),
        ("DELETE FROM db.t USING default.t WHERE db.t.k = default.t.k", "db.t", [2]),
        ("MERGE INTO t USING db.t ON default.t.k = db.t.k WHEN MATCHED THEN UPDATE SET v = db.t.v"
         " WHEN NOT MATCHED BY SOURCE THEN DELETE", "default.t", [2, 2]),
        ("MERGE INTO db.t USING t ON default.t.k = db.t.k WHEN MATCHED THEN UPDATE SET *", "db.t",
         [1, 1, 2]),
        ("WITH s AS (SELECT 1 AS k) DELETE FROM db.t USING s WHERE t.k = s.k", "db.t", [2, 2]),
    ],
)  # fmt: skip
def test_a_statement_changes_the_table_it_names_and_no_other(
    connection: pykudu_sql.Connection, statement: str, changed: str, left: list[int]
) -> None:
    connection.execute(statement)
    assert values(connection) == {**BEFORE, changed: left}


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE db.t SET v = 9 FROM default.t WHERE t.k = 1", AMBIGUOUS),
        ("UPDATE t SET v = t.v FROM db.t", AMBIGUOUS),
        ("UPDATE t SET v = 9 FROM (SELECT 1 AS k) AS t", "'t' is given twice"),
        ("DELETE FROM t USING db.t WHERE t.k = 1", AMBIGUOUS),
        ("MERGE INTO t USING db.t ON default.t.k = t.k WHEN MATCHED THEN DELETE", AMBIGUOUS),
        ("WITH t AS (SELECT 1 AS k) UPDATE t SET v = 9", HIDDEN),
        ("WITH t AS (SELECT 1 AS k) DELETE FROM t USING db.u WHERE t.k = u.k", HIDDEN),
        ("WITH t AS (SELECT 1 AS k) MERGE INTO t USING db.u ON t.k = u.k"
         " WHEN NOT MATCHED BY SOURCE THEN DELETE", HIDDEN),
        ("UPDATE t SET u.v = 9 FROM db.u WHERE u.k = t.k", "SET changes columns of 't'"),
        ("INSERT INTO t VALUES (1, 1) ON CONFLICT (k) DO UPDATE SET excluded.v = 9",
         "SET changes columns of 't'"),
        ("MERGE INTO t USING db.u ON t.k = u.k WHEN MATCHED THEN UPDATE SET u.v = 9",
         "SET changes columns of 't'"),
    ],
)  # fmt: skip
def test_a_statement_is_refused_whose_table_could_be_another(
    connection: pykudu_sql.Connection, statement: str, said: str
) -> None:
    with pytest.raises(pykudu_sql.Error, match=said):
        connection.execute(statement)
    assert values(connection) == BEFORE
