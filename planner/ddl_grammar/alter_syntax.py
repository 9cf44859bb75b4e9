"""Syntax nodes of ALTER TABLE and its steps; each prints itself back, as those of `syntax`."""

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.ddl_grammar.syntax import (
    CheckClause,
    ColumnDefinition,
    Expression,
    RangeClause,
    comma_list,
    property_list,
)
from pykudu_sql.planner.parse.lexer import quote_string
from pykudu_sql.storage.common.quoted_name import quoted_full_name, quoted_name


@dataclass(frozen=True, slots=True)
class AddColumnsSyntax:
    """`ADD COLUMNS (definitions)`."""

    columns: tuple[ColumnDefinition, ...]
    if_not_exists: bool = False

    def __str__(self) -> str:
        exists = "IF NOT EXISTS " if self.if_not_exists else ""
        return f"ADD {exists}COLUMNS ({comma_list(self.columns)})"


@dataclass(frozen=True, slots=True)
class DropColumnSyntax:
    """`DROP COLUMN name`."""

    name: str
    if_exists: bool = False

    def __str__(self) -> str:
        return f"DROP COLUMN {'IF EXISTS ' if self.if_exists else ''}{quoted_name(self.name)}"


@dataclass(frozen=True, slots=True)
class RenameColumnSyntax:
    """`RENAME COLUMN a TO b`, or `CHANGE a b TYPE`, which may change the type too."""

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
    nullable: bool | None = None
    type: str | None = None

    def __str__(self) -> str:
        name = quoted_name(self.name)
        if self.type is not None:
            return f"ALTER COLUMN {name} SET DATA TYPE {self.type}"
        if self.nullable is not None:
            return f"ALTER COLUMN {name} {'DROP' if self.nullable else 'SET'} NOT NULL"
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
class AddCheckSyntax:
    """`ADD [CONSTRAINT name] CHECK (condition)`."""

    check: CheckClause

    def __str__(self) -> str:
        return f"ADD {self.check}"


@dataclass(frozen=True, slots=True)
class DropConstraintSyntax:
    """`DROP CONSTRAINT name`."""

    name: str
    if_exists: bool = False

    def __str__(self) -> str:
        return f"DROP CONSTRAINT {'IF EXISTS ' if self.if_exists else ''}{quoted_name(self.name)}"


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
            return f"UNSET TBLPROPERTIES ({comma_list(map(quote_string, self.unset))})"
        return f"SET TBLPROPERTIES ({property_list(self.values)})"


AlterStepSyntax = (
    AddColumnsSyntax | DropColumnSyntax | RenameColumnSyntax | AlterColumnSyntax | AddRangeSyntax
    | DropRangeSyntax | RenameTableSyntax | TableCommentSyntax | PropertiesSyntax
    | AddCheckSyntax | DropConstraintSyntax
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class AlterTableSyntax:
    """An ALTER TABLE statement; `starts` holds the offset of each step."""

    name: str
    start: int
    steps: tuple[AlterStepSyntax, ...]
    starts: tuple[int, ...]

    def __str__(self) -> str:
        return f"ALTER TABLE {quoted_full_name(self.name)} {comma_list(self.steps)}"
