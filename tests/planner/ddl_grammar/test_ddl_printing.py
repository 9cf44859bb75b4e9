"""DDL prints back: what was parsed, and what a table is, as SQL that means the same again."""

import itertools
from dataclasses import fields, is_dataclass, replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.planner.ddl_grammar.alter_syntax import (
    AddColumnsSyntax,
    AddRangeSyntax,
    AlterColumnSyntax,
    AlterTableSyntax,
    DropColumnSyntax,
    DropRangeSyntax,
    PropertiesSyntax,
    RenameColumnSyntax,
    RenameTableSyntax,
    TableCommentSyntax,
)
from pykudu_sql.planner.ddl_grammar.alter_table_parser import parse_alter_table
from pykudu_sql.planner.ddl_grammar.create_table_parser import parse_create_table
from pykudu_sql.planner.ddl_grammar.syntax import (
    BoundClause,
    ColumnDefinition,
    CreateTableSyntax,
    Expression,
    HashClause,
    KeyClause,
    PartitionClause,
    RangeClause,
    SplitRow,
)
from pykudu_sql.planner.explain.show_create import create_table_sql
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.plan import CreateTable
from pykudu_sql.planner.planner import plan
from pykudu_sql.storage.catalog.table_info import TableInfo, new_table
from pykudu_sql.storage.cfile.encoding.type_encodings import encodings_of
from pykudu_sql.storage.common.partition.partition import (
    HashDimension,
    PartitionSchema,
    RangePartition,
)
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.table_properties import MAINTENANCE_PRIORITY
from pykudu_sql.storage.common.types.types import AUTO_ENCODING, Cell, Compression, DataType, Kind
from pykudu_sql.storage.errors import SourceSpan

_WORDS = """
    id day value note t x1 _a primary key non unique not null default comment hash range values
    partition partitions encoding compression block_size immutable check constraint foreign add
    drop alter column columns rename to set select from table timestamp date like stored as if
    exists split rows tblproperties unbounded user index in order by group limit true
"""
NAMES = st.one_of(
    st.sampled_from(_WORDS.split()),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0."), min_size=1)
    .filter(lambda name: name == name.lower() and len(name) < 40)
)  # fmt: skip
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
NUMBERS = st.integers(1, 1 << 20)
_NOWHERE = SourceSpan(0)
CONSTANTS = st.builds(
    Expression,
    st.sampled_from(
        ["1", "-2.5", "'it''s'", "'a, b'", "(1 + 2) * 3", "X'00FF'", "DATE '2026-01-01'", "1e5"]
    ),
    st.just(0),
)


def lists(items: st.SearchStrategy[Any], least: int = 1, most: int = 3) -> st.SearchStrategy[Any]:
    return st.lists(items, min_size=least, max_size=most).map(tuple)


