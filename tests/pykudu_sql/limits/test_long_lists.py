"""Lists of many literals mean what short ones mean, and stay fast."""

import datetime as dt
from collections.abc import Iterator

import pyarrow as pa
import pytest

import pykudu_sql
from pykudu_sql.planner.parse.long_list import LEAST_VALUES, extract_long_lists
from pykudu_sql.storage.errors import Error, StatementTooComplexError, SyntaxError

ROWS = 3000


@pytest.fixture(scope="module")
def cursor() -> Iterator[pykudu_sql.Cursor]:
    connection = pykudu_sql.connect(":memory:", autocommit=True)
    found = connection.cursor()
    found.execute(
        "create table t (id bigint primary key, a int, s string, day date, n decimal(9,2), "
        "f double, flag boolean)"
    )
    numbers = range(ROWS)
    rows = {
        "id": numbers,
        "a": [None if i % 7 == 0 else i for i in numbers],
        "s": [None if i % 5 == 0 else f"it's {i}" for i in numbers],
        "day": [dt.date(2020, 1, 1) + dt.timedelta(days=i) for i in numbers],
        "n": [f"{i}.50" if i % 2 else str(i) for i in numbers],
        "f": [float(i) for i in numbers],
        "flag": [i % 2 == 0 for i in numbers],
    }
    table = pa.table(rows).set_column(4, "n", pa.array(rows["n"]).cast(pa.decimal128(9, 2)))
    connection.append("t", table.set_column(1, "a", pa.array(rows["a"], pa.int32())))
    found.execute("flush table t")
    yield found
    connection.close()


def some(cursor: pykudu_sql.Cursor, condition: str) -> list[int]:
    return [row[0] for row in cursor.execute(f"select id from t where {condition} order by id")]


NUMBERS = ", ".join(str(i) for i in range(0, 3 * ROWS, 3))
WORDS = ", ".join(f"'it''s {i}'" for i in range(0, 3 * ROWS, 3))
DAYS = ", ".join(f"'{dt.date(2020, 1, 1) + dt.timedelta(days=i)}'" for i in range(0, 3 * ROWS, 3))
THIRDS = "id % 3 = 0"

MEANINGS = [
    (f"id in ({NUMBERS})", THIRDS),
    (f"id not in ({NUMBERS})", f"not ({THIRDS})"),
    (f"a in ({NUMBERS})", f"{THIRDS} and a is not null"),
    (f"a in ({NUMBERS}, null)", f"{THIRDS} and a is not null"),
    (f"a not in ({NUMBERS})", f"not ({THIRDS}) and a is not null"),
    (f"a not in (NULL, {NUMBERS})", "false"),
    (f"a in ({NUMBERS}) is null", "a is null"),
    (f"a in ({NUMBERS}, null) is null", f"a is null or not ({THIRDS})"),
    (f"(a in ({NUMBERS})) or id < 10", f"({THIRDS} and a is not null) or id < 10"),
    (f"s in ({WORDS})", f"{THIRDS} and s is not null"),
    (f"s not in ({WORDS})", f"not ({THIRDS}) and s is not null"),
    (f"day in ({DAYS})", THIRDS),
    (f"n in ({NUMBERS})", f"{THIRDS} and id % 2 = 0"),
    (f"f in ({NUMBERS})", THIRDS),
    (f"id + 0 in ({NUMBERS})", THIRDS),
    (f"upper(s) in ({WORDS.upper()})", f"{THIRDS} and s is not null"),
    (f"id in ({NUMBERS}) and s in ({WORDS})", f"{THIRDS} and s is not null"),
    (f"exists (select 1 from t u where u.id = t.id and u.a in ({NUMBERS}))",
     f"{THIRDS} and a is not null"),
    (f"id in (select x.a from (select * from t where a in ({NUMBERS})) x)",
     f"{THIRDS} and a is not null"),
    (f"id in ({NUMBERS}, 1.5)", THIRDS),
]  # fmt: skip


@pytest.mark.parametrize(("condition", "meaning"), MEANINGS)
def test_a_long_list_means_what_a_short_one_does(
    cursor: pykudu_sql.Cursor, condition: str, meaning: str
) -> None:
    assert some(cursor, condition) == some(cursor, meaning)


