"""What the name of a table means: a table, or a frame of the program."""

from dataclasses import replace

import pyarrow as pa
import pytest

from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.bind.named_table import existing_table, find_frame
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.frame_table import FrameTable, frame_table, is_stored
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.type_names import parse_type
from pykudu_sql.storage.errors import NotSupportedError, ProgrammingError, UndefinedTableError


def frame(name: str) -> FrameTable:
    """A frame of one row."""
    columns = [ColumnSchema(0, "k", parse_type("BIGINT"))]
    return frame_table(name, columns, pa.table({"k": [1]}), {})


def found(name: str, context: PlanContext) -> FrameTable | None:
    """The frame that a name means."""
    return find_frame(name, None, context.catalog, context)


def test_a_registered_frame_is_found_by_any_spelling_and_a_variable_behind_it(
    context: PlanContext,
) -> None:
    registered, variable = frame("df"), frame("other")
    known = replace(
        context,
        frames={"df": registered},
        frame_in_scope=lambda name: variable if name == "Other" else None,
    )
    assert found("DF", known) is registered
    assert found("Other", known) is variable
    assert found("nothing", known) is None
    assert not is_stored(registered)


def test_a_table_hides_a_variable_and_clashes_with_a_registered_frame(
    context: PlanContext,
) -> None:
    hidden = replace(context, frame_in_scope=frame)
    assert found("t", hidden) is None
    with pytest.raises(ProgrammingError, match="also a table") as caught:
        found("t", replace(context, frames={"t": frame("t")}))
    assert caught.value.sqlstate == "42P09"
    assert "default.t" in str(caught.value.hint)


def test_a_frame_has_no_past(context: PlanContext) -> None:
    with pytest.raises(NotSupportedError, match="has no past"):
        bind(parse("SELECT * FROM df AS OF now()"), replace(context, frames={"df": frame("df")}))


def test_a_frame_is_not_written_to(context: PlanContext) -> None:
    with pytest.raises(UndefinedTableError) as caught:
        existing_table("df", None, replace(context, frames={"df": frame("df")}))
    assert caught.value.hint == "'df' is a registered frame, which queries read"


def test_no_frame_is_seen_from_within_a_view(context: PlanContext) -> None:
    known = replace(context, frames={"df": frame("df")}, frame_in_scope=frame)
    within = known.within("default", None)
    assert found("df", within) is None
    assert found("other", within) is None
