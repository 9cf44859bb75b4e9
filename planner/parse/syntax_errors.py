"""Syntax errors: their position, and a suggestion for a misspelt keyword."""

import difflib
import re

from sqlglot.errors import ParseError

from pykudu_sql.planner.parse.token_stream import BRACKETS
from pykudu_sql.storage.errors import SourceSpan, SyntaxError

# T-SQL's `CONVERT(INT, '5')` and MySQL's `SELECT SQL_CALC_FOUND_ROWS *`.
_CONVERT = re.compile(r"\b(?:TRY_)?CONVERT\s*\(\s*\w+(?:\s*\([\d\s,]*\))?\s*,\s*\Z", re.IGNORECASE)
_SELECT_WORD = re.compile(r"\bSELECT\s+SQL_\w+\s+\*\s*\Z", re.IGNORECASE)
# `%s` and `%(name)s` of other drivers.
_PYFORMAT = re.compile(r"%(?:\(\w*\)?)?\Z")
# `?1` and `:1`: parameters by number.
_NUMBERED = re.compile(r"(?<=[\s(,=<>])[?:]\d+")
_PARAMETERS = "parameters are written ? or :name"
_NO_SET = re.compile(r"\s*UPDATE\s+\S+\s+\w+\s*", re.IGNORECASE)
# Text that ends with the error's word, and what to write instead.
_WRITTEN_OTHERWISE = tuple(
    (re.compile(pattern + r"\Z", re.IGNORECASE), hint)
    for pattern, hint in (
        (r"\b(?:IN|EXISTS|ANY|ALL)\s+SELECT", "a subquery stands in parentheses: (SELECT ..)"),
        (r"=<\s*\S+", "write <="),
        (r"=>", "write >="),
        (r"\bFOR\s+SYSTEM\s+TIME\s+\w+", "write FOR SYSTEM_TIME AS OF a time"),
        (r"\bINTO", "COPY (SELECT ..) TO 'file' writes a file, INSERT INTO t SELECT .. to a table"),
    )
)
# What the parser says of a bracket that is not closed.
_EXPECTING = re.compile(r"Expecting (\S{1,2})")
_BEFORE_BY = frozenset({"GROUP", "ORDER", "PARTITION"})
_CLAUSES = ("FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "JOIN", "UNION", "VALUES", "SET")


def unparsed(error: ParseError, text: str) -> SyntaxError:
    """The error of text that the parser does not take, with its place."""
    details = error.errors[0] if error.errors else {}
    word = str(details.get("highlight") or "")
    line, column = int(details.get("line") or 1), int(details.get("col") or 1)
    lines = text.split("\n")
    start = sum(len(skipped) + 1 for skipped in lines[: line - 1]) + column - max(1, len(word))
    description = str(details.get("description") or "").rstrip(".")
    if not word.strip():
        return SyntaxError(
            "syntax error at the end of the statement",
            hint=None if "<" in description else description or None,
            span=SourceSpan(len(text)),
        )
    start = max(0, start)
    numbered = _NUMBERED.search(text, max(0, start - 1))
    if numbered and (numbered.start() <= start or "Alias" in description):
        span = SourceSpan(numbered.start(), len(numbered[0]))
        return SyntaxError(f'syntax error at or near "{numbered[0]}"', hint=_PARAMETERS, span=span)
    if word == "#":
        description = "a comment begins with --"
    if word == "[":
        description = BRACKETS
    if match := _EXPECTING.fullmatch(description):
        description = f"'{match[1]}' is expected here"
    if hint := _without_by(text, start, word):
        description = hint
    unspecific = description.startswith("Invalid expression") or "<" in description
    return SyntaxError(
        f'syntax error at or near "{word}"',
        hint=(_foreign(text[:start], word) or _misspelt(text[:start]))
        if unspecific
        else description,
        span=SourceSpan(start, len(word)),
    )


def _without_by(text: str, start: int, word: str) -> str | None:
    """A hint if GROUP, ORDER or PARTITION lacks its BY. `start`: of the error's word."""
    behind, before = text[start + len(word) :].split(), text[:start].split()[-1:]
    lacks_by = word.upper() in _BEFORE_BY and behind[:1] != [] and behind[0].upper() != "BY"
    clause = word.upper() if lacks_by else before[0].upper().lstrip("(") if before else ""
    return f"write {clause} BY" if clause in _BEFORE_BY else None


def _foreign(before: str, word: str) -> str | None:
    """A hint if an error stands behind what is written otherwise here. `word`: the error's."""
    if word == "*" and before.upper().split() == ["DELETE"]:
        return "write DELETE FROM t WHERE ..: it takes whole rows"
    for pattern, hint in _WRITTEN_OTHERWISE:
        if pattern.search(before + word):
            return hint
    if word == "=" and _NO_SET.fullmatch(before):
        return "SET stands before what changes: UPDATE t SET a = 1 WHERE .."
    if _PYFORMAT.search(before):
        return _PARAMETERS
    if _CONVERT.search(before):
        return "write CAST(value AS type), or TRY_CAST"
    if _SELECT_WORD.search(before):
        return "leave that word out; count(*) OVER () counts the rows that LIMIT leaves out"
    if before.upper().split()[-2:] == ["AS", "OF"]:
        return "AS OF takes a time, AS OF SNAPSHOT a snapshot's name"
    if before.upper().split()[-1:] == ["AS"] and word.isidentifier():
        return f'write AS "{word.lower()}": the word alone begins a clause'
    return None


def _misspelt(before: str) -> str | None:
    """A hint if the word before an error is almost that of a clause: `SELECT * FORM t`.

    Such a word parses as an alias, so the error shows behind it.
    """
    word = before.split()[-1].upper() if before.strip() else ""
    matches = difflib.get_close_matches(word, _CLAUSES, n=1, cutoff=0.7)
    if not matches or word in _CLAUSES:
        return None
    return f"did you mean '{matches[0]}' by '{word.lower()}'?"
