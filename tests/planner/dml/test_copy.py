"""COPY: what it reads and writes, and its options."""

import pytest

import pykudu_sql
from pykudu_sql import Connection
from pykudu_sql.planner.dml.copy import plan_copy
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.copy_plans import CopyFrom, CopyTo
from pykudu_sql.planner.plan.table_copy import CopyTable
from pykudu_sql.storage.errors import Error, SyntaxError


@pytest.fixture
def connection() -> Connection:
    opened = pykudu_sql.connect(autocommit=True)
    opened.execute("CREATE TABLE t (k INT PRIMARY KEY, word STRING)")
    opened.execute("CREATE VIEW v AS SELECT k FROM t")
    return opened


def planned(connection: Connection, sql: str) -> CopyFrom | CopyTo | CopyTable:
    return plan_copy(
        TokenStream(sql),
        connection._session._planner.context(connection._session._state.visible_catalog),
    )


def test_rows_come_from_a_file_into_the_columns_that_are_named(connection: Connection) -> None:
    plan = planned(
        connection,
        "copy t (word, K) from 'it''s.csv' with (format CSV, header false, delimiter '\\t', "
        "null 'NA', quote '''', compression 'gzip')",
    )
    assert isinstance(plan, CopyFrom) and plan.columns is not None
    assert [column.name for column in plan.columns] == ["word", "k"]
    assert plan.source == "it's.csv"
    assert plan.options == {
        "format": "csv", "header": False, "delimiter": "\t", "null": "NA", "quote": "'",
        "compression": "gzip",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("t (word)", ["word"]),
        ("v", ["k"]),
        ("sys.tables", None),
        ("(SELECT k + 1 AS n FROM t WHERE word = ')')", ["n"]),
        ("((VALUES (1, 2)))", None),
    ],
)
def test_rows_of_a_table_a_view_or_a_query_go_to_a_file(
    connection: Connection, source: str, names: list[str] | None
) -> None:
    plan = planned(connection, f"COPY {source} TO 'x.csv' (HEADER)")
    assert isinstance(plan, CopyTo) and plan.options == {"header": True}
    assert names is None or list(plan.query.names) == names


def test_a_whole_table_goes_to_a_file_without_a_query(connection: Connection) -> None:
    plan = planned(connection, "COPY t TO 'x.csv' (HEADER)")
    assert isinstance(plan, CopyTable) and plan.table.name == "t"
    assert plan.target == "x.csv" and plan.options == {"header": True}
    general = plan.general()
    assert general == CopyTo(general.query, plan.target, plan.options)
    assert general.query.names == ("k", "word")


def test_a_table_at_a_past_moment_and_a_frame_are_queried(connection: Connection) -> None:
    connection.register("f", [{"a": 1}])
    assert isinstance(planned(connection, "COPY f TO 'x.csv'"), CopyTo)
    connection.execute("SET as_of = now()")
    assert isinstance(planned(connection, "COPY t TO 'x.csv'"), CopyTo)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("COPY none FROM 'x'", r"none[\s\S]*\^"),
        ("COPY none TO 'x'", r"none[\s\S]*COPY none TO 'x'\n +\^"),
        ("COPY t (zz) FROM 'x'", r"zz[\s\S]*COPY t \(zz\)[\s\S]*\^"),
        ("COPY t (zz) TO 'x'", "zz"),
        ("COPY t (k, k) FROM 'x'", "twice"),
        ("COPY sys.tables FROM 'x'", "sys"),
        ("COPY v FROM 'x'", "view"),
        ("COPY t INTO 'x'", 'near "INTO"'),
        ("COPY t FROM x", "single quotes"),
        ("COPY t FROM 'x' WITH CSV HEADER", "options stand in parentheses"),
        ("COPY t TO 'x' DELIMITER ','", "options stand in parentheses"),
        ("COPY t FROM 'x' CSV", "options stand in parentheses"),
        ("COPY t FROM 'x' (HEADERS)", "did you mean 'header'"),
        ("COPY t FROM 'x' (HEADER maybe)", "true or false"),
        ("COPY t FROM 'x' (HEADER, HEADER)", "twice"),
        ("COPY t FROM 'x' (DELIMITER 'ab')", "one character"),
        ("COPY t FROM 'x' (QUOTE 'a')", "one character"),
        ("COPY t FROM 'x' (NULL '\"')", "without quotes"),
        ("COPY t FROM 'x' (HEADER) more", "more"),
        ("COPY (SELECT k FROM t TO 'x'", "syntax error"),
        ("COPY (SELECT zz FROM t) TO 'x'", r"zz[\s\S]*COPY \(SELECT zz[\s\S]*\^"),
        ("COPY (DELETE FROM t) TO 'x'", "COPY"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(
    connection: Connection, sql: str, message: str
) -> None:
    with pytest.raises(Error, match=message):
        connection.execute(sql)


def test_the_past_is_not_written_but_read(connection: Connection) -> None:
    moment = connection.snapshot_timestamp()
    connection.execute(f"SET as_of = {moment}")
    assert isinstance(planned(connection, "COPY t TO 'x'"), CopyTo)
    with pytest.raises(Error, match="past moment"):
        planned(connection, "COPY t FROM 'x'")


def test_it_is_explained(connection: Connection) -> None:
    lines = connection.execute("EXPLAIN COPY t (k) FROM 'x.csv'").fetchall()
    assert lines == [("COPY t FROM 'x.csv'",), ("  columns: k",)]
    first, *others = connection.execute("EXPLAIN COPY t TO 'x.csv'").fetchall()
    assert first == ("COPY TO 'x.csv'",) and any("SCAN t" in line for (line,) in others)


def test_parameters_are_those_of_the_query(connection: Connection) -> None:
    assert planned(connection, "COPY (SELECT k FROM t WHERE k = ?) TO 'x'").parameters == (0,)
    with pytest.raises(SyntaxError):
        planned(connection, "COPY t FROM ?")
