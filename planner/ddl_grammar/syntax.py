"""Syntax nodes of our own grammar: DDL before names and values are looked up.

Each node prints itself back as the SQL it was parsed from, up to spaces and spelling of keywords.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from pykudu_sql.planner.parse.lexer import quote_string
from pykudu_sql.storage.common.quoted_name import quoted_full_name, quoted_name
from pykudu_sql.storage.errors import SourceSpan


@dataclass(frozen=True, slots=True)
class Expression:
    """A constant expression, not parsed yet.

    `text`: as written; `start`: its offset in the statement.
    """

    text: str
    start: int

    @property
    def span(self) -> SourceSpan:
        """Where it stands in the statement."""
        return SourceSpan(self.start, len(self.text))

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class ColumnDefinition:
    """`name TYPE attributes...`; an attribute that was not written is None."""

    name: str
    type: str
    start: int
    nullable: bool | None = None
    primary_key: bool = False
    unique_key: bool = True
    encoding: str | None = None
    compression: str | None = None
    block_size: int | None = None
    default: Expression | None = None
    comment: str | None = None
    immutable: bool = False

    def __str__(self) -> str:
        parts = [quoted_name(self.name), self.type]
        if self.primary_key:
            parts.append("PRIMARY KEY" if self.unique_key else "NON UNIQUE PRIMARY KEY")
        if self.nullable is not None:
            parts.append("NULL" if self.nullable else "NOT NULL")
        if self.immutable:
            parts.append("IMMUTABLE")
        if self.encoding is not None:
            parts.append(f"ENCODING {self.encoding}")
        if self.compression is not None:
            parts.append(f"COMPRESSION {self.compression}")
        if self.default is not None:
            parts.append(f"DEFAULT {self.default}")
        if self.block_size is not None:
            parts.append(f"BLOCK_SIZE {self.block_size}")
        if self.comment is not None:
            parts.append(f"COMMENT {quote_string(self.comment)}")
        return " ".join(parts)


@dataclass(frozen=True, slots=True)
class KeyClause:
    """`[NON UNIQUE] PRIMARY KEY (columns)`."""

    columns: tuple[str, ...]
    unique: bool
    start: int

    def __str__(self) -> str:
        prefix = "" if self.unique else "NON UNIQUE "
        return f"{prefix}PRIMARY KEY ({_named(self.columns)})"


@dataclass(frozen=True, slots=True)
class HashClause:
    """`HASH (columns) PARTITIONS n`; no columns mean the whole key."""

    columns: tuple[str, ...]
    buckets: int
    start: int

    def __str__(self) -> str:
        columns = f" ({_named(self.columns)})" if self.columns else ""
        return f"HASH{columns} PARTITIONS {self.buckets}"


@dataclass(frozen=True, slots=True)
class BoundClause:
    """One end of a range: its values, one for each range column."""

    values: tuple[Expression, ...]
    inclusive: bool

    def __str__(self) -> str:
        texts = ", ".join(str(value) for value in self.values)
        return texts if len(self.values) == 1 else f"({texts})"


@dataclass(frozen=True, slots=True)
class RangeClause:
    """`PARTITION lower <= VALUES < upper [HASH ...]` or `PARTITION VALUE = v`.

    A single value is a range whose two bounds are equal and inclusive.
    """

    lower: BoundClause | None
    upper: BoundClause | None
    hashes: tuple[HashClause, ...]
    start: int

    def __str__(self) -> str:
        return " ".join(["PARTITION", self.bounds(), *map(str, self.hashes)])

    def bounds(self) -> str:
        """The range alone: `10 <= VALUES < 20`."""
        if self.lower is not None and self.lower == self.upper and self.lower.inclusive:
            return f"VALUE = {self.lower}"
        if self.lower is None and self.upper is None:
            return "UNBOUNDED"
        left = right = ""
        if self.lower is not None:
            left = f"{self.lower} {'<=' if self.lower.inclusive else '<'} "
        if self.upper is not None:
            right = f" {'<=' if self.upper.inclusive else '<'} {self.upper}"
        return f"{left}VALUES{right}"


@dataclass(frozen=True, slots=True)
class SplitRow:
    """One row of `SPLIT ROWS`: a value for each range column."""

    values: tuple[Expression, ...]
    start: int

    def __str__(self) -> str:
        return f"({_listed(self.values)})"


@dataclass(frozen=True, slots=True)
class PartitionClause:
    """`PARTITION BY` with its dimensions; no range columns with ranges mean the whole key.

    `splits`: rows at which the ranges are cut.
    """

    hashes: tuple[HashClause, ...] = ()
    range_columns: tuple[str, ...] | None = None
    ranges: tuple[RangeClause, ...] | None = None
    start: int = 0
    splits: tuple[SplitRow, ...] = ()

    def __str__(self) -> str:
        parts = [str(clause) for clause in self.hashes]
        if self.range_columns is not None:
            columns = f" ({_named(self.range_columns)})" if self.range_columns else ""
            listed = "" if self.ranges is None else f" ({_listed(self.ranges)})"
            splits = f" SPLIT ROWS ({_listed(self.splits)})" if self.splits else ""
            parts.append(f"RANGE{columns}{listed}{splits}")
        return f"PARTITION BY {', '.join(parts)}"


@dataclass(frozen=True, slots=True)
class CreateTableSyntax:
    """A CREATE TABLE statement.

    Attributes:
        replaces: whether a table of the name is dropped for it.
        like: the table whose definition is copied, or None.
        query_start, query_end: offsets of the query behind AS, or None.
        with_data: whether the query's rows go in.
        column_names: those of the query's columns, if they are given.
    """

    name: str
    start: int
    if_not_exists: bool = False
    columns: tuple[ColumnDefinition, ...] = ()
    key: KeyClause | None = None
    partitions: PartitionClause | None = None
    comment: str = ""
    like: str | None = None
    query_start: int | None = None
    query_end: int | None = None
    with_data: bool = True
    column_names: tuple[str, ...] = ()
    properties: tuple[tuple[str, str], ...] = ()
    replaces: bool = False

    def __str__(self) -> str:
        head = "CREATE OR REPLACE TABLE " if self.replaces else "CREATE TABLE "
        head += "IF NOT EXISTS " if self.if_not_exists else ""
        head += quoted_full_name(self.name)
        parts = [head]
        if self.like is not None:
            parts.append(f"LIKE {quoted_full_name(self.like)}")
        if self.columns:
            key = [] if self.key is None else [self.key]
            parts.append(f"({_listed([*self.columns, *key])})")
        elif self.key is not None:
            parts.append(str(self.key))
        if self.partitions is not None:
            parts.append(str(self.partitions))
        if self.comment:
            parts.append(f"COMMENT {quote_string(self.comment)}")
        if self.properties:
            parts.append(f"TBLPROPERTIES ({property_list(self.properties)})")
        return " ".join(parts)


@dataclass(frozen=True, slots=True)
class AddColumnsSyntax:
    """`ADD COLUMNS (definitions)`."""

    columns: tuple[ColumnDefinition, ...]
    if_not_exists: bool = False

    def __str__(self) -> str:
        exists = "IF NOT EXISTS " if self.if_not_exists else ""
        return f"ADD {exists}COLUMNS ({_listed(self.columns)})"


@dataclass(frozen=True, slots=True)
class DropColumnSyntax:
    """`DROP COLUMN name`."""

    name: str
    if_exists: bool = False

    def __str__(self) -> str:
        return f"DROP COLUMN {'IF EXISTS ' if self.if_exists else ''}{quoted_name(self.name)}"


@dataclass(frozen=True, slots=True)
class RenameColumnSyntax:
    """`RENAME COLUMN a TO b`, or `CHANGE a b TYPE` where the type must be the column's own."""

    name: str
    new_name: str
    type: str | None = None

    def __str__(self) -> str:
        old, new = quoted_name(self.name), quoted_name(self.new_name)
        if self.type is None:
            return f"RENAME COLUMN {old} TO {new}"
        return f"CHANGE {old} {new} {self.type}"


