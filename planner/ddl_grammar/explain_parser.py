"""`EXPLAIN [ANALYZE] [(option, ...)]`: what stands before the statement that is explained.

The options are PostgreSQL's: `ANALYZE [ON | OFF]` and `FORMAT TEXT | JSON`, in parentheses, any
number; and `PASSES`, which shows what the planner does step by step. PostgreSQL's other switches,
such as `VERBOSE` and `BUFFERS`, are taken and change nothing: what they are about is always shown,
or is not there. So are SQLite's QUERY PLAN and Spark's EXTENDED; MySQL's `FORMAT = JSON` is JSON.
"""

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.parse.lexer import Token
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.plan import ExplainFormat

_OPTIONS = ("ANALYZE", "FORMAT", "PASSES")
_WITHOUT_EFFECT = frozenset(
    ("BUFFERS", "COSTS", "MEMORY", "SETTINGS", "SUMMARY", "TIMING", "VERBOSE", "WAL")
)
_WORDS_OF_DETAIL = frozenset({"VERBOSE", "EXTENDED", "FORMATTED"})


@dataclass(frozen=True, slots=True)
class ExplainOptions:
    """How a statement is explained.

    Attributes:
        analyze: whether it also runs.
        format: of what comes out.
        passes: whether it shows what each pass of the planner changes.
    """

    analyze: bool
    format: ExplainFormat
    passes: bool


def explain_options(tokens: TokenStream) -> ExplainOptions:
    """Pass over EXPLAIN and its options; the statement comes next.

    Raises SyntaxError: an option is unknown.
    """
    tokens.expect("EXPLAIN")
    analyze, explain_format, passes = tokens.accept("ANALYZE"), ExplainFormat.TEXT, False
    if tokens.accept("FORMAT"):
        tokens.expect_symbol("=")
        explain_format = ExplainFormat.TEXT if tokens.accept("TREE") else _format(tokens)
    elif not tokens.accept("QUERY", "PLAN") and tokens.current.word in _WORDS_OF_DETAIL:
        tokens.take()
    if tokens.at_symbol("(") and not _begins_query(tokens.ahead(1)):
        tokens.expect_symbol("(")
        while True:
            if tokens.accept("FORMAT"):
                explain_format = _format(tokens)
            elif tokens.accept("PASSES"):
                passes = True
            elif tokens.accept("ANALYZE"):
                analyze = _switch(tokens)
            elif tokens.current.word in _WITHOUT_EFFECT:
                tokens.take()
                _switch(tokens)
            else:
                raise tokens.error(f"one of {', '.join(_OPTIONS)}")
            if not tokens.accept_symbol(","):
                break
        tokens.expect_symbol(")")
    return ExplainOptions(analyze, explain_format, passes)


def _switch(tokens: TokenStream) -> bool:
    """What ON or OFF behind an option says; ON if neither is there."""
    if tokens.accept("OFF") or tokens.accept("FALSE"):
        return False
    return tokens.accept("ON") or tokens.accept("TRUE") or True


def _begins_query(token: Token) -> bool:
    """Whether what stands in parentheses is no option but a query, or more parentheses."""
    return token.text == "(" or token.word in ("SELECT", "WITH", "VALUES", "FROM", "TABLE")


def _format(tokens: TokenStream) -> ExplainFormat:
    word = tokens.current.word
    if word not in ExplainFormat.__members__:
        raise tokens.error("TEXT or JSON")
    tokens.take()
    return ExplainFormat[word]