def test_a_list_with_comments_inside_is_read_by_the_parser(cursor: pykudu_sql.Cursor) -> None:
    listed = NUMBERS.replace(", ", ", -- next\n")
    assert some(cursor, f"id in ({listed})") == some(cursor, THIRDS)


def test_a_hundred_thousand_values_are_no_trouble(cursor: pykudu_sql.Cursor) -> None:
    numbers = ",".join(map(str, range(100_000)))
    words = ",".join(f"'it''s {i}'" for i in range(100_000))
    assert len(some(cursor, f"id in ({numbers})")) == ROWS
    assert some(cursor, f"id not in ({numbers})") == []
    assert some(cursor, f"s in ({words})") == some(cursor, "s is not null")


def test_long_lists_change_rows(cursor: pykudu_sql.Cursor) -> None:
    cursor.execute("create table u primary key (id) as select id, a from t")
    assert cursor.execute(f"update u set a = -1 where id in ({NUMBERS})").rowcount == ROWS // 3
    assert cursor.execute(f"delete from u where id not in ({NUMBERS})").rowcount == 2 * ROWS // 3
    assert cursor.execute("select count(*), max(a) from u").fetchone() == (ROWS // 3, -1)


def test_a_view_may_have_one_and_the_query_another(cursor: pykudu_sql.Cursor) -> None:
    cursor.execute(f"create view thirds as select id, s from t where id in ({NUMBERS})")
    found = cursor.execute(f"select count(*) from thirds where s in ({WORDS})").fetchone()
    assert found == (len(some(cursor, f"{THIRDS} and s is not null")),)


def test_places_in_errors_stay_true(cursor: pykudu_sql.Cursor) -> None:
    sql = f"select id\nfrom t where id in ({NUMBERS}) and\n  wrong = 1"
    with pytest.raises(Error) as caught:
        cursor.execute(sql)
    assert caught.value.position is not None
    assert (caught.value.position.line, caught.value.position.column) == (3, 3)
    with pytest.raises(SyntaxError):
        cursor.execute(f"select id from t where id in ({NUMBERS}")


def test_what_is_quoted_is_no_list() -> None:
    quoted = f"select 'x in ({NUMBERS})', \"in ({NUMBERS})\" /* in ({NUMBERS}) */"
    assert extract_long_lists(quoted, 0, 1 << 20) == (quoted, [])


def test_short_lists_and_other_values_stay() -> None:
    short = "select 1 where 1 in (" + ",".join("1" for _ in range(LEAST_VALUES)) + ")"
    assert extract_long_lists(short, 0, 1 << 20)[1] == ()
    mixed = f"select 1 where 1 in ({NUMBERS}, 'a')"
    assert extract_long_lists(mixed, 0, 1 << 20)[1] == []


def test_too_many_literals_beside_an_expression_are_refused(cursor: pykudu_sql.Cursor) -> None:
    words = ",".join(f"'{i}'" for i in range(30_000))
    with pytest.raises(StatementTooComplexError, match="30000 values"):
        some(cursor, f"upper(s) in ({words})")


def test_a_list_may_be_grouped_by_and_stand_in_a_lambda(cursor: pykudu_sql.Cursor) -> None:
    grouped = f"select a in ({NUMBERS}), count(*) from t group by a in ({NUMBERS})"
    assert sum(count for _, count in cursor.execute(grouped).fetchall()) == ROWS
    found = cursor.execute(f"select list_transform([-5], x -> x in ({NUMBERS}))").fetchone()
    assert found == ([False],)


def test_changes_may_choose_their_rows_by_lists_and_queries() -> None:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        cursor = connection.cursor()
        cursor.execute("create table w (k int primary key, v int)")
        cursor.execute("insert into w values (1, 1), (2, -2)")
        for wanted in (NUMBERS, "select k from w"):
            cursor.execute(
                "insert into w values (1, 1), (2, 5) on conflict (k) do update "
                f"set v = w.v + excluded.v where w.v in ({wanted})"
            )
            cursor.execute(
                "merge into w using (values (2, 7), (3, 8)) y (k, v) on w.k = y.k "
                f"when matched and w.v in ({wanted}) then update set v = y.v + 1 "
                "when not matched then insert values (y.k, y.v + 1)"
            )
            cursor.execute("delete from w where k = 3")
        rows = cursor.execute("select k, v from w order by k").fetchall()
        assert rows[1] == (2, -2)
