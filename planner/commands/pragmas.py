"""PRAGMA: the few of SQLite that describe the schema, with SQLite's columns.

Tools and scripts made for SQLite use these; DESCRIBE, SHOW and `information_schema` have more. The
other pragmas set how SQLite works, and are refused with what there is instead.
"""

from pykudu_sql.planner.ddl.namespace_commands import named_relation
from pykudu_sql.planner.parse.lexer import TokenKind, quote_name, unquote
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.listing_plans import Pragma, PragmaKind
from pykudu_sql.storage.catalog.namespace import ViewInfo
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.errors import NotSupportedError


def plan_pragma(tokens: TokenStream, context: PlanContext) -> Pragma:
    """`PRAGMA table_info(t)`, `PRAGMA table_list`, `PRAGMA database_list`.

    Raises NotSupportedError: it is another one; UndefinedTableError: there is no such table.
    """
    tokens.expect("PRAGMA")
    token = tokens.current
    name = tokens.name("the name of a pragma")
    if name not in list(PragmaKind):
        raise NotSupportedError(
            f"PRAGMA {name} is not supported",
            hint=f"there are {', '.join(PragmaKind)}; see DESCRIBE, SHOW SETTINGS and the schema "
            "information_schema",
            span=token.span,
        )
    kind = PragmaKind(name)
    item = None
    if kind is PragmaKind.TABLE_INFO:
        tokens.expect_symbol("(")
        item = _item(tokens, context)
        tokens.expect_symbol(")")
    tokens.expect_end()
    return Pragma(kind, item)


def _item(tokens: TokenStream, context: PlanContext) -> TableInfo | ViewInfo:
    """The table or view that is named next, also in single quotes."""
    token, source = tokens.current, tokens.rest
    if token.kind is TokenKind.STRING:
        tokens.take()
        # As wide in other quotes where the name has none, so errors point at it.
        quoted = quote_name(unquote(token.text))
        tokens = TokenStream(source.overwritten(token.start, token.end, quoted).text, token.start)
    return named_relation(tokens, context.as_read)
