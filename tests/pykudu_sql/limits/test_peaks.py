"""What a statement makes of wide or large texts stays near the memory limit, in a process."""

import json
import subprocess
import sys

import pytest

from pykudu_sql.storage.common.memory_budget import shares_of
from tests.pykudu_sql.limits.growing.statements import STATEMENTS
from tests.pykudu_sql.limits.peaks import FETCHED, LIMIT, measure

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="peaks are read from /proc")
SPARE = 200
SPARE_OF_CALLS = 80
SPARE_OF_JOINS = 130
SPARE_OF_ORDER = 20
VALUE = shares_of(LIMIT << 20).value
MOST = LIMIT + 8 * (VALUE >> 20)  # as docs/architecture/memory.md has it
CHILD = """
import json, sys
from tests.pykudu_sql.limits.growing_peaks import measure
print(json.dumps([measure(script, int(sys.argv[1])) for script in sys.argv[2:]]))
"""
# Values that have most of what one may have.
LARGEST = (
    f"SELECT repeat('a', {VALUE})",
    f"SELECT [repeat('a', {VALUE // 2 - 64}), repeat('b', {VALUE // 2 - 64})]",
    f"SELECT upper(lower(repeat('ab', {VALUE // 2})))",
    f"SELECT map(range({VALUE // 1024}), range({VALUE // 1024}))",
    f"SELECT list(range) FROM range({VALUE // 16})",
)
# Each took 374 to 602 MB before it was bounded or got its rows in parts.
REFUSED = (
    "SELECT [repeat('a', 30000000), repeat('b', 30000000)]",
    "SELECT list_resize(['a'], 60000, repeat('b', 1000))",
    "SELECT map([1], [repeat('a', 60000000)])",
    "SELECT repeat([k], 4000000) FROM w",
)
IN_PARTS = (
    "SELECT count(*) FROM w a LEFT JOIN w b ON upper(a.x || b.x) > 'a' AND a.k < 20",
    "SELECT count(*) FROM w a SEMI JOIN w b ON a.x || b.x || 'a' = b.x || a.x",
)
# Each took 390 to 609 MB where subqueries became joins, and rows of joins shared wide values.
OF_JOINS = (
    "SELECT a.k, l.z FROM w a, LATERAL (SELECT upper(a.x || b.x) AS z FROM w b) l",
    "SELECT k, (SELECT max(upper(b.x || w.x)) FROM w b WHERE b.k % 9 = w.k % 9) FROM w",
    "SELECT b.x, a.x FROM w a JOIN w b ON a.k % 3 = b.k % 4",
    "SELECT x, x, x, x, x, x, x, x FROM w",
)
# The first took 423 MB to work out how large the lists would be, the second 380.
OF_LISTS = (
    "SELECT k, len(list_transform(l, e -> e || k)) FROM t, (SELECT list(x) AS l FROM t) q",
    "SELECT max(len(list_transform(string_split(x, 'b'), e -> e || 'aaaaaaaa'))) FROM w",
)

# Of each the engine made a copy for each row of a vector: 2 to 4 GB.
OF_COPIES = (
    "SELECT max(length(z)) FROM (SELECT lag(repeat('a', 1000000)) OVER (ORDER BY k) AS z FROM t)",
    "SELECT max(n) FROM (SELECT count(DISTINCT repeat('a', 1000000)) OVER () AS n FROM t)",
    "SELECT max(length(z)) FROM (SELECT max(repeat('a', 1000000)) OVER (PARTITION BY k % 9) AS z"
    " FROM t)",
    "SELECT max(k) FROM (SELECT k, z FROM (SELECT k, repeat('a', 1000000) AS z FROM t)"
    " ORDER BY k % 7, z LIMIT 5000)",
    "SELECT max(length(repeat('a', 1000000) || (k % 7))) FROM t",
    "SELECT max(length(greatest(repeat('a', 1000000), CAST(k AS TEXT)))) FROM t",
    "SELECT max(length(CAST(struct_pack(a := repeat('a', 1000000), b := k) AS TEXT))) FROM t",
)

