"""MySQL's `INSERT INTO t SET a = 1, b = 2`: one row, its columns named beside their values.

It is read as `(a, b) VALUES (1, 2)`, which is written over the statement's text, so that offsets of
values stay true.
"""

from pykudu_sql.planner.dml.insert_tail import find_tail
from pykudu_sql.planner.parse.lexer import Token
from pykudu_sql.planner.parse.source_text import SourceText
from pykudu_sql.planner.parse.token_stream import TokenStream

_VALUES = "VALUES("


def values_of_set(source: SourceText) -> tuple[list[Token], SourceText]:
    """The names of the columns that a row sets, and the text from its VALUES on.

    `source`: from SET on, behind `INSERT INTO t`. Raises SyntaxError: something else than
    `column = value, ...` stands there.
    """
    stop = find_tail(source)
    tokens = TokenStream(source.until(stop).text, source.start)
    tokens.expect("SET")
    names: list[Token] = []
    begin, behind = 0, source.start
    while not names or tokens.accept_symbol(","):
        names.append(tokens.current)
        place = tokens.current.start
        tokens.name("a column name")
        equals = tokens.current
        tokens.expect_symbol("=")
        if len(names) == 1:
            begin = equals.end - len(_VALUES)
            source = source.overwritten(begin, equals.end, _VALUES)
        else:
            source = source.overwritten(place, equals.end)
        behind = _pass_value(tokens)
    tokens.expect_end()
    text = source.text
    rest = text[behind + 1 :] if text[behind : behind + 1].isspace() else text[behind:]
    return names, SourceText(f"{text[:behind]}){rest}", begin)


def _pass_value(tokens: TokenStream) -> int:
    """Pass over an expression, up to a comma outside of parentheses; its end."""
    first = last = tokens.current
    depth = 0
    while not tokens.at_end() and (depth or not tokens.at_symbol(",")):
        last = tokens.take()
        depth += (last.text in ("(", "[", "{")) - (last.text in (")", "]", "}"))
    if first is tokens.current:
        raise tokens.error("a value")
    return last.end
