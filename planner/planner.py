"""One statement to its plan: the first words say which room reads the rest.

A room is loaded when the first statement for it comes: sqlglot takes longer to load than most
statements of a script take to run, and many need none of it.
"""

from dataclasses import replace

from pykudu_sql.planner.parse.lexer import Token, source_position
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.plan import Explain, PassEffect, Plan
from pykudu_sql.planner.query.constant_row import constant_row
from pykudu_sql.storage.errors import (
    InterfaceError,
    StatementTooComplexError,
    SyntaxError,
    UnknownStatementError,
)

MAX_STATEMENT_CHARACTERS = 256 * 1024 * 1024
_QUERY_WORDS = frozenset({"SELECT", "WITH", "VALUES", "FROM", "TABLE"})
_INSERT_WORDS = frozenset({"INSERT", "UPSERT", "REPLACE"})
_BEHIND_WITH = frozenset({"SELECT", "UPDATE", "DELETE", "MERGE", "INSERT", "UPSERT"})
_CHANGE_WORDS = ("UPDATE", "DELETE", "MERGE", "TRUNCATE", "CREATE", "ALTER", "EXPLAIN")


def plan(sql: str, context: PlanContext) -> Plan:
    """Plan one statement.

    Args:
        sql: its text; a semicolon at the end is allowed.
        context: the tables, the time and the settings to plan with.

    Raises:
        SyntaxError: it is not SQL of our dialect; every error of a statement carries its place.
        ProgrammingError, DataError, IntegrityError, NotSupportedError: it is, and cannot be done.
    """
    if len(sql) > MAX_STATEMENT_CHARACTERS:
        raise StatementTooComplexError(
            f"statement of {len(sql)} characters is too long",
            hint="bulk data goes through append()",
        )
    moment = context.now()
    try:
        planned = _plan(sql, 0, replace(context, now=lambda: moment))
    except RecursionError:
        raise StatementTooComplexError(
            "statement is nested too deeply", hint="write parts of it as WITH queries"
        ) from None
    keys = {type(key) for key in planned.parameters}
    if len(keys) > 1:
        raise InterfaceError(
            "a statement takes `?` or `:name` parameters, not both", sqlstate="07001"
        )
    return planned


def _plan(text: str, start: int, context: PlanContext) -> Plan:
    tokens = TokenStream(text, start)
    first = tokens.current
    word = first.word
    if word in _QUERY_WORDS or first.text == "(":
        return constant_row(text, first.start) or _query(text, first.start, tokens, context)
    if word in _INSERT_WORDS:
        from pykudu_sql.planner.dml.insert import plan_insert

        return plan_insert(tokens, context)
    from pykudu_sql.planner.commands.commands import COMMANDS

    if word in COMMANDS:
        return COMMANDS[word](tokens, context)
    match word:
        case "UPDATE" | "DELETE" | "MERGE" | "TRUNCATE":
            return _change(word, first.start, tokens, context)
        case "CREATE":
            return _create(tokens, context)
        case "ALTER" if tokens.at("ALTER", "VIEW"):
            from pykudu_sql.planner.ddl.namespace_commands import alter_view

            return alter_view(tokens, context)
        case "ALTER":
            from pykudu_sql.planner.ddl.ddl import plan_alter_table
            from pykudu_sql.planner.ddl_grammar.ddl_parser import parse_alter_table

            tokens.expect("ALTER", "TABLE")
            return plan_alter_table(parse_alter_table(tokens), text, context)
        case "EXPLAIN":
            from pykudu_sql.planner.ddl_grammar.explain_parser import explain_options

            options = explain_options(tokens)
            explained = tokens.current
            effects: list[PassEffect] = []
            if options.passes:
                context = replace(
                    context, trace=lambda name, lines: effects.append(PassEffect(name, (*lines,)))
                )
            if explained.word in _QUERY_WORDS:
                meant = _query(text, explained.start, tokens, context)
            else:
                meant = _plan(text, explained.start, context)
            return Explain(meant, options.analyze, options.format, tuple(effects))
    if tokens.at_end():
        raise SyntaxError("the statement is empty")
    from pykudu_sql.planner.parse.not_offered import refuse_what_is_not_offered

    refuse_what_is_not_offered(tokens)
    from pykudu_sql.planner.parse.suggestion import near

    heads = (*_QUERY_WORDS, *_INSERT_WORDS, *COMMANDS, *_CHANGE_WORDS)
    suggestion = near(word, heads, 0.75)
    error = SyntaxError if suggestion else UnknownStatementError
    raise error(
        f'syntax error at or near "{first.text[:40]}"',
        hint=suggestion or "a statement starts with SELECT, INSERT, CREATE TABLE, ...",
        position=source_position(text, first.start, len(first.text)),
    )


