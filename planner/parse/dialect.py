"""The SQL dialect: sqlglot's parser behind a tokenizer of ours, with guards before it.

sqlglot's compiled build refuses subclasses of Parser, Generator and Expression at run time, so the
dialect has only a Tokenizer, and what sqlglot does not know is rewritten on tokens: `AS OF
TIMESTAMP x` into its own version clause, and `?` into named placeholders numbered in the order of
the text. Too long or too deep a statement is refused while it is still a list of tokens.
"""

import logging
from collections.abc import Callable, Sequence
from typing import ClassVar

from sqlglot import Token, TokenType, exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import ErrorLevel, ParseError, SqlglotError, TokenError, UnsupportedError
from sqlglot.generator import Generator

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.cancellation import check_cancelled
from pykudu_sql.planner.parse.call_arity import check_arguments, check_unread, token_calls
from pykudu_sql.planner.parse.guards import (
    MAX_TOKENS,
    check_closed,
    guard_text,
    guard_tokens,
    guard_tree,
)
from pykudu_sql.planner.parse.headings import marked, note_headings
from pykudu_sql.planner.parse.lexer import check_binaries, without_comments
from pykudu_sql.planner.parse.long_list import LongList, extract_long_lists, restore_long_lists
from pykudu_sql.planner.parse.printable_calls import (
    with_printable_aggregates,
    with_printable_clauses,
)
from pykudu_sql.planner.parse.reserved_aliases import check_aliases, check_clauses
from pykudu_sql.planner.parse.source_spans import place_signs
from pykudu_sql.planner.parse.syntax_errors import unparsed
from pykudu_sql.planner.parse.unfinished_parts import check_finished
from pykudu_sql.planner.parse.unsupported import refuse_with_offset
from pykudu_sql.planner.parse.using_lists import check_using_lists
from pykudu_sql.planner.token_rewrites.database_names import with_database_names
from pykudu_sql.planner.token_rewrites.exponents import (
    has_odd_numbers,
    plain_numbers,
    signs_behind_exponents,
    with_signs,
    without_signs,
)
from pykudu_sql.planner.token_rewrites.foreign_forms import with_known_forms
from pykudu_sql.planner.token_rewrites.intervals import with_plain_intervals
from pykudu_sql.planner.token_rewrites.renamed_calls import (
    CURRENT_TIME_CALLS,
    WRITTEN_NAMES,
    rewrite_tokens,
)
from pykudu_sql.planner.token_rewrites.reserved_names import (
    with_columns_named_all,
    with_reserved_names,
)
from pykudu_sql.planner.token_rewrites.struct_keys import check_struct_keys
from pykudu_sql.planner.token_rewrites.tokens import token_like
from pykudu_sql.planner.token_rewrites.type_parameters import (
    check_text_lengths,
    complete_decimals,
    mark_precisions,
)
from pykudu_sql.planner.token_rewrites.typed_literals import with_whole_literals
from pykudu_sql.planner.token_rewrites.version_clauses import (
    with_closed_windows,
    with_versions,
)
from pykudu_sql.planner.token_rewrites.window_names import check_windows
from pykudu_sql.planner.tree_nodes import all_nodes, nodes_of, with_node
from pykudu_sql.storage.errors import (
    NotSupportedError,
    SourceSpan,
    StatementTooComplexError,
    SyntaxError,
)

MAX_QUERY_CHARACTERS = 4 * 1024 * 1024
POSITIONAL = "?"

# What sqlglot fails with over input that it does not expect.
_SLIPS = (ArithmeticError, AttributeError, IndexError, KeyError, TypeError, ValueError)
_BEFORE_PARAMETER = frozenset(
    {
        TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.COMMA, TokenType.EQ, TokenType.NEQ,
        TokenType.LT, TokenType.LTE, TokenType.GT, TokenType.GTE, TokenType.PLUS, TokenType.DASH,
        TokenType.STAR, TokenType.SLASH, TokenType.MOD, TokenType.DPIPE,
    }
)  # fmt: skip
_COLON, _DECIMAL, _IDENTIFIER = TokenType.COLON, TokenType.DECIMAL, TokenType.IDENTIFIER
_PLACEHOLDER = TokenType.PLACEHOLDER
_SHORT_CHARACTERS = 2_000