# Under 320 MB the first took 303 MB and more of the engine's copies of the constant, the second
# was refused at 329, the third took 359 for copies of its log record. Its 30 MB of rows are there
# twice where the engine gives them in another order than that of the key.
OF_WRITES = (
    "UPDATE t SET x = repeat('c', 60000)",
    "UPDATE w SET x = upper(x) RETURNING lower(x) || x",
    "MERGE INTO w USING w b ON w.k = b.k WHEN MATCHED THEN UPDATE SET"
    " x = substr(upper(w.x || b.x), 1, 60000)",
)
# Each took 294 MB of the engine's copies of the constant, and was refused later.
OF_CONSTANTS = (
    "INSERT INTO s SELECT k, repeat('c', 60000) FROM t WHERE k < 4000",
    "INSERT INTO s (x, k) SELECT repeat('c', 60000), * FROM (SELECT k FROM t WHERE k < 4000)",
    "UPSERT INTO t (k, x) SELECT k, repeat('c', 60000) FROM t WHERE k < 4000",
    "SET row_errors = 'collect' ;; INSERT INTO s SELECT k, repeat('c', 60000) FROM t WHERE k < 999",
)
# They took 316, 296 and 273 MB, of copies of the constant and of proposed rows beside the others.
OF_HELD_ROWS = (
    "INSERT INTO t SELECT k, g, 'a' FROM t ON CONFLICT (k) DO UPDATE SET x = repeat('c', 60000)",
    "MERGE INTO t USING t b ON t.k = b.k WHEN MATCHED THEN UPDATE SET x = repeat('c', 60000)",
    "INSERT INTO w SELECT k + 250, x FROM w ON CONFLICT (k) DO UPDATE SET x = excluded.x"
    " RETURNING x",
)


@pytest.mark.parametrize(
    "statement",
    ["SELECT a.x, b.x FROM w a, w b", "SELECT x FROM w, range(4) UNION ALL SELECT x FROM w"],
)
def test_wide_rows_of_a_product_are_fetched_a_few_at_a_time(statement: str) -> None:
    result = measure(statement)
    assert (result["sqlstate"], result["fetched"]) == ("", FETCHED)
    assert int(str(result["peak"])) <= LIMIT + SPARE


@pytest.mark.parametrize(
    ("statement", "fetched"),
    [
        ("SELECT max(length(x || x || k)) FROM w, range(10)", 1),
        ("SELECT sum(length(a.x || b.x || a.k)) FROM w a, w b WHERE a.k < 40", 1),
        ("SELECT upper(lower(a.x || b.x)) FROM w a, w b", FETCHED),
    ],
)
def test_calls_over_gathered_wide_rows_answer_near_the_limit(statement: str, fetched: int) -> None:
    result = measure(statement)
    assert (result["sqlstate"], result["fetched"]) == ("", fetched)
    assert int(str(result["peak"])) <= LIMIT + SPARE_OF_CALLS


def measured(*scripts: str, limit: int = LIMIT) -> list[dict[str, object]]:
    """What each takes in a process of its own, forked of one where nothing is open."""
    command = [sys.executable, "-c", CHILD, str(limit), *scripts]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    results: list[dict[str, object]] = json.loads(done.stdout)
    return results


def test_the_largest_values_keep_to_the_formula_of_the_limit() -> None:
    for script, result in zip(LARGEST, measured(*LARGEST), strict=True):
        assert result["sqlstate"] in ("", "57014"), (script, result)
        assert 0 < int(str(result["peak"])) <= MOST, (script, result)


def test_what_would_exceed_it_is_refused_before_it_is_made() -> None:
    for script, result in zip(REFUSED, measured(*REFUSED), strict=True):
        assert result["sqlstate"] == "54000", (script, result)
        assert 0 < int(str(result["peak"])) <= LIMIT + 50, (script, result)


