"""Quoted names and texts in every place of a statement never reach the engine as SQL."""

import random

import pytest
from sqlglot import exp

from pykudu_sql.planner.parse import dialect, guards
from pykudu_sql.planner.printing import engine_sql
from pykudu_sql.planner.printing.node_allowlist import TreeTexts
from tests.pykudu_sql.quoting.attack import Judge, attack
from tests.pykudu_sql.quoting.payloads import SETUP, SHAPES, corpus


def test_the_judge_knows_what_is_quoted_and_what_is_called() -> None:
    judge = Judge()
    for raw in (
        "SELECT CURRENT_SETTING('x')", "SELECT 'ä', current_setting('x')", 'SELECT "getenv"(\'x\')',
        "SELECT 1 -- getenv", 'SELECT * FROM "read_text"(\'x\')', "SELECT \"main\".\"getenv\"('x')",
    ):  # fmt: skip
        assert judge.is_raw(raw), raw
    for quoted in ("SELECT 'getenv(1)'", 'SELECT 1 AS "ä getenv(1)"', "SELECT 'it''s getenv'"):
        assert not judge.is_raw(quoted), quoted


def test_no_quoted_text_becomes_sql_in_shapes_of_statements() -> None:
    report = attack([*SETUP, *SHAPES], 25, random.Random(0))
    assert report.raw == []
    assert report.foreign == []
    assert report.reached > report.tried // 20


def test_no_quoted_text_becomes_sql_in_the_scripts() -> None:
    rng = random.Random(7)
    for statements in corpus():
        report = attack(rng.sample(statements, min(len(statements), 25)), 1, rng)
        assert (report.raw, report.foreign) == ([], [])


@pytest.mark.parametrize("line", ["tree", "text"])
def test_each_line_of_defence_holds_alone(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guards, "NORMALIZERS", {})
    monkeypatch.setattr(dialect, "_check_types", lambda tree, tokens: None)
    if line == "tree":
        monkeypatch.setattr(engine_sql, "check_printed", lambda sql, quoted, lexis: None)
    else:
        monkeypatch.setattr(engine_sql, "closed_texts", _texts)
    report = attack([*SETUP, *SHAPES], 25, random.Random(5))
    assert (report.raw, report.foreign) == ([], [])
    assert report.reached


def test_without_any_of_them_quoted_text_becomes_sql(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guards, "NORMALIZERS", {})
    monkeypatch.setattr(engine_sql, "check_printed", lambda sql, quoted, lexis: None)
    monkeypatch.setattr(engine_sql, "closed_texts", _texts)
    assert attack([*SETUP, *SHAPES], 25, random.Random(5)).raw


def _texts(tree: exp.Expr) -> TreeTexts:
    """What a tree has in quotes, whatever else it has."""
    texts = TreeTexts(paths=list(tree.find_all(exp.JSONPath)))
    texts.names |= {node.name for node in tree.find_all(exp.Identifier)}
    texts.strings |= {node.name for node in tree.find_all(exp.Literal, exp.HexString)}
    return texts
