"""Recursive descent for ALTER TABLE: Impala's steps, several of them in one statement.

PostgreSQL's, MySQL's and Spark's words for the same steps are taken as well; what they offer
elsewhere is refused with what to write instead.
"""

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
    refuse_constraint,
)
from pykudu_sql.planner.ddl_grammar.partition_parser import parse_range
from pykudu_sql.planner.ddl_grammar.table_options import (
    property_names,
    refuse_word,
    table_properties,
)
from pykudu_sql.planner.ddl_grammar.type_parser import type_name
from pykudu_sql.planner.parse.lexer import TokenKind
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.storage.common.types.table_properties import OWNER
from pykudu_sql.storage.errors import NotSupportedError, SourceSpan

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
        return PropertiesSyntax(values=table_properties(tokens))
    if tokens.accept("SET", "OWNER"):
        if not tokens.accept("USER") and not tokens.accept("ROLE"):
            raise tokens.error("USER or ROLE")
        return PropertiesSyntax(values=((OWNER, tokens.name("the owner's name")),))
    if tokens.accept("UNSET", "TBLPROPERTIES"):
        return PropertiesSyntax(unset=property_names(tokens))
    refuse_word(tokens, _STEPS_ELSEWHERE, "ALTER TABLE .. {}")
    if tokens.accept("SET"):
        raise tokens.error("COMMENT, TBLPROPERTIES, OWNER")
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
