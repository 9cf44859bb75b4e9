"""A script read into records: pure, and strict about what it does not know.

The format is SQLite's sqllogictest: records apart by blank lines, `#` comments, results below
`----`, as described in its own documentation. Added are results a row a line with ` | ` between
values, patterns and SQLSTATEs of errors, and a few directives of one line (see `records`).
"""

import re
from collections.abc import Callable, Mapping, Sequence

from pykudu_sql.shell.slt.records import (
    Condition,
    Control,
    Digest,
    ExpectedValues,
    ExplainRecord,
    Failure,
    FlushRecord,
    Halt,
    HashThreshold,
    QueryRecord,
    Record,
    RecordSource,
    Restart,
    Snapshot,
    Sort,
    StatementRecord,
    Subtest,
    Success,
)

SEPARATOR = "----"
FIELD_SEPARATOR = " | "

_ERROR = re.compile(r"(?:\(([0-9A-Z]{5})\))?\s*(.*)")
_DIGEST = re.compile(r"(\d+) values hashing to ([0-9a-f]{32})")
_NAME = re.compile(r"[A-Za-z_]\w*")


class ScriptError(Exception):
    """The script is not sqllogictest. `line`: where, from 1; `message`: what is wrong there."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")
        self.line = line
        self.message = message


def parse(text: str) -> list[Record]:
    """The records of a script, in order.

    Raises ScriptError: a directive or expectation that has no meaning.
    """
    return _Parser(split_lines(text)).records()


def split_lines(text: str) -> list[str]:
    """The lines of a script; only a line feed ends a line, whatever else values contain."""
    return text.replace("\r\n", "\n").split("\n")


class _Parser:
    """A position in the lines, and the conditions that wait for the next record."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._next = 0
        self._conditions: tuple[Condition, ...] = ()
        self._connection = ""

    def records(self) -> list[Record]:
        records = []
        while self._next < len(self._lines):
            line = self._lines[self._next].strip()
            self._next += 1
            if line and not line.startswith("#"):
                record = self._record(line)
                if record is not None:
                    records.append(record)
                    self._conditions, self._connection = (), ""
        if self._conditions or self._connection:
            raise ScriptError(self._next, "a condition or connection without a record behind it")
        return records

    def _record(self, line: str) -> Record | None:
        directive, _, rest = line.partition(" ")
        words = rest.split("#")[0].split()
        match directive:
            case "onlyif" | "skipif":
                self._conditions += (Condition(self._one(words, line), directive == "onlyif"),)
                return None
            case "connection":
                self._connection = self._one(words, line)
                return None
            case "statement":
                return self._statement(rest.strip())
            case "query":
                return self._query(rest.strip())
            case "explain":
                return self._explain(rest.strip())
            case _:
                return self._directive(directive, words, line)

    def _directive(self, directive: str, words: list[str], line: str) -> Record:
        source = self._source(self._next)
        build = _DIRECTIVES.get(directive)
        if build is None:
            raise ScriptError(self._next, f"unknown directive {directive!r}")
        try:
            return build(source, words)
        except ValueError:
            raise ScriptError(self._next, f"malformed directive {line!r}") from None

    def _one(self, words: list[str], line: str) -> str:
        if len(words) != 1:
            raise ScriptError(self._next, f"one name expected: {line!r}")
        return words[0]

    def _source(self, line: int) -> RecordSource:
        return RecordSource(line, self._next, self._conditions, self._connection)

    def _statement(self, rest: str) -> StatementRecord:
        line = self._next
        kind, _, detail = rest.partition(" ")
        sql, result = self._body(line)
        source = self._source(line)
        match kind:
            case "ok" if result is None:
                return StatementRecord(source, sql, Success())
            case "count" if result is None and detail.strip().isdecimal():
                return StatementRecord(source, sql, Success(int(detail)))
            case "error":
                return StatementRecord(source, sql, self._failure(line, detail.strip(), result))
            case _:
                raise ScriptError(line, f"malformed statement record {rest!r}")

    def _failure(self, line: int, detail: str, result: Sequence[str] | None) -> Failure:
        match = _ERROR.fullmatch(detail)
        sqlstate, pattern = (match[1] or "", match[2]) if match else ("", detail)
        try:
            re.compile(pattern)
        except re.error as error:
            raise ScriptError(line, f"the pattern {pattern!r} is malformed: {error}") from None
        return Failure(sqlstate, pattern, None if result is None else tuple(result))

    def _query(self, rest: str) -> Record:
        line = self._next
        types, *options = rest.split("#")[0].split() or [""]
        if types == "error":
            return self._statement(rest)
        if not re.fullmatch("[IRT]+", types):
            raise ScriptError(line, f"column types are letters of I, R and T, not {types!r}")
        sort = Sort(options.pop(0)) if options and options[0] in list(Sort) else Sort.NOSORT
        label = options.pop(0) if options else ""
        if options:
            raise ScriptError(line, f"malformed query record {rest!r}")
        sql, result = self._body(line)
        expected = None if result is None else self._expected(line, types, result)
        return QueryRecord(self._source(line), sql, types, sort, label, expected)

    def _explain(self, text: str) -> ExplainRecord:
        line = self._next
        sql, result = self._body(line)
        if not text or result is not None:
            raise ScriptError(line, "explain needs a text on its line, and no result")
        return ExplainRecord(self._source(line), sql, text)

    def _body(self, line: int) -> tuple[str, list[str] | None]:
        """The SQL below a header, and the result below it, if there is one."""
        sql = self._take_until(lambda text: not text.strip() or text.strip() == SEPARATOR)
        if not sql:
            raise ScriptError(line, "no SQL below the header")
        if self._next == len(self._lines) or self._lines[self._next].strip() != SEPARATOR:
            return "\n".join(sql), None
        self._next += 1
        return "\n".join(sql), self._take_until(lambda text: not text.strip())

    def _take_until(self, is_end: Callable[[str], bool]) -> list[str]:
        start = self._next
        while self._next < len(self._lines) and not is_end(self._lines[self._next]):
            self._next += 1
        return list(self._lines[start : self._next])

    def _expected(self, line: int, types: str, result: Sequence[str]) -> ExpectedValues | Digest:
        digest = _DIGEST.fullmatch(result[0].strip()) if len(result) == 1 else None
        if digest:
            return Digest(int(digest[1]), digest[2])
        columns = len(types)
        fields = [text.split(FIELD_SEPARATOR) for text in result]
        if columns > 1 and result and all(len(row) == columns for row in fields):
            return ExpectedValues(
                tuple(tuple(f.strip() for f in row) for row in fields), by_row=True
            )
        if len(result) % columns:
            form = f"a value stands on a line of its own, or a row with '{FIELD_SEPARATOR}' between"
            message = f"{len(result)} values do not make rows of {columns}: {form}"
            raise ScriptError(line, message)
        rows = (tuple(result[i : i + columns]) for i in range(0, len(result), columns))
        return ExpectedValues(tuple(rows), by_row=False)


