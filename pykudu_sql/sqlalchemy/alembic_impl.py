"""What Alembic must know: definitions take effect at once, and a key cannot be updated.

Loaded by `alembic_plugin`, and by the dialect where Alembic is older than plugins (1.18). Alembic
finds the class by its dialect.
"""

from typing import Any

from alembic.ddl.impl import DefaultImpl
from sqlalchemy import Column, MetaData, String, Table


class PykuduImpl(DefaultImpl):
    """Migrations of our databases."""

    __dialect__ = "pykudu"
    transactional_ddl = False

    def version_table_impl(
        self,
        *,
        version_table: str,
        version_table_schema: str | None,
        version_table_pk: bool,
        **kw: Any,
    ) -> Table:
        """The table of the version, which Alembic updates in place: without a key of its own."""
        column = Column("version_num", String(32), nullable=False)
        return Table(version_table, MetaData(), column, schema=version_table_schema)