def _query(text: str, start: int, tokens: TokenStream, context: PlanContext) -> Plan:
    """A query, or the UPDATE, DELETE or INSERT that a WITH clause stands before."""
    behind = _word_behind_with(tokens) if tokens.at("WITH") else tokens.current
    if behind.word in ("UPDATE", "DELETE", "MERGE"):
        return _change(behind.word, start, tokens, context)
    if behind.word in ("INSERT", "UPSERT"):
        from pykudu_sql.planner.dml.insert import plan_insert

        return plan_insert(TokenStream(text, behind.start), context, start)
    from pykudu_sql.planner.query.query import plan_query

    return plan_query(text, context, start)


def _change(word: str, start: int, tokens: TokenStream, context: PlanContext) -> Plan:
    from pykudu_sql.planner.dml.update import plan_delete, plan_truncate, plan_update

    if word == "TRUNCATE":
        return plan_truncate(tokens, context)
    if word == "MERGE":
        from pykudu_sql.planner.dml.merge import plan_merge

        return plan_merge(tokens.text, context, start)
    planner = plan_update if word == "UPDATE" else plan_delete
    return planner(tokens.text, context, start)


def _word_behind_with(tokens: TokenStream) -> Token:
    """The first word outside parentheses that says what a WITH clause belongs to.

    Raises:
        StatementTooComplexError: the clause has too many queries.
    """
    from pykudu_sql.planner.parse.guards import guard_with_queries

    depth = commas = 0
    while not tokens.at_end():
        token = tokens.take()
        depth += (token.text == "(") - (token.text == ")")
        commas += depth == 0 and token.text == ","
        guard_with_queries(commas)
        if depth == 0 and token.word in _BEHIND_WITH:
            return token
    return tokens.current


def _create(tokens: TokenStream, context: PlanContext) -> Plan:
    if tokens.ahead(1).word in ("INDEX", "UNIQUE"):
        from pykudu_sql.planner.ddl.index_commands import create_index

        return create_index(tokens, context)
    replaces_table = tokens.at("CREATE", "OR", "REPLACE", "TABLE")
    if tokens.ahead(1).word == "VIEW" or (tokens.at("CREATE", "OR") and not replaces_table):
        from pykudu_sql.planner.ddl.namespace_commands import create_view

        return create_view(tokens, context)
    if tokens.ahead(1).word in ("DATABASE", "SCHEMA"):
        from pykudu_sql.planner.ddl.namespace_commands import create_database

        return create_database(tokens, context)
    if tokens.ahead(1).word == "SNAPSHOT":
        from pykudu_sql.planner.ddl.history_commands import create_snapshot

        return create_snapshot(tokens, context)
    from pykudu_sql.planner.parse.not_offered import refuse_what_is_not_offered

    refuse_what_is_not_offered(tokens)
    tokens.expect("CREATE")
    tokens.accept("EXTERNAL")
    if not tokens.accept("TABLE"):
        raise tokens.error("TABLE")
    from pykudu_sql.planner.ddl.ddl import plan_create_table
    from pykudu_sql.planner.ddl_grammar.ddl_parser import parse_create_table

    return plan_create_table(parse_create_table(tokens), tokens.text, context)
