"""The plain model that a script of operations is held against.

Rows are dictionaries by column name, tables dictionaries by key; nothing is shared between moments.
A transaction keeps the rows it sees and the keys it touched, so the model knows which commit must
be refused: first committer wins.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pykudu_sql.storage.common.rows.row_operation import RowOpKind

Row = dict[str, Any]
Rows = dict[int, Row]


class Refused(Exception):
    """The model says that an operation fails for one of its rows."""


@dataclass
class Effect:
    """What a statement does.

    Attributes:
        rows: the table afterwards.
        touched: keys of rows that were inserted, updated or deleted.
    """

    rows: Rows
    touched: set[int]


def effect(rows: Rows, columns: Mapping[str, Any], kind: RowOpKind, batch: list[Row]) -> Effect:
    """A statement on rows by key column `k`.

    Args:
        rows: before; left as they are.
        columns: write defaults of the other columns by name.
        kind: what to do.
        batch: rows of distinct keys, each with its key and the cells set.

    Raises:
        Refused: it does nothing at all.
    """
    after = {key: dict(row) for key, row in rows.items()}
    touched: set[int] = set()
    for given in batch:
        key = given["k"]
        present = key in after
        cells = {name: cell for name, cell in given.items() if name != "k"}
        if kind is RowOpKind.INSERT and present:
            raise Refused(f"{key} is there")
        if kind in (RowOpKind.UPDATE, RowOpKind.DELETE) and not present:
            raise Refused(f"{key} is not there")
        if kind in (RowOpKind.DELETE, RowOpKind.DELETE_IGNORE):
            if present:
                touched.add(key)
                del after[key]
        elif present and kind is not RowOpKind.INSERT_IGNORE:
            if cells:
                touched.add(key)
                after[key].update(cells)
        elif not present and kind.may_insert:
            touched.add(key)
            after[key] = {**columns, **cells}
    return Effect(after, touched)


@dataclass
class Commit:
    """One commit: the bound just above it, the rows then, and the keys it touched."""

    bound: int
    rows: Rows
    touched: set[int]


@dataclass
class OpenTransaction:
    """A transaction of the model.

    Attributes:
        rows: as it sees them.
        begun_at: how many commits it sees.
        given: keys of all its operations.
        altered: whether the table was altered since it began.
    """

    rows: Rows
    begun_at: int
    given: set[int] = field(default_factory=set)
    altered: bool = False


@dataclass
class Model:
    """A table and its past.

    Attributes:
        rows: now.
        columns: write defaults by name, of the table now.
        commits: oldest first.
    """

    rows: Rows = field(default_factory=dict)
    columns: dict[str, Any] = field(default_factory=dict)
    commits: list[Commit] = field(default_factory=list)

    def note(self, bound: int, rows: Rows, touched: set[int]) -> None:
        """Take a commit into account."""
        self.rows = rows
        self.commits.append(Commit(bound, {k: dict(r) for k, r in rows.items()}, touched))

    def touched_since(self, begun_at: int) -> set[int]:
        """Keys that commits after the first `begun_at` touched."""
        return set().union(*(commit.touched for commit in self.commits[begun_at:]))
