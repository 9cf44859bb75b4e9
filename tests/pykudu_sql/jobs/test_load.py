"""Files into tables in this process, as a function and as a command."""

import datetime as dt
import gzip
import subprocess
import sys
import threading
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pykudu_sql
from pykudu_sql.jobs.in_process import load as local_load
from pykudu_sql.jobs.load import LoadOptions, load
from pykudu_sql.jobs.table_layout import TableLayout
from pykudu_sql.shell.cli import main
from pykudu_sql.storage.errors import (
    AlreadyPresentError,
    DataError,
    Error,
    FileAccessError,
    IntegrityError,
    LockedError,
    NotNullError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
)
from tests.pykudu_sql.jobs.job_tables import (
    PLAIN_TABLE,
    RANGED_TABLE,
    REASONS_OF_REJECTS,
    REJECTED_ROWS,
    Rows,
    content,
    read_rejects,
    run,
    write_texts,
)

KEYED = TableLayout(("id",), ('("id") PARTITIONS 2',))
LOCAL = LoadOptions(engine="local")


@pytest.fixture
def ranged(path: str) -> str:
    run(path, RANGED_TABLE, "INSERT INTO t VALUES ('2026-01-07', 7, 'z', 0)")
    return path


@pytest.fixture
def table(path: str) -> str:
    run(path, PLAIN_TABLE)
    return path


@pytest.mark.parametrize("packed", [False, True])
def test_every_row_that_does_not_fit_has_its_line_and_its_reason(
    ranged: str, tmp_path: Path, packed: bool
) -> None:
    source, aside = tmp_path / ("in x.csv.gz" if packed else "in x.csv"), tmp_path / "bad.jsonl"
    source.write_bytes(gzip.compress(REJECTED_ROWS.encode()) if packed else REJECTED_ROWS.encode())
    report = load(ranged, "t", [str(source)], LoadOptions(rejects=str(aside)))
    found = read_rejects(aside)
    assert [(one["line"], one["reason"]) for one in found] == REASONS_OF_REJECTS
    assert {one["file"] for one in found} == {str(source)}
    assert found[4]["row"] == '{"day":"2026-01-06","id":"x","name":"b","price":"1"}'
    assert (report.rows, report.rejected) == (2, 7)
    assert "2 outside all ranges" in report.text()
    assert "1 with a key given twice" in report.text()
    assert content(ranged, "SELECT CAST(day AS STRING), id, name FROM t ORDER BY day, id") == [
        ("2026-01-05", 1, "a"),
        ("2026-01-07", 7, "z"),
        ("2026-03-01", 5, "ed"),
    ]


BROKEN_LINES = {
    "few.csv": ("id,v\n1,a\n2\n3,c\n", "1 cells where there are 2 columns"),
    "many.csv": ("id,v\n1,a\n2,b,c\n3,c\n", "3 cells where there are 2 columns"),
    "key.json": ('{"id":1}\n{"id":2,"zz":1}\n{"id":3}\n', "a key 'zz' that table"),
    "quote.json": ('{"id":1}\n{"id":2,"v":"b}\n{"id":3}\n', "the line is no JSON"),
    "brace.json": ('{"id":1}\n{"id":2,"v":"b"\n{"id":3}\n', "the line is no JSON"),
    "number.json": ('{"id":1}\n2\n{"id":3}\n', "the line is no JSON object"),
    "nested.json": ('{"id":1}\n{"id":2,"v":{"w":1}}\n{"id":3}\n', "a nested value is no"),
    "array.json": ('[{"id":1},\n{"id":2,"zz":1},\n{"id":3}]', "a key 'zz' that table"),
}


@pytest.mark.parametrize("operation", ["insert", "upsert"])
def test_a_text_that_is_too_long_for_a_cell_is_put_aside(
    table: str, tmp_path: Path, operation: str
) -> None:
    aside = tmp_path / "bad.jsonl"
    sources = write_texts(tmp_path, {"a.csv": f"id,v\n1,a\n2,{'y' * 200_000}\n3,c\n"})
    options = LoadOptions(rejects=str(aside), engine="local", operation=operation)
    report = load(table, "t", sources, options)
    assert (report.rows, report.rejected) == (2, 1)
    assert [one["line"] for one in read_rejects(aside)] == [3]
    assert content(table, "SELECT id FROM t ORDER BY id") == [(1,), (3,)]


