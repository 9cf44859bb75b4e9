"""Windows that gather are refused before rows get copies of much; others answer."""

import json

import pytest

import pykudu_sql
from pykudu_sql.storage.errors import OperationalError
from tests.pykudu_sql.limits.conftest import ROWS, TEXT_BYTES


@pytest.mark.parametrize(
    ("window", "name"),
    [
        ("list(x) over ()", "list"),
        ("array_agg(x) over (order by k)", "array_agg"),
        ("string_agg(x, ',') over (partition by k % 2)", "string_agg"),
        ("group_concat(x) filter (where k >= 0) over w", "group_concat"),
        ("json_group_array(x) over ()", "json_group_array"),
        ("length(json_group_object(k, x) over ())", "json_group_object"),
        ("histogram(x || k) over ()", "histogram"),
        ("map_from_entries(list((k, x)) over ())", "list"),
        ("list(distinct x || k) over ()", "list"),
        ("list(x) over (v rows between 2000 preceding and 2000 following)", "list"),
    ],
)
def test_a_window_that_would_gather_much_for_each_row_is_refused(
    connection: pykudu_sql.Connection, window: str, name: str
) -> None:
    windows = "window v as (order by k), w as (partition by k % 2)"
    with pytest.raises(OperationalError, match=f"'{name}' OVER would make .* MiB") as raised:
        connection.execute(f"select {window} from t {windows}").fetchall()
    assert raised.value.sqlstate == "53200" and "GROUP BY" in str(raised.value)


@pytest.mark.parametrize(
    "query",
    [
        "select (select max(l) from (select list(u.x) over () as l from t u where u.k >= a.k) q)"
        " from t a where k < 2",
        "select k from t a where exists (select k from (select k, string_agg(u.x) over () as l"
        " from t u where u.k <> a.k) q where l = 'b')",
        "select k from t a where 'z' in (select string_agg(u.x) over () from t u where u.k > a.k)",
        "select q.l from t a, lateral (select list(u.x) over () as l from t u where u.k > a.k) q",
        "select a.k, q.l from t a cross join lateral (select list(u.x) over () as l from t u) q",
        "with recursive r(n, x) as (select k, x from t union all"
        " select n + 10000, string_agg(x) over () from r where n < 9999) select count(*) from r",
        "with recursive r(n, x) as (select 0, '' union all select n + 1, (select max(l) from"
        " (select string_agg(u.x) over () as l from t u where u.k > r.n) q) from r where n < 2)"
        " select max(length(x)) from r",
        "insert into s select k, string_agg(x) over () from t",
        "create table c (primary key (k)) as select k, string_agg(x) over () as x from t",
        "update t set x = q.l from (select k, string_agg(x) over () as l from t) q where t.k = q.k",
        "merge into s using (select k, string_agg(x) over () as l from t) q on s.k = q.k"
        " when not matched then insert values (q.k, q.l)",
        "delete from t where k in (select k from t qualify string_agg(x) over (order by k) = 'a')",
        "delete from t where exists (select 1 from (select string_agg(u.x) over () as l from t u"
        " where u.k > t.k) q where l = 'a')",
        "select l from v",
        "select max(x || k, 3000) over () from t",
        "select arg_min(x, k, 3000) over (order by k) from t",
        "select approx_top_k(x || k, 3000) over () from t",
    ],
)
def test_it_is_refused_wherever_a_query_can_stand(
    connection: pykudu_sql.Connection, query: str
) -> None:
    connection.execute("create table if not exists s (k int primary key, x string)")
    connection.execute(
        "create view if not exists v as select k, string_agg(x) over (order by k) as l from t"
    )
    with pytest.raises(OperationalError, match=r"OVER would make .* MiB") as raised:
        result = connection.execute(query)
        assert result.description is not None
        result.fetchall()
    assert raised.value.sqlstate == "53200"


@pytest.mark.parametrize(
    ("query", "largest"),
    [
        ("select list(k) over () from t where k < 1000", 1000),
        ("select list(x) over (partition by k % 300) from t", 10),
        ("select list(distinct x) over () from t", 1),
        ("select list(x) over (order by k rows between 2 preceding and 2 following) from t", 5),
        ("select list(x) filter (where k < 7) over () from t", 7),
        ("select list(x) over (partition by x order by k) from t where k < 300", 300),
        ("select list(sum(k)) over () from t group by k % 20", 20),
        ("select k % 20 as g, list(k % 20) over (partition by g) from t group by 1", 1),
        ("select distinct list(k % 2) over () from t where k < 9 order by 1 limit 1", 9),
        ("select k from t where k < 9 qualify list(k) over () = range(9)", None),
        ("with q as (select x from t where k < 9) select list(x) over () from q", 9),
        ("select (select list(u.x) over () from t u where u.k = t.k) from t where k < 9", 1),
        ("select x, list(x) over () from t where k < 9 group by x", 1),
        (
            "select q.l from t a, lateral (select list(u.x) over () as l from t u"
            " where u.k between a.k and a.k + 2) q where a.k < 99",
            3,
        ),
        (
            "with recursive r(n, l) as (select 0, range(1) union all select n + 1, list(n) over ()"
            " from r where n < 5) select l from r",
            1,
        ),
        ("select max(x, 3) over () from t", 3),
        ("select arg_max(x, k, 2) over (order by k) from t", 2),
        ("select approx_top_k(x, 3) over () from t", 1),
        ("select list(v.a) over () from (values (1), (2)) as v(a)", 2),
        ("select list(l) over () from (select list(k) over () as l from t where k < 5) as q", 5),
        ("select histogram(k, [1, 2]) over () from t", 3),
        ("select list(a.x) over (partition by b.k) from t a join t b using (k)", 1),
    ],
)
def test_windows_over_few_values_answer(
    connection: pykudu_sql.Connection, query: str, largest: int | None
) -> None:
    rows = connection.execute(query).fetchall()
    assert rows
    if largest is not None:
        assert max(len(row[-1]) for row in rows) == largest


def test_a_value_that_all_rows_share_may_be_large_where_only_its_size_is_asked_for(
    connection: pykudu_sql.Connection,
) -> None:
    rows = connection.execute("select len(list(x) over ()), length(string_agg(x) over ()) from t")
    assert set(rows.fetchall()) == {(ROWS, ROWS * (TEXT_BYTES + 1) - 1)}


def test_json_of_a_small_window_is_whole(connection: pykudu_sql.Connection) -> None:
    query = "select json_group_array(k) over (order by k) from t where k < 3 order by k"
    rows = connection.execute(query).fetchall()
    assert [json.loads(value) for (value,) in rows] == [[0], [0, 1], [0, 1, 2]]


def test_parameters_keep_their_places(connection: pykudu_sql.Connection) -> None:
    query = "select ? as a, list(k + ?) over (partition by k % ? order by k) from t where k < ?"
    rows = connection.execute(query, (7, 10, 2, 4)).fetchall()
    assert sorted(rows) == [(7, [10]), (7, [10, 12]), (7, [11]), (7, [11, 13])]
