"""Memory that the system does not give: one statement fails, and the engine goes on."""

import subprocess
import sys

STORY = """
import resource
import sys

import pykudu_sql

resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
connection = pykudu_sql.connect(sys.argv[1], memory_limit="200MB")
other = pykudu_sql.connect(sys.argv[1], memory_limit="200MB")
connection.execute("create table t (a int primary key)")
connection.execute("insert into t values (1), (2)")
connection.commit()
for each in (connection, other):
    each.execute("set result_memory_bytes = 1000")
    print(each.execute("select a + 1 from t order by a").fetchall())
begun = other.execute("select i from range(100000) r(i)")
begun.fetchone()
asked = (
    "select reservoir_quantile(range, 0.5, 1000000000) from range(10)",
    "insert into t select reservoir_quantile(range, 0.5, 1000000000) from range(10)",
)
for sql in asked:
    try:
        connection.execute(sql)
    except pykudu_sql.Error as error:
        print(error.sqlstate, error.message)
    for each in (connection, other):
        print(each.execute("select a + 1 from t order by a").fetchall())
try:
    begun.fetchall()
except pykudu_sql.Error as error:
    print(error.sqlstate)
for each in (connection, other):
    print(each.execute("select a + 1 from t order by a").fetchall())
    each.close()
"""


def test_the_statement_after_a_failed_allocation_works(tmp_path: object) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", STORY, f"{tmp_path}/db"], capture_output=True, text=True
    )
    rows = "[(2,), (3,)]"
    lacking = "53200 there is not enough memory for this"
    assert ran.stderr == ""
    answers = ran.stdout.splitlines()
    assert [line for line in answers if line != "53200"] == [
        rows, rows, lacking, rows, rows, lacking, rows, rows, rows, rows
    ]  # fmt: skip
