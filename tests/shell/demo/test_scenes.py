"""The SQL of the demo runs on tables of its own, and its second opinion compares rows."""

import pytest

import pykudu_sql
from pykudu_sql.shell.demo import scenes
from pykudu_sql.shell.demo.reference import Reference, same

QUESTIONS = (scenes.BY_AIRLINE, scenes.BY_WEATHER, scenes.ONE_MONTH, scenes.ONE_FLIGHT)


def test_every_statement_of_the_demo_runs_on_empty_tables() -> None:
    with pykudu_sql.connect(":memory:") as connection:
        for sql in scenes.CREATE.values():
            connection.execute(sql)
        for sql in (*scenes.CHANGES, scenes.UPSERT):
            connection.execute(sql)
        connection.commit()
        for sql in (scenes.ADD_COLUMN, *QUESTIONS):
            connection.execute(sql)
        assert connection.execute(scenes.ADD_COLUMN_CHECK).fetchall() == []


def test_the_last_key_of_each_table_is_the_one_it_is_made_with() -> None:
    with pykudu_sql.connect(":memory:") as connection:
        for table, sql in scenes.CREATE.items():
            connection.execute(sql)
            columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
            assert {column[1] for column in columns if column[5]} == set(scenes.KEYS[table][-1])


def test_a_question_about_the_past_names_the_moment_of_both_tables() -> None:
    past = scenes.as_of(scenes.BY_AIRLINE, 7)
    assert "flights FOR SYSTEM_TIME AS OF 7 f" in past
    assert "airlines FOR SYSTEM_TIME AS OF 7 a" in past


@pytest.mark.parametrize(
    ("ours", "theirs", "equal"),
    [
        ([(1, 0.1 + 0.2)], [(1, 0.3)], True),
        ([(1, 0.3001)], [(1, 0.3)], False),
        ([(None,)], [(None,)], True),
        ([(1,)], [(1,), (2,)], False),
        ([(1,)], [(1, 2)], False),
    ],
)
def test_results_agree_row_by_row_and_floats_to_nine_digits(
    ours: list[tuple[object, ...]], theirs: list[tuple[object, ...]], equal: bool
) -> None:
    assert same(ours, theirs) is equal


def test_the_reference_does_a_change_of_the_demo_by_its_own_sql() -> None:
    with pykudu_sql.connect(":memory:") as connection:
        connection.execute(scenes.CREATE["airlines"])
        connection.execute("INSERT INTO airlines VALUES ('UA', 'old'), ('AA', 'American')")
        reference = Reference(
            {"airlines": connection.execute("SELECT * FROM airlines").fetch_arrow_table()}
        )
        connection.execute(scenes.UPSERT)
        for sql in scenes.UPSERT_REFERENCE:
            reference.change(sql)
        question = "SELECT * FROM airlines ORDER BY carrier"
        assert same(connection.execute(question).fetchall(), reference.answer(question))
        reference.close()
