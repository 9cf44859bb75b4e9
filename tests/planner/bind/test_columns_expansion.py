"""An entry with COLUMNS becomes one entry a column."""

import pytest
from sqlglot import exp

from pykudu_sql.planner.bind.columns_expansion import expand_columns
from pykudu_sql.planner.bind.relations import Scope, TableReference
from pykudu_sql.planner.parse.dialect import display, parse
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.storage.errors import Error


def expanded(entry: str, context: PlanContext) -> list[str]:
    select = parse(f"select {entry} from t")
    assert isinstance(select, exp.Select)
    table = select.args["from_"].this
    reference = TableReference(table, "t", context.catalog.table("t"))
    expand_columns(select, Scope(relations=(reference,)))
    return [display(each) for each in select.expressions]


@pytest.mark.parametrize(
    ("entry", "entries"),
    [
        ("columns(* exclude (s, d, flag))", ["id", "a", "b"]),
        ("max(columns(['b', 'A']))", ["max(b)", "max(a)"]),
        ("columns('^[AB]$') + 1", ["a + 1", "b + 1"]),
        ("columns('^a$') + columns('^a$'), id", ["a + a", "id"]),
        ("a", ["a"]),
    ],
)
def test_an_entry_is_written_once_for_each_column(
    context: PlanContext, entry: str, entries: list[str]
) -> None:
    assert expanded(entry, context) == entries


@pytest.mark.parametrize(
    ("entry", "sqlstate"),
    [
        ("columns('nope')", "42703"),
        ("columns(['nope'])", "42703"),
        ("columns('(')", "2201B"),
        ("columns(a + 1)", "0A000"),
        ("columns('a') + columns('b')", "0A000"),
    ],
)
def test_columns_that_mean_nothing_are_refused(
    context: PlanContext, entry: str, sqlstate: str
) -> None:
    with pytest.raises(Error) as caught:
        expanded(entry, context)
    assert caught.value.sqlstate == sqlstate
