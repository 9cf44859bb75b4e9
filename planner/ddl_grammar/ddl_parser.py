"""Recursive descent for CREATE TABLE and ALTER TABLE, Impala's grammar for Kudu tables.

The grammar is that of Impala's `sql-parser.cup` with what Kudu's documentation and other databases
add to it: a key anywhere in the column list, several ALTER steps in one statement, `LIKE`,
`RENAME COLUMN a TO b`. Attributes come in any order, each at most once; commas between partition
dimensions are optional.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from pykudu_sql.planner.ddl_grammar.alter_syntax import (
    AddCheckSyntax,
    AddColumnsSyntax,
    AddRangeSyntax,
    AlterColumnSyntax,
    AlterStepSyntax,
    AlterTableSyntax,
    DropColumnSyntax,
    DropConstraintSyntax,
    DropRangeSyntax,
    PropertiesSyntax,
    RenameColumnSyntax,
    RenameTableSyntax,
    TableCommentSyntax,
)
from pykudu_sql.planner.ddl_grammar.column_parser import (
    check_clause,
    column_definition,
    constant_expression,
    key_clause,
    refuse_constraint,
)
from pykudu_sql.planner.ddl_grammar.partition_parser import parse_partition_by, parse_range
from pykudu_sql.planner.ddl_grammar.syntax import CheckClause, ColumnDefinition, CreateTableSyntax
from pykudu_sql.planner.ddl_grammar.table_options import (
    accept_without_meaning,
    refuse_option,
    refuse_word,
)
from pykudu_sql.planner.ddl_grammar.type_parser import type_name
from pykudu_sql.planner.parse.lexer import TokenKind, tokenize
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.storage.common.types.schema import check_column_count
from pykudu_sql.storage.common.types.table_properties import OWNER
from pykudu_sql.storage.errors import NotSupportedError, SourceSpan

_WITH_DATA = re.compile(r"\bWITH\s+(?:NO\s+)?DATA[\s;]*\Z", re.IGNORECASE)


def parse_create_table(tokens: TokenStream, *, replaces: bool = False) -> CreateTableSyntax:
    """Parse from behind `CREATE [OR REPLACE] TABLE`; a query behind AS is left for the caller.

    Raises SyntaxError: it does not follow the grammar; NotSupportedError: a constraint that is not
    offered.
    """
    token = tokens.current
    exists = tokens.accept("IF", "NOT", "EXISTS")
    if exists and replaces:
        raise tokens.error("the name of a table, since OR REPLACE makes it in any case,", token)
    start = tokens.current.start
    node = CreateTableSyntax(tokens.table_name(), start, exists, replaces=replaces)
    in_parentheses = tokens.at_symbol("(") and tokens.ahead(1).word == "LIKE"
    if in_parentheses:
        tokens.take()
    if tokens.accept("LIKE"):
        node = replace(node, like=tokens.table_name())
        _accept_including(tokens)
        if in_parentheses:
            tokens.expect_symbol(")")
    elif tokens.at_symbol("("):
        node = _column_list(tokens, node)
    while not tokens.at_end():
        if tokens.accept("AS"):
            return _with_query(tokens, node)
        node = _table_option(tokens, node)
    if node.column_names:
        raise tokens.error("a type behind each column, or AS and a query,")
    if not node.columns and node.like is None and dict(node.properties).get("kudu.table_name"):
        raise NotSupportedError(
            "a table cannot be another name of one that there is",
            hint="CREATE VIEW gives its rows a second name, ALTER TABLE .. RENAME TO a new one",
            span=SourceSpan(start, len(node.name)),
        )
    if not node.columns and node.like is None:
        raise tokens.error("a list of columns, or AS and a query,")
    return node


_STEPS_ELSEWHERE = {
    "REPLACE": "write a step for each column: ADD COLUMN, DROP COLUMN, RENAME COLUMN",
    "SWAP": "RENAME TO gives each the other's name, by way of a third",
    "ENGINE": "there is one engine",
    "AUTO_INCREMENT": "numbers go on behind the largest there is",
    "ENABLE": "there are no triggers and rules",
    "DISABLE": "there are no triggers and rules",
    "CLUSTER": "rows lie in the order of the primary key",
}
_SET_OF_TABLE = frozenset({"COMMENT", "TBLPROPERTIES", "OWNER"})


def parse_alter_table(tokens: TokenStream) -> AlterTableSyntax:
    """Parse from behind `ALTER TABLE`. Raises SyntaxError: it does not follow the grammar."""
    if tokens.at("IF", "EXISTS"):
        raise NotSupportedError(
            "ALTER TABLE IF EXISTS is not supported",
            hint="ALTER TABLE needs a table; ADD COLUMN and DROP COLUMN take IF [NOT] EXISTS",
            span=tokens.current.span,
        )
    start = tokens.current.start
    name = tokens.table_name()
    starts: list[int] = []
    steps: list[AlterStepSyntax] = []
    while not steps or tokens.accept_symbol(","):
        offset = tokens.current.start
        parsed = [_step(tokens)]
        while isinstance(parsed[0], AlterColumnSyntax) and _goes_on(tokens):
            tokens.accept_symbol(",")
            parsed.append(_attribute_change(tokens, AlterColumnSyntax(parsed[0].name)))
        if isinstance(parsed[0], RenameColumnSyntax) and parsed[0].type is not None:
            parsed.extend(_changed_attributes(tokens, parsed[0].new_name))
        steps.extend(parsed)
        starts.extend([offset] * len(parsed))
    tokens.expect_end()
    return AlterTableSyntax(name, start, tuple(steps), tuple(starts))


def _accept_including(tokens: TokenStream) -> None:
    """PostgreSQL's `INCLUDING ALL`: all that a table has is taken along in any case."""
    while tokens.accept("INCLUDING"):
        tokens.take()
    refuse_word(tokens, {"EXCLUDING": "write the columns that the table shall have"}, "{} of LIKE")


