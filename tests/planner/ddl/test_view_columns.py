"""What views show of their columns once a table that they read has other types."""

import pykudu_sql
from pykudu_sql.planner.ddl.view_columns import views_with_new_types
from pykudu_sql.storage.catalog.alter import SetType, apply_steps
from pykudu_sql.storage.common.types.types import DataType, Kind


def test_views_over_views_get_the_new_types_and_their_names_stay() -> None:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute("CREATE TABLE t (k INT PRIMARY KEY, a TINYINT, s VARCHAR(3))")
        connection.execute("CREATE DATABASE d")
        connection.execute(
            "CREATE VIEW v (n COMMENT 'it', s) AS SELECT max(a), s FROM t GROUP BY s"
        )
        connection.execute("CREATE VIEW d.w AS SELECT n, k FROM default.v JOIN default.t USING (s)")
        connection.execute("CREATE VIEW other AS SELECT k FROM t")
        kept = connection._session.catalog.views["other"]
        connection.execute("ALTER TABLE t ALTER COLUMN a TYPE INT, ALTER COLUMN s TYPE STRING")
        shown = connection.execute("DESCRIBE v").fetchall()
        assert shown == [("n", "INT", "it"), ("s", "STRING", "")]
        assert [row[1] for row in connection.execute("DESCRIBE d.w").fetchall()] == ["INT", "INT"]
        assert connection._session.catalog.views["other"] is kept


def test_a_view_that_cannot_be_read_stays_as_it_is() -> None:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute("CREATE TABLE t (k INT PRIMARY KEY, a TINYINT, b INT)")
        connection.execute("CREATE VIEW v AS SELECT a FROM t")
        connection.execute("CREATE VIEW w AS SELECT a, b FROM t")
        connection.execute("ALTER TABLE t DROP COLUMN b")
        session = connection._session
        before = session.catalog.table("t")
        after = apply_steps(before, [SetType("a", DataType(Kind.INT64))])
        context = session._planner.context(session.catalog)
        ((old, new),) = views_with_new_types(before, after, context)
        assert (old.name, old.columns[0].type, new.columns[0].type) == ("v", "TINYINT", "BIGINT")


def test_a_prepared_statement_over_a_view_shows_the_new_type() -> None:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute("CREATE TABLE t (k INT PRIMARY KEY, a TINYINT)")
        connection.execute("CREATE VIEW v AS SELECT a FROM t")
        connection.execute("PREPARE p AS SELECT * FROM v")
        connection.execute("ALTER TABLE t ALTER COLUMN a TYPE BIGINT")
        connection.execute("INSERT INTO t VALUES (1, 9999999999)")
        assert connection.execute("EXECUTE p").fetchall() == [(9999999999,)]
