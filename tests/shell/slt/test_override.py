"""Results written back into a script."""

from collections.abc import Callable

from pykudu_sql.shell.slt.override import rewrite
from pykudu_sql.shell.slt.runner import ScriptResult

BEFORE = """\
# Comments and layout stay.
statement ok
CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)

statement count 5
INSERT INTO t
VALUES (1, 'x'), (2, '')

statement error
SELECT 1

statement ok
SELECT * FROM nope

query IT rowsort
SELECT a, b FROM t
----
1 | y

query IT
SELECT a, b
FROM t ORDER BY a
----
1
x
3
(empty)

# No result yet.
query IT nosort
SELECT a, b FROM t ORDER BY a

query I nosort
SELECT a FROM t ORDER BY a
----
1
2

hash-threshold 1

query I
SELECT a FROM t ORDER BY a
----
7

query I
SELECT wrong FROM t
----
7
"""

AFTER = """\
# Comments and layout stay.
statement ok
CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)

statement count 2
INSERT INTO t
VALUES (1, 'x'), (2, '')

statement ok
SELECT 1

statement error
SELECT * FROM nope

query IT rowsort
SELECT a, b FROM t
----
1 | x
2 | (empty)

query IT
SELECT a, b
FROM t ORDER BY a
----
1
x
2
(empty)

# No result yet.
query IT nosort
SELECT a, b FROM t ORDER BY a
----
1 | x
2 | (empty)

query I nosort
SELECT a FROM t ORDER BY a
----
1
2

hash-threshold 1

query I
SELECT a FROM t ORDER BY a
----
2 values hashing to 6ddb4095eb719e2a9f0a3f95677d24e0

query I
SELECT wrong FROM t
----
7
"""


def test_wrong_expectations_become_what_happened(
    run_script: Callable[..., ScriptResult],
) -> None:
    assert rewrite(BEFORE, run_script(BEFORE).executed) == AFTER


def test_a_script_without_problems_stays_byte_for_byte(
    run_script: Callable[..., ScriptResult],
) -> None:
    text = "\n# spaces  \nstatement ok\nSELECT 1   \n\n\n"
    assert rewrite(text, run_script(text).executed) == text
