"""SQLAlchemy's own compliance suite over our dialect; test_compliance.py says how it is run."""

import pytest
from sqlalchemy.dialects import registry

for name in ("pykudu", "pykudu.pykudu"):
    registry.register(name, "pykudu_sql.sqlalchemy.dialect", "PykuduDialect")
pytest_plugins = ["excluded"]
pytest.register_assert_rewrite("sqlalchemy.testing.assertions")

from sqlalchemy.testing import provision  # noqa: E402
from sqlalchemy.testing.plugin.pytestplugin import *  # noqa: E402,F403


@provision.temp_table_keyword_args.for_db("pykudu")
def _temporary_tables(cfg: object, engine: object) -> dict[str, list[str]]:
    """None: there are no temporary tables, and no test that wants one is run."""
    return {"prefixes": ["TEMPORARY"]}


@provision.post_configure_engine.for_db("pykudu")
def _make_schemas(url: object, engine: object, follower_ident: object) -> None:
    """Make the schema that the suite works in beside the one without a name."""
    with engine.connect() as connection:
        connection.exec_driver_sql("CREATE DATABASE IF NOT EXISTS test_schema")
