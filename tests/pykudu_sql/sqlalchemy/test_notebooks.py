"""JupySQL and Streamlit over the dialect, by its URL alone.

Each runs in a process of its own: IPython and Streamlit leave their marks on one.
"""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import pykudu_sql

pytest.importorskip("sqlalchemy", reason="pip install 'pykudu-sql[sqlalchemy]'")

_REGISTER = """
from sqlalchemy.dialects import registry
for name in ("pykudu", "pykudu.pykudu"):
    registry.register(name, "pykudu_sql.sqlalchemy.dialect", "PykuduDialect")
"""

_JUPYSQL = """
import warnings
warnings.simplefilter("ignore")
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "sql")
run = lambda text: shell.run_cell_magic("sql", "", text)
shell.run_line_magic("sql", "pykudu:///my.db")
assert list(shell.run_line_magic("sql", "SELECT count(*) FROM metrics")) == [(2,)]
run("INSERT INTO metrics VALUES ('c', 0.9, 3.30)")
shell.push({"least": 0.5})
busy = run("SELECT host FROM metrics WHERE load > {{least}} ORDER BY host")
assert list(busy) == [("a",), ("c",)]
assert [str(n) for n in run("SELECT price FROM metrics ORDER BY host").DataFrame().price] == [
    "1.10", "2.20", "3.30"
]
shell.run_cell_magic("sql", "--save busy", "SELECT * FROM metrics WHERE load > 0.5")
assert list(shell.run_cell_magic("sql", "--with busy", "SELECT count(*) FROM busy")) == [(2,)]
assert "metrics" in str(shell.run_line_magic("sqlcmd", "tables"))
assert "DECIMAL(9, 2)" in str(shell.run_line_magic("sqlcmd", "columns --table metrics"))
shell.run_line_magic("sql", "--close pykudu:///my.db")
"""

_STREAMLIT_PAGE = """
import streamlit as st
from sqlalchemy import text
conn = st.connection("metrics", type="sql", url="pykudu:///my.db")
query = "SELECT host, load FROM metrics WHERE load > :least"
st.dataframe(conn.query(query, params={"least": 0.5}, ttl=0))
with conn.session as session:
    session.execute(text("UPSERT INTO metrics VALUES ('z', 0.95, 9.99)"))
    session.commit()
st.write(int(conn.query("SELECT count(*) AS n FROM metrics", ttl=0)["n"][0]))
"""

_STREAMLIT = """
from streamlit.testing.v1 import AppTest
for rows in (1, 2):
    page = AppTest.from_file("page.py").run(timeout=120)
    assert not page.exception, page.exception
    assert len(page.dataframe[0].value) == rows
    assert page.markdown[0].value == "`3`"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with pykudu_sql.connect(tmp_path / "my.db", autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE metrics (host STRING PRIMARY KEY, load DOUBLE, price DECIMAL(9, 2))"
        )
        connection.execute("INSERT INTO metrics VALUES ('a', 0.7, 1.10), ('b', 0.2, 2.20)")
    (tmp_path / "page.py").write_text(_STREAMLIT_PAGE)
    return tmp_path


def needs(*modules: str) -> pytest.MarkDecorator:
    """Skips a test, and says what to install, where a library is missing."""
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    packages = {"sql": "jupysql", "IPython": "ipython"}
    wanted = " ".join(packages.get(name, name) for name in missing)
    return pytest.mark.skipif(bool(missing), reason=f"pip install {wanted}")


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(_JUPYSQL, id="jupysql", marks=needs("sql", "IPython")),
        pytest.param(_STREAMLIT, id="streamlit", marks=needs("streamlit")),
    ],
)
def test_a_library_reads_and_writes_by_the_url_alone(folder: Path, program: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _REGISTER + program],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