def _column_list(tokens: TokenStream, node: CreateTableSyntax) -> CreateTableSyntax:
    tokens.expect_symbol("(")
    columns: list[ColumnDefinition] = []
    names: list[str] = []
    checks: list[CheckClause] = []
    key = node.key
    while True:
        refuse_constraint(tokens)
        token = tokens.current
        check = check_clause(tokens)
        clause = None if check is not None else key_clause(tokens)
        if check is not None:
            checks.append(check)
        elif clause is None and tokens.ahead(1).text in (",", ")"):
            names.append(tokens.name("a column name"))
        elif clause is None:
            columns.append(column_definition(tokens))
        elif key is not None:
            raise tokens.error("only one PRIMARY KEY", token)
        else:
            key = clause
        check_column_count(len(columns) + len(names))
        if not tokens.accept_symbol(","):
            break
    if names and columns:
        raise tokens.error("a type behind each column, or behind none,")
    tokens.expect_symbol(")")
    with_columns = replace(node, columns=tuple(columns), column_names=tuple(names), key=key)
    return replace(with_columns, checks=tuple(checks))


def _with_query(tokens: TokenStream, node: CreateTableSyntax) -> CreateTableSyntax:
    """The statement with its query, behind which `WITH [NO] DATA` may stand."""
    query, with_data = tokens.rest, True
    if _WITH_DATA.search(query.text, query.start):
        last = list(tokenize(query.text, query.start))[:-1]
        while last and last[-1].text == ";":
            last.pop()
        words = [token.word for token in last[-3:]]
        if words == ["WITH", "NO", "DATA"]:
            query, with_data = query.until(last[-3].start), False
        elif words[-2:] == ["WITH", "DATA"]:
            query = query.until(last[-2].start)
    return replace(node, query=query, with_data=with_data)


def _table_option(tokens: TokenStream, node: CreateTableSyntax) -> CreateTableSyntax:
    token = tokens.current
    if tokens.at("PARTITION", "BY") and node.partitions is None:
        return replace(node, partitions=parse_partition_by(tokens))
    if tokens.accept("COMMENT"):
        tokens.accept_symbol("=")
        return replace(node, comment=tokens.string())
    if tokens.accept("STORED", "AS"):
        if not tokens.accept("KUDU"):
            raise tokens.error("KUDU, the only format there is,")
        return node
    if tokens.accept("TBLPROPERTIES"):
        return replace(node, properties=_properties(tokens))
    key = key_clause(tokens)
    if key is not None and node.key is None:
        return replace(node, key=key)
    if accept_without_meaning(tokens):
        return node
    refuse_option(tokens)
    raise tokens.error("PARTITION BY, COMMENT, STORED AS KUDU or AS", token)


def _properties(tokens: TokenStream) -> tuple[tuple[str, str], ...]:
    tokens.expect_symbol("(")
    values: dict[str, str] = {}
    while True:
        name = tokens.string()
        tokens.expect_symbol("=")
        values[name] = tokens.string()
        if not tokens.accept_symbol(","):
            break
    tokens.expect_symbol(")")
    return tuple(values.items())


def _property_names(tokens: TokenStream) -> tuple[str, ...]:
    tokens.accept("IF", "EXISTS")
    tokens.expect_symbol("(")
    names = [tokens.string()]
    while tokens.accept_symbol(","):
        names.append(tokens.string())
    tokens.expect_symbol(")")
    return tuple(names)


