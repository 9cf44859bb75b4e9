"""Large values that many rows share are refused before each row gets a copy."""

import pytest

import pykudu_sql
from pykudu_sql.storage.errors import OperationalError
from tests.pykudu_sql.limits.conftest import ROWS


@pytest.mark.parametrize(
    "query",
    [
        "select k, s from t, (select list(x) as s from t) q",
        "select k, s from t, (select string_agg(x) as s from t) q",
        "select k, (select max(x, 3000) from t) from t",
        "select k, s from t, (select repeat('ab', 250000) as s) q",
        "select max(upper(s)) from t, (select string_agg(x) as s from t) q",
        "select max(trim(s)) from t, (select string_agg(x) as s from t) q",
        "select max(substr(s, 2)) from t, (select string_agg(x) as s from t) q",
        "select max(list_sort(s)) from t, (select list(x) as s from t) q",
        "select max(list_append(s, 'a')) from t, (select list(x) as s from t) q",
        "select max(len(list_transform(s, e -> e || 'a'))) from t, (select list(x) as s from t) q",
        "select max(len(list_filter(s, e -> e > ''))) from t, (select list(x) as s from t) q",
        "select max(len([e || 'a' for e in s])) from t, (select list(x) as s from t) q",
        "select max(len([e for e in s if e > ''])) from t, (select list(x) as s from t) q",
        "select repeat('a', 12000000), repeat('b', 12000000), repeat('c', 12000000), "
        "repeat('d', 12000000)",
    ],
)
def test_values_that_would_be_copied_for_many_rows_are_refused(
    connection: pykudu_sql.Connection, query: str
) -> None:
    with pytest.raises(OperationalError, match=r"more than \d+ MiB") as raised:
        connection.execute(query).fetchall()
    assert raised.value.sqlstate == "53200"


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("select max(substr(s, 2, 3)) from t, (select string_agg(x) as s from t) q", "aaa"),
        ("select max(length(s)) from t, (select string_agg(x, '') as s from t) q", 300_000),
        ("select length(upper(lower(repeat('ab', 5000000))))", 10_000_000),
        ("select len(list(x)) from t", ROWS),
        ("select max(len(l)) from (select list(x) as l from t group by k % 7) q", 429),
        ("select len(list_transform(list(x), e -> e || 'a')) from t", ROWS),
        ("select max(len(list_filter(s, e -> e > 'b'))) from (select list(x) as s from t) q", 0),
        ("select list_reduce([1, 2, 3], (a, b) -> a + b)", 6),
    ],
)
def test_what_is_small_or_made_once_answers(
    connection: pykudu_sql.Connection, query: str, answer: object
) -> None:
    assert connection.execute(query).fetchall() == [(answer,)]
