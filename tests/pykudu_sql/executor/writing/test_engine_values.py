"""What an engine has computed, as values that a column can take."""

import pytest

from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.executor.writing.engine_values import storable
from pykudu_sql.storage.errors import InvalidValueError


def test_integers_that_arrow_has_no_type_for_become_their_digits(state: SessionState) -> None:
    numbers = (2**128 - 1, -(10**60))
    result = state.engine.execute(
        f"SELECT {numbers[0]}::UHUGEINT AS u, '{numbers[1]}'::BIGNUM AS n, NULL::UHUGEINT AS none",
        {},
        (),
    )
    assert storable(result).to_pylist() == [
        {"u": str(numbers[0]), "n": str(numbers[1]), "none": None}
    ]


def test_other_columns_stay_as_they_are(state: SessionState) -> None:
    result = state.engine.execute(
        "SELECT 1 AS i, 'x' AS s, 1.5 AS d, DATE '2026-01-31' AS t", {}, ()
    )
    assert storable(result) is result.table


def test_columns_of_one_name_keep_their_places(state: SessionState) -> None:
    result = state.engine.execute("SELECT 1 AS a, 2::UHUGEINT AS a", {}, ())
    rows = storable(result)
    assert [column.to_pylist() for column in rows.columns] == [[1], ["2"]]


def test_a_type_that_no_column_takes_is_refused_with_its_place(state: SessionState) -> None:
    result = state.engine.execute("SELECT 1, '101'::BIT", {}, ())
    with pytest.raises(InvalidValueError, match="column 2 of the query is of type BIT"):
        storable(result)
