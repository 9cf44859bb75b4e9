"""What an operation does to a row, by its kind and by whether the key is there."""

import numpy as np
import pytest

from pykudu_sql.storage.common.keys.encoded_keys import EncodedKeys
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.tablet.rowset.locator import Located
from pykudu_sql.storage.tablet.write.keyed_operations import KeyedOperations, misfits


@pytest.mark.parametrize(
    ("kind", "fixed", "refused"),
    [
        (RowOpKind.INSERT, None, [False, True]),
        (RowOpKind.INSERT_IGNORE, None, [False, False]),
        (RowOpKind.UPSERT, None, [False, False]),
        (RowOpKind.UPSERT, "a", [False, True]),
        (RowOpKind.UPDATE, None, [True, False]),
        (RowOpKind.UPDATE, "a", [True, True]),
        (RowOpKind.UPDATE_IGNORE, None, [False, False]),
        (RowOpKind.DELETE, None, [True, False]),
        (RowOpKind.DELETE_IGNORE, None, [False, False]),
    ],
)
def test_an_operation_is_refused_where_the_row_is_not_as_it_needs(
    kind: RowOpKind, fixed: str | None, refused: list[bool]
) -> None:
    keys = EncodedKeys.from_bytes([b"\0\0\0\1", b"\0\0\0\2"], 4)
    batch = KeyedOperations(RowOperations(kind, {}, 2), keys, (1,), fixed)
    located = Located((), np.zeros(2, np.int32), np.arange(2), np.array([False, True]))
    assert misfits(batch, located).tolist() == refused
