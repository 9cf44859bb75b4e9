"""Types that a CAST may name, and what may stand in their parentheses."""

import pytest
from sqlglot import exp

from pykudu_sql.planner.vocabulary.data_types import check_type, is_closed, no_type
from pykudu_sql.storage.errors import ProgrammingError


def kind_of(text: str) -> exp.DataType:
    return exp.DataType.build(text, dialect="duckdb", udt=True)


@pytest.mark.parametrize(
    "text",
    ["INT", "DECIMAL(9, 2)", "VARCHAR(10)", "INT[]", "INT[3]", "STRUCT(a INT, b TEXT)", "uint8",
     "MAP(TEXT, INT)", "INTERVAL"],
)  # fmt: skip
def test_a_type_of_the_list_is_taken(text: str) -> None:
    check_type(kind_of(text), lambda word: None)
    assert is_closed(kind_of(text))


def test_a_type_that_there_is_not_is_refused_with_a_near_one() -> None:
    with pytest.raises(ProgrammingError, match='type "intt" does not exist') as caught:
        check_type(kind_of("intt"), lambda word: None)
    assert (caught.value.sqlstate, caught.value.hint) == ("42704", "did you mean INT?")
    assert no_type("geometry_of_mine", None).hint is None


def test_a_parameter_that_is_no_whole_number_is_refused() -> None:
    kind = kind_of("DECIMAL(9, 2)")
    kind.expressions[0].set("this", exp.Literal.string("9"))
    assert not is_closed(kind)
    with pytest.raises(ProgrammingError, match="type DECIMAL does not take"):
        check_type(kind, lambda word: None)
