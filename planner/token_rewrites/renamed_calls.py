"""Renamed calls: those that sqlglot's parser reads differently from Impala.

The parser makes nodes of the functions it knows, and refuses numbers of arguments it does not
expect. Here such a call gets a name that the parser does not know and `compatibility_functions`
does: which one depends on the number of arguments, and for some on whether one is a text. A time
that is written as a plain text, `year('2026-08-17')`, gets the word TIMESTAMP before it. SQLite's
`x IS 1` gets the words of the standard, and `'now'` in its calls becomes CURRENT_TIMESTAMP.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from sqlglot import Token, TokenType

from pykudu_sql.planner.token_rewrites.tokens import CLOSING, OPENING, token_like

# By upper-case name and number of arguments.
_RENAMED: Mapping[tuple[str, int], str] = {
    ("DATEDIFF", 2): "days_between",
    ("EXTRACT", 2): "extract_unit",
    ("GETBIT", 2): "bit_at",
    ("JARO_WINKLER_SIMILARITY", 3): "winkler_from",
    ("INSTR", 3): "instr_from",
    ("INSTR", 4): "instr_from",
    ("MONTHS_BETWEEN", 2): "months_apart",
    ("NEGATIVE", 1): "minus",
    ("NEXT_DAY", 2): "day_after",
    ("PARSE_URL", 2): "part_of_url",
    ("REGEXP_REPLACE", 3): "replace_pattern",
    ("SOUNDEX", 1): "sound_of",
    ("SUBSTRING_INDEX", 3): "pieces_to",
    ("TIMESTAMPADD", 3): "units_later",
    ("DATEADD", 3): "date_later",
    ("TIMESTAMPDIFF", 3): "units_between",
    ("TO_CHAR", 2): "text_of_time",
    ("TO_TIMESTAMP", 2): "time_of_text",
    ("WIDTH_BUCKET", 4): "bucket_of",
}
# By upper-case name, with the least number of arguments.
_RENAMED_FROM: Mapping[str, tuple[int, str]] = {
    "CHAR": (2, "text_of_codes"),
    "DATABASE": (0, "current_database"),
    "DATETIME": (0, "datetime_of"),
    "MAX": (3, "greatest_of"),
    "MIN": (3, "least_of"),
    "REDUCE": (2, "reduce_list"),
    "SCHEMA": (0, "current_schema"),
}
_OF_SEVERAL: Mapping[str, str] = {
    "clock_to": "current_time",
    "date_of": "date",
    "decode_as": "decode",
    "decode_pairs": "decode",
    "encode_as": "encode",
    "local_clock_to": "localtime",
    "local_moment_to": "localtimestamp",
    "moment_to": "current_timestamp",
    "strftime_of": "strftime",
    "time_of": "time",
    "trunc_time": "trunc",
}
_CANDIDATES = frozenset(
    (
        *(word for word, _ in _RENAMED),
        *_RENAMED_FROM,
        *(name.upper() for name in _OF_SEVERAL.values()),
        "FORMAT",
        "LOCALTIME",
        "LOCALTIMESTAMP",
    )
)
_WITH_PRECISION: Mapping[str, str] = {
    "CURRENT_TIME": "clock_to",
    "CURRENT_TIMESTAMP": "moment_to",
    "LOCALTIME": "local_clock_to",
    "LOCALTIMESTAMP": "local_moment_to",
}
_UNIT_FIRST = frozenset({"TIMESTAMPADD", "DATEADD", "TIMESTAMPDIFF"})
_CURRENT_TIME_WORDS = frozenset(
    {"UNIX_TIMESTAMP", "DATE", "DATETIME", "JULIANDAY", "TIME", "TIMEOFDAY", "UNIXEPOCH"}
)
_TAKES_NOW = frozenset({"DATE", "TIME", "DATETIME", "JULIANDAY", "UNIXEPOCH"})
_BEFORE_MOMENT = frozenset({"OF", "TO"})
_BEFORE_NAMES = frozenset(
    {
        TokenType.ALIAS, TokenType.DCOLON, TokenType.R_PAREN, TokenType.VAR, TokenType.IDENTIFIER,
        TokenType.WITH, TokenType.RECURSIVE,
    }
)  # fmt: skip
# The name in the statement for each name that calls get here.
WRITTEN_NAMES: Mapping[str, str] = MappingProxyType(
    {name: word.lower() for (word, _), name in _RENAMED.items()}
    | {name: word.lower() for word, (_, name) in _RENAMED_FROM.items()}
    | dict(_OF_SEVERAL)
)
_OUTSIDE_TOO = frozenset({"current_database", "current_schema", "days_between"})
# Calls that get CURRENT_TIMESTAMP as their first argument where it is missing, by inner names.
CURRENT_TIME_CALLS = frozenset(
    (
        *_WITH_PRECISION.values(),
        *(word.lower() for word in _CURRENT_TIME_WORDS),
        *("date_of", "datetime_of", "time_of"),
    )
)
INNER_NAMES = frozenset(WRITTEN_NAMES) - _OUTSIDE_TOO
_ONE_TIME_WORDS = """
    YEAR QUARTER MONTH WEEK WEEKOFYEAR DAY DAYOFMONTH DAYOFWEEK DAYOFYEAR HOUR MINUTE SECOND
    MILLISECOND MICROSECOND DAYNAME MONTHNAME LAST_DAY
