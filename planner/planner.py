"""One statement to its plan: what holds for all of them, around the registry of `statements`."""

from functools import partial
from typing import TYPE_CHECKING

from pykudu_sql.planner.cancellation import cancelled_by
from pykudu_sql.planner.deep_stack import run_deep
from pykudu_sql.planner.listed_relations import with_listed_relations
from pykudu_sql.planner.parse.error_spans import locate
from pykudu_sql.planner.parse.lexer import without_comments
from pykudu_sql.planner.parse.source_text import SourceText
from pykudu_sql.planner.parse.written_literals import with_written
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.prepared_strings import with_prepared_text
from pykudu_sql.planner.statements import plan_statement
from pykudu_sql.planner.string_forms import with_plain_strings
from pykudu_sql.storage.errors import Error, InterfaceError, StatementTooComplexError

if TYPE_CHECKING:
    from pykudu_sql.planner.plan.plan import Plan

MAX_STATEMENT_CHARACTERS = 256 * 1024 * 1024


def plan(sql: str, context: PlanContext) -> "Plan":
    """Plan one statement.

    Args:
        sql: its text; a semicolon at the end is allowed.
        context: the tables, the time and the settings to plan with.

    Raises SyntaxError: it is not SQL of our dialect; every error of a statement carries its place;
    ProgrammingError, DataError, IntegrityError, NotSupportedError: it is, and cannot be done.
    """
    if len(sql) > MAX_STATEMENT_CHARACTERS:
        raise StatementTooComplexError(
            f"statement of {len(sql)} characters is too long",
            hint="bulk data goes through append()",
        )
    # Forms of clauses are looked for in the text in many places, and comments may stand anywhere.
    plain = without_comments(sql)
    prepared = with_prepared_text(plain)
    try:
        with cancelled_by(context.cancel_check):
            double_quoted = context.settings.double_quoted_strings
            text, literals = with_plain_strings(
                without_comments(prepared), double_quoted=double_quoted
            )
            with with_written(literals):
                text, context = with_listed_relations(text, context)
                planned = run_deep(partial(plan_statement, SourceText(text), context))
    except Error as error:
        locate(error, sql if prepared is plain else prepared)
        raise
    except RecursionError:
        raise StatementTooComplexError(
            "statement is nested too deeply", hint="write parts of it as WITH queries"
        ) from None
    used = context.bound_parameters.used if context.bound_parameters is not None else ()
    if len(set(map(type, (*planned.parameters, *used)))) > 1:
        raise InterfaceError(
            "a statement takes `?` or `:name` parameters, not both", sqlstate="07001"
        )
    return planned
