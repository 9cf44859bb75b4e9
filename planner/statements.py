"""The registry of statements: the first words of each, and the room that reads the rest.

Statements about rows stand here, all others in `commands`. A room is loaded when the first
statement for it comes: sqlglot takes longer to load than most statements of a script take to run,
and many need none of it.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from pykudu_sql.planner.commands.statement import StatementEntry
from pykudu_sql.planner.parse.lexer import Token
from pykudu_sql.planner.parse.source_text import SourceText
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.query.constant_row import constant_row
from pykudu_sql.storage.errors import (
    Error,
    NotSupportedError,
    SyntaxError,
    UnknownStatementError,
)

if TYPE_CHECKING:
    from pykudu_sql.planner.plan.plan import Plan

_DEFINITIONS = frozenset({"CREATE", "ALTER", "DROP", "UNDROP", "COMMENT"})
_BEHIND_WITH = frozenset({"SELECT", "UPDATE", "DELETE", "MERGE", "INSERT", "UPSERT"})


def plan_statement(source: SourceText, context: PlanContext) -> "Plan":
    """Plan the statement that a text begins with.

    Raises SyntaxError: there is none; Error: as of its entry.
    """
    tokens = TokenStream(source.text, source.start)
    entry = _entry(tokens)
    if entry is None:
        raise _unknown_statement(tokens)
    return entry.plan(tokens, context)


def begins_statement(text: str) -> bool:
    """Whether a text begins with the words of a statement."""
    return _entry(TokenStream(text, 0)) is not None


def changes_catalog(text: str) -> bool:
    """Whether a statement changes tables, views, databases or named snapshots."""
    return TokenStream(text, 0).current.word in _DEFINITIONS


def statements() -> tuple[StatementEntry, ...]:
    """All entries."""
    from pykudu_sql.planner.commands.commands import COMMANDS

    return (*_ROWS.values(), *_TABLES, *COMMANDS)


@cache
def _by_first_word() -> Mapping[str, tuple[StatementEntry, ...]]:
    """The entries by their first word, those of more words first."""
    entries: dict[str, tuple[StatementEntry, ...]] = {}
    for entry in sorted(statements(), key=lambda entry: -len(entry.words)):
        entries[entry.words[0]] = (*entries.get(entry.words[0], ()), entry)
    return MappingProxyType(entries)


def _entry(tokens: TokenStream) -> StatementEntry | None:
    first = tokens.current
    of_rows = _ROWS.get("SELECT" if first.text == "(" else first.word)
    if of_rows is not None:
        return of_rows
    entries = _by_first_word().get(first.word, ())
    return next((entry for entry in entries if tokens.at(*entry.words)), None)


def _unknown_statement(tokens: TokenStream) -> Error:
    """The error of a text that begins with no statement of ours."""
    if tokens.at_end():
        return SyntaxError("the statement is empty")
    from pykudu_sql.planner.parse.unsupported import refuse_unsupported_statement

    refuse_unsupported_statement(tokens)
    from pykudu_sql.planner.parse.suggestion import near

    first = tokens.current
    suggestion = near(first.word, tuple(_by_first_word()), 0.75)
    error = SyntaxError if suggestion else UnknownStatementError
    return error(
        f'syntax error at or near "{first.text[:40]}"',
        hint=suggestion or "a statement starts with SELECT, INSERT, CREATE TABLE, ...",
        span=first.span,
    )


def _select(tokens: TokenStream, context: PlanContext) -> "Plan":
    return constant_row(tokens) or _query(tokens, context)


def _query(tokens: TokenStream, context: PlanContext) -> "Plan":
    """A query, or the UPDATE, DELETE or INSERT that a WITH clause stands before."""
    source = tokens.rest
    behind = _word_behind_with(tokens) if tokens.at("WITH") else tokens.current
    if behind.word == "UPDATE":
        return _update(TokenStream(source.text, source.start), context)
    if behind.word == "DELETE":
        return _delete(TokenStream(source.text, source.start), context)
    if behind.word == "MERGE":
        return _merge(TokenStream(source.text, source.start), context)
    if behind.word in ("INSERT", "UPSERT"):
        from pykudu_sql.planner.dml.insert import plan_insert

        return plan_insert(TokenStream(source.text, behind.start), context, source.start)
    from pykudu_sql.planner.query.query import plan_query

    return plan_query(source, context)


def _word_behind_with(tokens: TokenStream) -> Token:
    """The first word outside parentheses, which is that of the statement with the WITH clause.

    Raises StatementTooComplexError: the clause has too many queries.
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


# Of statements that come with literals by the thousand the planner is looked up once: an import
# within a function takes a microsecond each time, one in a hundred of what planning them takes.
@cache
def _insert_planner() -> Callable[[TokenStream, PlanContext], "Plan"]:
    from pykudu_sql.planner.dml.insert import plan_insert

    return plan_insert


@cache
def _change_planners() -> Mapping[str, Callable[[SourceText, PlanContext], "Plan"]]:
    from pykudu_sql.planner.dml.update import plan_delete, plan_update

    return MappingProxyType({"UPDATE": plan_update, "DELETE": plan_delete})


def _insert(tokens: TokenStream, context: PlanContext) -> "Plan":
    return _insert_planner()(tokens, context)


def _update(tokens: TokenStream, context: PlanContext) -> "Plan":
    if tokens.ahead(1).word == "OR":
        raise NotSupportedError(
            f"UPDATE OR {tokens.ahead(2).word} is not supported",
            hint="leave it out: an UPDATE that fails changes nothing, and none changes a key",
            span=tokens.ahead(1).span,
        )
    _refuse_top(tokens)
    return _change_planners()["UPDATE"](tokens.rest, context)


