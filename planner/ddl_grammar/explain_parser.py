"""`EXPLAIN [ANALYZE] [(option, ...)]`: what stands before the statement that is explained.

The options are PostgreSQL's: `ANALYZE` and `FORMAT TEXT | JSON`, in parentheses, any number.
"""

from dataclasses import dataclass

from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.plan import ExplainFormat

_OPTIONS = ("ANALYZE", "FORMAT")


@dataclass(frozen=True, slots=True)
class ExplainOptions:
    """How a statement is explained.

    Attributes:
        analyze: whether it also runs.
        format: of what comes out.
    """

    analyze: bool
    format: ExplainFormat


def explain_options(tokens: TokenStream) -> ExplainOptions:
    """Pass over EXPLAIN and its options; the statement comes next.

    Raises:
        SyntaxError: an option is unknown.
    """
    tokens.expect("EXPLAIN")
    analyze, shown = tokens.accept("ANALYZE"), ExplainFormat.TEXT
    if tokens.at_symbol("(") and tokens.ahead(1).word in _OPTIONS:
        tokens.expect_symbol("(")
        while True:
            if tokens.accept("FORMAT"):
                shown = _format(tokens)
            else:
                tokens.expect("ANALYZE")
                analyze = True
            if not tokens.accept_symbol(","):
                break
        tokens.expect_symbol(")")
    return ExplainOptions(analyze, shown)


def _format(tokens: TokenStream) -> ExplainFormat:
    word = tokens.current.word
    if word not in ExplainFormat.__members__:
        raise tokens.error("TEXT or JSON")
    tokens.take()
    return ExplainFormat[word]
