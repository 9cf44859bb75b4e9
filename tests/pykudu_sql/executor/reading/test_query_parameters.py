"""Parameters of queries: what the engine is given for them, and which are refused before."""

from collections.abc import Callable
from decimal import Decimal
from math import inf
from typing import Any

import pytest

from pykudu_sql import Connection
from pykudu_sql.executor.reading.query_parameters import check_parameter_values, parameter_values
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.storage.errors import (
    DataError,
    InterfaceError,
    InvalidValueError,
    ValueOutOfRangeError,
)


@pytest.fixture
def query(connection: Connection, planned: Callable[[str], Any]) -> Callable[[str], Any]:
    """The query of a statement about a table of numbers, times and words."""
    connection.execute(
        "CREATE TABLE t (k INT PRIMARY KEY, v INT, n DECIMAL(5, 2), at TIMESTAMP, day DATE, "
        "word STRING)"
    )

    def query(sql: str) -> Any:
        plan = planned(sql)
        return getattr(plan, "query", plan)

    return query


def test_values_come_in_the_order_in_which_the_engine_names_them(
    query: Callable[[str], Any],
) -> None:
    named = query("SELECT :b, :a, word || :b FROM t")
    values = parameter_values(named, {"a": "x", "b": "y"})
    assert values == [{"a": "x", "b": "y"}[key] for key in named.parameters]
    assert set(values) == {"x", "y"}


def test_a_value_that_was_not_given_is_an_error(query: Callable[[str], Any]) -> None:
    with pytest.raises(InterfaceError, match="no value was given"):
        parameter_values(query("SELECT ? FROM t"), ())


def test_a_text_beside_a_timestamp_is_taken_to_utc_and_others_are_not(
    query: Callable[[str], Any],
) -> None:
    text = "2026-01-31T12:00:00+02:00"
    assert parameter_values(query("SELECT k FROM t WHERE at = ?"), (text,)) == [
        "2026-01-31 10:00:00"
    ]
    assert parameter_values(query("SELECT k FROM t WHERE word = ?"), (text,)) == [text]


@pytest.mark.parametrize(
    ("value", "handed"), [(1 << 130, float(1 << 130)), (10**400, inf), (-(10**400), -inf)]
)
def test_an_integer_beyond_the_engines_own_is_compared_as_a_double(
    query: Callable[[str], Any], value: int, handed: float
) -> None:
    (compared,) = parameter_values(query("SELECT k FROM t WHERE v / 2 > ?"), (value,))
    assert compared == handed


def test_an_integer_beyond_the_engines_own_is_refused_where_it_is_shown(
    query: Callable[[str], Any],
) -> None:
    shown = query("SELECT ? FROM t")
    assert parameter_values(shown, ((1 << 127) - 1,)) == [(1 << 127) - 1]
    with pytest.raises(ValueOutOfRangeError, match="number 1 does not fit into an integer of 128"):
        parameter_values(shown, (1 << 127,))


def test_half_of_a_surrogate_pair_is_no_text(query: Callable[[str], Any]) -> None:
    with pytest.raises(UnicodeEncodeError):
        parameter_values(query("SELECT ? FROM t"), ("\ud800",))


def test_a_number_that_would_round_those_it_is_united_with_is_refused(
    query: Callable[[str], Any],
) -> None:
    united = query("SELECT coalesce(n, ?) FROM t")
    assert parameter_values(united, (Decimal("1.5"),)) == [Decimal("1.5")]
    with pytest.raises(ValueOutOfRangeError):
        parameter_values(united, (Decimal("1e-38"),))


def test_a_text_that_no_value_of_the_column_reads_from_is_refused(
    query: Callable[[str], Any], state: SessionState
) -> None:
    compared = query("SELECT k FROM t WHERE day = ?")
    check_parameter_values(compared, ("2026-01-31",), state.engine, state.computed_types)
    check_parameter_values(compared, (" 2026-01-31 ",), state.engine, state.computed_types)
    with pytest.raises(InvalidValueError, match=r"column 'day': cannot read 'soon' as DATE"):
        check_parameter_values(compared, ("soon",), state.engine, state.computed_types)


def test_a_text_of_a_number_beyond_the_column_may_be_compared(
    query: Callable[[str], Any], state: SessionState
) -> None:
    compared = query("SELECT k FROM t WHERE v < ?")
    check_parameter_values(compared, (str(1 << 40),), state.engine, state.computed_types)
    with pytest.raises(InvalidValueError, match="cannot read 'x'"):
        check_parameter_values(compared, ("x",), state.engine, state.computed_types)


def test_a_value_of_a_type_that_a_column_is_never_compared_with_is_refused(
    query: Callable[[str], Any], state: SessionState
) -> None:
    with pytest.raises(InterfaceError, match="'at'"):
        check_parameter_values(
            query("SELECT k FROM t WHERE at = ?"), (True,), state.engine, state.computed_types
        )


def test_a_value_to_be_assigned_must_fit_even_if_no_row_takes_it(
    query: Callable[[str], Any], state: SessionState
) -> None:
    assigned = query("UPDATE t SET v = ? WHERE v > 1")
    check_parameter_values(assigned, (1,), state.engine, state.computed_types)
    with pytest.raises(DataError, match="column 'v'"):
        check_parameter_values(assigned, (1 << 40,), state.engine, state.computed_types)
