"""GROUP BY over text columns by their codes: the same rows, names and types as by the texts."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

import pyarrow as pa
import pytest

import pykudu_sql
from pykudu_sql import Connection
from pykudu_sql.engine.query_engine import Relation
from pykudu_sql.executor.reading import engine_runs
from pykudu_sql.executor.reading.groups import coded_stream, dictionary_codes
from pykudu_sql.executor.reading.groups.coded_stream import CodedStream, Coding
from pykudu_sql.executor.reading.groups.dictionary_codes import CodedRelations, FunctionOfWords
from pykudu_sql.executor.reading.scans import StreamedScan
from pykudu_sql.planner.plan.query_plans import CodedGroups

WORDS = ["red", "green", "blue", "Grün", "", None]


@pytest.fixture(scope="module")
def connection() -> Iterator[Connection]:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE t (id BIGINT PRIMARY KEY, colour STRING, size VARCHAR(5), "
            "note STRING ENCODING PLAIN_ENCODING, x INT) PARTITION BY HASH (id) PARTITIONS 3"
        )
        for start in (0, 600):
            connection.append("t", rows(start))
            connection.execute("FLUSH TABLE t")
        connection.execute("UPDATE t SET colour = 'violet' WHERE id % 50 = 7")
        connection.execute(
            "INSERT INTO t VALUES (-1, 'new', 'S', 'n', 5), (-2, NULL, NULL, NULL, 6)"
        )
        connection.execute(
            "CREATE TABLE names (colour STRING PRIMARY KEY, name STRING, warm BOOLEAN)"
        )
        connection.execute(
            "INSERT INTO names VALUES ('red', 'Rot', true), ('blue', 'Blau', false), "
            "('', 'x', NULL)"
        )
        yield connection


def rows(start: int) -> pa.Table:
    numbers = range(start, start + 600)
    # The second half knows other words, so files have other dictionaries.
    shift = int(start >= 600)
    colours = [WORDS[(n * 7 + shift) % 6] if n % 11 else f"c{shift}" for n in numbers]
    return pa.table(
        {
            "id": numbers,
            "colour": colours,
            "size": ["SML"[n % 3] for n in numbers],
            "note": [f"note {n % 4}" for n in numbers],
            "x": pa.array((n % 13 for n in numbers), pa.int32()),
        }
    )


QUERIES = [
    "SELECT colour, count(*) FROM t GROUP BY colour ORDER BY colour",
    "SELECT colour, size, sum(x), count(*) FROM t GROUP BY colour, size ORDER BY 1, 2",
    "SELECT count(*) AS n, colour AS c FROM t GROUP BY c ORDER BY c DESC",
    "SELECT sum(x), colour FROM t GROUP BY 2 ORDER BY 2 NULLS FIRST",
    "SELECT upper(colour) || '!' AS u, min(colour), max(size) FROM t GROUP BY colour ORDER BY u",
    "SELECT colour FROM t GROUP BY colour HAVING colour > 'c' AND sum(x) > 20 ORDER BY "
    "length(colour), 1",
    "SELECT t.colour, count(DISTINCT t.size) FROM t WHERE colour <> 'red' GROUP BY t.colour "
    "ORDER BY 1",
    "SELECT size, count(*) FILTER (WHERE size = 'S'), string_agg(size, '') FROM t GROUP BY "
    "size ORDER BY 1",
    "SELECT n.name, t.size, count(*) FROM t JOIN names n ON n.colour = t.colour GROUP BY "
    "n.name, t.size ORDER BY 1, 2",
    "SELECT name, colour, count(*) FROM t LEFT JOIN names USING (colour) GROUP BY name, "
    "colour ORDER BY 2, 1",
    "SELECT colour, count(*) FROM names RIGHT JOIN t USING (colour) GROUP BY colour ORDER BY 1",
    "SELECT a.colour, b.colour, count(*) FROM t a JOIN t b ON a.id = b.id + 1 GROUP BY "
    "a.colour, b.colour ORDER BY 1, 2",
    "SELECT a.colour, b.size, count(*) FROM t a JOIN t b ON a.id = b.id + 1 GROUP BY "
    "a.colour, b.size ORDER BY 1, 2",
    "SELECT c, n FROM (SELECT colour AS c, count(*) AS n FROM t GROUP BY colour) AS g WHERE "
    "n > 3 ORDER BY c",
    "WITH g AS (SELECT size, sum(x) AS s FROM t GROUP BY size) SELECT t.colour, sum(g.s) "
    "FROM t JOIN g USING (size) GROUP BY t.colour ORDER BY 1",
    "SELECT colour, count(*) FROM t GROUP BY colour UNION ALL SELECT size, count(*) FROM t "
    "GROUP BY size ORDER BY 1, 2",
    "SELECT colour FROM t WHERE id IN (SELECT max(id) FROM t GROUP BY colour) ORDER BY 1",
    "SELECT CASE WHEN colour IS NULL THEN 'none' ELSE colour END AS k, avg(x) FROM t GROUP "
    "BY colour ORDER BY k",
    "SELECT max(colour, 2), greatest(colour, 'm'), count(*) FROM t GROUP BY colour ORDER BY 2, 1",
    "SELECT upper(colour) AS colour FROM t GROUP BY t.colour ORDER BY length(colour), 1",
    "SELECT lower(colour) AS colour FROM t GROUP BY t.colour ORDER BY colour || 'x'",
    "SELECT upper(colour) AS colour, count(*) FROM t GROUP BY t.colour HAVING colour = 'red'",
    "SELECT colour, (SELECT count(*) FROM names WHERE names.colour = t.colour) FROM t GROUP "
    "BY colour ORDER BY 1",
    "SELECT colour, count(*), rank() OVER (ORDER BY count(*), colour) FROM t GROUP BY colour "
    "ORDER BY 1",
    "SELECT colour, size, count(*) FROM t GROUP BY ROLLUP (colour, size) ORDER BY 1, 2, 3",
    "SELECT DISTINCT colour FROM t GROUP BY colour, size ORDER BY colour",
    "SELECT note, count(*) FROM t GROUP BY note ORDER BY note",
    "SELECT colour, x, count(*) FROM t WHERE id < ? AND size = ? GROUP BY colour, x ORDER BY 1, 2",
    "SELECT colour, count(*) FROM t WHERE false GROUP BY colour",
    "SELECT name, count(*) FROM names WHERE warm GROUP BY name ORDER BY 1",
    "SELECT count(*) FROM t GROUP BY COLOUR ORDER BY Colour",
    "SELECT upper(colour), count(*) FROM t GROUP BY upper(colour) ORDER BY 1",
    "SELECT left(colour, 1) AS c, sum(x), size FROM t GROUP BY ALL ORDER BY c, size",
    "SELECT coalesce(colour, 'none') AS c, lower(size), count(*) FROM t GROUP BY 1, 2 ORDER BY "
    "c, lower(size)",
    "SELECT upper(colour) AS colour, count(*) FROM t GROUP BY upper(t.colour) ORDER BY 1",
    "SELECT upper(t.colour) AS colour, count(*) FROM t GROUP BY upper(t.colour) ORDER BY colour",
    "SELECT count(*) FROM t GROUP BY nullif(colour, 'red') HAVING nullif(colour, 'red') > 'c' "
    "ORDER BY nullif(colour, 'red')",
    "SELECT colour, reverse(colour), count(*) FROM t GROUP BY colour, reverse(colour) ORDER BY 1",
    "SELECT lower(colour), count(*) FROM t GROUP BY lower(colour), colour ORDER BY 1, 2",
    "SELECT lower(size), lower(colour), count(*) FROM t GROUP BY lower(colour), lower(size), "
    "colour, x ORDER BY 1, 2, 3",
    "SELECT upper(colour), max(colour), max(upper(colour)), count(*) FILTER (WHERE "
    "upper(colour) > 'G') FROM t GROUP BY upper(colour) ORDER BY 1",
    "SELECT coalesce(name, 'none'), count(*) FROM t LEFT JOIN names USING (colour) GROUP BY 1 "
    "ORDER BY 1",
    "SELECT coalesce(n.name, '-') AS k, substr(t.colour, 1, 2) AS c, count(*) FROM t JOIN names "
    "n USING (colour) GROUP BY k, c ORDER BY k, c",
    "SELECT c, n FROM (SELECT upper(colour) AS c, count(*) AS n FROM t GROUP BY c) AS g ORDER BY c",
    'SELECT "upper(colour)" FROM (SELECT upper(colour), count(*) FROM t GROUP BY 1) AS g '
    "ORDER BY 1",
    'SELECT "upper(colour)" FROM (SELECT upper(colour), count(*) FROM t GROUP BY 1 UNION ALL '
    "SELECT 'x', 1) AS g ORDER BY 1",
    'WITH g AS (SELECT upper(colour) FROM t GROUP BY 1) SELECT "upper(colour)" FROM g ORDER BY 1',
    "SELECT count(*) FROM (SELECT upper(colour), count(*) FROM t GROUP BY 1) AS g",
    "SELECT size FROM t WHERE upper(size) IN (SELECT upper(size) FROM t GROUP BY upper(size)) "
    "GROUP BY size ORDER BY 1",
    "SELECT CASE WHEN colour < 'g' THEN 'low' WHEN size = 'S' THEN 'high' END AS k, count(*) "
    "FROM t GROUP BY k ORDER BY k",
    "SELECT CASE WHEN colour < 'g' THEN 'low' ELSE 'high' END AS k, count(*) FROM t GROUP BY k "
    "ORDER BY k",
    "SELECT CASE WHEN colour < 'g' THEN 1 ELSE 2 END AS k, count(*) FROM t GROUP BY k ORDER BY k",
    "SELECT split_part(note, ' ', 2) AS k, replace(size, 'S', 'XS'), count(*) FROM t GROUP BY "
    "ALL ORDER BY ALL",
    "SELECT regexp_extract(colour, '[a-z]+') AS k, min(x) FROM t GROUP BY k ORDER BY k",
    "SELECT concat(colour, '.') AS k, colour || '!' AS l, count(*) FROM t GROUP BY k, l ORDER BY "
    "k, l",
    "SELECT trim(colour) AS k, count(*) FROM t WHERE upper(colour) > 'G' GROUP BY trim(colour) "
    "UNION ALL SELECT upper(size), count(*) FROM t GROUP BY upper(size) ORDER BY 1, 2",
    "SELECT upper(colour), count(*), rank() OVER (ORDER BY count(*)) FROM t GROUP BY upper(colour) "
    "ORDER BY 1",
    "SELECT initcap(colour) FROM t WHERE x = ? GROUP BY initcap(colour) ORDER BY 1",
]  # fmt: skip


@pytest.fixture(params=["held", "streamed"])
def reading(request: pytest.FixtureRequest, connection: Connection) -> Iterator[str]:
    """How tables are read."""
    connection.execute(f"SET scan_memory_bytes = {1 << 30 if request.param == 'held' else 0}")
    yield request.param
    connection.execute(f"SET scan_memory_bytes = {1 << 30}")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The SQL over codes of each query from here on, empty where it has none."""
    asked: list[str] = []
    request = engine_runs.coded_relations

    def note(
        coded: CodedGroups, relations: Mapping[str, Relation], compute: FunctionOfWords
    ) -> CodedRelations | None:
        made = request(coded, relations, compute)
        asked.append("" if made is None else made.sql)
        return made

    monkeypatch.setattr(engine_runs, "coded_relations", note)
    return asked