"""
_OF_ONE_TIME = frozenset(_ONE_TIME_WORDS.split())
_OF_UNIT_AND_TIME = frozenset({"DATE_TRUNC", "DATE_PART"})
_HINT_OFFSETS: Mapping[TokenType, int] = {
    TokenType.L_BRACKET: 0,
    TokenType.VAR: 1,
    TokenType.R_BRACKET: 2,
}
_JOIN_HINTS = frozenset({"BROADCAST", "NOSHUFFLE", "SHUFFLE"})
_BEGINS_VALUE = frozenset(
    {
        TokenType.STRING, TokenType.NUMBER, TokenType.HEX_STRING, TokenType.PLACEHOLDER,
        TokenType.COLON, TokenType.DASH, TokenType.VAR, TokenType.IDENTIFIER,
    }
)  # fmt: skip
_AFTER_IS = frozenset({"UNKNOWN", "JSON", "NORMALIZED", "DOCUMENT", "NAN"})
_L_PAREN, _STRING = TokenType.L_PAREN, TokenType.STRING
_HEX_STRING, _VAR = TokenType.HEX_STRING, TokenType.VAR
_IN_HINTS = frozenset({TokenType.STRAIGHT_JOIN, TokenType.L_BRACKET})
_COMPARING = frozenset({TokenType.IS, TokenType.NOT})
_BEFORE_ARGUMENT = frozenset({_L_PAREN, TokenType.COMMA})
_RENAMED_APART = frozenset({_HEX_STRING, _VAR})  # what is renamed beside no parenthesis
_BEGINS_OPERAND = frozenset({"SELECT", "VALUES", "ALL", "DISTINCT"})


def rewrite_tokens(tokens: Sequence[Token]) -> list[Token]:
    """The tokens of a statement with such calls renamed."""
    kinds = {token.token_type for token in tokens}
    if not kinds.isdisjoint(_IN_HINTS):
        tokens = [token for i, token in enumerate(tokens) if not _is_join_hint(tokens, i)]
    has_calls = _L_PAREN in kinds
    result: list[Token] = []
    for i, token in enumerate(tokens):
        kind = token.token_type
        if kind in _COMPARING and (words := _comparing_words(tokens, i)):
            result += words
        else:
            result.append(_renamed(tokens, i) if has_calls or kind in _RENAMED_APART else token)
        if has_calls and kind in _BEFORE_ARGUMENT:
            result += _words_before_argument(tokens, i)
    return result


def _words_before_argument(tokens: Sequence[Token], i: int) -> list[Token]:
    """What a call gets behind its parenthesis or a comma at a place."""
    token = tokens[i]
    if _needs_current_time(tokens, i):
        return [token_like(token, TokenType.CURRENT_TIMESTAMP, "current_timestamp")]
    if _is_before_precision(tokens, i):
        present = token_like(token, TokenType.CURRENT_TIMESTAMP, "current_timestamp")
        return [present, token_like(token, TokenType.COMMA, ",")]
    if _is_before_bare_time(tokens, i):
        return [token_like(token, TokenType.TIMESTAMP, "TIMESTAMP")]
    return []


def _is_join_hint(tokens: Sequence[Token], i: int) -> bool:
    """Whether a token belongs to a join hint of Impala: STRAIGHT_JOIN, `JOIN [SHUFFLE] t`."""
    kind = tokens[i].token_type
    if kind is TokenType.STRAIGHT_JOIN:
        return i > 0 and tokens[i - 1].text.upper() in ("SELECT", "DISTINCT")
    before = _HINT_OFFSETS.get(kind)
    if before is None or i <= before or tokens[i - before - 1].token_type is not TokenType.JOIN:
        return False
    hint = tokens[i - before + 1 : i - before + 2]
    return bool(hint) and hint[0].text.upper() in _JOIN_HINTS


def _renamed(tokens: Sequence[Token], i: int) -> Token:
    token = tokens[i]
    word = token.text.upper()
    if word == "MINUS" and token.token_type is _VAR and _joins_queries(tokens, i):
        return token_like(token, TokenType.EXCEPT, "EXCEPT")
    if token.token_type is _HEX_STRING and token.end - token.start == len(token.text) + 1:
        return token_like(token, TokenType.NUMBER, str(int(token.text, 16)))  # 0x1F, no x'1F'
    if _says_now(token) and _is_time_of_call(tokens, i):
        return token_like(token, TokenType.CURRENT_TIMESTAMP, "current_timestamp")
    if word in _CANDIDATES:
        name = _name(tokens, i, word)
        return token if name is None else token_like(token, TokenType.VAR, name)
    if i > 1 and tokens[i - 1].token_type is _L_PAREN:
        return _first_argument(tokens, i)
    return token


def _name(tokens: Sequence[Token], i: int, word: str) -> str | None:
    """The name inside of the call at a place, None if it keeps its own or there is no call."""
    if not is_called(tokens, i):
        return None
    if word in _WITH_PRECISION:
        return _WITH_PRECISION[word] if _is_before_precision(tokens, i + 1) else None
    if tokens[i].token_type is TokenType.IDENTIFIER:
        return None
    count, first = _arguments(tokens, i), tokens[i + 2]
    says_pattern = first.token_type is TokenType.STRING and "%" in first.text
    match word:
        case "DECODE" if count > 2:
            return "decode_pairs"
        case "DECODE" | "ENCODE" if count == 2:
            return f"{word.lower()}_as"
        case "TRUNC" if count == 2 and _last_is_text(tokens, i):
            return "trunc_time"
        case "DATE" if first.token_type is TokenType.R_PAREN or _says_now(first) or count > 1:
            return "date_of"
        case "TIME" if count:
            return "time_of"
        case "STRFTIME" if count > 2 or (says_pattern and count > 1):
            return "strftime_of"
        case "FORMAT" if count > 1 and says_pattern and "{" not in first.text:
            return "printf"
    replacement = _RENAMED.get((word, count))
    if replacement is None and word in _RENAMED_FROM:
        least, name = _RENAMED_FROM[word]
        replacement = name if count >= least else None
    return replacement


def is_called(tokens: Sequence[Token], i: int) -> bool:
    """Whether a word is a function's: no type of a CAST, no alias, no name of a WITH query."""
    if i + 2 >= len(tokens) or tokens[i + 1].token_type is not TokenType.L_PAREN:
        return False
    is_named = i > 0 and tokens[i - 1].token_type in _BEFORE_NAMES
    if is_named and tokens[i - 1].text.upper() not in _BEFORE_MOMENT:
        return False
    end = _closing(tokens, i + 1)
    kinds = [token.token_type for token in tokens[end + 1 : end + 3]]
    return kinds != [TokenType.ALIAS, TokenType.L_PAREN]


