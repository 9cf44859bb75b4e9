"""Offsets of streams as checkpoints keep them."""

import pytest

from pykudu_sql.spark.changes.change_options import ChangeOptions, wants_changes
from pykudu_sql.spark.changes.stream_offset import StreamOffset
from pykudu_sql.storage.errors import DataError, InvalidValueError, ProgrammingError

PLACE = {"path": "my.db", "table": "T"}


@pytest.mark.parametrize("tablets", [None, 0, 3])
def test_an_offset_comes_back_from_a_checkpoint(tablets: int | None) -> None:
    offset = StreamOffset("6d1fb6f2-0d5c-4c39-9d2e-3a1d8f6c9b57", 1 << 62, tablets)
    assert StreamOffset.from_json(offset.to_json()) == offset


@pytest.mark.parametrize("value", [{}, {"table": "x"}, {"table": "x", "bound": "soon"}, {"ts": 1}])
def test_what_is_no_offset_is_said(value: dict[str, object]) -> None:
    with pytest.raises(DataError, match="no offset of format 'pykudu'"):
        StreamOffset.from_json(value)


def test_options_of_changes_are_checked() -> None:
    given = {**PLACE, "maxrowspertrigger": "10", "columns": "A, b"}
    options = ChangeOptions.of(given)
    assert (options.location.table, options.columns, options.max_rows) == ("t", ("a", "b"), 10)
    with pytest.raises(InvalidValueError, match="not a number of rows"):
        ChangeOptions.of({**PLACE, "maxrowspertrigger": "0"})
    with pytest.raises(ProgrammingError, match="'asOf' is for the rows"):
        ChangeOptions.of({**PLACE, "asof": "x"})
    with pytest.raises(InvalidValueError, match="not true or false"):
        wants_changes({"readchangefeed": "perhaps"})
