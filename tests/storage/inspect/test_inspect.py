"""What is shown of a database on disk: golden text, and what is left over damage."""

import re
from pathlib import Path

import pyarrow as pa
import pytest

from pykudu_sql.storage.common.partition.partition import PartitionSchema
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import CorruptionError, ProgrammingError
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.inspect.inspector import inspect_database
from pykudu_sql.storage.store import Store, StoreOptions
from tests.golden import check_golden

GOLDEN = Path(__file__).parent / "golden"
PARTS = (
    "",
    "tables",
    "manifest",
    "wal",
    "tablet TABLET",
    "rowset TABLET 3",
    "cfile TABLET 3 name",
    "delta TABLET 3.redo",
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A small database: five rows on disk, changed since, and one in the log."""
    store = Store(LocalEnv(), str(tmp_path / "my.db"), StoreOptions(threads=1, maintenance=False))
    columns = [
        ColumnSchema(0, "id", DataType(Kind.INT64)),
        ColumnSchema(0, "name", DataType(Kind.STRING), nullable=True),
    ]
    store.create_table("people", create_schema(columns, ["id"]), PartitionSchema(()))
    write(store, RowOpKind.INSERT, [1, 2, 3, 4], ["Ada", "Bob", None, "\x1b[31m"])
    write(store, RowOpKind.INSERT, [5], ["Eve"])
    store.flush()
    write(store, RowOpKind.UPDATE, [2], ["Bert"])
    write(store, RowOpKind.DELETE, [4], None)
    store.flush()
    write(store, RowOpKind.INSERT, [6, 7], ["Fay", "Gus"])
    store.close()
    return tmp_path / "my.db"


def write(store: Store, kind: RowOpKind, keys: list[int], names: list[str | None] | None) -> None:
    columns = {0: pa.array(keys, pa.int64())}
    if names is not None:
        columns[1] = pa.array(names, pa.string())
    transaction = store.begin()
    transaction.write(store.catalog.table("people"), RowOperations(kind, columns, len(keys)))
    transaction.commit(durable=False)


def tablet_id(path: Path) -> str:
    return next((path / "tablets").iterdir()).name


def show(path: Path, part: str) -> str:
    words = part.replace("TABLET", tablet_id(path)[:8]).split()
    return "\n".join(inspect_database(LocalEnv(), str(path), words))


def steady(text: str, path: Path) -> str:
    """The text without what differs from run to run."""
    text = text.replace(str(path), "my.db").replace(tablet_id(path), "TABLET")
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6} \+\d+ \(\d+\)", "TIME", text)
    text = re.sub(r"[\d,]+ bytes", "N bytes", text)
    text = re.sub(r"offset \d+", "offset N", text)
    return re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UUID", text)


def test_every_part_reads_as_in_the_golden_file(path: Path) -> None:
    texts = [f"$ inspect my.db {part}\n{steady(show(path, part), path)}\n" for part in PARTS]
    check_golden(GOLDEN / "inspect.txt", "\n".join(texts))


@pytest.mark.parametrize(("age", "shown"), [(None, "default"), (3600, "3600 s")])
def test_a_change_of_the_history_age_is_shown(path: Path, age: int | None, shown: str) -> None:
    store = Store(LocalEnv(), str(path), StoreOptions(maintenance=False))
    store.definitions.set_history_max_age(age)
    store.close()
    assert f"history_max_age of the database: {shown}\n" in show(path, "manifest")


def test_nothing_that_comes_from_data_steers_the_terminal(path: Path) -> None:
    assert "\x1b" not in "".join(show(path, part) for part in PARTS)


def test_a_damaged_log_is_shown_up_to_the_damage(path: Path) -> None:
    log = path / "wal/1.log"
    whole = log.read_bytes()
    second = whole.index(b"Bert")
    log.write_bytes(whole[:second] + b"X" + whole[second + 1 :])
    lines = inspect_database(LocalEnv(), str(path), ["wal"])
    shown = []
    with pytest.raises(CorruptionError, match=re.escape(str(log))):
        for line in lines:
            shown.append(line)
    assert any("INSERT into MemRowSet" in line for line in shown)
    assert "5 live" not in show(path, "")  # other parts do not need the log


def test_metadata_are_shown_though_a_file_is_damaged(path: Path) -> None:
    (base,) = (path / "tablets").glob("*/*.base")
    base.write_bytes(base.read_bytes()[:-1] + b"?")
    assert "rowset 3" in show(path, "tablet TABLET")
    with pytest.raises(CorruptionError, match=re.escape(str(base))):
        show(path, "cfile TABLET 3 name")


@pytest.mark.parametrize(
    "part",
    ["nonsense", "tablet", "tablet xyz", "rowset TABLET 9", "cfile TABLET 3 x", "delta TABLET 1"],
)
def test_a_part_that_is_not_there_is_refused_with_a_hint(path: Path, part: str) -> None:
    with pytest.raises(ProgrammingError) as refused:
        show(path, part)
    assert refused.value.hint