@dataclass(frozen=True, slots=True)
class AlterColumnSyntax:
    """`ALTER COLUMN name SET attribute value`, `DROP DEFAULT`: one attribute is set or dropped."""

    name: str
    encoding: str | None = None
    compression: str | None = None
    block_size: int | None = None
    comment: str | None = None
    default: Expression | None = None
    drop_default: bool = False
    immutable: bool | None = None

    def __str__(self) -> str:
        name = quoted_name(self.name)
        if self.immutable is not None:
            return f"ALTER COLUMN {name} {'SET' if self.immutable else 'DROP'} IMMUTABLE"
        attributes = (
            ("ENCODING", self.encoding),
            ("COMPRESSION", self.compression),
            ("BLOCK_SIZE", self.block_size),
            ("COMMENT", None if self.comment is None else quote_string(self.comment)),
            ("DEFAULT", self.default),
        )
        changes = [f"SET {word} {value}" for word, value in attributes if value is not None]
        return f"ALTER COLUMN {name} {' '.join(changes) or 'DROP DEFAULT'}"


@dataclass(frozen=True, slots=True)
class AddRangeSyntax:
    """`ADD RANGE PARTITION ...`."""

    range: RangeClause
    if_not_exists: bool = False

    def __str__(self) -> str:
        exists = "IF NOT EXISTS " if self.if_not_exists else ""
        return f"ADD {exists}RANGE {self.range}"


