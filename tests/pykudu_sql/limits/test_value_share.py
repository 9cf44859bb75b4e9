"""How large one value may be comes of the memory limit, and no plan holds it."""

from collections.abc import Iterator

import pytest

import pykudu_sql
from pykudu_sql.storage.errors import ValueOutOfRangeError

LARGER = [
    ("select length(repeat('a', 15000000))", 15_000_000),
    ("select length(repeat('ab', 7000000) || 'c')", 14_000_001),
    ("select len([repeat('a', 7000000), repeat('b', 7000000)])", 2),
    ("select cardinality(map(range(40000), range(40000)))", 40_000),
    ("select len(list(range)) from range(1000000)", 1_000_000),
]  # fmt: skip


@pytest.fixture(scope="module")
def connections() -> Iterator[tuple[pykudu_sql.Connection, pykudu_sql.Connection]]:
    """Of a small limit and of one from which on a value may have the most."""
    opened = [
        pykudu_sql.connect(":memory:", autocommit=True, memory_limit=limit)
        for limit in ("200MB", "1GB")
    ]
    for connection in opened:
        connection.execute("create table t (k int primary key, x string)")
        connection.execute("insert into t select range, repeat('a', 50000) from range(300)")
    yield opened[0], opened[1]
    for connection in opened:
        connection.close()


@pytest.mark.parametrize(("query", "answer"), LARGER)
def test_a_value_beyond_the_share_of_a_small_limit_is_refused_there_alone(
    connections: tuple[pykudu_sql.Connection, pykudu_sql.Connection], query: str, answer: object
) -> None:
    small, large = connections
    for _ in range(2):
        assert large.execute(query).fetchall() == [(answer,)]
        with pytest.raises(ValueOutOfRangeError, match="more than 12 MiB") as raised:
            small.execute(query).fetchall()
        assert raised.value.sqlstate == "54000" and "memory_limit" in str(raised.value)


@pytest.mark.parametrize(
    "query",
    [
        "select repeat('a', 70000000)",
        "select cardinality(map(range(1000000), range(1000000)))",
    ],
)
def test_beyond_the_most_a_value_may_have_no_limit_helps(
    connections: tuple[pykudu_sql.Connection, pykudu_sql.Connection], query: str
) -> None:
    with pytest.raises(ValueOutOfRangeError, match="more than 64 MiB") as raised:
        connections[1].execute(query).fetchall()
    assert "memory_limit" not in str(raised.value)


def test_steps_are_bounded_alike_under_all_limits(
    connections: tuple[pykudu_sql.Connection, pykudu_sql.Connection],
) -> None:
    for connection in connections:
        query = "select levenshtein(repeat('a', 5000), repeat('b', 5000))"
        assert connection.execute(query).fetchall() == [(5_000,)]
