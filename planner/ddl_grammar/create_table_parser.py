"""Recursive descent for CREATE TABLE, Impala's grammar for Kudu tables.

The grammar is that of Impala's `sql-parser.cup` with what Kudu's documentation and other databases
add to it: a key anywhere in the column list, `LIKE` another table. Attributes come in any order,
each at most once; commas between partition dimensions are optional.
"""

import re
from dataclasses import replace

from pykudu_sql.planner.ddl_grammar.column_parser import (
    check_clause,
    column_definition,
    key_clause,
    refuse_constraint,
)
from pykudu_sql.planner.ddl_grammar.partition_parser import parse_partition_by
from pykudu_sql.planner.ddl_grammar.syntax import CheckClause, ColumnDefinition, CreateTableSyntax
from pykudu_sql.planner.ddl_grammar.table_options import (
    accept_without_meaning,
    refuse_option,
    refuse_word,
    table_properties,
)
from pykudu_sql.planner.parse.lexer import tokenize
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.storage.common.types.schema_rules import check_column_count
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
        like_start = tokens.current.start
        node = replace(node, like=tokens.table_name(), like_start=like_start)
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
    if not tokens.accept_symbol(")"):
        raise tokens.error("a comma or ')'")
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
        return replace(node, properties=table_properties(tokens))
    key = key_clause(tokens)
    if key is not None and node.key is None:
        return replace(node, key=key)
    if accept_without_meaning(tokens):
        return node
    refuse_option(tokens)
    raise tokens.error("PARTITION BY, COMMENT, STORED AS KUDU or AS", token)
