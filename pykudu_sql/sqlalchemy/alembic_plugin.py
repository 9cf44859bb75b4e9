"""The plugin that Alembic loads when it is imported: our entry point `alembic.plugins`."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from alembic.runtime.plugins import Plugin


def setup(plugin: "Plugin") -> None:
    """Make migrations of our databases known to Alembic, also behind the first engine.

    `plugin`: what Alembic registers, which has nothing of its own.
    """
    import_module("pykudu_sql.sqlalchemy.alembic_impl")
