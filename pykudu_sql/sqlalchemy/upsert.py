"""UPSERT as a construct: `upsert(table).values(...)`, in every form that `insert` has."""

from typing import Any

from sqlalchemy.sql.dml import Insert


class Upsert(Insert):
    """An INSERT that changes the columns it names where the key is there already."""

    inherit_cache = True


def upsert(table: Any) -> Upsert:
    """An UPSERT into a table."""
    return Upsert(table)