def _closing(tokens: Sequence[Token], opening: int) -> int:
    """The place of the parenthesis that closes one, the last place if none does."""
    depth = 0
    for index in range(opening, len(tokens)):
        depth += tokens[index].token_type in OPENING
        depth -= tokens[index].token_type in CLOSING
        if depth == 0:
            return index
    return len(tokens) - 1


def _is_time_of_call(tokens: Sequence[Token], i: int) -> bool:
    """Whether SQLite's `date(..)` or `strftime('%Y', ..)` has its time at this place."""
    if i > 3 and tokens[i - 1].token_type is TokenType.COMMA:
        is_pattern = tokens[i - 2].token_type is TokenType.STRING
        return is_pattern and tokens[i - 4].text.upper() == "STRFTIME"
    is_first = i > 1 and tokens[i - 1].token_type is TokenType.L_PAREN
    return is_first and tokens[i - 2].text.upper() in _TAKES_NOW


def _comparing_words(tokens: Sequence[Token], i: int) -> list[Token]:
    """`IS` before a value as IS NOT DISTINCT FROM, and the NOT of `IS NOT` as DISTINCT FROM."""
    token = tokens[i]
    if i + 1 >= len(tokens):
        return []
    following = tokens[i + 1]
    if following.token_type not in _BEGINS_VALUE or following.text.upper() in _AFTER_IS:
        return []
    words = [
        token_like(token, TokenType.DISTINCT, "DISTINCT"),
        token_like(token, TokenType.FROM, "FROM"),
    ]
    if token.token_type is TokenType.IS:
        return [token, token_like(token, TokenType.NOT, "NOT"), *words]
    return words if i and tokens[i - 1].token_type is TokenType.IS else []


