"""Results as frames, as rows by name, and as tables of notebooks."""

import pytest

import pykudu_sql


def test_rows_come_by_name() -> None:
    with pykudu_sql.connect() as connection:
        cursor = connection.execute("SELECT x AS a, x + 1 AS b FROM range(3) r(x) ORDER BY x")
        assert cursor.fetch_dicts(1) == [{"a": 0, "b": 1}]
        assert cursor.fetch_dicts() == [{"a": 1, "b": 2}, {"a": 2, "b": 3}]
        assert cursor.fetch_dicts() == []


def test_frames_have_short_names() -> None:
    polars = pytest.importorskip("polars", reason="pip install polars")
    with pykudu_sql.connect() as connection:
        sql = "SELECT 1 AS a, CAST('x' AS STRING) AS s"
        assert connection.execute(sql).arrow().to_pydict() == {"a": [1], "s": ["x"]}
        frame = connection.execute(sql).pl()
        assert isinstance(frame, polars.DataFrame) and frame.rows() == [(1, "x")]
        assert connection.execute(sql).df().shape == (1, 2)


def test_a_notebook_shows_rows_without_fetching_them() -> None:
    with pykudu_sql.connect() as connection:
        cursor = connection.execute("SELECT x, NULL AS n, '<b>' AS s FROM range(100) r(x)")
        cursor.fetchmany(3)
        shown = cursor._repr_html_()
        assert shown is not None
        assert "<th>x<br><small>BIGINT</small></th>" in shown and "&lt;b&gt;" in shown
        assert shown.count("<tr>") == 21 and "<i>NULL</i>" in shown and "20 of 100 rows" in shown
        assert cursor.fetchone() == (3, None, "<b>")
        assert connection.execute("CREATE TABLE t (id INT PRIMARY KEY)")._repr_html_() is None


def test_a_notebook_shows_the_columns_of_a_streamed_result() -> None:
    with pykudu_sql.connect(result_memory_bytes=1) as connection:
        cursor = connection.execute("SELECT x FROM range(500000) r(x)")
        assert cursor.rowcount == -1
        assert "computed as they are fetched" in (cursor._repr_html_() or "")
        assert len(cursor.fetchall()) == 500_000


def test_polars_refuses_intervals_and_no_row_is_lost() -> None:
    pytest.importorskip("polars", reason="pip install polars")
    with pykudu_sql.connect() as connection:
        cursor = connection.execute("SELECT INTERVAL 3 DAY AS span")
        with pytest.raises(pykudu_sql.NotSupportedError, match="column 'span' is INTERVAL"):
            cursor.pl()
        assert len(cursor.fetchall()) == 1