class Kudu(DuckDB):
    """What people paste from Impala on Kudu, from Kudu's documentation and from SQLite."""

    NULL_ORDERING = "nulls_are_large"

    class Tokenizer(DuckDB.Tokenizer):
        """Backticks quote names, `x'..'` is a binary, Kudu's type names are its own widths."""

        IDENTIFIERS: ClassVar[list[str | tuple[str, str]]] = ['"', "`"]
        HEX_STRINGS: ClassVar[list[str | tuple[str, str]]] = [("x'", "'"), ("X'", "'")]
        BYTE_STRINGS: ClassVar[list[str | tuple[str, str]]] = []
        HEREDOC_STRINGS: ClassVar[list[str | tuple[str, str]]] = []
        NUMERIC_ESCAPES: ClassVar[dict[str, tuple[int, int, int, int]]] = {}
        NESTED_COMMENTS = False
        KEYWORDS: ClassVar[dict[str, TokenType]] = {
            **{
                word: kind
                for word, kind in DuckDB.Tokenizer.KEYWORDS.items()
                if word not in ("?::", "??") and "{" not in word and "}" not in word
            },
            "INT8": TokenType.TINYINT,
            "INT16": TokenType.SMALLINT,
            "INT32": TokenType.INT,
            "INT64": TokenType.BIGINT,
            "UNIXTIME_MICROS": TokenType.TIMESTAMPNTZ,
            "RLIKE": TokenType.RLIKE,
            "REGEXP": TokenType.RLIKE,
            "VARCHAR": TokenType.NVARCHAR,  # the engine's parser forgets a VARCHAR's length
        }


_DIALECT = Kudu()
logging.getLogger("sqlglot").addHandler(logging.NullHandler())  # it warns where we raise


def parse(text: str, start: int = 0) -> exp.Expr:
    """Parse one query, UPDATE or DELETE.

    Args:
        text: the whole statement, so that positions in errors are true.
        start: where to begin, for the query behind a head that was parsed already.

    Returns the tree. Placeholders are named: `?0`, `?1`, ... for `?`, and as written for `:name`;
    entries of SELECT lists have their headings (`headings.heading`).
    Raises SyntaxError: it is not SQL; ProgrammingError: a call has arguments that its function does
    not take; StatementTooComplexError: too long or too deep; NotSupportedError: sqlglot knows it
    only as text to pass through.
    """
    text = without_comments(text)
    raw = _read(text, start)
    check_cancelled()
    tokens = _rewritten(raw.tokens)
    check_cancelled()
    tree = _tree(raw.tokens, marked(tokens), text)
    check_cancelled()
    check_arguments(tree, token_calls(raw.tokens))
    place_signs(tree, tokens)
    _normalize(tree, tokens, raw.lists)
    note_headings(tree, tokens, text)
    return tree


def _normalize(tree: exp.Expr, tokens: Sequence[Token], lists: Sequence[LongList]) -> None:
    """Refuse what no engine gets, then complete what the tree leaves open.

    Raises StatementTooComplexError, NotSupportedError: see `parse`.
    """
    guard_tree(tree, _span_lookup(tokens))
    restore_long_lists(tree, lists)
    if any(token.token_type is _DECIMAL for token in tokens):
        complete_decimals(tree)


@dataclass(frozen=True, slots=True)
class _Read:
    """A statement's tokens as they are written, and the long lists that were cut out of it."""

    tokens: list[Token]
    lists: Sequence[LongList]


def _read(text: str, start: int) -> _Read:
    """The tokens of a text from an offset on.

    Raises SyntaxError: it has text that is no SQL; StatementTooComplexError: it is too long.
    """
    if len(text) - start > MAX_QUERY_CHARACTERS:
        raise StatementTooComplexError(
            f"statement of {len(text)} characters is too long",
            hint=f"at most {MAX_QUERY_CHARACTERS} are planned; bulk data goes through append()",
        )
    written = text
    lists: Sequence[LongList] = ()
    if len(text) - start > _SHORT_CHARACTERS:
        written, lists = extract_long_lists(text, start, MAX_TOKENS)
        guard_text(written, start)
    return _Read(_tokens(written, start), lists)