def test_a_row_that_a_check_refuses_is_put_aside(path: str, tmp_path: Path) -> None:
    aside = tmp_path / "bad.jsonl"
    run(path, "CREATE TABLE t (id BIGINT PRIMARY KEY, v STRING, CHECK (id <> 2))")
    sources = write_texts(tmp_path, {"a.csv": "id,v\n1,a\n2,b\n3,c\n"})
    report = load(path, "t", sources, LoadOptions(rejects=str(aside), engine="local"))
    assert (report.rows, [one["line"] for one in read_rejects(aside)]) == (2, [3])


@pytest.mark.parametrize("name", BROKEN_LINES)
def test_lines_that_are_no_rows_are_put_aside_as_they_are(
    table: str, tmp_path: Path, name: str
) -> None:
    text, reason = BROKEN_LINES[name]
    aside = tmp_path / "bad.jsonl"
    sources = write_texts(tmp_path, {name: text})
    report = load(table, "t", sources, LoadOptions(rejects=str(aside), engine="local"))
    (found,) = read_rejects(aside)
    line = text.splitlines().index(str(found["row"]) + "," * (name == "array.json")) + 1
    assert found["line"] == line and reason in str(found["reason"])
    assert (report.rows, report.rejected) == (2, 1)
    assert content(table, "SELECT id FROM t ORDER BY id") == [(1,), (3,)]


@pytest.mark.parametrize("name", ["quote.json", "brace.json", "number.json"])
def test_broken_lines_have_no_say_in_the_columns_of_a_new_table(
    path: str, tmp_path: Path, name: str
) -> None:
    aside = tmp_path / "bad.jsonl"
    sources = write_texts(tmp_path, {name: BROKEN_LINES[name][0]})
    options = LoadOptions(rejects=str(aside), engine="local", layout=KEYED)
    assert load(path, "t", sources, options).rows == 2
    assert len(read_rejects(aside)) == 1


def test_rejects_go_to_a_folder_that_is_there(table: str, tmp_path: Path) -> None:
    sources = write_texts(tmp_path, {"in.csv": "id\n1\n"})
    aside = tmp_path / "missing" / "bad.jsonl"
    with pytest.raises(OperationalError, match="there is no folder"):
        load(table, "t", sources, LoadOptions(rejects=str(aside), engine="local"))
    assert not aside.parent.exists() and content(table) == []


def test_rows_of_typed_files_have_their_number(ranged: str, tmp_path: Path) -> None:
    days = pa.array([20458, 20459, 20460], pa.int32()).cast(pa.date32())
    for number in range(2):
        rows = pa.table({"day": days, "id": [number, 1, 1], "price": [1.0, 2.5, 1e9]})
        pq.write_table(rows, tmp_path / f"{number}.parquet", row_group_size=1)
    aside = tmp_path / "bad.jsonl"
    report = load(ranged, "t", [str(tmp_path / "*.parquet")], LoadOptions(rejects=str(aside)))
    assert (report.rows, report.rejected) == (3, 3)
    assert [(one["file"][-9:], one["row_number"]) for one in read_rejects(aside)] == [
        ("0.parquet", 3),
        ("1.parquet", 2),
        ("1.parquet", 3),
    ]


@pytest.mark.parametrize(
    ("operation", "rows", "reasons"),
    [
        ("update", "2026-01-07,7,up\n2026-01-08,8,no\n", ["(2026-01-08, 8) does not exist"]),
        ("upsert", "2026-01-07,7,up\n2026-01-08,8,no\n", []),
        ("insert_ignore", "2026-01-07,7,up\n", []),
        ("delete-ignore", "2026-01-07,7\n2026-01-09,9\n", []),
    ],
)
def test_operations_have_rejects_of_their_own(
    ranged: str, tmp_path: Path, operation: str, rows: str, reasons: list[str]
) -> None:
    aside = tmp_path / "bad.jsonl"
    header = "day,id\n" if operation.startswith("delete") else "day,id,name\n"
    sources = write_texts(tmp_path, {"in.csv": header + rows})
    load(ranged, "t", sources, LoadOptions(rejects=str(aside), operation=operation))
    assert [one["reason"].partition("= ")[2] for one in read_rejects(aside)] == reasons
    expected = {
        "update": [(7, "up")],
        "upsert": [(7, "up"), (8, "no")],
        "insert_ignore": [(7, "z")],
        "delete-ignore": [],
    }
    assert content(ranged, "SELECT id, name FROM t ORDER BY id") == expected[operation]


