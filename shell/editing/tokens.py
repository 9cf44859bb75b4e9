"""Text being typed, cut into coloured pieces.

Unlike the planner's lexer this one never fails: an open string or comment is a token that reaches
to the end, because that is what every text looks like while it is typed.
"""

import re
from enum import StrEnum

from pykudu_sql.dataclass import dataclass


class Kind(StrEnum):
    """What a piece of text is."""

    SPACE = "space"
    COMMENT = "comment"
    STRING = "string"
    QUOTED = "quoted"
    NUMBER = "number"
    WORD = "word"
    PARAMETER = "parameter"
    SYMBOL = "symbol"


@dataclass(frozen=True, slots=True)
class Token:
    """One piece.

    Attributes:
        kind: what it is.
        text: as typed.
        start: offset of its first character.
        closed: False for a string, quoted name or comment without an end.
    """

    kind: Kind
    text: str
    start: int
    closed: bool = True

    @property
    def end(self) -> int:
        """The offset behind its last character."""
        return self.start + len(self.text)

    @property
    def word(self) -> str:
        """Upper-case spelling of a word, else the empty string."""
        return self.text.upper() if self.kind is Kind.WORD else ""

    @property
    def name(self) -> str:
        """What it names: folded to lower case unless quoted."""
        if self.kind is Kind.QUOTED:
            quote = self.text[0]
            return self.text[1:-1].replace(quote + quote, quote)
        return self.text.lower()


_PATTERN = re.compile(
    r"""
      (?P<space>\s+)
    | (?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z))
    | (?P<string>[xX]?'(?:[^']|'')*(?:'|\Z))
    | (?P<quoted>"(?:[^"]|"")*(?:"|\Z)|`(?:[^`]|``)*(?:`|\Z))
    | (?P<number>0[xX][0-9a-fA-F]+|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)
    | (?P<word>[^\W\d][\w$]*)
    | (?P<parameter>\?|(?<!:):[^\W\d]\w*)
    | (?P<symbol><=|>=|<>|!=|\|\||::|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_END_MARKS = {Kind.STRING: "'", Kind.QUOTED: '"`'}


def tokenize(text: str) -> list[Token]:
    """All pieces of a text; put together they are the text."""
    tokens = []
    for match in _PATTERN.finditer(text):
        kind = Kind(match.lastgroup or "symbol")
        tokens.append(Token(kind, match.group(), match.start(), _is_closed(kind, match.group())))
    return tokens


def _is_closed(kind: Kind, text: str) -> bool:
    if kind is Kind.COMMENT:
        return not text.startswith("/*") or (len(text) > 3 and text.endswith("*/"))
    marks = _END_MARKS.get(kind)
    if marks is None:
        return True
    body = text.lstrip("xX")
    # The pattern takes quotes in pairs, so an even number of them means that the last one closes.
    return body[-1] in marks and body.count(body[0]) % 2 == 0


def words(text: str) -> frozenset[str]:
    """The words of a text as a set."""
    return frozenset(text.split())


KEYWORDS = words("""
    ADD ALL ALTER ANALYZE AND ANTI AS ASC BEGIN BETWEEN BLOCK_SIZE BY CASE CAST CHANGE COLUMN
    COLUMNS COMMENT COMMIT COMPRESSION CREATE CROSS CUBE CURRENT DATA DEFAULT DELETE DESC DESCRIBE
    DISTINCT DIV DROP ELSE ENCODING END ESCAPE EXCEPT EXISTS EXPLAIN FALSE FILTER FIRST FLUSH
    FOLLOWING FOR FROM FULL GROUP GROUPING HASH HAVING IF IGNORE ILIKE IMMUTABLE IN INNER INSERT
    INTERSECT INTERVAL INTO IS JOIN KEY KUDU LAST LEFT LIKE LIMIT NATURAL NON NOT NULL NULLS OF
    OFFSET ON OPTIMIZE OR ORDER OUTER OVER PARTITION PARTITIONS PRECEDING PRIMARY QUALIFY RANGE
    RECURSIVE RENAME REPLACE RIGHT ROLLBACK ROLLUP ROW ROWS ROWSETS SELECT SEMI SET SETS
    SETTINGS SHOW SNAPSHOT SNAPSHOTS SPLIT STORED SYSTEM_TIME TABLE TABLES TABLETS TBLPROPERTIES
    THEN TIMESTAMP TO TRANSACTION TRUE TYPE UNBOUNDED UNDROP UNION UNIQUE UNSET UPDATE UPSERT USING
    VACUUM VALUE VALUES WHEN WHERE WINDOW WITH
""")
TYPES = words("""
    BIGINT BINARY BOOLEAN DATE DECIMAL DOUBLE FLOAT INT INTEGER NUMERIC REAL SMALLINT STRING TEXT
    TIMESTAMP TINYINT VARCHAR
""")
FUNCTIONS = words("""
    abs avg ceil coalesce concat count cume_dist date_trunc dense_rank exp extract first_value
    floor greatest lag last_value lead least length ln lower ltrim max min mod now ntile nullif
    power rank regexp_replace replace round row_number rtrim sign sqrt stddev string_agg substr
    sum trim upper variance
""")
