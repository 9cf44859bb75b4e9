"""Whatever a statement is, what comes out is an error of ours in the user's words, or rows.

`python -m tests.pykudu_sql.mutations --statements 20000` tries many more.
"""

from random import Random

import pytest

from pykudu_sql import InternalError
from pykudu_sql.error_boundary import ErrorBoundary, database_error
from pykudu_sql.storage.errors import DataError, Error, ProgrammingError
from tests.pykudu_sql.mutations.corpus import shapes
from tests.pykudu_sql.mutations.judging import mutate_scripts, mutate_shapes


def test_mutated_statements_of_scripts_end_in_rows_or_errors_of_ours() -> None:
    report = mutate_scripts(Random(0), 1600)
    assert report.failures == []
    assert report.tried > 2500


def test_every_shape_of_sql_and_its_mutations_end_in_rows_or_errors_of_ours() -> None:
    report = mutate_shapes(Random(7), shapes(), 1.5)
    assert report.failures == []
    assert report.tried > 2000


def told(message: str, statement: str, *names: str) -> str:
    """What becomes of a message of another library."""
    with pytest.raises(Error) as caught, ErrorBoundary(statement, lambda: names):
        raise ProgrammingError(message, sqlstate="42804") from ValueError(message)
    return caught.value.message


@pytest.mark.parametrize(
    "message",
    [
        "no function matches foo_bar(INT)",
        'column "c0" is missing',
        "cannot read $1",
        "relation __scan_0 is gone",
        "strftime(INT) is not known",
    ],
)
def test_a_message_of_another_library_with_a_foreign_name_is_exchanged(message: str) -> None:
    assert told(message, "SELECT 1") == (
        "an expression is given values of types that it does not take"
    )


def test_names_of_the_statement_and_of_the_catalog_stay_in_messages() -> None:
    assert told("no function matches foo_bar(INT)", "SELECT Foo_Bar(1)").startswith("no function")
    assert told('column "c0" is missing', "SELECT *", "C0").startswith("column")
    assert told("could not read 'x_1' as INT", "SELECT s FROM t") == "could not read 'x_1' as INT"


def test_our_own_messages_are_left_alone() -> None:
    with pytest.raises(DataError, match="row_errors"), ErrorBoundary("", tuple):
        raise DataError("see row_errors")


@pytest.mark.parametrize(
    ("raised", "sqlstate"),
    [
        (MemoryError(), "53200"),
        (RecursionError(), "54001"),
        (OSError(28, "No space left on device", "x"), "58030"),
        (UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates"), "22021"),
        (KeyError("x"), "XX000"),
    ],
)
def test_an_exception_of_another_kind_becomes_one_of_ours(raised: Exception, sqlstate: str) -> None:
    assert database_error(raised).sqlstate == sqlstate
    with pytest.raises(Error) as caught, ErrorBoundary("", tuple):
        raise raised
    assert caught.value.sqlstate == sqlstate
    assert caught.value.__cause__ is raised
    assert isinstance(caught.value, InternalError) == (sqlstate == "XX000")