def test_more_rejects_than_permitted_load_nothing(ranged: str, tmp_path: Path) -> None:
    source, aside = tmp_path / "in.csv", tmp_path / "bad.jsonl"
    source.write_text(REJECTED_ROWS)
    options = LoadOptions(rejects=str(aside), max_rejects=6)
    with pytest.raises(DataError, match="more than 6 rows do not fit") as caught:
        load(ranged, "t", [str(source)], options)
    assert "--max-rejects" in str(caught.value.hint)
    assert not aside.exists() and len(content(ranged)) == 1
    assert load(ranged, "t", [str(source)], LoadOptions(rejects=str(aside), max_rejects=7)).rows


def test_rejects_beyond_those_of_one_batch_are_all_told(path: str, tmp_path: Path) -> None:
    run(
        path,
        "CREATE TABLE t (id INT PRIMARY KEY)",
        "INSERT INTO t SELECT * FROM range(30000)",
    )
    pq.write_table(pa.table({"id": pa.array(range(30001), pa.int32())}), tmp_path / "x.parquet")
    aside = tmp_path / "bad.jsonl"
    options = LoadOptions(rejects=str(aside), max_rejects=30_000)
    report = load(path, "t", [str(tmp_path / "x.parquet")], options)
    assert (report.rows, report.rejected, len(read_rejects(aside))) == (1, 30_000, 30_000)
    with pytest.raises(DataError, match="more than 29,999 rows"):
        load(
            path,
            "t",
            [str(tmp_path / "x.parquet")],
            LoadOptions(rejects=str(aside), max_rejects=29_999),
        )


def test_a_load_without_rejects_says_how_many_and_which(ranged: str, tmp_path: Path) -> None:
    (source,) = write_texts(tmp_path, {"in.csv": REJECTED_ROWS})
    with pytest.raises(DataError, match="7 rows do not fit the table") as caught:
        load(ranged, "t", [source])
    assert "line 4: key (day, id) = (2026-01-05, 1) is given twice" in str(caught.value)
    assert len(content(ranged)) == 1
    (keys,) = write_texts(tmp_path, {"keys.csv": "day,id\n2026-01-07,7\n2026-01-08,8\n"})
    with pytest.raises(AlreadyPresentError, match=r"line 2: key .* is present already"):
        load(ranged, "t", [keys])
    assert len(content(ranged)) == 1


@pytest.mark.parametrize("text", ["v\n", "v\na\tb\n", "v\na\n"])
def test_a_file_without_a_column_of_the_key_is_refused_whatever_its_rows(
    path: str, tmp_path: Path, text: str
) -> None:
    run(path, "CREATE TABLE t (id INT PRIMARY KEY, v STRING)")
    source = tmp_path / "f.tsv"
    source.write_text(text)
    with pytest.raises(NotNullError, match="no value provided for key column 'id' of table 't'"):
        load(path, "t", [str(source)], LoadOptions(engine="local", rejects=str(tmp_path / "r")))


@pytest.mark.parametrize(
    "key",
    [
        "id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, v STRING",
        "v STRING, NON UNIQUE PRIMARY KEY (v)",
    ],
)
def test_a_file_may_lack_a_column_that_is_counted(path: str, tmp_path: Path, key: str) -> None:
    run(path, f"CREATE TABLE t ({key})")
    source = tmp_path / "f.csv"
    for text, rows in (("v\n", 0), ("v\na\nb\n", 2)):
        source.write_text(text)
        assert load(path, "t", [str(source)], LOCAL).rows == rows


def test_a_table_is_made_from_files_and_their_types(path: str, tmp_path: Path) -> None:
    rows = pa.table({"id": [1, 2, 3], "name": ["a", None, "c"]})
    pq.write_table(rows, tmp_path / "x.parquet")
    report = load(path, "T", [str(tmp_path / "*.parquet")], LoadOptions(layout=KEYED))
    assert (report.rows, report.rejected) == (3, 0)
    assert content(path) == [(1, "a"), (2, None), (3, "c")]
    with pytest.raises(IntegrityError, match="present already"):
        load(path, "t", [str(tmp_path / "x.parquet")])
    options = LoadOptions("parquet", operation="upsert")
    assert load(path, "t", [str(tmp_path)], options).rows == 3


def test_a_load_says_how_many_bytes_of_all_files_are_read(table: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id\n1\n")
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(b"id\n2\n3\n"))
    progress: list[str] = []
    load(table, "t", [str(tmp_path / "*.csv*")], LoadOptions(progress=progress.append))
    size = sum(path.stat().st_size for path in tmp_path.glob("*.csv*"))
    steps = list(dict.fromkeys(progress))
    assert steps == [f"1 row, 5 of {size} bytes", f"3 rows, {size} of {size} bytes"]


