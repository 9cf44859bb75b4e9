"""What one scan of a join tells another: rows that cannot matter are not read, none is lost."""

import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

import pykudu_sql
from pykudu_sql import Connection
from pykudu_sql.executor.reading import join_scans

ROWS = 20_000


@pytest.fixture(scope="module")
def connection() -> Iterator[Connection]:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE big (id BIGINT PRIMARY KEY, other INT, word STRING) "
            "PARTITION BY HASH (id) PARTITIONS 4"
        )
        numbers = range(ROWS)
        connection.append(
            "big",
            pa.table(
                {
                    "id": pa.array(numbers, pa.int64()),
                    "other": pa.array([n % 100 if n % 7 else None for n in numbers], pa.int32()),
                    "word": [f"w{n % 50}" for n in numbers],
                }
            ),
        )
        connection.execute("FLUSH TABLE big")
        connection.execute("CREATE TABLE few (k INT PRIMARY KEY, big_id BIGINT, word STRING)")
        connection.execute(
            "INSERT INTO few VALUES (1, 5, 'w5'), (2, 700, 'x'), (3, NULL, NULL), "
            "(4, 99999999, 'w1'), (5, 5, 'w2')"
        )
        yield connection


def scans(connection: Connection, sql: str) -> dict[str, dict[str, Any]]:
    ((text,),) = connection.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}").fetchall()
    return {scan["table"]: scan for scan in json.loads(text)["scans"]}


def both_ways(connection: Connection, sql: str) -> None:
    """The same answer where no equality can be read off the tree."""
    hidden = sql.replace("big.id", "(big.id + 0)")
    assert sorted(connection.execute(sql).fetchall(), key=repr) == sorted(
        connection.execute(hidden).fetchall(), key=repr
    )


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT k, id FROM few, big WHERE big_id = big.id",
        "SELECT k, id FROM few JOIN big ON big_id = big.id",
        "SELECT k, id FROM big JOIN few ON big.id = big_id",
        "SELECT k, id FROM few LEFT JOIN big ON big_id = big.id",
        "SELECT k, id FROM big RIGHT JOIN few ON big_id = big.id",
        "SELECT k FROM few WHERE EXISTS (SELECT 1 FROM big WHERE big.id = big_id AND other > 3)",
        "SELECT k FROM few WHERE NOT EXISTS (SELECT 1 FROM big WHERE big.id = big_id)",
        "SELECT k, (SELECT count(*) FROM big WHERE big.id = big_id) FROM few",
        "SELECT id FROM big WHERE big.id IN (SELECT big_id FROM few)",
        "SELECT k FROM few, big WHERE (big.id = big_id AND k = 1) OR (k > 1 AND big.id = big_id)",
        "SELECT k FROM few SEMI JOIN big ON big.id = big_id",
        "SELECT k FROM few ANTI JOIN big ON big.id = big_id",
    ],
)
def test_the_inner_side_of_a_join_is_looked_up_by_few_keys(
    connection: Connection, sql: str
) -> None:
    assert scans(connection, sql)["big"]["rows"] < 10
    assert scans(connection, sql)["big"]["narrowed_by"] == ["few"]
    both_ways(connection, sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*), count(k) FROM big LEFT JOIN few ON big_id = big.id",
        "SELECT count(*), count(k) FROM few FULL JOIN big ON big_id = big.id",
        "SELECT count(*) FROM big ANTI JOIN few ON big_id = big.id",
        "SELECT count(*) FROM big WHERE big.id NOT IN (SELECT big_id FROM few WHERE k < 3)",
        "SELECT count(*) FROM big, few WHERE big.id = big_id OR k = 1",
        "SELECT count(*) FROM big WHERE NOT (big.id IN (SELECT big_id FROM few WHERE k < 3))",
        "SELECT count(*) FROM few f, few g, big a, big "
        "WHERE f.big_id = big.id AND f.k = 1 AND g.big_id = a.id",
    ],
)
def test_a_side_that_must_be_kept_is_read_whole(connection: Connection, sql: str) -> None:
    assert scans(connection, sql)["big"]["rows"] > ROWS / 8
    both_ways(connection, sql)


def test_what_a_filtered_table_says_goes_through_a_chain_of_joins(connection: Connection) -> None:
    sql = "SELECT count(*) FROM few, big WHERE few.k = 1 AND few.word = big.word AND big.other = 55"
    assert scans(connection, sql)["big"]["rows"] < ROWS / 50
    assert (
        connection.execute(sql).fetchall()
        == connection.execute(
            "SELECT count(*) FROM big WHERE word = 'w5' AND other = 55"
        ).fetchall()
    )


def test_keys_that_the_other_column_cannot_hold_meet_no_row(connection: Connection) -> None:
    sql = "SELECT f.k, g.k FROM few f JOIN few g ON g.k = f.big_id ORDER BY 1"
    assert connection.execute(sql).fetchall() == [(1, 5), (5, 5)]


def test_a_mention_that_nothing_narrows_leaves_another_its_own_scan(
    connection: Connection,
) -> None:
    sql = (
        "SELECT count(*) FROM few, big AS a WHERE few.big_id = a.id AND few.k < 3 "
        "AND NOT EXISTS (SELECT id, other FROM big AS b WHERE b.other = a.other AND b.id < a.id)"
    )
    ((text,),) = connection.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}").fetchall()
    rows = sorted(s["rows"] for s in json.loads(text)["scans"] if s["table"] == "big")
    assert rows[0] <= 2 < rows[1]
    unaided = sql.replace("few.big_id = a.id", "few.big_id = a.id + 0")
    assert connection.execute(sql).fetchall() == connection.execute(unaided).fetchall()


