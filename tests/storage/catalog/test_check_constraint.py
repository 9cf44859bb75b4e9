"""CHECK constraints in the catalog: edits that make no sense are damage, not rules."""

from typing import Any

import pytest

from pykudu_sql.storage.catalog.alter import (
    AddCheck,
    DropCheck,
    DropColumn,
    RenameColumn,
    SetNullable,
    apply_steps,
)
from pykudu_sql.storage.catalog.check_constraint import CheckConstraint
from pykudu_sql.storage.catalog.manifest_edit import check_form, check_table
from pykudu_sql.storage.catalog.table_info import TableInfo, new_table
from pykudu_sql.storage.common.partition.partition import PartitionSchema
from pykudu_sql.storage.common.predicate.column_predicate import Op
from pykudu_sql.storage.common.predicate.row_condition import ColumnCell, Compared, FixedCell
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import DatabaseError

SCHEMA = create_schema(
    [ColumnSchema(0, "id", DataType(Kind.INT32)), ColumnSchema(0, "a", DataType(Kind.INT8))], ["id"]
)
POSITIVE = CheckConstraint("positive", Compared(ColumnCell(1), Op.GT, FixedCell(0)))


def table() -> TableInfo:
    return new_table("t", SCHEMA, PartitionSchema(), "", {}, (POSITIVE,))


def test_a_table_comes_back_with_its_constraints() -> None:
    check_table(table())
    check_form({"op": "table", "ts": 1, "table": table().to_json()})
    assert TableInfo.from_json(table().to_json()).checks == (POSITIVE,)


def test_a_table_of_an_earlier_release_has_none() -> None:
    value = table().to_json()
    del value["checks"]
    for column in value["schema"]["columns"]:
        del column["held_null"]
    check_form({"op": "table", "ts": 1, "table": value})
    assert TableInfo.from_json(value).checks == ()


def test_the_text_follows_a_renamed_column() -> None:
    renamed = apply_steps(table(), [RenameColumn("a", "b")])
    assert renamed.checks[0].text(renamed.schema) == "b > 0"


@pytest.mark.parametrize(
    "condition",
    [
        [">", ["column", 7], ["cell", 0]],
        [">", ["column", 1], ["cell", 1000]],
        [">", ["column", 1], ["cell", "x"]],
        [">", ["column", 1], ["cell", None]],
        ["~", ["column", 1], ["cell", 1]],
        [],
    ],
)
def test_a_condition_that_fits_no_column_is_damage(condition: list[Any]) -> None:
    value = table().to_json()
    value["checks"][0]["condition"] = condition
    with pytest.raises((ValueError, DatabaseError)):
        check_table(TableInfo.from_json(value))


@pytest.mark.parametrize("step", [AddCheck(POSITIVE), DropCheck("nope"), DropColumn("a"),
                                  SetNullable("id", True), SetNullable("nope", True)])  # fmt: skip
def test_a_step_that_breaks_a_rule_is_refused(step: Any) -> None:
    with pytest.raises(DatabaseError):
        apply_steps(table(), [step])


def test_a_column_that_becomes_not_null_may_still_show_null_of_before() -> None:
    (_, column) = apply_steps(table(), [SetNullable("a", False)]).schema.columns
    assert (column.nullable, column.may_show_null) == (False, True)
    (key, column) = apply_steps(table(), [SetNullable("a", True)]).schema.columns
    assert (key.may_show_null, column.nullable) == (False, True)