@pytest.mark.parametrize("sql", QUERIES)
def test_groups_by_codes_are_those_by_texts(
    connection: Connection, monkeypatch: pytest.MonkeyPatch, reading: str, sql: str
) -> None:
    given = (900, "M")[: sql.count("?")]
    by_text = connection.execute(sql, given)
    expected = by_text.fetchall()
    monkeypatch.setattr(dictionary_codes, "LEAST_ROWS", 0)
    by_code = connection.execute(sql, given)
    assert by_code.fetchall() == expected
    assert by_code.description == by_text.description


def test_a_stream_is_grouped_by_codes(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    streamed: list[list[int]] = []
    make = CodedStream.__init__

    def note(stream: CodedStream, scan: StreamedScan, codings: Sequence[Coding]) -> None:
        make(stream, scan, codings)
        streamed.extend([len(each.distinct) for each in coding.values] for coding in codings)

    monkeypatch.setattr(CodedStream, "__init__", note)
    monkeypatch.setattr(dictionary_codes, "LEAST_ROWS", 0)
    connection.execute("SET scan_memory_bytes = 0")
    connection.execute("SELECT colour, size, sum(x) FROM t GROUP BY colour, size").fetchall()
    connection.execute("SELECT colour FROM t GROUP BY colour").fetchall()
    connection.execute("SELECT left(colour, 1) AS c FROM t GROUP BY c").fetchall()
    connection.execute(f"SET scan_memory_bytes = {1 << 30}")
    assert streamed == [[9, 3], [9], [8]]


@pytest.mark.parametrize("most", [39, 40], ids=["each by its own", "all in one"])
def test_several_keys_have_one_code_where_their_combinations_are_few(
    connection: Connection,
    monkeypatch: pytest.MonkeyPatch,
    reading: str,
    asked: list[str],
    most: int,
) -> None:
    sql = "SELECT size, upper(colour), count(*) FROM t GROUP BY colour, 1 ORDER BY 2, 1"
    expected = connection.execute(sql).fetchall()
    asked.clear()
    monkeypatch.setattr(dictionary_codes, "LEAST_ROWS", 0)
    monkeypatch.setattr(coded_stream, "_MOST_COMBINATIONS", most)
    assert connection.execute(sql).fetchall() == expected
    (groups,) = [text[text.index("GROUP BY") : text.index("ORDER BY")] for text in asked]
    assert groups.count("__scan_code_") == (2 if most == 39 else 1)


def test_words_in_great_number_stay_text(
    connection: Connection, monkeypatch: pytest.MonkeyPatch, reading: str
) -> None:
    sql = "SELECT colour, size, sum(x) FROM t GROUP BY colour, size ORDER BY 1, 2"
    expected = connection.execute(sql).fetchall()
    monkeypatch.setattr(dictionary_codes, "LEAST_ROWS", 0)
    monkeypatch.setattr(dictionary_codes, "MOST_WORDS", 5)
    assert connection.execute(sql).fetchall() == expected


@pytest.mark.parametrize(
    ("sql", "codes"),
    [
        ("SELECT upper(colour), count(*) FROM t GROUP BY 1", 1),
        ("SELECT upper(colour), colour, count(*) FROM t GROUP BY 1, 2", 1),
        ("SELECT CASE WHEN colour < 'g' THEN 1 ELSE 2 END, count(*) FROM t GROUP BY 1", 0),
        ("SELECT substr(colour, 1, 1000000000000000), count(*) FROM t GROUP BY 1", 0),
    ],
    ids=["texts", "beside its column", "no texts", "an error"],
)
def test_a_function_that_makes_texts_of_all_words_has_codes(
    connection: Connection,
    monkeypatch: pytest.MonkeyPatch,
    asked: list[str],
    sql: str,
    codes: int,
) -> None:
    monkeypatch.setattr(dictionary_codes, "LEAST_ROWS", 0)
    connection.execute(f"EXPLAIN {sql}").fetchall()
    with suppress(pykudu_sql.DataError):
        connection.execute(sql).fetchall()
    assert {text.partition("GROUP BY")[2].count("code") for text in asked} == {codes}
