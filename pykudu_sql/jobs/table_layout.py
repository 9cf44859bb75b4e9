"""What files do not say of the table that is made for them: key and partitions."""

from collections.abc import Mapping, Sequence
from typing import Final

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.parse.lexer import quote_name
from pykudu_sql.storage.errors import UndefinedColumnError


@dataclass(frozen=True, slots=True)
class TableLayout:
    """What the files do not say of a table.

    Attributes:
        primary_key: column names, in key order.
        hashes: the text between HASH and a comma of PARTITION BY, such as `(id) PARTITIONS 4`.
        ranges: the text behind RANGE, such as `(day) (PARTITION VALUES < '2026-01-01')`, or None.
    """

    primary_key: tuple[str, ...]
    hashes: tuple[str, ...] = ()
    ranges: str | None = None

    def create_statement(self, table: str, columns: Mapping[str, str]) -> str:
        """The CREATE TABLE statement for columns of files; the layout has a key.

        `columns`: SQL types by name in lower case. Raises UndefinedColumnError: the key names a
        column that the files do not have.
        """
        key = [name.lower() for name in self.primary_key]
        for name in key:
            if name not in columns:
                raise UndefinedColumnError(
                    f"the files have no column '{name:.80}' for the primary key",
                    hint="their columns are " + ", ".join(columns),
                )
        parts = [
            f"{quote_name(name)} {kind}" + (" NOT NULL" if name in key else "")
            for name, kind in columns.items()
        ]
        parts.append(f"PRIMARY KEY ({', '.join(map(quote_name, key))})")
        levels = [f"HASH {text}" for text in self.hashes]
        if self.ranges is not None:
            levels.append(f"RANGE {self.ranges}")
        partitions = f" PARTITION BY {', '.join(levels)}" if levels else ""
        return f"CREATE TABLE {quoted(table)} ({', '.join(parts)}){partitions}"


NO_LAYOUT: Final = TableLayout(())


def quoted(table: str) -> str:
    """The name of a table, its database before it or not, as SQL has it."""
    return ".".join(map(quote_name, table.split(".")))


def names_of(text: str) -> Sequence[str]:
    """The names in a text with commas between."""
    return tuple(name.strip() for name in text.split(",") if name.strip())
