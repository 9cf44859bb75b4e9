"""Names and comments have a length in bytes, not in characters."""

import pytest

from pykudu_sql.storage.common.types.identifiers import check_comment, check_identifier
from pykudu_sql.storage.errors import InvalidSchemaError


@pytest.mark.parametrize("name", ["a", "é" * 128, " "])
def test_a_name_of_up_to_256_bytes_is_one(name: str) -> None:
    check_identifier(name, "table")


@pytest.mark.parametrize("name", ["", "é" * 129, "a\0b", "\ud800"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(InvalidSchemaError, match="table name"):
        check_identifier(name, "table")


def test_a_comment_has_up_to_256_bytes() -> None:
    check_comment("é" * 128, "table 't'")
    with pytest.raises(InvalidSchemaError, match="comment of table 't'"):
        check_comment("é" * 128 + "e", "table 't'")
