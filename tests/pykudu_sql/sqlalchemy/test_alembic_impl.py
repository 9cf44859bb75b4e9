"""Alembic's offline mode: a script that makes and keeps its table of the version."""

import io
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy", reason="pip install 'pykudu-sql[sqlalchemy]'")
pytest.importorskip("alembic", reason="pip install alembic")

from alembic import command
from alembic.config import Config

import pykudu_sql
from pykudu_sql.sqlalchemy.alembic_impl import PykuduImpl

_ENV = """
from alembic import context

context.configure(dialect_name="pykudu")
with context.begin_transaction():
    context.run_migrations()
"""
_STEP = """
import sqlalchemy as sa
from alembic import op

revision, down_revision = "{name}", {before}


def upgrade():
    op.create_table("{name}", sa.Column("n", sa.Integer))
"""


def test_a_script_of_offline_mode_runs(tmp_path: Path) -> None:
    assert PykuduImpl.__dialect__ == "pykudu"
    (tmp_path / "versions").mkdir()
    (tmp_path / "env.py").write_text(_ENV)
    for name, before in (("one", None), ("two", "one")):
        text = _STEP.format(name=name, before=repr(before))
        (tmp_path / "versions" / f"{name}.py").write_text(text)
    script = io.StringIO()
    config = Config(output_buffer=script)
    config.set_main_option("script_location", str(tmp_path))
    config.set_main_option("path_separator", "os")
    command.upgrade(config, "head", sql=True)
    with pykudu_sql.connect(":memory:") as connection:
        connection.executescript(script.getvalue())
        version = connection.execute("SELECT version_num FROM alembic_version").fetchall()
        assert version == [("two",)]
        assert connection.execute("SELECT count(*) FROM one").fetchall() == [(0,)]