def _says_now(token: Token) -> bool:
    return token.token_type is _STRING and token.text.lower() == "now"


def _first_argument(tokens: Sequence[Token], i: int) -> Token:
    """The first argument of a call, a unit as a text: `timestampdiff(DAY, a, b)`."""
    token, behind = tokens[i], tokens[i + 1] if i + 1 < len(tokens) else None
    if tokens[i - 2].text.upper() not in _UNIT_FIRST or behind is None:
        return token
    is_word = token.token_type is not TokenType.STRING and token.text.isidentifier()
    if not is_word or behind.token_type is not TokenType.COMMA:
        return token
    return token_like(token, TokenType.STRING, token.text.lower())


def _joins_queries(tokens: Sequence[Token], i: int) -> bool:
    """Whether a query stands behind this, as behind Impala's and Spark's word for EXCEPT."""
    behind = [token.text.upper() for token in tokens[i + 1 : i + 3]]
    return bool(behind) and (behind[0] in _BEGINS_OPERAND or behind == ["(", "SELECT"])


def _arguments(tokens: Sequence[Token], i: int) -> int:
    """How many arguments the call at a place has; 0 if it is none."""
    if i + 2 >= len(tokens) or tokens[i + 1].token_type is not TokenType.L_PAREN:
        return 0
    depth = commas = 0
    for token in tokens[i + 1 :]:
        depth += token.token_type in OPENING
        depth -= token.token_type in CLOSING
        commas += depth == 1 and token.token_type is TokenType.COMMA
        if depth == 0:
            break
    return commas + 1


def _last_is_text(tokens: Sequence[Token], i: int) -> bool:
    """Whether the call at a place ends in a text: `trunc(x, 'MM')`."""
    depth = 0
    for index in range(i + 1, len(tokens)):
        kind = tokens[index].token_type
        depth += kind in OPENING
        depth -= kind in CLOSING
        if depth == 0:
            before = tokens[index - 2].token_type, tokens[index - 1].token_type
            return before == (TokenType.COMMA, TokenType.STRING)
    return False


def _is_before_bare_time(tokens: Sequence[Token], i: int) -> bool:
    """Whether a text stands behind this as the time that a function takes."""
    if i + 2 >= len(tokens) or tokens[i + 1].token_type is not _STRING:
        return False
    if tokens[i + 2].token_type is not TokenType.R_PAREN or i == 0:
        return False
    if tokens[i].token_type is TokenType.L_PAREN:
        return tokens[i - 1].text.upper() in _OF_ONE_TIME
    is_second = i > 2 and tokens[i].token_type is TokenType.COMMA
    return is_second and tokens[i - 3].text.upper() in _OF_UNIT_AND_TIME


def _is_before_precision(tokens: Sequence[Token], i: int) -> bool:
    """Whether this is the parenthesis of `current_timestamp(3)`."""
    if i == 0 or tokens[i - 1].text.upper() not in _WITH_PRECISION:
        return False
    return is_called(tokens, i - 1) and tokens[i + 1].token_type is not TokenType.R_PAREN


def _needs_current_time(tokens: Sequence[Token], i: int) -> bool:
    """Whether this is the parenthesis of `unix_timestamp()` or `datetime()`."""
    if i == 0 or i + 1 >= len(tokens) or tokens[i - 1].text.upper() not in _CURRENT_TIME_WORDS:
        return False
    kinds = (tokens[i].token_type, tokens[i + 1].token_type)
    return kinds == (TokenType.L_PAREN, TokenType.R_PAREN)