_PLACES = dict.fromkeys(
    ("FIRST", "AFTER"), "columns stay where they are; a SELECT or a view puts them in another order"
)


def _step(tokens: TokenStream) -> AlterStepSyntax:
    if tokens.accept("ADD"):
        return _add(tokens)
    if tokens.accept("DROP"):
        return _drop(tokens)
    if tokens.accept("RENAME"):
        return _rename(tokens)
    if tokens.accept("CHANGE"):
        tokens.accept("COLUMN")
        return RenameColumnSyntax(
            tokens.name("a column name"), tokens.name("a column name"), type_name(tokens)
        )
    if tokens.accept("MODIFY"):
        tokens.accept("COLUMN")
        column = tokens.name("a column name")
        return RenameColumnSyntax(column, column, type_name(tokens))
    if tokens.accept("ALTER"):
        tokens.accept("COLUMN")
        return _alter_column(tokens)
    if tokens.accept("OWNER", "TO"):
        return PropertiesSyntax(values=((OWNER, tokens.name("the owner's name")),))
    if tokens.accept("SET", "COMMENT"):
        return TableCommentSyntax(tokens.string())
    if tokens.accept("SET", "TBLPROPERTIES"):
        return PropertiesSyntax(values=_properties(tokens))
    if tokens.accept("SET", "OWNER"):
        if not tokens.accept("USER") and not tokens.accept("ROLE"):
            raise tokens.error("USER or ROLE")
        return PropertiesSyntax(values=((OWNER, tokens.name("the owner's name")),))
    if tokens.accept("UNSET", "TBLPROPERTIES"):
        return PropertiesSyntax(unset=_property_names(tokens))
    refuse_word(tokens, _STEPS_ELSEWHERE, "ALTER TABLE .. {}")
    raise tokens.error("ADD, DROP, RENAME, CHANGE, MODIFY, ALTER or SET")


def _add(tokens: TokenStream) -> AlterStepSyntax:
    check = check_clause(tokens)
    if check is not None:
        return AddCheckSyntax(check)
    refuse_constraint(tokens)
    exists = tokens.accept("IF", "NOT", "EXISTS")
    if tokens.accept("RANGE"):
        return AddRangeSyntax(parse_range(tokens), exists)
    if tokens.at("PRIMARY", "KEY") and tokens.ahead(2).text == "(":
        raise NotSupportedError(
            "ALTER TABLE .. ADD PRIMARY KEY is not supported",
            hint="a table keeps its key: CREATE TABLE .. PRIMARY KEY (..) AS SELECT makes another",
            span=SourceSpan(tokens.current.start, len("PRIMARY")),
        )
    plural = tokens.accept("COLUMNS")
    singular = not plural and tokens.accept("COLUMN")
    exists = tokens.accept("IF", "NOT", "EXISTS") or exists
    if singular or not tokens.at_symbol("("):
        added = AddColumnsSyntax((column_definition(tokens),), exists)
        if tokens.at("AFTER") or tokens.at("FIRST"):
            raise NotSupportedError(
                f"ADD COLUMN .. {tokens.current.word} is not supported",
                hint="a new column is the last; a SELECT or a view puts columns in another order",
                span=tokens.current.span,
            )
        return added
    tokens.expect_symbol("(")
    columns = [column_definition(tokens)]
    while tokens.accept_symbol(","):
        columns.append(column_definition(tokens))
    tokens.expect_symbol(")")
    return AddColumnsSyntax(tuple(columns), exists)


def _drop(tokens: TokenStream) -> AlterStepSyntax:
    exists = tokens.accept("IF", "EXISTS")
    if tokens.accept("RANGE"):
        return DropRangeSyntax(parse_range(tokens), exists)
    if tokens.at("INDEX") and tokens.ahead(1).kind in (TokenKind.WORD, TokenKind.QUOTED):
        raise NotSupportedError(
            "ALTER TABLE .. DROP INDEX is not supported",
            hint="write DROP INDEX name",
            span=tokens.current.span,
        )
    if tokens.at("PRIMARY", "KEY"):
        raise NotSupportedError(
            "ALTER TABLE .. DROP PRIMARY KEY is not supported",
            hint="a table keeps its key: CREATE TABLE .. PRIMARY KEY (..) AS SELECT makes another",
            span=tokens.current.span,
        )
    if tokens.at("CONSTRAINT") and tokens.ahead(1).kind in (TokenKind.WORD, TokenKind.QUOTED):
        tokens.take()
        exists = tokens.accept("IF", "EXISTS")
        dropped = DropConstraintSyntax(tokens.name("a constraint's name"), exists)
        if not tokens.accept("CASCADE"):
            tokens.accept("RESTRICT")
        return dropped
    tokens.accept("COLUMN")
    exists = tokens.accept("IF", "EXISTS") or exists
    return DropColumnSyntax(tokens.name("a column name"), exists)


