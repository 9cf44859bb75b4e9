"""Scripts read into records, and what is no script refused with its line."""

import pytest

from pykudu_sql.shell.slt.parser import ScriptError, parse
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
    RecordSource,
    Restart,
    Snapshot,
    Sort,
    StatementRecord,
    Subtest,
    Success,
)


def test_a_statement_reaches_to_the_next_blank_line() -> None:
    text = "# comment\n\nstatement ok\nCREATE TABLE t\n(a INT)\n\n# end\n"
    assert parse(text) == [
        StatementRecord(RecordSource(3, 5), "CREATE TABLE t\n(a INT)", Success())
    ]


def test_the_number_of_rows_changed_may_be_expected() -> None:
    (record,) = parse("statement count 3\nDELETE FROM t")
    assert record == StatementRecord(RecordSource(1, 2), "DELETE FROM t", Success(3))


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("statement error", Failure()),
        ("statement error (42P01)", Failure("42P01")),
        ("statement error no such table", Failure("", "no such table")),
        ("statement error (42P01) [tT]able", Failure("42P01", "[tT]able")),
        ("statement error (not|a) code", Failure("", "(not|a) code")),
        ("query error (42P01)", Failure("42P01")),
    ],
)
def test_an_error_is_expected_by_code_and_pattern(header: str, expected: Failure) -> None:
    (record,) = parse(f"{header}\nSELECT 1")
    assert isinstance(record, StatementRecord) and record.expected == expected


def test_a_whole_message_may_be_expected() -> None:
    (record,) = parse("statement error\nSELEC\n----\nunknown\nLINE 1: SELEC\n\n")
    assert isinstance(record, StatementRecord)
    assert record.expected == Failure(text=("unknown", "LINE 1: SELEC"))


def test_values_stand_one_a_line() -> None:
    (record,) = parse("query IT rowsort label-1\nSELECT a, b FROM t\n----\n1\nx\n2\ny z\n")
    assert record == QueryRecord(
        RecordSource(1, 7),
        "SELECT a, b FROM t",
        "IT",
        Sort.ROWSORT,
        "label-1",
        ExpectedValues((("1", "x"), ("2", "y z")), by_row=False),
    )


def test_values_may_stand_a_row_a_line() -> None:
    (record,) = parse("query ITR\nSELECT *\n----\n1 | a | 0.500\n2 | (empty) | NULL\n")
    assert isinstance(record, QueryRecord)
    rows = (("1", "a", "0.500"), ("2", "(empty)", "NULL"))
    assert record.expected == ExpectedValues(rows, by_row=True)


def test_one_column_may_hold_the_separator() -> None:
    (record,) = parse("query T\nSELECT *\n----\na | b\n")
    assert isinstance(record, QueryRecord)
    assert record.expected == ExpectedValues((("a | b",),), by_row=False)


def test_a_digest_stands_for_many_values() -> None:
    md5 = "3c13dee48d9356ae19af2515e05e6b54"
    (record,) = parse(f"query I nosort\nSELECT 1\n----\n30 values hashing to {md5}\n")
    assert isinstance(record, QueryRecord) and record.expected == Digest(30, md5)


def test_an_empty_result_and_a_missing_one_differ() -> None:
    empty, missing = parse("query I\nSELECT 1\n----\n\nquery I\nSELECT 1\n")
    assert isinstance(empty, QueryRecord) and empty.expected == ExpectedValues((), by_row=False)
    assert isinstance(missing, QueryRecord) and missing.expected is None


def test_conditions_and_a_connection_belong_to_the_next_record_only() -> None:
    first, second = parse(
        "onlyif mysql # aggregate syntax:\nskipif pykudu\nconnection two\n"
        "statement ok\nSELECT 1\n\nstatement ok\nSELECT 2\n"
    )
    conditions = (Condition("mysql", only=True), Condition("pykudu", only=False))
    assert first.source == RecordSource(4, 5, conditions, "two")
    assert second.source == RecordSource(7, 8)


@pytest.mark.parametrize(
    ("labels", "runs"),
    [({"mysql"}, True), ({"mysql", "pykudu"}, False), (set(), False)],
)
def test_conditions_choose_by_name(labels: set[str], runs: bool) -> None:
    source = RecordSource(1, 1, (Condition("mysql", only=True), Condition("pykudu", only=False)))
    assert source.runs_for(frozenset(labels)) == runs


def test_directives_of_one_line() -> None:
    text = (
        "hash-threshold 8\nsubtest all about joins\nflush\nrestart\nsnapshot before\n"
        "control implicit_primary_key on\nhalt\n"
    )
    assert parse(text) == [
        HashThreshold(RecordSource(1, 1), 8),
        Subtest(RecordSource(2, 2), "all about joins"),
        FlushRecord(RecordSource(3, 3)),
        Restart(RecordSource(4, 4)),
        Snapshot(RecordSource(5, 5), "before"),
        Control(RecordSource(6, 6), "implicit_primary_key", on=True),
        Halt(RecordSource(7, 7)),
    ]


def test_a_plan_is_asked_for_a_text() -> None:
    (record,) = parse("explain tablets: 1 of 4\nSELECT * FROM t\n")
    assert record == ExplainRecord(RecordSource(1, 2), "SELECT * FROM t", "tablets: 1 of 4")


def test_windows_line_ends_are_line_ends() -> None:
    (record,) = parse("query T\r\nSELECT 'a'\r\n----\r\na\r\n")
    assert isinstance(record, QueryRecord) and record.expected == ExpectedValues(
        (("a",),), by_row=False
    )


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("\nstatment ok\nSELECT 1", 2, "unknown directive 'statment'"),
        ("statement maybe\nSELECT 1", 1, "malformed statement record 'maybe'"),
        ("statement ok\n\n", 1, "no SQL below the header"),
        ("statement ok\nSELECT 1\n----\n1\n", 1, "malformed statement"),
        ("query X\nSELECT 1", 1, "letters of I, R and T"),
        ("query\nSELECT 1", 1, "letters of I, R and T"),
        ("query I nosort a b\nSELECT 1", 1, "malformed query"),
        ("query II\nSELECT 1, 2\n----\n1\n2\n3\n", 1, "3 values do not make rows of 2: a value"),
        ("query II\nSELECT 1, 2\n----\n1 2\n", 1, "or a row with ' | ' between"),
        ("statement error ([)\nSELECT 1", 1, "is malformed"),
        ("hash-threshold many", 1, "malformed directive"),
        ("snapshot 1st", 1, "malformed directive"),
        ("control x maybe", 1, "malformed directive"),
        ("explain\nSELECT 1", 1, "explain needs a text"),
        ("skipif\nstatement ok\nSELECT 1", 1, "one name expected"),
        ("statement ok\nSELECT 1\n\nonlyif mysql\n", 5, "without a record"),
    ],
)
def test_what_is_no_script_is_refused_with_its_line(text: str, line: int, message: str) -> None:
    with pytest.raises(ScriptError) as caught:
        parse(text)
    assert caught.value.line == line and message in caught.value.message