def test_parameters_of_many_wide_rows_are_copied_in_pieces() -> None:
    insert = "many: INSERT INTO s VALUES (?, repeat('a', 60000))"
    for result in measured(insert, f"SET row_errors = 'collect' ;; {insert}"):
        assert result["sqlstate"] in ("", "57014")
        assert 0 < int(str(result["peak"])) <= LIMIT + SPARE_OF_CALLS


def test_the_depth_of_json_is_counted_in_little_memory() -> None:
    text = "SELECT json_structure('[' || repeat('{\"a\":1},', 400000) || '1]')"
    (result,) = measured(text)
    assert result["sqlstate"] in ("", "57014")
    assert 0 < int(str(result["peak"])) <= LIMIT + SPARE_OF_CALLS


def test_conditions_of_outer_joins_over_wide_rows_stay_near_the_limit() -> None:
    for script, result in zip(IN_PARTS, measured(*IN_PARTS), strict=True):
        assert 0 < int(str(result["peak"])) <= LIMIT + SPARE_OF_CALLS, (script, result)


def test_joins_that_the_engine_makes_of_subqueries_and_their_results_stay_near_the_limit() -> None:
    for script, result in zip(OF_JOINS, measured(*OF_JOINS), strict=True):
        assert result["sqlstate"] in ("", "53200", "57014"), (script, result)
        assert 0 < int(str(result["peak"])) <= LIMIT + SPARE_OF_JOINS, (script, result)


def test_lists_that_are_made_of_long_lists_stay_near_the_limit() -> None:
    shared, divided = measured(*OF_LISTS)
    assert shared["sqlstate"] == "53200", shared
    assert divided["sqlstate"] in ("", "57014"), divided
    for result in (shared, divided):
        assert 0 < int(str(result["peak"])) <= LIMIT + SPARE_OF_JOINS, result


def test_a_large_constant_that_many_rows_copy_is_refused_before_it_is_made() -> None:
    for script, result in zip(OF_COPIES, measured(*OF_COPIES), strict=True):
        assert result["sqlstate"] == "53200", (script, result)
        assert 0 < int(str(result["peak"])) <= LIMIT + 50, (script, result)


def test_a_large_constant_of_few_rows_is_copied() -> None:
    few = [script.replace("FROM t", "FROM (SELECT k FROM t WHERE k < 3)") for script in OF_COPIES]
    for script, result in zip(few, measured(*few), strict=True):
        assert (result["sqlstate"], result["fetched"]) == ("", 1), (script, result)


def test_statements_that_write_large_rows_stay_near_their_limit() -> None:
    for script, result in zip(OF_WRITES, measured(*OF_WRITES, limit=320), strict=True):
        assert result["sqlstate"] in ("", "57014"), (script, result)
        assert 0 < int(str(result["peak"])) <= 320 + SPARE_OF_ORDER, (script, result)


def test_a_long_constant_of_an_insert_is_written_in_chunks() -> None:
    for script, result in zip(OF_CONSTANTS, measured(*OF_CONSTANTS), strict=True):
        assert result["sqlstate"] in ("", "57014"), (script, result)
        assert 0 < int(str(result["peak"])) - int(str(result["before"])) <= 80, (script, result)


def test_rows_that_a_statement_holds_are_counted_with_those_it_proposes() -> None:
    for script, result in zip(OF_HELD_ROWS, measured(*OF_HELD_ROWS), strict=True):
        assert result["sqlstate"] == "53200", (script, result)
        assert 0 < int(str(result["peak"])) - int(str(result["before"])) <= 90, (script, result)


def test_the_campaign_has_many_statements_of_each_kind() -> None:
    every = [script for group in STATEMENTS.values() for script in group]
    assert len(set(every)) == len(every) >= 150
