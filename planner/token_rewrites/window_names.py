"""Windows without a name and without brackets, which the parser takes for `OVER ()`."""

from collections.abc import Sequence

from sqlglot import Token, TokenType
from sqlglot.parser import Parser

from pykudu_sql.storage.errors import SourceSpan, SyntaxError

_OVER = TokenType.OVER
_BEHIND_OVER = frozenset({TokenType.L_PAREN, TokenType.IDENTIFIER}) | Parser.ID_VAR_TOKENS


def check_windows(tokens: Sequence[Token]) -> None:
    """Refuse `count(*) OVER FROM t`.

    Raises SyntaxError: neither a name nor a bracket stands behind the OVER of a call.
    """
    for i in [i for i, token in enumerate(tokens) if token.token_type is _OVER]:
        is_of_call = i > 0 and tokens[i - 1].token_type is TokenType.R_PAREN
        behind = tokens[i + 1] if i + 1 < len(tokens) else None
        if is_of_call and (behind is None or behind.token_type not in _BEHIND_OVER):
            raise SyntaxError(
                'syntax error at or near "OVER"',
                hint="a window is written OVER (), OVER (PARTITION BY ..) or OVER name",
                span=SourceSpan(tokens[i].start, 4),
            )