def maybe(items: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | items


TYPES = st.sampled_from(["INT", "BIGINT", "DOUBLE", "DECIMAL(9,2)", "VARCHAR(7)", "STRING"])
DEFINITIONS = st.builds(
    ColumnDefinition,
    NAMES,
    TYPES,
    st.just(0),
    st.just(_NOWHERE),
    maybe(st.booleans()),
    st.just(False),
    st.just(True),
    maybe(st.sampled_from(["RLE", "PLAIN_ENCODING"])),
    maybe(st.sampled_from(["LZ4", "ZSTD"])),
    maybe(NUMBERS),
    maybe(CONSTANTS),
    maybe(TEXTS),
    st.booleans(),
)
HASHES = st.builds(HashClause, lists(NAMES, 0), st.integers(2, 99), st.just(0))
BOUNDS = st.builds(BoundClause, lists(CONSTANTS), st.booleans())
SPANS = st.builds(RangeClause, maybe(BOUNDS), maybe(BOUNDS), lists(HASHES, 0, 2), st.just(0))
POINTS = st.builds(BoundClause, lists(CONSTANTS), st.just(True)).map(
    lambda bound: RangeClause(bound, bound, (), 0)
)
RANGES = SPANS | POINTS
PARTITIONS = st.builds(
    PartitionClause, lists(HASHES, 1, 2), st.none(), st.none(), st.just(0)
) | st.builds(
    PartitionClause,
    lists(HASHES, 0, 2),
    lists(NAMES),
    maybe(lists(RANGES, 0)),
    st.just(0),
    lists(st.builds(SplitRow, lists(CONSTANTS), st.just(0)), 0, 2),
)
PROPERTIES = st.dictionaries(TEXTS.filter(bool), TEXTS, max_size=2).map(lambda d: tuple(d.items()))
KEYS = st.builds(KeyClause, lists(NAMES), st.booleans(), st.just(0))
CREATES = st.builds(
    CreateTableSyntax,
    NAMES,
    st.just(0),
    st.booleans(),
    lists(DEFINITIONS),
    maybe(KEYS),
    maybe(PARTITIONS),
    TEXTS,
    properties=PROPERTIES,
) | st.builds(CreateTableSyntax, NAMES, st.just(0), like=NAMES)
COLUMN_CHANGES = st.one_of(
    st.builds(AlterColumnSyntax, NAMES, encoding=st.just("RLE")),
    st.builds(AlterColumnSyntax, NAMES, compression=st.just("LZ4")),
    st.builds(AlterColumnSyntax, NAMES, block_size=NUMBERS),
    st.builds(AlterColumnSyntax, NAMES, comment=TEXTS),
    st.builds(AlterColumnSyntax, NAMES, default=CONSTANTS),
    st.builds(AlterColumnSyntax, NAMES, drop_default=st.just(True)),
    st.builds(AlterColumnSyntax, NAMES, immutable=st.booleans()),
    st.builds(AlterColumnSyntax, NAMES, type=TYPES),
)
STEPS = st.one_of(
    st.builds(AddColumnsSyntax, lists(DEFINITIONS), st.booleans()),
    st.builds(DropColumnSyntax, NAMES, st.booleans()),
    st.builds(RenameColumnSyntax, NAMES, NAMES, maybe(TYPES)),
    COLUMN_CHANGES,
    st.builds(AddRangeSyntax, RANGES, st.booleans()),
    st.builds(DropRangeSyntax, RANGES, st.booleans()),
    st.builds(RenameTableSyntax, NAMES),
    st.builds(TableCommentSyntax, TEXTS),
    st.builds(PropertiesSyntax, PROPERTIES.filter(bool)),
    st.builds(PropertiesSyntax, unset=lists(TEXTS)),
)
ALTERS = st.builds(AlterTableSyntax, NAMES, st.just(0), lists(STEPS), st.just(()))


def without_places(node: Any) -> Any:
    """A syntax node with every place in the text forgotten."""
    if isinstance(node, tuple):
        return tuple(map(without_places, node))
    if isinstance(node, SourceSpan):
        return _NOWHERE
    if not is_dataclass(node) or isinstance(node, type):
        return node
    changed = {f.name: without_places(getattr(node, f.name)) for f in fields(node)}
    changed.update({name: 0 for name in changed if name in ("start", "like_start")})
    changed.update({name: () for name in changed if name == "starts"})
    return replace(node, **changed)


@given(CREATES)
def test_create_table_prints_back(node: CreateTableSyntax) -> None:
    text = str(node)
    tokens = TokenStream(text, 0)
    tokens.expect("CREATE", "TABLE")
    assert without_places(parse_create_table(tokens)) == without_places(node), text


@given(ALTERS)
def test_alter_table_prints_back(node: AlterTableSyntax) -> None:
    text = str(node)
    tokens = TokenStream(text, 0)
    tokens.expect("ALTER", "TABLE")
    assert without_places(parse_alter_table(tokens)) == without_places(node), text


DATA_TYPES = st.one_of(
    st.sampled_from([DataType(kind) for kind in Kind if kind not in (Kind.DECIMAL, Kind.VARCHAR)]),
    st.tuples(st.integers(1, 38), st.integers(0, 38))
    .filter(lambda sizes: sizes[1] <= sizes[0])
    .map(lambda sizes: DataType(Kind.DECIMAL, *sizes)),
    st.integers(1, 65535).map(lambda length: DataType(Kind.VARCHAR, length=length)),
)


def cells(data_type: DataType) -> st.SearchStrategy[Cell]:
    """Cells of a type, NULL aside."""
    span = data_type.integer_range
    if data_type.kind is Kind.UNIXTIME_MICROS:
        return st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999)
    if span is not None:
        return st.integers(*span)
    if data_type.kind is Kind.BOOL:
        return st.booleans()
    if data_type.is_floating:
        return st.floats(width=32 if data_type.kind is Kind.FLOAT else 64, allow_nan=False)
    if data_type.is_text:
        return TEXTS.map(lambda text: text[: data_type.length or None])
    return st.binary(max_size=8)


@st.composite
def columns(draw: st.DrawFn, name: str, *, in_key: bool = False) -> ColumnSchema:
    data_type = draw(DATA_TYPES.filter(lambda t: t.allowed_in_key or not in_key))
    default = draw(maybe(cells(data_type)))
    return ColumnSchema(
        0,
        name,
        data_type,
        nullable=not in_key and draw(st.booleans()),
        encoding=draw(
            st.sampled_from((AUTO_ENCODING, *(one.name for one in encodings_of(data_type))))
        ),
        compression=draw(st.sampled_from(list(Compression))),
        block_size=draw(st.sampled_from([1 << 18, 4096])),
        write_default=default,
        comment=draw(TEXTS),
        immutable=not in_key and draw(st.booleans()),
    )


@st.composite
def tables(draw: st.DrawFn) -> TableInfo:
    names = draw(st.lists(NAMES, min_size=3, max_size=5, unique=True))
    keyed = names[:2]
    made = [draw(columns(name, in_key=name in keyed)) for name in names]
    schema = create_schema(
        draw(st.permutations(made)), draw(st.permutations(keyed)), unique=draw(st.booleans())
    )
    hashed, ranged = (column.id for column in schema.key_columns[:2])
    own = draw(maybe(st.just((HashDimension((hashed,), 3),))))
    dimensions = draw(st.sampled_from([(), (HashDimension((hashed,), 2),)]))
    spans: tuple[RangePartition, ...] = ()
    if draw(st.booleans()):
        of_range = cells(schema.by_id[ranged].type)
        cuts = sorted(draw(st.lists(of_range, min_size=1, max_size=3, unique=True)))
        own = own if dimensions else None
        spans = (
            RangePartition(None, (cuts[0],)),
            *(RangePartition((a,), (b,), own) for a, b in itertools.pairwise(cuts)),
        )
    scheme = PartitionSchema(dimensions, (ranged,) if spans else (), spans)
    properties = draw(st.sampled_from([{}, {MAINTENANCE_PRIORITY: "-3", "it's": "x"}]))
    return new_table(draw(NAMES), schema, scheme, draw(TEXTS), properties)


@given(table=tables())
def test_show_create_table_makes_the_same_table(table: TableInfo, context: PlanContext) -> None:
    text = create_table_sql(table)
    empty = replace(context, catalog=replace(context.catalog, tables={}))
    made = plan(text, empty)
    assert isinstance(made, CreateTable)
    assert made.name == table.name
    assert made.schema == table.schema, text
    assert made.partition_schema == table.partition_schema, text
    assert (made.comment, made.properties) == (table.comment, table.properties)