def test_types_of_texts_are_those_of_all_their_rows(path: str, tmp_path: Path) -> None:
    files = {
        "a.csv": "id,n,d,z,m\n1,1,2026-01-01,007,\n",
        "b.csv": "id,n,d,z,m\n2,1.5,2026-01-01 10:00:00,8,x\n",
    }
    load(path, "t", write_texts(tmp_path, files), LoadOptions(layout=KEYED))
    types = {row[0]: row[1] for row in content(path, "DESCRIBE t")}
    assert types == {
        "id": "BIGINT", "n": "DOUBLE", "d": "TIMESTAMP", "z": "STRING", "m": "STRING",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("files", "options", "expected"),
    [
        ({"a.csv": ""}, {}, []),
        ({"a.csv": "id,v\n"}, {}, []),
        ({"a.csv": "1,x\n2,y\n"}, {"header": "false"}, [(1, "x", None), (2, "y", None)]),
        ({"a.csv": "1;x\n"}, {"Header": "false", "SEP": ";"}, [(1, "x", None)]),
        ({"a.csv": "id,v\n1,NA\n"}, {"nullValue": "NA"}, [(1, None, None)]),
        ({"a.tsv": "id\tv\n1\tx,y\n"}, {}, [(1, "x,y", None)]),
        ({"a.csv": 'id,v,i\n1,"",""\n2,,\n'}, {}, [(1, "", None), (2, None, None)]),
        ({"a.csv": "ID,V\n1, x \n"}, {}, [(1, " x ", None)]),
        ({"a [1] {b}.json": '{"id":1}\n'}, {}, [(1, None, None)]),
        ({"a[1].csv": "id\n1\n"}, {}, [(1, None, None)]),
        ({"a.csv": "", "b.csv": "id,i\n2,20\n"}, {}, [(2, None, 20)]),
        ({"a.csv": "id,i\n1,10\n", "b.csv": "i,v,id\n20,z,2\n"}, {}, [(1, None, 10), (2, "z", 20)]),
        ({"a.json": '{"ID":1,"V":"x"}\n'}, {}, [(1, "x", None)]),
        ({"a.json": '{"id":1,"i":2}\n{"v":"x","id":3}\n'}, {}, [(1, None, 2), (3, "x", None)]),
        ({"a.json": '[{"id":1,"i":2},{"v":"x","id":3}]'}, {}, [(1, None, 2), (3, "x", None)]),
        ({"a.json": ""}, {}, []),
    ],
)
def test_text_files_are_read_by_the_names_in_them(
    table: str, tmp_path: Path, files: dict[str, str], options: dict[str, str], expected: Rows
) -> None:
    report = load(
        table, "t", write_texts(tmp_path, files), LoadOptions(reader=options, engine="local")
    )
    assert report.rows == len(expected)
    assert content(table, "SELECT id, v, i FROM t ORDER BY id") == expected


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a.csv": "id,i\n1,10\n2\n"}, "cannot be taken apart"),
        ({"a.csv": 'id,v\n1,"x\n'}, "a quote is not closed"),
        ({"a.csv": "id\n1\n", "b.json": '{"id":2}\n'}, "several formats: csv, json"),
        ({"a.json": '{"id":1,"more":1}\n'}, "a key 'more' that table 't' has not"),
        ({"a.json": '{"id":1,"ID":2}\n'}, "taken apart"),
        ({"a.json": "{oops\n"}, "cannot be taken apart"),
        ({"a.csv": "id,i\n1,1.5\n"}, "'1.5' is no INT"),
        ({"a.csv": "id,w\n1,1\n"}, "a column 'w' that table 't' has not"),
        ({"a.parquet": "hello"}, "cannot be read as Parquet"),
        ({"a.csv.gz": "hello"}, "cannot be unpacked"),
        ({"a.txt": "id\n"}, "does not say the format"),
    ],
)
def test_files_that_do_not_fit_are_refused(
    table: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    files: dict[str, str],
    message: str,
) -> None:
    assert main(["load", table, "t", *write_texts(tmp_path, files), "--engine", "local"]) in (1, 2)
    assert message in capsys.readouterr().err
    assert content(table) == []


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"id": [1], "i": [1.5]}, "1.5"),
        ({"id": [1], "i": [2**40]}, "1099511627776"),
        ({"id": [1], "d": [dt.datetime(2026, 1, 31, 12)]}, "DATE"),
        ({"id": [1], "v": [[1]]}, "STRING"),
    ],
)
def test_cells_that_would_be_cut_are_refused(
    table: str, tmp_path: Path, columns: dict[str, object], message: str
) -> None:
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    with pytest.raises(Error, match=message):
        load(table, "t", [str(tmp_path / "a.parquet")])
    assert content(table) == []