def _tree(raw: list[Token], tokens: list[Token], text: str) -> exp.Expr:
    """The tree of one statement.

    `raw`: its tokens as they are written; `tokens`: the same for the parser. Raises SyntaxError,
    StatementTooComplexError: see `parse`; ProgrammingError: the parser lacks an argument of a call.
    """
    guard_tokens(tokens)
    refuse_with_offset(tokens)
    check_windows(tokens)
    try:
        trees = _DIALECT.parser(error_level=ErrorLevel.IMMEDIATE).parse(tokens, text)
    except ParseError as error:
        check_unread(raw)
        raise unparsed(error, text) from None
    except TokenError as error:  # of a quoted word that it reads as a type
        raise _quoted_type(None) from error
    except (SqlglotError, *_SLIPS) as error:
        check_unread(raw)
        raise SyntaxError("this cannot be read as SQL") from error
    tree = trees[0] if trees else None
    if tree is None:
        raise SyntaxError("the statement is empty")
    check_closed(raw)
    check_finished(tree, raw, text)
    _check_types(tree, tokens)
    check_using_lists(tree, tokens)
    check_aliases(tree, tokens)
    check_clauses(tree, tokens)
    return tree


def printed(tree: exp.Expr) -> str:
    """The engine's SQL of a tree, of which nothing is checked; see `engine_sql`.

    Raises NotSupportedError: a construct has no counterpart there.
    """
    tree = with_printable_clauses(with_printable_aggregates(tree))
    generator = _DIALECT.generator(
        identify=True, comments=False, unsupported_level=ErrorLevel.RAISE
    )
    try:
        return _generated(generator, tree)
    except UnsupportedError as error:
        raise _unsupported(generator, tree) from error


def _unsupported(generator: Generator, tree: exp.Expr) -> NotSupportedError:
    """The error for a tree that the generator has no words for; names the inmost such function."""
    for call in reversed(nodes_of(tree, exp.Func)):
        try:
            generator.generate(call)
        except UnsupportedError:
            return NotSupportedError(
                f"function {call.sql_name().lower()}() cannot be used with these arguments",
                hint="see docs/functions.md for what it takes",
            )
    return NotSupportedError("the engine does not support a part of this statement")


def _generated(generator: Generator, tree: exp.Expr) -> str:
    try:
        return generator.generate(tree, copy=False)
    except UnsupportedError:
        raise
    except (SqlglotError, *_SLIPS) as error:
        raise NotSupportedError(
            "the engine does not support a part of this statement",
            hint="see that each function has the arguments it takes",
        ) from error


def display(tree: exp.Expr) -> str:
    """A tree as a person would write it, for names of result columns and EXPLAIN."""
    tree = with_printable_aggregates(exp.maybe_copy(tree))
    for call in nodes_of(tree, exp.Anonymous, exp.Initcap):
        if isinstance(call, exp.Anonymous):
            if call.name in CURRENT_TIME_CALLS and _is_present(call.expressions):
                call.set("expressions", call.expressions[1:])
            call.set("this", WRITTEN_NAMES.get(call.name, call.name))
            continue
        short = exp.Anonymous(this="initcap", expressions=[call.this])
        tree = with_node(tree, call, short)
    generator = _DIALECT.generator(normalize_functions="lower", comments=False)
    return _generated(generator, tree)


def _is_present(arguments: Sequence[exp.Expr]) -> bool:
    return bool(arguments) and isinstance(arguments[0], exp.CurrentTimestamp)


def _check_types(tree: exp.Expr, tokens: Sequence[Token]) -> None:
    """Refuse names of types and fields of which the parser read only a part.

    Raises SyntaxError: there is one; ProgrammingError: a name is given as the length of a text.
    """
    check_text_lengths(tokens)
    check_struct_keys(tokens)
    odd = {
        token.text.upper(): token
        for token in tokens
        if token.token_type is _IDENTIFIER and not token.text.isidentifier()
    }
    if not odd:
        return
    if "" in odd:
        raise SyntaxError("a name in quotes is empty", span=SourceSpan(odd[""].start, 2))
    for node in all_nodes(tree):
        for value in node.args.values():
            if isinstance(value, str):
                for name in [name for name in odd if name in value.upper()]:
                    del odd[name]
    for token in odd.values():
        raise _quoted_type(SourceSpan(token.start, token.end - token.start + 1))