def _delete(tokens: TokenStream, context: PlanContext) -> "Plan":
    _refuse_top(tokens)
    return _change_planners()["DELETE"](tokens.rest, context)


def _refuse_top(tokens: TokenStream) -> None:
    """Refuse T-SQL's `UPDATE TOP (5)`. A table may be called so: no number stands behind it."""
    verb, word, behind = tokens.current, tokens.ahead(1), tokens.ahead(2)
    if word.word == "TOP" and (behind.text == "(" or behind.text.isdigit()):
        raise NotSupportedError(
            f"{verb.word} TOP is not supported",
            hint="write WHERE key IN (SELECT key FROM t ORDER BY .. LIMIT n)",
            span=word.span,
        )


def _merge(tokens: TokenStream, context: PlanContext) -> "Plan":
    from pykudu_sql.planner.dml.merge import plan_merge

    return plan_merge(tokens.rest, context)


def _copy(tokens: TokenStream, context: PlanContext) -> "Plan":
    from pykudu_sql.planner.dml.copy import plan_copy

    return plan_copy(tokens, context)


def _truncate(tokens: TokenStream, context: PlanContext) -> "Plan":
    from pykudu_sql.planner.dml.update import plan_truncate

    return plan_truncate(tokens, context)


def _create_table(tokens: TokenStream, context: PlanContext) -> "Plan":
    """`CREATE [OR REPLACE | EXTERNAL] TABLE`, and whatever else is not offered behind CREATE."""
    from pykudu_sql.planner.parse.unsupported import refuse_unsupported_statement

    refuse_unsupported_statement(tokens)
    tokens.expect("CREATE")
    replaces = tokens.accept("OR", "REPLACE")
    tokens.accept("EXTERNAL")
    if not tokens.accept("TABLE"):
        raise tokens.error("TABLE")
    from pykudu_sql.planner.ddl.create_table import plan_create_table
    from pykudu_sql.planner.ddl_grammar.create_table_parser import parse_create_table

    node = parse_create_table(tokens, replaces=replaces)
    return plan_create_table(node, context)


def _alter_table(tokens: TokenStream, context: PlanContext) -> "Plan":
    from pykudu_sql.planner.ddl.alter_table import plan_alter_table
    from pykudu_sql.planner.ddl_grammar.alter_table_parser import parse_alter_table
    from pykudu_sql.planner.parse.unsupported import refuse_unsupported_statement

    refuse_unsupported_statement(tokens)
    tokens.expect("ALTER", "TABLE")
    return plan_alter_table(parse_alter_table(tokens), context)


def _prepare(tokens: TokenStream, context: PlanContext) -> "Plan":
    from pykudu_sql.planner.commands.prepared_commands import plan_prepare, prepare_head

    name, types = prepare_head(tokens)
    source = tokens.rest
    plan = plan_statement(source, replace(context, bound_parameters=None))
    return plan_prepare(name, types, source.text[source.start :], plan)


def _explain(tokens: TokenStream, context: PlanContext) -> "Plan":
    from pykudu_sql.planner.ddl_grammar.explain_parser import explain_options
    from pykudu_sql.planner.plan.plan import CopyTable, Explain, PassEffect

    options = explain_options(tokens)
    explained = tokens.rest
    entry = _ROWS.get(tokens.current.word)
    effects: list[PassEffect] = []
    if options.passes:
        context = replace(
            context, trace=lambda name, lines: effects.append(PassEffect(name, (*lines,)))
        )
    if entry is not None and entry.plan is _select:
        plan = _query(tokens, context)
    else:
        plan = plan_statement(explained, context)
    if isinstance(plan, CopyTable):
        plan = plan.general()
    return Explain(plan, options.analyze, options.format, tuple(effects))


_ROWS: Mapping[str, StatementEntry] = {
    entry.words[0]: entry
    for entry in (
        StatementEntry(("SELECT",), _select, ("SELECT",)),
        StatementEntry(("WITH",), _select, ("WITH",)),
        StatementEntry(("VALUES",), _select),
        StatementEntry(("FROM",), _select),
        StatementEntry(("TABLE",), _select),
        StatementEntry(("INSERT",), _insert, ("INSERT INTO",)),
        StatementEntry(("UPSERT",), _insert, ("UPSERT INTO",)),
        StatementEntry(("REPLACE",), _insert),
        StatementEntry(("UPDATE",), _update, ("UPDATE",)),
        StatementEntry(("DELETE",), _delete, ("DELETE FROM",)),
        StatementEntry(("MERGE",), _merge, ("MERGE INTO",)),
        StatementEntry(("TRUNCATE",), _truncate, ("TRUNCATE TABLE",)),
        StatementEntry(("COPY",), _copy, ("COPY",)),
    )
}
_TABLES = (
    StatementEntry(("CREATE",), _create_table, ("CREATE TABLE",)),
    StatementEntry(
        ("CREATE", "OR", "REPLACE", "TABLE"), _create_table, ("CREATE OR REPLACE TABLE",)
    ),
    StatementEntry(("CREATE", "OR", "REPLACE", "EXTERNAL", "TABLE"), _create_table),
    StatementEntry(("ALTER",), _alter_table, ("ALTER TABLE",)),
    StatementEntry(("PREPARE",), _prepare, ("PREPARE",)),
    StatementEntry(("EXPLAIN",), _explain, ("EXPLAIN", "EXPLAIN ANALYZE")),
)
