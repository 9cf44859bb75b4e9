"""The dialect as programs use it: tables, mapped objects, the past, frames and migrations."""

import datetime as dt
import subprocess
import sys
import uuid
import warnings
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

sa = pytest.importorskip("sqlalchemy", reason="pip install 'pykudu-sql[sqlalchemy]'")

from sqlalchemy import orm  # noqa: E402
from sqlalchemy.dialects import registry  # noqa: E402

from pykudu_sql.sqlalchemy import upsert  # noqa: E402
from pykudu_sql.sqlalchemy.compiler import UnenforcedConstraintWarning  # noqa: E402

for name in ("pykudu", "pykudu.pykudu"):
    registry.register(name, "pykudu_sql.sqlalchemy.dialect", "PykuduDialect")


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Any]:
    made = sa.create_engine(f"pykudu:///{tmp_path}/my.db?durability=off")
    yield made
    made.dispose()


@pytest.fixture
def metrics(engine: Any) -> Any:
    table = sa.Table(
        "metrics",
        sa.MetaData(),
        sa.Column("host", sa.String(20), primary_key=True),
        sa.Column("at", sa.DateTime(timezone=True), primary_key=True),
        sa.Column("load", sa.Numeric(9, 3), pykudu_compression="ZSTD"),
        sa.Column("note", sa.Text, comment="for people"),
        sa.Column("noon", sa.Time),
        pykudu_partition_by="HASH (host) PARTITIONS 3",
        comment="what hosts say",
    )
    table.create(engine)
    return table


NOW = dt.datetime(2026, 1, 31, 12, 0, tzinfo=dt.UTC)
ROW = {"host": "a", "at": NOW, "load": Decimal("0.125"), "noon": dt.time(12, 30)}


def test_a_table_is_made_with_its_partitions_and_reflected_with_them(
    engine: Any, metrics: Any
) -> None:
    inspector = sa.inspect(engine)
    assert inspector.get_table_names() == ["metrics"]
    assert inspector.get_table_options("metrics") == {
        "pykudu_partition_by": "HASH (host) PARTITIONS 3"
    }
    assert inspector.get_table_comment("metrics") == {"text": "what hosts say"}
    again = sa.Table("metrics", sa.MetaData(), autoload_with=engine)
    assert [str(column.type) for column in again.columns] == [
        "VARCHAR(20)", "TIMESTAMP", "DECIMAL(9, 3)", "TEXT", "TEXT",
    ]  # fmt: skip
    assert [column.name for column in again.primary_key] == ["host", "at"]


def test_values_come_back_as_they_were(engine: Any, metrics: Any) -> None:
    with engine.begin() as connection:
        connection.execute(metrics.insert(), ROW)
        assert connection.execute(sa.select(metrics)).mappings().one() == {**ROW, "note": None}


def test_an_insert_says_how_many_rows_it_has_made(engine: Any, metrics: Any) -> None:
    with engine.begin() as connection:
        made = connection.execute(metrics.insert(), [ROW, {**ROW, "host": "b"}])
        assert made.rowcount == 2
        later = metrics.c.at + dt.timedelta(hours=1)
        query = sa.select(metrics.c.host, later, metrics.c.load)
        made = connection.execute(metrics.insert().from_select(["host", "at", "load"], query))
        assert made.rowcount == 2


