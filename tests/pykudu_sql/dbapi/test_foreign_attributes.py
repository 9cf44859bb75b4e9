"""Attributes of sqlite3 that would do nothing are refused when they are set."""

import sqlite3
from typing import Any

import pytest

import pykudu_sql
from pykudu_sql.dbapi.foreign_attributes import ForeignAttribute


@pytest.mark.parametrize(
    ("name", "value", "hint"),
    [
        ("row_factory", sqlite3.Row, "fetch_dicts"),
        ("text_factory", bytes, "BINARY"),
        ("isolation_level", None, "autocommit"),
    ],
)
def test_what_would_do_nothing_is_refused(name: str, value: object, hint: str) -> None:
    with pykudu_sql.connect(":memory:") as connection:
        cursor: Any = connection.cursor()
        owners = [connection, cursor] if name == "row_factory" else [connection]
        for owner in owners:
            with pytest.raises(pykudu_sql.NotSupportedError, match=name) as refused:
                setattr(owner, name, value)
            assert hint in (refused.value.hint or "")
            assert not hasattr(owner, name)
            with pytest.raises(AttributeError, match=hint):
                getattr(owner, name)


def test_other_attributes_are_the_programs() -> None:
    class Owner:
        foreign = ForeignAttribute("write another")

    owner: Any = Owner()
    owner.own = 1
    assert owner.own == 1 and not hasattr(owner, "foreign")