def test_a_narrowed_scan_tells_the_next_by_its_share_of_the_table(connection: Connection) -> None:
    for name, count in (("first", 50), ("middle", 5000)):
        connection.execute(f"CREATE TABLE {name} (m BIGINT PRIMARY KEY, w STRING)")
        words = [f"w{n % 50}" for n in range(count)]
        connection.append(name, pa.table({"m": range(count), "w": words}))
    found = scans(
        connection,
        "SELECT count(*) FROM first, middle, big "
        "WHERE first.w = middle.w AND first.m = 7 AND middle.m = big.other",
    )
    assert found["big"]["rows"] < ROWS


def test_a_row_of_a_small_table_narrows_scans_through_tables_as_small(
    connection: Connection,
) -> None:
    connection.execute("CREATE TABLE continent (c INT PRIMARY KEY, name STRING)")
    connection.execute("INSERT INTO continent SELECT range, 'c' || range FROM range(5)")
    connection.execute("CREATE TABLE country (n INT PRIMARY KEY, c INT)")
    connection.execute("INSERT INTO country SELECT range, range % 5 FROM range(100)")
    sql = (
        "SELECT count(*), sum(big.id) FROM big, country, continent WHERE big.other = country.n "
        "AND country.c = continent.c AND continent.name = 'c3' AND big.id >= 0"
    )
    read = scans(connection, sql)
    assert [read[name]["rows"] for name in ("continent", "country")] == [1, 20]
    assert read["country"]["narrowed_by"] == ["continent"]
    assert read["big"]["narrowed_by"] == ["country"]
    assert read["big"]["rows"] == connection.execute(sql).fetchall()[0][0] < ROWS / 4
    unaided = sql.replace("country.c =", "country.c + 0 =")
    assert connection.execute(sql).fetchall() == connection.execute(unaided).fetchall()


def test_more_values_than_a_list_takes_are_told_as_a_set(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection.execute("CREATE TABLE twin (id BIGINT PRIMARY KEY, other INT)")
    connection.execute("INSERT INTO twin SELECT id, other FROM big")
    sql = (
        "SELECT count(*), sum(big.id) FROM twin JOIN big ON twin.id = big.id WHERE twin.other < 27"
    )
    assert "narrowed_by" not in scans(connection, sql)["big"]
    monkeypatch.setattr(join_scans, "LEAST_LOOKED_UP", 0)
    told = scans(connection, sql)
    assert told["big"]["narrowed_by"] == ["twin"]
    assert told["big"]["rows"] == told["twin"]["rows"] > join_scans.MAX_VALUES
    both_ways(connection, sql)

    connection.execute("UPDATE big SET other = other + 1 WHERE id % 3 = 0")
    both_ways(connection, sql)


SELF_JOIN = (
    "SELECT count(*) FROM few, big WHERE big.id = big_id "
    "AND EXISTS (SELECT * FROM big m WHERE m.id = big.id AND m.other >= big.other) "
    "AND NOT EXISTS (SELECT * FROM big n WHERE n.id = big.id AND n.word <> big.word "
    "AND n.other {condition})"
)


def scans_of_big(connection: Connection, monkeypatch: pytest.MonkeyPatch, sql: str) -> int:
    """How often the table is read for a query whose answer is the same when all are read."""
    read: list[str] = []
    relation_of, covers = join_scans.relation_of, join_scans._covers

    def counted(state: Any, scan: Any, *arguments: Any) -> Any:
        read.append(scan.table.name)
        return relation_of(state, scan, *arguments)

    monkeypatch.setattr(join_scans, "relation_of", counted)
    monkeypatch.setattr(join_scans, "_covers", lambda *scans: False)
    each = connection.execute(sql).fetchall()
    assert read.count("big") == 3
    read.clear()
    monkeypatch.setattr(join_scans, "_covers", covers)
    assert connection.execute(sql).fetchall() == each
    return read.count("big")


def test_scans_that_are_left_with_one_predicate_are_read_once(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    sql = SELF_JOIN.format(condition="< 9 + big.other")
    assert scans_of_big(connection, monkeypatch, sql) == 2
    assert "returned" in str(connection.execute(f"EXPLAIN ANALYZE {sql}").fetchall())


def test_scans_with_predicates_of_their_own_are_read_each(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert scans_of_big(connection, monkeypatch, SELF_JOIN.format(condition="> 90")) == 3


@pytest.mark.parametrize("kind", ["SMALLINT", "INT", "BIGINT"])
def test_the_key_of_the_inner_side_is_one_of_few_integers(kind: str) -> None:
    groups, size = 9_000, 3
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute(f"CREATE TABLE big (k {kind}, n INT, v INT, PRIMARY KEY (k, n))")
        connection.execute(
            f"INSERT INTO big SELECT g - 4000, n, g FROM range({groups}) a(g), range({size}) b(n)"
        )
        connection.execute("FLUSH TABLE big")
        connection.execute("CREATE TABLE few (id INT PRIMARY KEY, k BIGINT)")
        connection.execute("INSERT INTO few SELECT i, i * 31 - 5000 FROM range(400) r(i)")
        connection.execute("CREATE SNAPSHOT before")
        connection.execute("DELETE FROM big WHERE n = 1 AND k % 2 = 0")
        connection.execute("UPDATE big SET v = -1 WHERE n = 2")
        for moment in ("", " AS OF SNAPSHOT before"):
            sql = f"SELECT big.k, n, v FROM few JOIN big{moment} ON few.k = big.k WHERE v < 8000"
            scan = scans(connection, sql)["big"]
            assert scan["narrowed_by"] == ["few"]
            assert scan["rows"] < 1_000
            rows = connection.execute(sql).fetchall()
            hidden = sql.replace("few.k = big.k", "few.k = big.k + 0")
            assert sorted(rows) == sorted(connection.execute(hidden).fetchall())
            assert len(rows) > 500
