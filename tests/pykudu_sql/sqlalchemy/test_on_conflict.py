"""ON CONFLICT through the INSERT of SQLAlchemy's SQLite and PostgreSQL dialects."""

import datetime as dt
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sa = pytest.importorskip("sqlalchemy", reason="pip install 'pykudu-sql[sqlalchemy]'")

from sqlalchemy import orm  # noqa: E402
from sqlalchemy.dialects import mysql, postgresql, registry, sqlite  # noqa: E402

from pykudu_sql.sqlalchemy.on_conflict import OnConflictCompiler  # noqa: E402

registry.register("pykudu", "pykudu_sql.sqlalchemy.dialect", "PykuduDialect")
INSERTS = (sqlite.insert, postgresql.insert)


class Base(orm.DeclarativeBase):
    """Of the mapped classes."""


class Count(Base):
    __tablename__ = "count"
    word = orm.mapped_column(sa.String(10), primary_key=True)
    n = orm.mapped_column(sa.Integer, key="times")
    day = orm.mapped_column(sa.Date, name="the day", key="day")


COUNT: Any = Count.__table__


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Any]:
    made = sa.create_engine(f"pykudu:///{tmp_path}/my.db?durability=off")
    Base.metadata.create_all(made)
    yield made
    made.dispose()


def rows_of(connection: Any) -> list[Any]:
    query = sa.select(COUNT.c.word, COUNT.c.times).order_by(COUNT.c.word)
    return [tuple(row) for row in connection.execute(query)]


def test_the_compiler_has_both_clauses(engine: Any) -> None:
    assert issubclass(engine.dialect.statement_compiler, OnConflictCompiler)


@pytest.mark.parametrize("insert", INSERTS)
def test_an_update_adds_to_what_is_there(engine: Any, insert: Any) -> None:
    adding = insert(COUNT)
    adding = adding.on_conflict_do_update(
        index_elements=[COUNT.c.word], set_={"times": COUNT.c.times + adding.excluded.times}
    )
    with engine.begin() as connection:
        for _ in range(2):
            assert connection.execute(adding.values(word="a", times=3)).rowcount == 1
        connection.execute(adding, [{"word": "a", "times": 1}, {"word": "b", "times": 1}])
        assert rows_of(connection) == [("a", 7), ("b", 1)]


@pytest.mark.parametrize("insert", INSERTS)
def test_an_update_takes_values_a_condition_and_returning(engine: Any, insert: Any) -> None:
    raising = insert(COUNT).values([{"word": "a", "times": 5}, {"word": "b", "times": 5}])
    raising = raising.on_conflict_do_update(
        index_elements=["word"],
        set_={COUNT.c.times: raising.excluded.times, COUNT.c.day: dt.date(2026, 1, 31)},
        where=COUNT.c.times < raising.excluded.times,
    ).returning(COUNT.c.word)
    with engine.begin() as connection:
        connection.execute(COUNT.insert(), [{"word": "a", "times": 9}, {"word": "b", "times": 1}])
        assert connection.scalars(raising).all() == ["b"]
        assert rows_of(connection) == [("a", 9), ("b", 5)]
        days = connection.scalars(sa.select(COUNT.c.day).order_by(COUNT.c.word)).all()
        assert days == [None, dt.date(2026, 1, 31)]


@pytest.mark.parametrize("insert", INSERTS)
def test_nothing_is_done_to_what_is_there(engine: Any, insert: Any) -> None:
    rows = [{"word": "a", "times": 1}, {"word": "b", "times": 1}]
    with orm.Session(engine) as session:
        session.execute(insert(Count).on_conflict_do_nothing(), rows[:1])
        made = insert(Count).on_conflict_do_nothing(index_elements=["word"]).returning(Count)
        assert [each.word for each in session.scalars(made, rows)] == ["b"]


def test_what_is_no_key_is_refused(engine: Any) -> None:
    by_name = postgresql.insert(COUNT).on_conflict_do_nothing(constraint="count_day_key")
    some = sqlite.insert(COUNT).on_conflict_do_nothing(["word"], index_where=COUNT.c.times > 1)
    with engine.connect() as connection:
        with pytest.raises(sa.exc.CompileError, match="count_day_key is not supported"):
            connection.execute(by_name, {"word": "a"})
        with pytest.raises(sa.exc.CompileError, match="index_where is not supported"):
            connection.execute(some, {"word": "a"})


def test_a_name_that_is_no_column_is_warned_of(engine: Any) -> None:
    changing = sqlite.insert(COUNT).on_conflict_do_update(set_={"times": 1, "nope": 2})
    with pytest.warns(sa.exc.SAWarning, match="'nope', which is no column of table 'count'"):
        text = str(changing.compile(dialect=engine.dialect))
    assert "nope = ?" in text


def test_on_duplicate_key_of_mysql_adds_to_what_is_there(engine: Any) -> None:
    adding = mysql.insert(COUNT)
    adding = adding.on_duplicate_key_update(
        times=COUNT.c.times + adding.inserted.times, day=dt.date(2026, 1, 31)
    )
    with engine.begin() as connection:
        for _ in range(2):
            assert connection.execute(adding.values(word="a", times=3)).rowcount == 1
        connection.execute(adding, [{"word": "a", "times": 1}, {"word": "b", "times": 1}])
        assert rows_of(connection) == [("a", 7), ("b", 1)]
        days = connection.scalars(sa.select(COUNT.c.day).order_by(COUNT.c.word)).all()
        assert days == [dt.date(2026, 1, 31), None]


@pytest.mark.parametrize("name", ["count_pkey", COUNT.primary_key])
def test_the_constraint_of_the_key_is_a_target(engine: Any, name: Any) -> None:
    written = postgresql.insert(COUNT).values(word="a", times=2)
    with engine.begin() as connection:
        connection.execute(COUNT.insert(), [{"word": "a", "times": 1}])
        connection.execute(written.on_conflict_do_update(constraint=name, set_={"times": 2}))
        connection.execute(written.on_conflict_do_nothing(constraint=name))
        assert rows_of(connection) == [("a", 2)]
    with pytest.raises(sa.exc.CompileError, match="ON CONSTRAINT other is not supported"):
        written.on_conflict_do_nothing(constraint="other").compile(engine)
