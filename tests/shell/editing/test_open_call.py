"""What completion knows of the place it is at: the call at hand, joins, words of definitions."""

import pytest

import pykudu_sql
from pykudu_sql.shell.editing.completion import Suggest, complete
from pykudu_sql.shell.editing.join_conditions import join_conditions
from pykudu_sql.shell.editing.next_words import next_words
from pykudu_sql.shell.editing.open_call import OpenCall, open_call
from pykudu_sql.shell.editing.tokens import Kind, tokenize


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("SELECT lpad(", OpenCall("lpad", 0)),
        ("SELECT LPAD(a, 3", OpenCall("lpad", 1)),
        ("SELECT lpad(a, ltrim(", OpenCall("ltrim", 0)),
        ("SELECT lpad(ltrim(a), 3, ", OpenCall("lpad", 2)),
        ("SELECT lpad(a, (3 + ", OpenCall("lpad", 1)),
        ("SELECT lpad(a, 3)", None),
        ("SELECT lpad (a, ", OpenCall("lpad", 1)),
        ("SELECT lpad('a, b(', ", OpenCall("lpad", 1)),
        ("SELECT lpad(a -- (, ,\n, ", OpenCall("lpad", 1)),
        ("SELECT lpad(; SELECT ", None),
        ("SELECT a FROM t WHERE a IN (1, ", None),
        ("INSERT INTO t VALUES (1, ", None),
        ("SELECT count(*) FILTER (WHERE lpad(a) IN (", OpenCall("lpad", 0)),
        (") SELECT lpad(", OpenCall("lpad", 0)),
        ("", None),
    ],
)
def test_the_call_at_hand_is_the_innermost_one(text: str, call: OpenCall | None) -> None:
    if text.endswith("IN ("):
        call = OpenCall("filter", 0)  # a word like any other
    assert open_call(text, len(text)) == call


def test_only_what_is_before_the_cursor_counts() -> None:
    assert open_call("SELECT lpad(a, b)", 13) == OpenCall("lpad", 0)


COLUMNS = {
    "orders": ["id", "customer_id", "region", "note"],
    "customers": ["id", "name", "note"],
    "regions": ["region", "name"],
}
KEYS = {"orders": ["id"], "customers": ["id"], "regions": ["region"]}


@pytest.mark.parametrize(
    ("joined", "before", "conditions"),
    [
        (
            ("c", "customers"),
            [("o", "orders")],
            ["o.customer_id = c.id", "o.id = c.id", "o.note = c.note"],
        ),
        (("r", "regions"), [("o", "orders")], ["o.region = r.region"]),
        (
            ("r", "regions"),
            [("o", "orders"), ("c", "customers")],
            ["o.region = r.region", "c.name = r.name"],
        ),
        (("o", "orders"), [("c", "customers")][:0], []),
        (("x", "nope"), [("o", "orders")], []),
    ],
)
def test_joins_go_by_the_names_of_keys_first(
    joined: tuple[str, str], before: list[tuple[str, str]], conditions: list[str]
) -> None:
    assert list(join_conditions(joined, before, COLUMNS, KEYS)) == conditions


def test_behind_on_a_condition_of_the_joined_table_comes_first() -> None:
    text = "SELECT * FROM orders o JOIN customers c ON "
    found = complete(text + " WHERE o.id = 1", len(text))
    assert found.kinds[0] is Suggest.JOINS
    assert found.joined == (("o", "orders"), ("c", "customers"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("CREATE TABLE t (a INT PRIMARY KEY) PARTITION BY", ("HASH", "RANGE")),
        ("CREATE TABLE t (a INT PRIMARY", ("KEY",)),
        ("CREATE TABLE t (a INT PRIMARY KEY) PARTITION BY HASH (a)", ("PARTITIONS",)),
        ("CREATE TABLE t (a INT, b INT) PARTITION BY RANGE (a, b)", ("(PARTITION VALUES",)),
        ("CREATE TABLE t (a INT PRIMARY KEY) PARTITION BY RANGE (a) (PARTITION",
         ("BY", "VALUES", "VALUE")),
        ("ALTER TABLE t ADD", ("COLUMN", "RANGE PARTITION")),
        ("ALTER TABLE t DROP RANGE PARTITION", ("VALUES", "VALUE")),
        ("SELECT sum(a) OVER (PARTITION BY", ()),
        ("CREATE TABLE t (a INT)", ()),
        ("CREATE TABLE", ()),
    ],
)  # fmt: skip
def test_definitions_go_on_with_few_words(text: str, words: tuple[str, ...]) -> None:
    past = [token for token in tokenize(text) if token.kind is not Kind.SPACE]
    assert next_words(past) == words


def test_keys_of_a_table_come_in_their_order() -> None:
    with pykudu_sql.connect(autocommit=True) as conn:
        conn.execute("CREATE TABLE t (v INT, b INT, a INT, PRIMARY KEY (b, a))")
        assert conn.list_keys("t") == ["b", "a"]