@dataclass(frozen=True, slots=True)
class DropRangeSyntax:
    """`DROP RANGE PARTITION ...`."""

    range: RangeClause
    if_exists: bool = False

    def __str__(self) -> str:
        return f"DROP {'IF EXISTS ' if self.if_exists else ''}RANGE {self.range}"


@dataclass(frozen=True, slots=True)
class RenameTableSyntax:
    """`RENAME TO name`."""

    new_name: str

    def __str__(self) -> str:
        return f"RENAME TO {quoted_full_name(self.new_name)}"


@dataclass(frozen=True, slots=True)
class TableCommentSyntax:
    """`SET COMMENT 'text'`."""

    comment: str

    def __str__(self) -> str:
        return f"SET COMMENT {quote_string(self.comment)}"


@dataclass(frozen=True, slots=True)
class PropertiesSyntax:
    """`SET TBLPROPERTIES ('name' = 'value', ...)`, or `UNSET TBLPROPERTIES ('name', ...)`."""

    values: tuple[tuple[str, str], ...] = ()
    unset: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.unset:
            return f"UNSET TBLPROPERTIES ({_listed(map(quote_string, self.unset))})"
        return f"SET TBLPROPERTIES ({property_list(self.values)})"


AlterStepSyntax = (
    AddColumnsSyntax | DropColumnSyntax | RenameColumnSyntax | AlterColumnSyntax | AddRangeSyntax
    | DropRangeSyntax | RenameTableSyntax | TableCommentSyntax | PropertiesSyntax
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class AlterTableSyntax:
    """An ALTER TABLE statement; `starts` holds the offset of each step."""

    name: str
    start: int
    steps: tuple[AlterStepSyntax, ...]
    starts: tuple[int, ...]

    def __str__(self) -> str:
        return f"ALTER TABLE {quoted_full_name(self.name)} {_listed(self.steps)}"


def property_list(values: Iterable[tuple[str, str]]) -> str:
    """Properties as TBLPROPERTIES lists them."""
    return _listed(f"{quote_string(name)} = {quote_string(value)}" for name, value in values)


def _named(names: Iterable[str]) -> str:
    return _listed(map(quoted_name, names))


def _listed(items: Iterable[object]) -> str:
    return ", ".join(str(item) for item in items)
