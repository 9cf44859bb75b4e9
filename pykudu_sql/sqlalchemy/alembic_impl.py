"""What Alembic must know: definitions take effect at once, and a key cannot be updated.

What a model declares and the database leaves out is no difference: foreign keys, unique constraints
and the uniqueness of indexes. Types differ where their columns would.

Loaded by `alembic_plugin`, and by the dialect where Alembic is older than plugins (1.18). Alembic
finds the class by its dialect.
"""

from typing import Any

from alembic.ddl.impl import DefaultImpl
from sqlalchemy import (
    Column,
    ForeignKeyConstraint,
    Index,
    MetaData,
    String,
    Table,
    UniqueConstraint,
    Uuid,
)

from pykudu_sql.sqlalchemy.default_names import UUID, UUID_DIGITS, reflected_function


class PykuduImpl(DefaultImpl):
    """Migrations of our databases."""

    __dialect__ = "pykudu"
    transactional_ddl = False

    def start_migrations(self) -> None:
        """Scripts of `--sql` begin with the setting that connections of the dialect have."""
        if self.as_sql:
            self.static_output("SET implicit_primary_key = true;")

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

    def correct_for_autogen_constraints(
        self,
        conn_uniques: set[UniqueConstraint],
        conn_indexes: set[Index],
        metadata_unique_constraints: set[UniqueConstraint],
        metadata_indexes: set[Index],
    ) -> None:
        """Leave unique constraints out of what is compared."""
        metadata_unique_constraints.clear()

    def correct_for_autogen_foreignkeys(
        self, conn_fks: set[ForeignKeyConstraint], metadata_fks: set[ForeignKeyConstraint]
    ) -> None:
        """Leave foreign keys out of what is compared."""
        metadata_fks.clear()

    def _compare_index_unique(self, metadata_index: Index, reflected_index: Index) -> None:
        """No difference: a skip index is unique in no case."""

    def compare_type(self, inspector_column: "Column[Any]", metadata_column: "Column[Any]") -> bool:
        """Whether the two would be columns of different types."""
        compiled = self.dialect.type_compiler_instance.process
        return compiled(inspector_column.type) != compiled(metadata_column.type)

    def compare_server_default(
        self,
        inspector_column: "Column[Any]",
        metadata_column: "Column[Any]",
        rendered_metadata_default: str | None,
        rendered_inspector_default: str | None,
    ) -> bool:
        """Whether two defaults are different values, however they are written."""
        declared = _value(rendered_metadata_default)
        if declared == UUID and isinstance(metadata_column.type, Uuid):
            declared = UUID_DIGITS
        return declared != _value(rendered_inspector_default)


def _value(default: str | None) -> str | None:
    """What a default's text or literal stands for."""
    if default is None:
        return None
    if default[:1] == default[-1:] == "'":
        return default[1:-1].replace("''", "'")
    if default.lower() in ("true", "false"):
        return default.lower()
    return reflected_function(default) or default
