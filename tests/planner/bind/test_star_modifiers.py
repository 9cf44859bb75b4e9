"""EXCLUDE, REPLACE and RENAME behind a star."""

import pytest
from sqlglot import exp

from pykudu_sql.planner.bind.relations import DerivedTable, OutputColumn, Scope
from pykudu_sql.planner.bind.star_modifiers import listed, modified, modifiers_of
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.storage.errors import SyntaxError, UndefinedColumnError

LEFT, RIGHT = DerivedTable("l", ()), DerivedTable("r", ())
COLUMNS = [
    OutputColumn("id", ((LEFT, "id"),)),
    OutputColumn("a", ((LEFT, "a"),)),
    OutputColumn("id", ((RIGHT, "id"),)),
]


def star(words: str) -> exp.Star:
    node = parse(f"select * {words} from t").expressions[0]
    assert isinstance(node, exp.Star)
    return node


def remaining(words: str) -> list[OutputColumn]:
    relations = {"l": LEFT, "r": RIGHT}
    modifiers = modifiers_of(star(words))
    return modified(COLUMNS, modifiers, Scope(), lambda column: relations[column.table])


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("exclude (a)", ["id", "id"]),
        ("exclude (ID)", ["a"]),
        ("exclude (l.id)", ["a", "id"]),
        ("rename (a as b)", ["id", "b", "id"]),
        ("rename (r.id as other)", ["id", "a", "other"]),
        ("replace (1 as a)", ["id", "a", "id"]),
        ("exclude (r.id) replace (1 as id) rename (a as b)", ["id", "b"]),
    ],
)
def test_words_behind_a_star_change_which_columns_it_shows(words: str, names: list[str]) -> None:
    assert [column.name for column in remaining(words)] == names


def test_a_replaced_column_shows_its_expression_and_no_stored_column() -> None:
    replaced = next(column for column in remaining("replace (1 as a)") if column.name == "a")
    assert [each.sql() for each in replaced.projections if isinstance(each, exp.Expr)] == ["1"]
    assert [branch.relation for branch in replaced.branches] == [None]


@pytest.mark.parametrize("words", ["exclude (nope)", "rename (nope as x)", "exclude (r.a)"])
def test_a_name_that_the_star_does_not_cover_is_undefined(words: str) -> None:
    with pytest.raises(UndefinedColumnError):
        remaining(words)


@pytest.mark.parametrize("words", ["replace (1)", "rename (a)"])
def test_replace_and_rename_need_a_new_name(words: str) -> None:
    with pytest.raises(SyntaxError):
        modifiers_of(star(words))


def test_a_star_without_words_has_no_modifiers() -> None:
    assert not modifiers_of(star("")).any
    assert modifiers_of(star("exclude (a)")).any


def test_an_argument_of_one_several_or_no_nodes_is_listed() -> None:
    one = exp.null()
    assert (listed(one), listed([one, one]), listed(None)) == ([one], [one, one], [])