def test_whole_division_of_integers_is_an_integer(engine: Any) -> None:
    seven, two = sa.literal(7), sa.literal(2)
    query = sa.select(seven // two, -seven // two, (seven + 1) // (two + 1) * 10, 7.5 // two)
    with engine.connect() as connection:
        row = connection.execute(query).one()
    assert tuple(row) == (3, -3, 20, 3)
    assert [type(each) for each in row[:3]] == [int, int, int]


def test_texts_are_gathered_and_ids_are_kept_in_both_forms(engine: Any) -> None:
    table = sa.Table("ids", sa.MetaData(), sa.Column("id", sa.UUID, primary_key=True))
    table.create(engine)
    ids = [uuid.UUID(int=1), uuid.UUID(int=2)]
    with engine.begin() as connection:
        connection.execute(table.insert(), [{"id": each} for each in ids])
        assert connection.scalars(sa.select(table).order_by(table.c.id)).all() == ids
        text = sa.cast(table.c.id, sa.String)
        gathered = connection.scalar(sa.select(sa.func.aggregate_strings(text, "/")))
        assert sorted(gathered.split("/")) == [each.hex for each in ids]


def test_an_upsert_changes_what_it_names(engine: Any, metrics: Any) -> None:
    with engine.begin() as connection:
        connection.execute(metrics.insert(), ROW)
        connection.execute(upsert(metrics), {"host": "a", "at": NOW, "note": "new"})
        found = connection.execute(sa.select(metrics.c.load, metrics.c.note)).one()
        assert found == (Decimal("0.125"), "new")


@pytest.mark.parametrize("kind", ["hybrid", "snapshot", "delta"])
def test_a_statement_reads_the_moment_of_its_options(engine: Any, metrics: Any, kind: str) -> None:
    with engine.begin() as connection:
        connection.execute(metrics.insert(), ROW)
    with engine.connect() as connection:
        before = connection.connection.dbapi_connection.snapshot_timestamp()
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql("CREATE SNAPSHOT before")
        connection.execute(metrics.delete())
    options = {
        "hybrid": {"as_of": before},
        "snapshot": {"as_of_snapshot": "before"},
        "delta": {"as_of": dt.timedelta(0)},
    }[kind]
    with engine.connect() as connection:
        count = sa.select(sa.func.count()).select_from(metrics)
        expected = 0 if kind == "delta" else 1
        assert connection.scalar(count, execution_options=options) == expected
        assert connection.scalar(count) == 0


def test_a_moment_of_another_type_is_refused(engine: Any, metrics: Any) -> None:
    with engine.connect() as connection, pytest.raises(sa.exc.ArgumentError, match="as_of takes"):
        connection.execute(sa.select(metrics), execution_options={"as_of": 1.5})


def test_mapped_objects_are_numbered_and_found_by_relations(engine: Any) -> None:
    class Base(orm.DeclarativeBase):
        pass

    class Author(Base):
        __tablename__ = "author"
        id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
        name: orm.Mapped[str]
        books: orm.Mapped[list["Book"]] = orm.relationship(back_populates="author")

    class Book(Base):
        __tablename__ = "book"
        id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
        title: orm.Mapped[str]
        author_id: orm.Mapped[int] = orm.mapped_column(sa.ForeignKey("author.id"))
        author: orm.Mapped[Author] = orm.relationship(back_populates="books")

    with pytest.warns(UnenforcedConstraintWarning, match=r"foreign key \(\w+\) of table 'book'"):
        Base.metadata.create_all(engine)
    with orm.Session(engine) as session:
        session.add(Author(name="Le Guin", books=[Book(title="A"), Book(title="B")]))
        session.commit()
    with orm.Session(engine) as session:
        author = session.scalars(sa.select(Author)).one()
        assert sorted((book.id, book.title) for book in author.books) == [(1, "A"), (2, "B")]
        author.name = "Ursula"
        session.delete(author.books[0])
        session.commit()
        assert session.scalar(sa.select(sa.func.count()).select_from(Book)) == 1


def test_foreign_keys_of_tables_that_name_each_other_are_left_out(engine: Any) -> None:
    metadata = sa.MetaData()
    for name, other in (("hen", "egg"), ("egg", "hen")):
        reference = sa.ForeignKey(f"{other}.id", name=f"{name}_{other}")
        key = sa.Column("id", sa.Integer, primary_key=True)
        sa.Table(name, metadata, key, sa.Column("other", reference))
    with pytest.warns(UnenforcedConstraintWarning, match="foreign key '(hen_egg|egg_hen)'"):
        metadata.create_all(engine)
    assert sa.inspect(engine).get_table_names() == ["egg", "hen"]
    metadata.drop_all(engine)
    assert sa.inspect(engine).get_table_names() == []


def test_a_migration_with_a_constraint_that_is_not_enforced_warns(engine: Any) -> None:
    table = sa.Table("t", sa.MetaData(), sa.Column("id", sa.Integer, primary_key=True))
    table.create(engine)
    unique = sa.UniqueConstraint(table.c.id, name="u")
    rule = sa.CheckConstraint("id > 0", name="c", pykudu_enforced=False, table=table)
    with engine.begin() as connection, pytest.warns(UnenforcedConstraintWarning) as warned:
        for constraint in (unique, rule):
            connection.execute(sa.schema.AddConstraint(constraint))
            connection.execute(sa.schema.DropConstraint(constraint))
    assert len(warned) == 2


def test_check_constraints_are_kept_and_reflected(engine: Any) -> None:
    table = sa.Table(
        "stock",
        sa.MetaData(),
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("n", sa.Integer, sa.CheckConstraint("n >= 0", name="no_debt")),
        sa.Column("kind", sa.Enum("a", "b", create_constraint=True, name="kinds")),
        sa.CheckConstraint("n < 100 AND kind <> 'c'", name="few"),
        sa.CheckConstraint("upper(kind) = kind", name="loud", pykudu_enforced=False),
    )
    with pytest.warns(UnenforcedConstraintWarning, match="CHECK constraint 'loud'"):
        table.create(engine)
    assert sa.inspect(engine).get_check_constraints("stock") == [
        {"name": "few", "sqltext": "n < 100 AND kind <> 'c'"},
        {"name": "kinds", "sqltext": "kind IN ('a', 'b')"},
        {"name": "no_debt", "sqltext": "n >= 0"},
    ]
    with engine.begin() as connection, pytest.raises(sa.exc.IntegrityError, match="no_debt"):
        connection.execute(table.insert().values(id=1, n=-1, kind="a"))
    refused = sa.Table(
        "refused",
        sa.MetaData(),
        sa.Column("id", sa.Integer, primary_key=True),
        sa.CheckConstraint("id = random()"),
    )
    with pytest.raises(sa.exc.DBAPIError, match="cannot stand in a CHECK"):
        refused.create(engine)


def test_a_url_gives_settings_and_names_no_server() -> None:
    with sa.create_engine("pykudu://?row_errors=collect").connect() as connection:
        rows = connection.exec_driver_sql("SHOW SETTINGS").mappings()
        assert {row["name"]: row["value"] for row in rows}["row_errors"] == "collect"
    with pytest.raises(sa.exc.ArgumentError, match="names a server"):
        sa.create_engine("pykudu://host/db").connect()


def test_frames_go_in_and_out_with_their_decimals(engine: Any) -> None:
    pandas = pytest.importorskip("pandas", reason="pip install pandas")
    frame = pandas.DataFrame({"k": [1, 2], "d": [Decimal("1.50"), None], "s": ["x", None]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        frame.to_sql("frame", engine, index=False, dtype={"d": sa.Numeric(9, 2)})
        frame.to_sql("frame", engine, index=False, if_exists="append")
    back = pandas.read_sql("SELECT * FROM frame ORDER BY k", engine)
    assert back["d"].tolist()[:2] == [Decimal("1.50"), Decimal("1.50")] and len(back) == 4
    whole = pandas.read_sql("SELECT * FROM frame", engine, coerce_float=False)
    assert set(map(type, whole["d"].dropna())) == {Decimal}
    # As docs/sqlalchemy.md says of this function of pandas.
    whole = pandas.read_sql_table("frame", engine, coerce_float=False)
    assert set(map(type, whole["d"].dropna())) == {float}


def test_polars_reads_and_writes(engine: Any) -> None:
    polars = pytest.importorskip("polars", reason="pip install polars")
    polars.DataFrame({"k": [1, 2], "s": ["x", "y"]}).write_database("t", engine)
    back = polars.read_database("SELECT k, s FROM t ORDER BY k", engine)
    assert back.rows() == [(1, "x"), (2, "y")]


def test_alembic_finds_differences_and_keeps_its_version(engine: Any, metrics: Any) -> None:
    pytest.importorskip("alembic", reason="pip install alembic")
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext
    from alembic.operations import Operations

    wanted = sa.MetaData()
    table = metrics.to_metadata(wanted)
    table.append_column(sa.Column("extra", sa.Integer))
    url = engine.url
    with sa.create_engine(url).connect() as connection:
        context = MigrationContext.configure(connection)
        ((kind, _, name, column),) = compare_metadata(context, wanted)
        assert (kind, name, column.name) == ("add_column", "metrics", "extra")
        Operations(context).add_column("metrics", sa.Column("extra", sa.Integer))
        context._ensure_version_table()
        for old, new in ((None, "a"), ("a", "b")):
            step = (
                sa.text("INSERT INTO alembic_version VALUES (:new)")
                if old is None
                else sa.text("UPDATE alembic_version SET version_num = :new")
            )
            connection.execute(step, {"new": new})
        connection.commit()
        assert compare_metadata(context, wanted) == []
        assert context.get_current_revision() == "b"


def test_alembic_finds_no_difference_in_what_the_database_leaves_out(engine: Any) -> None:
    pytest.importorskip("alembic", reason="pip install alembic")
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    wanted = sa.MetaData()
    sa.Table(
        "person",
        wanted,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("mail", sa.String(40), unique=True, server_default="it's"),
        sa.Column("nick", sa.String(40), unique=True, index=True),
        sa.Column("u", sa.Uuid),
        sa.Column("lasts", sa.Interval),
        sa.Column("is_new", sa.Boolean, server_default=sa.text("true")),
        sa.Column("kind", sa.Enum("a", "bb", name="kind")),
        sa.Column("j", sa.JSON),
    )
    sa.Table(
        "pet",
        wanted,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("owner", sa.ForeignKey("person.id"), index=True),
        sa.UniqueConstraint("id", "owner"),
    )
    with pytest.warns(UnenforcedConstraintWarning):
        wanted.create_all(engine)
    with sa.create_engine(engine.url).connect() as connection:
        options = {"compare_server_default": True}
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, wanted) == []


def test_server_defaults_that_are_functions_go_round(engine: Any) -> None:
    pytest.importorskip("alembic", reason="pip install alembic")
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    class Base(orm.DeclarativeBase):
        pass

    class Note(Base):
        __tablename__ = "note"
        id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
        body: orm.Mapped[str]
        at: orm.Mapped[dt.datetime] = orm.mapped_column(server_default=sa.func.now())
        then: orm.Mapped[dt.datetime] = orm.mapped_column(
            server_default=sa.func.current_timestamp()
        )
        again: orm.Mapped[dt.datetime] = orm.mapped_column(
            server_default=sa.text("(CURRENT_TIMESTAMP)")
        )
        written: orm.Mapped[str] = orm.mapped_column(server_default=sa.text("(datetime('now'))"))
        day: orm.Mapped[dt.date] = orm.mapped_column(server_default=sa.func.current_date())
        token: orm.Mapped[str] = orm.mapped_column(
            sa.String(36), server_default=sa.func.gen_random_uuid()
        )
        utc: orm.Mapped[dt.datetime] = orm.mapped_column(
            server_default=sa.text("(now() at time zone 'utc')")
        )

    class Keyed(Base):
        __tablename__ = "keyed"
        id: orm.Mapped[uuid.UUID] = orm.mapped_column(
            primary_key=True, server_default=sa.func.gen_random_uuid()
        )
        body: orm.Mapped[str]

    Base.metadata.create_all(engine)
    with orm.Session(engine) as session:
        first, *others = notes = [Note(body=str(number)) for number in range(5)]
        session.add(first)
        session.flush()
        session.add_all(others)
        session.flush()
        assert all(note.at == note.then == note.again for note in notes)
        assert all(note.day == note.at.date() for note in notes)
        assert len({note.at for note in others}) == 1
        assert len({note.token for note in notes}) == 5
        keyed = [Keyed(body="x") for _ in range(3)]
        session.add_all(keyed)
        session.flush()
        assert {each.id.version for each in keyed} == {4}
        session.commit()
        assert first.token == session.scalar(sa.select(Note.token).where(Note.id == first.id))
    reflected = sa.MetaData()
    reflected.reflect(engine)
    options = {"compare_server_default": True, "compare_type": True}
    with sa.create_engine(engine.url).connect() as connection:
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, Base.metadata) == []
        assert compare_metadata(context, reflected) == []
        Note.__table__.c.at.server_default = sa.DefaultClause("2026-01-01")
        (((kind, *_),),) = compare_metadata(context, Base.metadata)
        assert kind == "modify_default"


def test_a_timedelta_beside_a_time_is_an_interval(engine: Any) -> None:
    wanted = sa.MetaData()
    columns = (sa.Column("at", sa.DateTime), sa.Column("lasts", sa.Interval))
    table = sa.Table("t", wanted, sa.Column("id", sa.Integer, primary_key=True), *columns)
    at, hour = dt.datetime(2026, 1, 1), dt.timedelta(hours=1)
    wanted.create_all(engine)
    with engine.begin() as connection:
        connection.execute(table.insert(), {"id": 1, "at": at, "lasts": hour})
        asked = sa.select(
            table.c.at + hour,
            hour + table.c.at,
            table.c.at - hour,
            table.c.at - dt.datetime(2025, 12, 31),
            table.c.lasts,
            sa.literal(hour),
        ).where(table.c.at < sa.func.now() + hour, table.c.lasts == hour)
        found = connection.execute(asked).one()
        day = dt.timedelta(days=1)
        assert tuple(found) == (at + hour, at + hour, at - hour, day, hour, hour)
        connection.execute(table.update().values(at=table.c.at + hour))
        assert connection.execute(sa.select(table.c.at)).scalar_one() == at + hour
        literal = sa.select(table.c.at - hour).compile(
            engine, compile_kwargs={"literal_binds": True}
        )
        assert connection.execute(sa.text(str(literal))).scalar_one() == at


def test_alembic_that_is_imported_behind_an_engine_knows_the_dialect() -> None:
    pytest.importorskip("alembic", reason="pip install alembic")
    program = """
import sqlalchemy
with sqlalchemy.create_engine("pykudu://").connect() as connection:
    from alembic.migration import MigrationContext
    print(type(MigrationContext.configure(connection).impl).__name__)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout.strip(), done.returncode) == ("PykuduImpl", 0), done.stderr


def test_alembic_changes_types_and_nullability_as_it_finds_them(engine: Any) -> None:
    pytest.importorskip("alembic", reason="pip install alembic")
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext
    from alembic.operations import Operations

    wider = {"a": sa.BigInteger(), "s": sa.String(9), "d": sa.Numeric(20, 2), "f": sa.Double()}
    wanted = sa.MetaData()
    key = sa.Column("k", sa.BigInteger, primary_key=True, autoincrement=False)
    sa.Table("t", wanted, key, *(sa.Column(n, t, nullable=n != "a") for n, t in wider.items()))
    with sa.create_engine(engine.url).connect() as connection:
        narrow = "a SMALLINT, s VARCHAR(3), d DECIMAL(5,2), f FLOAT"
        connection.execute(sa.text(f"CREATE TABLE t (k BIGINT PRIMARY KEY, {narrow})"))
        context = MigrationContext.configure(connection)
        found = [kind for column in compare_metadata(context, wanted) for kind, *_ in column]
        assert sorted(found) == ["modify_nullable", *["modify_type"] * 4]
        operations = Operations(context)
        for name, kind in wider.items():
            operations.alter_column("t", name, type_=kind, nullable=name != "a")
        assert compare_metadata(context, wanted) == []
