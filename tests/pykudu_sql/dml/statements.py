"""Random statements that change rows, as ours and as SQLite takes them.

They are about two tables of small domains, so that keys meet, go and come again:

    t (a, b, c, s, ..)   key (a, b); columns may be added behind these
    u (k, x, y)          key k
"""

from dataclasses import dataclass
from random import Random

_BATCHES = (1, 3, 40)
_MERGED = (
    "CREATE TEMP TABLE m AS SELECT u.*, t.a IS NOT NULL AS hit, ({0}) AS gone"
    " FROM u LEFT JOIN t ON t.a = u.k AND t.b = 3",
    "DELETE FROM t WHERE b = 3 AND a IN (SELECT k FROM m WHERE hit AND gone)",
    "UPDATE t SET c = (SELECT x FROM m WHERE m.k = t.a)"
    " WHERE b = 3 AND a IN (SELECT k FROM m WHERE hit AND gone IS NOT 1)",
    "INSERT INTO t (a, b, c, s) SELECT k, 3, x, y FROM m WHERE NOT hit",
    "DROP TABLE m",
)
_SYNCHRONIZED = (
    "CREATE TEMP TABLE m AS SELECT t.a, t.b, s.x"
    " FROM t JOIN (SELECT * FROM u WHERE x > 2) s ON t.a = s.k WHERE {0}",
    "DELETE FROM t WHERE b = 7 AND a NOT IN (SELECT k FROM u WHERE x > 2)",
    "UPDATE t SET c = m.x FROM m WHERE m.a = t.a AND m.b = t.b",
    "DROP TABLE m",
)


@dataclass(frozen=True, slots=True)
class Statement:
    """One change.

    Attributes:
        ours: its text.
        theirs: what SQLite runs in its place.
        is_counted: whether both sides count the same rows as changed.
        returns_rows: whether it has RETURNING.
    """

    ours: str
    theirs: tuple[str, ...]
    is_counted: bool = False
    returns_rows: bool = False


class Statements:
    """Draws statements."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def statement(self) -> Statement:
        """Any of them."""
        kinds = (
            self._insert, self._insert, self._ignore, self._upsert, self.update, self.update,
            self._delete, self._merge, self._synchronize, self._on_conflict, self._on_conflict_some,
            self._update_from, self._insert_select, self._other_table, self._returning,
        )  # fmt: skip
        return self._random.choice(kinds)()

    def sure(self) -> Statement:
        """One that neither side refuses, whatever the rows are."""
        return self._random.choice((self.update, self._delete, self._on_conflict))()

    def update(self) -> Statement:
        """An UPDATE of rows by a condition."""
        more = self._random.choice(("", f", s = {self._word()}"))
        return _alike(f"UPDATE t SET c = {self._expression()}{more} WHERE {self._condition()}")

    def _insert(self) -> Statement:
        return _alike(f"INSERT INTO t (a, b, c, s) VALUES {self._rows()}")

    def _ignore(self) -> Statement:
        return _alike(f"INSERT INTO t (a, b, c, s) VALUES {self._rows()} ON CONFLICT DO NOTHING")

    def _upsert(self) -> Statement:
        into = f"INTO t (a, b, c, s) VALUES {self._rows()}"
        action = " ON CONFLICT (a, b) DO UPDATE SET c = excluded.c, s = excluded.s"
        return Statement(f"UPSERT {into}", (f"INSERT {into}{action}",))

    def _delete(self) -> Statement:
        return _alike(f"DELETE FROM t WHERE {self._condition()} AND {self._condition()}")

    def _merge(self) -> Statement:
        condition = self._condition()
        ours = (
            f"MERGE INTO t USING u ON t.a = u.k AND t.b = 3 WHEN MATCHED AND {condition} THEN"
            " DELETE WHEN MATCHED THEN UPDATE SET c = u.x"
            " WHEN NOT MATCHED THEN INSERT (a, b, c, s) VALUES (u.k, 3, u.x, u.y)"
        )
        return Statement(ours, tuple(text.format(condition) for text in _MERGED))

    def _synchronize(self) -> Statement:
        condition = self._condition()
        ours = (
            "MERGE INTO t USING (SELECT * FROM u WHERE x > 2) s ON t.a = s.k"
            f" WHEN MATCHED AND {condition} THEN UPDATE SET c = s.x"
            " WHEN NOT MATCHED BY SOURCE AND t.b = 7 THEN DELETE"
        )
        return Statement(ours, tuple(text.format(condition) for text in _SYNCHRONIZED))

    def _on_conflict(self) -> Statement:
        return _alike(
            f"INSERT INTO t (a, b, c, s) VALUES {self._rows()} ON CONFLICT (a, b) DO UPDATE"
            " SET c = coalesce(t.c, 0) + coalesce(excluded.c, 1), s = excluded.s"
        )

    def _on_conflict_some(self) -> Statement:
        return _alike(
            f"INSERT INTO t (a, b, c, s) VALUES {self._rows()} ON CONFLICT (a, b) DO UPDATE"
            f" SET c = excluded.c WHERE {self._condition()}"
        )

    def _update_from(self) -> Statement:
        return _alike(
            f"UPDATE t SET c = u.x, s = u.y FROM u WHERE u.k = t.a AND {self._condition()}"
        )

    def _insert_select(self) -> Statement:
        column = self._random.randint(0, 19)
        return _alike(
            f"INSERT INTO t (a, b, c, s) SELECT k, {column}, x, y FROM u WHERE true"
            " ON CONFLICT DO NOTHING"
        )

    def _other_table(self) -> Statement:
        into = f"INTO u VALUES ({self._key()}, {self._number()}, {self._word()})"
        return Statement(f"UPSERT {into}", (f"INSERT OR REPLACE {into}",))

    def _returning(self) -> Statement:
        change = self.update().ours
        text = f"{change} RETURNING a, b, c, s"
        return Statement(text, (text,), returns_rows=True)

    def _rows(self) -> str:
        count = self._random.choice(_BATCHES)
        keys = {(self._key(), self._random.randint(0, 19)): None for _ in range(count)}
        return ", ".join(f"({a}, {b}, {self._number()}, {self._word()})" for a, b in keys)

    def _key(self) -> int:
        return self._random.randint(0, 15)

    def _number(self) -> str:
        return self._random.choice(("NULL", *map(str, range(6))))

    def _word(self) -> str:
        return self._random.choice(("NULL", "'a'", "'bb'", "'ccc'"))

    def _condition(self) -> str:
        key, other = self._key(), self._key()
        return self._random.choice((
            f"t.a = {key}", f"t.b < {key}", "t.c IS NULL", "t.s LIKE 'b%'", "t.a % 3 = 1",
            f"t.c IN ({self._number()}, {self._number()})", f"(t.a, t.b) > ({key}, {other})",
            "t.c BETWEEN 2 AND 6", "NOT (t.s = 'a')", f"(t.a = {key} AND t.b = {other})",
            "t.a IN (SELECT k FROM u WHERE x > 3)",
            "EXISTS (SELECT 1 FROM u WHERE u.k = t.b AND u.y = t.s)",
        ))  # fmt: skip

    def _expression(self) -> str:
        return self._random.choice((
            "c + 1", self._number(), "a * 2 - b", "coalesce(c, 5)", "length(s)",
            "CASE WHEN s = 'a' THEN 1 ELSE c END", "(SELECT max(x) FROM u WHERE u.k = t.a)",
        ))  # fmt: skip


def _alike(text: str) -> Statement:
    return Statement(text, (text,), is_counted=True)