def _rename(tokens: TokenStream) -> AlterStepSyntax:
    if tokens.accept("TO"):
        return RenameTableSyntax(tokens.table_name())
    tokens.accept("COLUMN")
    name = tokens.name("a column name")
    tokens.expect("TO")
    return RenameColumnSyntax(name, tokens.name("a column name"))


def _alter_column(tokens: TokenStream) -> AlterStepSyntax:
    return _attribute_change(tokens, AlterColumnSyntax(tokens.name("a column name")))


def _goes_on(tokens: TokenStream) -> bool:
    """Whether another change of the same column follows, behind a comma or without one.

    What may be a change of the table, such as SET COMMENT, is one behind a comma.
    """
    if not tokens.at_symbol(","):
        return tokens.current.word in ("SET", "DROP")
    verb, attribute = tokens.ahead(1).word, tokens.ahead(2).word
    if verb == "TYPE":
        return True
    if verb == "DROP":
        behind = tokens.ahead(3)
        ends = behind.kind is TokenKind.END or behind.text == "," or behind.word in ("SET", "DROP")
        return attribute == "NOT" or (attribute in ("DEFAULT", "IMMUTABLE") and ends)
    return verb == "SET" and attribute not in _SET_OF_TABLE


def _changed_attributes(tokens: TokenStream, name: str) -> Iterator[AlterColumnSyntax]:
    """What MySQL's `MODIFY c TYPE` and `CHANGE a c TYPE` say behind the type, each a step.

    MySQL takes away what is not said again; here it stays.
    """
    while True:
        refuse_word(tokens, _PLACES, "the place {} of a column")
        if tokens.accept("NOT", "NULL"):
            yield AlterColumnSyntax(name, nullable=False)
        elif tokens.accept("NULL"):
            yield AlterColumnSyntax(name, nullable=True)
        elif tokens.accept("DEFAULT"):
            yield AlterColumnSyntax(name, default=constant_expression(tokens))
        elif tokens.accept("COMMENT"):
            yield AlterColumnSyntax(name, comment=tokens.string())
        else:
            return


def _attribute_change(tokens: TokenStream, node: AlterColumnSyntax) -> AlterStepSyntax:
    """`SET attribute value` or `DROP attribute`, of which several may follow a column's name."""
    if tokens.accept("DROP", "DEFAULT"):
        return replace(node, drop_default=True)
    if tokens.accept("DROP", "IMMUTABLE"):
        return replace(node, immutable=False)
    if tokens.accept("DROP", "NOT", "NULL"):
        return replace(node, nullable=True)
    if tokens.accept("TYPE") or tokens.accept("SET", "DATA", "TYPE"):
        return replace(node, type=_new_type(tokens))
    if not tokens.accept("SET"):
        raise tokens.error("SET, TYPE, DROP DEFAULT, DROP NOT NULL or DROP IMMUTABLE")
    if tokens.accept("TYPE"):
        return replace(node, type=_new_type(tokens))
    if tokens.accept("NOT", "NULL"):
        return replace(node, nullable=False)
    if tokens.accept("IMMUTABLE"):
        return replace(node, immutable=True)
    if tokens.accept("DEFAULT"):
        return replace(node, default=constant_expression(tokens))
    if tokens.accept("ENCODING"):
        return replace(node, encoding=tokens.name("an encoding").upper())
    if tokens.accept("COMPRESSION"):
        return replace(node, compression=tokens.name("a compression").upper())
    if tokens.accept("BLOCK_SIZE"):
        return replace(node, block_size=tokens.whole_number())
    if tokens.accept("COMMENT"):
        return replace(node, comment=tokens.string())
    raise tokens.error(
        "DEFAULT, DATA TYPE, NOT NULL, ENCODING, COMPRESSION, BLOCK_SIZE, COMMENT or IMMUTABLE"
    )


def _new_type(tokens: TokenStream) -> str:
    """A type, behind which PostgreSQL may say how to convert: nothing is converted here."""
    name = type_name(tokens)
    if tokens.at("USING"):
        raise NotSupportedError(
            "ALTER COLUMN .. TYPE .. USING is not supported",
            hint="add a column of the new type, UPDATE it with the expression, drop the old one "
            "and rename the new one",
            span=SourceSpan(tokens.current.start, len("USING")),
        )
    return name
