"""Parameters of types of which the parser keeps too little: `DECIMAL(9,2)`, `CHAR(10)`.

A DECIMAL without them gets the precision of a column's type. The parser gives it DuckDB's, and its
tree does not show whether they were written. So each written precision gets a zero in front of it
before parsing, which is removed afterwards. Lengths of texts it forgets: those are checked here.
"""

from collections.abc import Sequence

from sqlglot import Token, TokenType, exp

from pykudu_sql.planner.token_rewrites.tokens import token_like
from pykudu_sql.planner.tree_nodes import nodes_of
from pykudu_sql.planner.vocabulary.data_types import no_parameter
from pykudu_sql.storage.common.types.type_names import parse_type
from pykudu_sql.storage.errors import SourceSpan

_MARK = "0"
_DECIMAL = TokenType.DECIMAL
_TEXTS = frozenset({TokenType.CHAR, TokenType.NCHAR, TokenType.BPCHAR, TokenType.TEXT})
_BEFORE_TYPE = frozenset({TokenType.ALIAS, TokenType.DCOLON})
_LENGTH = [TokenType.NUMBER, TokenType.R_PAREN]


def mark_precisions(tokens: Sequence[Token]) -> list[Token]:
    """Tokens with a mark on the number behind each `DECIMAL(`."""
    marked = list(tokens)
    if all(token.token_type is not _DECIMAL for token in tokens):
        return marked
    for index in range(2, len(marked)):
        kinds = [token.token_type for token in marked[index - 2 : index + 1]]
        if kinds == [_DECIMAL, TokenType.L_PAREN, TokenType.NUMBER]:
            number = marked[index]
            marked[index] = token_like(number, TokenType.NUMBER, _MARK + number.text)
    return marked


def complete_decimals(tree: exp.Expr) -> None:
    """Take the marks away, and give a DECIMAL without one the parameters of a bare column type."""
    default = parse_type("DECIMAL")
    for kind in nodes_of(tree, exp.DataType):
        if kind.this is not exp.DataType.Type.DECIMAL:
            continue
        written = kind.expressions[0].this if kind.expressions else None
        if isinstance(written, exp.Literal) and len(written.name) > 1 and written.name[0] == _MARK:
            written.set("this", written.name.removeprefix(_MARK))
            continue
        numbers = (default.precision, default.scale)
        parameters = [exp.DataTypeParam(this=exp.Literal.number(number)) for number in numbers]
        kind.set("expressions", parameters)


def check_text_lengths(tokens: Sequence[Token]) -> None:
    """See that a text type of a cast has a number in its parentheses, and nothing else.

    `tokens`: of the statement. Raises ProgrammingError: it has something else (42601).
    """
    for i in range(1, len(tokens) - 1):
        token = tokens[i]
        if token.token_type not in _TEXTS or tokens[i - 1].token_type not in _BEFORE_TYPE:
            continue
        if tokens[i + 1].token_type is not TokenType.L_PAREN:
            continue
        if [each.token_type for each in tokens[i + 2 : i + 4]] != _LENGTH:
            length = token.end - token.start + 1
            raise no_parameter(token.text.upper(), SourceSpan(token.start, length))