def _without_arguments(
    kind: Callable[[RecordSource], Record],
) -> Callable[[RecordSource, list[str]], Record]:
    """A directive without words behind it."""

    def build(source: RecordSource, words: list[str]) -> Record:
        _expect(not words)
        return kind(source)

    return build


def _hash_threshold(source: RecordSource, words: list[str]) -> Record:
    (number,) = words
    return HashThreshold(source, int(number))


def _subtest(source: RecordSource, words: list[str]) -> Record:
    _expect(bool(words))
    return Subtest(source, " ".join(words))


def _snapshot(source: RecordSource, words: list[str]) -> Record:
    (name,) = words
    _expect(_NAME.fullmatch(name) is not None)
    return Snapshot(source, name)


def _control(source: RecordSource, words: list[str]) -> Record:
    name, switch = words
    _expect(switch in ("on", "off"))
    return Control(source, name, switch == "on")


def _expect(condition: bool) -> None:
    if not condition:
        raise ValueError


_DIRECTIVES: Mapping[str, Callable[[RecordSource, list[str]], Record]] = {
    "control": _control,
    "flush": _without_arguments(FlushRecord),
    "halt": _without_arguments(Halt),
    "hash-threshold": _hash_threshold,
    "restart": _without_arguments(Restart),
    "snapshot": _snapshot,
    "subtest": _subtest,
}
