"""Row operations: what each kind does."""

from pykudu_sql.storage.common.rows.row_operation import RowOpKind


def test_kinds_say_whether_they_insert_and_whether_they_skip() -> None:
    assert [k for k in RowOpKind if k.may_insert] == list(RowOpKind)[:4]
    assert [k for k in RowOpKind if k.ignores] == list(RowOpKind)[1::2]
