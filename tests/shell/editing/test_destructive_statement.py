"""Statements that take much away: which they are, and what the prompt does about them."""

import pytest

from pykudu_sql.shell.editing.destructive_statement import destructive_statement
from tests.shell.terminal import CTRL_C, Terminal, prompts, times


@pytest.mark.parametrize(
    ("sql", "effect", "undo"),
    [
        ("DELETE FROM t", "DELETE without WHERE removes all rows of t", "RESTORE TABLE t TO 7"),
        ("delete from d.\"T x\";", "DELETE without WHERE removes all rows of d.\"T x\"",
         "RESTORE TABLE d.\"T x\" TO 7"),
        ("UPDATE t SET a = (SELECT max(a) FROM u WHERE b = 1)",
         "UPDATE without WHERE changes all rows of t", "RESTORE TABLE t TO 7"),
        ("WITH x AS (SELECT 1 WHERE true) DELETE FROM t",
         "DELETE without WHERE removes all rows of t", "RESTORE TABLE t TO 7"),
        ("TRUNCATE TABLE t", "TRUNCATE removes all rows of t", "RESTORE TABLE t TO 7"),
        ("DROP TABLE IF EXISTS t", "DROP TABLE takes t away", "UNDROP TABLE t"),
        ("DROP VIEW v", "DROP VIEW takes v away", ""),
        ("CREATE OR REPLACE TABLE t AS SELECT 1",
         "CREATE OR REPLACE TABLE takes the rows of a table t away", "UNDROP TABLE t AS .."),
        ("ALTER TABLE d.t ADD COLUMN b INT, DROP COLUMN IF EXISTS a",
         "DROP COLUMN takes a of d.t away", "CREATE TABLE .. AS SELECT * FROM d.t AS OF 7"),
        ("ALTER TABLE t DROP RANGE PARTITION VALUES < 10",
         "DROP PARTITION takes rows of t away", "CREATE TABLE .. AS SELECT * FROM t AS OF 7"),
    ],
)  # fmt: skip
def test_what_takes_much_away_is_asked_about(sql: str, effect: str, undo: str) -> None:
    found = destructive_statement(sql)
    assert found is not None and found.effect == effect
    back = f"{effect}. {undo} brings it back." if undo else f"{effect}. Nothing brings it back."
    assert found.question(7, in_transaction=False) == back
    is_of_rows = sql.split()[0].upper() in {"DELETE", "UPDATE", "TRUNCATE", "WITH"}
    within = f"{effect}. ROLLBACK brings it back." if is_of_rows else back
    assert found.question(7, in_transaction=True) == within


@pytest.mark.parametrize(
    "sql",
    [
        "", "SELECT 1", "DELETE FROM t WHERE id = 1", "UPDATE t SET a = 1 WHERE b",
        "EXPLAIN DELETE FROM t", "INSERT INTO t VALUES (1) ON CONFLICT DO UPDATE SET a = 1",
        "WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x ON CONFLICT DO UPDATE SET a = 1",
        "WITH x AS (SELECT 1) DELETE FROM t WHERE a IN (SELECT * FROM x)",
        "ALTER TABLE t ALTER COLUMN a DROP DEFAULT", "ALTER TABLE t DROP CONSTRAINT c",
        "CREATE OR REPLACE VIEW v AS SELECT 1", "ALTER TABLE",
        "SELECT 'DROP TABLE t'", "ALTER TABLE t ADD COLUMN b INT", "/* DELETE FROM t */ SELECT 1",
    ],
)  # fmt: skip
def test_what_is_harmless_is_not(sql: str) -> None:
    assert destructive_statement(sql) is None


def test_the_prompt_asks_and_runs_nothing_unless_the_answer_is_yes(terminal: Terminal) -> None:
    terminal.line("CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1), (2);")
    terminal.wait(prompts(2))
    for number, answer in enumerate(("n\r", CTRL_C, "\r"), start=1):
        terminal.line("INSERT INTO t VALUES (3); DELETE FROM t;")
        terminal.wait(times(number, "Go on?"))
        terminal.type(answer)
        terminal.wait(times(number, "Nothing was run."))
        terminal.wait(prompts(2 + number))
    terminal.line("SELECT count(*) AS kept FROM t;")
    terminal.wait("│      2 │")
    terminal.line("DROP TABLE t;")
    terminal.wait("DROP TABLE takes t away. UNDROP TABLE t brings it back.")
    terminal.line("y")
    terminal.wait("Table has been dropped")


def test_the_way_back_that_is_named_leads_back(terminal: Terminal) -> None:
    terminal.line("CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1), (2);")
    terminal.wait(prompts(2))
    terminal.line("DELETE FROM t;")
    shown = terminal.answer("Go on?", prompt="never asks)").replace("\n", "")
    way = shown[shown.index("RESTORE TABLE t TO ") :].partition(" brings")[0]
    terminal.line("y")
    terminal.wait("Deleted 2 row(s)")
    terminal.line(f"{way};")
    terminal.wait("has been restored")
    terminal.line("SELECT count(*) AS kept FROM t;")
    terminal.wait("│      2 │")


def test_in_a_transaction_rollback_is_the_way_back(terminal: Terminal) -> None:
    terminal.line("CREATE TABLE t (id INT PRIMARY KEY); BEGIN;")
    terminal.wait("my.db*>")
    terminal.line("DELETE FROM t;")
    terminal.wait("ROLLBACK brings it back.")
    terminal.type("n\r")
    terminal.wait("Nothing was run.")


def test_lines_pasted_at_a_question_do_not_run_without_their_first(terminal: Terminal) -> None:
    terminal.line("CREATE TABLE t (id INT PRIMARY KEY);")
    terminal.wait(prompts(2))
    terminal.line("DROP TABLE t;")
    terminal.wait("never asks)")
    terminal.type("SELECT 1\rAS n; SELECT 2 AS m;\r")
    terminal.wait("Nothing was run.")
    terminal.line("SELECT 3 AS last_one;")
    screen = terminal.answer("last_one │")
    assert "ERROR" not in screen and "│   m │" not in screen


def test_who_wants_no_questions_is_not_asked(terminal: Terminal) -> None:
    terminal.line("CREATE TABLE t (id INT PRIMARY KEY);")
    terminal.wait(prompts(2))
    terminal.line(".guard off")
    terminal.wait(prompts(3))
    terminal.line("DROP TABLE t;")
    assert "Go on?" not in terminal.answer("Table has been dropped")


def test_a_statement_that_cannot_run_asks_nothing(terminal: Terminal) -> None:
    terminal.line("CREATE TABLE t (id INT PRIMARY KEY, v INT); SET as_of = 'now';")
    terminal.wait("as of")
    terminal.line("DELETE FROM t;")
    terminal.wait("cannot write")
    terminal.line("UPDATE t SET v = 1;")
    terminal.wait(lambda shown: shown.count("cannot write") == 2)
    terminal.line(".asof off")
    terminal.wait("my.db>")
    terminal.line("DROP TABLE nothing;")
    screen = terminal.answer("table 'nothing' does not exist")
    assert "Go on?" not in screen
    terminal.line("ALTER TABLE t DROP id;")
    screen = terminal.answer("cannot drop primary key column")
    assert "Go on?" not in screen
    terminal.line("SET as_of = DEFAULT; DELETE FROM t;")
    terminal.wait("Go on?")
    terminal.type("y\r")
    terminal.wait("Deleted 0 row(s)")
    terminal.line(".param x 1")
    terminal.line("UPDATE t SET v = :x;")
    terminal.wait("UPDATE without WHERE changes all rows of t.")