def test_names_of_columns_may_be_anything(path: str, tmp_path: Path) -> None:
    (source,) = write_texts(tmp_path, {"a.csv": 'id,a.b,ü`x,"q""r",_reason\n1,2,3,4,5\n'})
    load(path, "t", [source], LoadOptions(layout=KEYED))
    assert content(path) == [(1, 2, 3, 4, 5)]


def test_a_load_that_fails_leaves_neither_table_nor_database(path: str, tmp_path: Path) -> None:
    (source,) = write_texts(tmp_path, {"a.csv": "id,v\n1,x\n1,y\n"})
    with pytest.raises(Error, match="given twice"):
        load(path, "t", [source], LoadOptions(layout=KEYED))
    assert not Path(path).exists()
    run(path, "CREATE TABLE other (id BIGINT PRIMARY KEY)")
    with pytest.raises(Error, match="given twice"):
        load(path, "t", [source], LoadOptions(layout=KEYED))
    assert content(path, "SHOW TABLES") == [("other",)]


def test_what_there_is_not_is_said_with_the_way_out(path: str, tmp_path: Path) -> None:
    (source,) = write_texts(tmp_path, {"a.csv": "id\n1\n"})
    with pytest.raises(OperationalError, match="there is no database at"):
        load(path, "t", [source])
    run(path, "CREATE TABLE t (id BIGINT PRIMARY KEY)")
    with pytest.raises(ProgrammingError, match="did you mean 't'") as caught:
        load(path, "tt", [source])
    assert "--primary-key" in str(caught.value.hint)
    with pytest.raises(OperationalError, match=r"no file matches '.*nope/\*\.csv'"):
        load(path, "t", [str(tmp_path / "nope/*.csv")])
    with pytest.raises(DataError, match="there is no operation 'upzert'"):
        load(path, "t", [source], LoadOptions(operation="upzert"))
    for option, value in (("sep", ";;"), ("header", "maybe")):
        with pytest.raises(DataError, match=option if option == "header" else "delimiter"):
            load(path, "t", [source], LoadOptions(reader={option: value}))
    with pytest.raises(NotSupportedError, match="the option 'mode' needs Spark"):
        load(path, "t", [source], LoadOptions(reader={"mode": "x"}, engine="local"))
    with pytest.raises(FileAccessError, match="within the database"):
        load(path, "t", [f"{path}/CURRENT"], LoadOptions("csv"))


def test_a_load_waits_for_another_writer_for_a_time(
    table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (source,) = write_texts(tmp_path, {"a.csv": "id\n1\n"})
    code = (
        "import pykudu_sql, sys\n"
        f"conn = pykudu_sql.connect({table!r}, autocommit=True)\n"
        "print('open', flush=True)\nsys.stdin.read()\nconn.close()\n"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", code], text=True, **pipes) as writer:  # type: ignore[call-overload]
        writer.stdout.readline()
        monkeypatch.setattr(local_load, "WAIT_SECONDS", 0.1)
        with pytest.raises(LockedError):
            load(table, "t", [source])
        monkeypatch.setattr(local_load, "WAIT_SECONDS", 60.0)
        threading.Timer(0.5, writer.stdin.close).start()
        assert load(table, "t", [source]).rows == 1
    assert content(table, "SELECT id FROM t") == [(1,)]


def test_a_program_may_load_into_a_database_it_has_open(table: str, tmp_path: Path) -> None:
    (source,) = write_texts(tmp_path, {"a.csv": "id\n1\n"})
    with pykudu_sql.connect(table, autocommit=True) as conn:
        assert load(table, "t", [source], LOCAL).rows == 1
        assert conn.execute("SELECT id FROM t").fetchall() == [(1,)]


def test_a_command_loads_without_spark(table: str, tmp_path: Path) -> None:
    (source,) = write_texts(tmp_path, {"a.csv": "id\n1\n"})
    code = (
        "import sys\nsys.modules['pyspark'] = None\n"
        "from pykudu_sql.shell.cli import main\n"
        f"sys.exit(main(['load', {table!r}, 't', {source!r}]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("load: 1 row, 5 bytes in ")
    assert done.stderr == ""


def test_a_text_for_a_list_of_paths_is_refused(path: str) -> None:
    with pytest.raises(ProgrammingError, match="a list of paths, not 'rows"):
        load(path, "t", "rows.csv")
