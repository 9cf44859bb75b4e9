"""Plays mutated statements, and judges what reaches the engine by the engine's own rules."""

import json
import random
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import duckdb

import pykudu_sql
from pykudu_sql import Error
from pykudu_sql.engine.duckdb_engine import DuckDBEngine
from tests.pykudu_sql.quoting.payloads import MARKERS, mutations


@dataclass
class Report:
    """What came of some tries.

    Attributes:
        tried: statements.
        reached: texts that came to the engine.
        raw: statements, and what the engine got of them, with a call that the statement quoted.
        foreign: statements with the errors that are none of ours.
    """

    tried: int = 0
    reached: int = 0
    raw: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)


class Judge:
    """Tells by DuckDB's tokenizer and parser whether a text has a call of a marked function."""

    def __init__(self) -> None:
        """A DuckDB apart from the one that is attacked."""
        self._connection = duckdb.connect()

    def is_raw(self, sql: str) -> bool:
        """Whether a marked function stands outside of quotes, or is called with its name quoted."""
        lower = sql.lower()
        if not any(marker in lower for marker in MARKERS):
            return False
        return any(map(_is_marked, _unquoted(sql))) or self._calls_marked(sql)

    def _calls_marked(self, sql: str) -> bool:
        cursor = self._connection.execute("SELECT json_serialize_sql(?)", [sql])
        row = cursor.fetchone()
        return row is None or any(map(_is_marked, _function_names(json.loads(row[0]))))


def _is_marked(word: str) -> bool:
    return any(marker in word.lower() for marker in MARKERS)


def _unquoted(sql: str) -> Iterator[str]:
    """The tokens of a text that are neither string nor quoted name; the engine counts bytes."""
    data = sql.encode()
    starts = [start for start, _ in duckdb.tokenize(sql)]
    for start, end in zip(starts, [*starts[1:], len(data)], strict=True):
        token = data[start:end].decode("utf-8", "replace")
        if token[:1] not in ("'", '"'):
            yield token


def _function_names(node: object) -> Iterator[str]:
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "function_name" and isinstance(value, str):
                yield value
            yield from _function_names(value)
    elif isinstance(node, list):
        for each in node:
            yield from _function_names(each)


@contextmanager
def texts_of_engine() -> Iterator[list[str]]:
    """The texts that DuckDB is given meanwhile, by whatever way."""
    texts: list[str] = []
    original = DuckDBEngine._statement

    def noted(engine: DuckDBEngine, cursor: Any, sql: str) -> Any:
        texts.append(sql)
        return original(engine, cursor, sql)

    DuckDBEngine._statement = noted  # type: ignore[method-assign]
    try:
        yield texts
    finally:
        DuckDBEngine._statement = original  # type: ignore[method-assign]


def attack(statements: Sequence[str], each: int, rng: random.Random) -> Report:
    """Play statements one after the other, each with so many mutations before it."""
    report, judge = Report(), Judge()
    with texts_of_engine() as texts, pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute("SET statement_timeout = '5s'")
        for statement in statements:
            for sql in (*mutations(statement, each, rng), statement):
                report.tried += 1
                texts.clear()
                _play(connection, sql, report)
                report.reached += len(texts)
                report.raw.extend(f"{sql}\n -> {text}" for text in texts if judge.is_raw(text))
    return report


def _play(connection: pykudu_sql.Connection, sql: str, report: Report) -> None:
    try:
        connection.execute(sql)
    except Error:
        return
    except Exception as error:
        report.foreign.append(f"{sql}\n -> {type(error).__name__}: {error}")


def together(reports: Iterable[Report]) -> Report:
    """One report of several."""
    total = Report()
    for report in reports:
        total.tried += report.tried
        total.reached += report.reached
        total.raw += report.raw
        total.foreign += report.foreign
    return total