def _quoted_type(span: SourceSpan | None) -> SyntaxError:
    return SyntaxError(
        "a name in quotes stands where a type or an operator is expected",
        hint="types are written without quotes: CAST(x AS INT)",
        span=span,
    )


def _span_lookup(tokens: Sequence[Token]) -> Callable[[str], SourceSpan | None]:
    """Finds the span of a word's first occurrence, alone or within a text; None without one."""

    first_alone: dict[str, Token] = {}

    def span_of(word: str) -> SourceSpan | None:
        if not first_alone:
            first_alone.update({token.text.upper(): token for token in reversed(tokens)})
        sought = word.upper()
        token = first_alone.get(sought)
        if token is None:
            token = next((token for token in tokens if sought in token.text.upper()), None)
        return None if token is None else SourceSpan(token.start, token.end - token.start + 1)

    return span_of


def _tokens(text: str, start: int) -> list[Token]:
    """The tokens from an offset on, positions as in the whole text."""
    body = text[start:]
    signs = signs_behind_exponents(body)
    try:
        raw = _DIALECT.tokenize(without_signs(body, signs) if signs else body)
    except TokenError:
        check_binaries(text, start)  # our own lexer knows the place
        raise SyntaxError("the statement has text that is no SQL") from None
    if signs:
        raw = with_signs(raw, body, signs)
    if has_odd_numbers(body):
        raw = list(plain_numbers(raw, _DIALECT.tokenize))
    if start:
        raw = [_moved(token, text, start) for token in raw]
    while raw and raw[-1].token_type is TokenType.SEMICOLON:
        raw.pop()
    return raw


def _rewritten(tokens: list[Token]) -> list[Token]:
    """The tokens with what the parser does not know as what it does."""
    plain_names = with_columns_named_all(with_reserved_names(tokens))
    named = with_database_names(with_closed_windows(plain_names))
    plain = rewrite_tokens(with_plain_intervals(with_known_forms(with_whole_literals(named))))
    return mark_precisions(_numbered(with_versions(plain)))


def _moved(token: Token, text: str, start: int) -> Token:
    """A token of the text behind `start`, placed as in the whole text."""
    line = token.line + text.count("\n", 0, start)
    column = token.col
    if token.line == 1:
        column += start - (text.rfind("\n", 0, start) + 1)
    return Token(
        token.token_type,
        token.text,
        line,
        column,
        token.start + start,
        token.end + start,
        token.comments,
    )


def _numbered(tokens: list[Token]) -> list[Token]:
    """`?` and `:name` as the parser's named placeholders; each `?` is named by its position."""
    out: list[Token] = []
    count = 0
    named = False
    for i, token in enumerate(tokens):
        if token.token_type is _PLACEHOLDER:
            out.append(token_like(token, TokenType.PARAMETER, "$"))
            out.append(token_like(token, TokenType.VAR, f"{POSITIONAL}{count}"))
            count += 1
        elif named:
            out.append(token_like(token, TokenType.VAR, token.text))
            named = False
        elif token.token_type is _COLON and _names_parameter(tokens, i):
            out.append(token_like(token, TokenType.PARAMETER, "$"))
            named = True
        else:
            out.append(token)
    return out


def _names_parameter(tokens: list[Token], i: int) -> bool:
    """Whether a colon starts `:name`: the name touches it, and nothing it could belong to does."""
    if i + 1 >= len(tokens):
        return False
    following = tokens[i + 1]
    if following.start != tokens[i].end + 1 or not following.text.isidentifier():
        return False
    touching = i > 0 and tokens[i - 1].end + 1 == tokens[i].start
    return not touching or tokens[i - 1].token_type in _BEFORE_PARAMETER
