"""Every SQLSTATE a statement can end with has an example in sql_tests/."""

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_FOLDERS = ("storage", "planner", "pykudu_sql")
_CODE = re.compile(r"(?=.*\d)[0-9A-Z]{5}")
_EXAMPLE = re.compile(r"^statement error \(([0-9A-Z]{5})\)", re.MULTILINE)

# What no statement of a script brings about, and where it is tested instead.
_ELSEWHERE = {
    "HY000": "the root of all, never raised itself",
    "02000": "an update of a missing key: tests/pykudu_sql/dbapi/test_sqlstates.py",
    "07006": "parameters without a value: tests/pykudu_sql/dbapi/test_sqlstates.py",
    "08003": "a closed connection: tests/pykudu_sql/dbapi/test_sqlstates.py",
    "08007": "a disk that refuses for good: tests/storage/faults/test_refused_commits.py",
    "0A001": "files of a newer release: tests/storage/log/test_record_log.py",
    "22021": "text that is not Unicode: tests/pykudu_sql/dbapi/test_sqlstates.py",
    "22026": "columns of different lengths: tests/pykudu_sql/dbapi/test_sqlstates.py",
    "23000": "the root of broken rules; its classes say which",
    "24000": "fetching without a result: tests/pykudu_sql/dbapi/test_sqlstates.py",
    "42000": "the root of wrong statements; its classes say how",
    "42602": "names of frames: tests/pykudu_sql/dbapi/test_registered_frames.py",
    "428C9": "append to the hidden counter: tests/storage/ingest/test_auto_increment.py",
    "53200": "memory runs out: tests/pykudu_sql/engine/test_duckdb_engine.py",
    "55000": "a reader that was read: tests/pykudu_sql/dbapi/test_registered_frames.py",
    "55006": "another process has the database: tests/pykudu_sql/test_session.py",
    "57014": "interruption: tests/pykudu_sql/test_session.py",
    "58000": "the root of what the system around does",
    "58030": "disks fail: tests/storage/log/test_log_faults.py",
    "58P01": "files that are not there: tests/pykudu_sql/dbapi/test_sqlstates.py",
    "58P02": "a file that is not replaced: tests/pykudu_sql/executor/writing/files/test_copy_to.py",
    "XX000": "a mistake of ours",
    "XX001": "damaged files: tests/storage/faults/test_store_damage.py",
}


def _codes(tree: ast.AST) -> Iterator[str]:
    """SQLSTATEs given to errors: `sqlstate="..."`, the root's default, positional ones."""
    for node in ast.walk(tree):
        match node:
            case ast.keyword(arg="sqlstate", value=ast.Constant(value=str(code))):
                yield code
            case ast.AnnAssign(ast.Name("default_sqlstate"), value=ast.Constant(value=code)):
                yield str(code)
            case ast.Call(ast.Name("_Translation"), [_, ast.Constant(value=str(code)), *_]):
                yield code


@functools.cache
def raised() -> set[str]:
    """Every SQLSTATE in the sources, those of Spark's jobs aside: no statement runs one."""
    paths = [p for folder in _FOLDERS for p in (ROOT / folder).rglob("*.py")]
    own = [
        p
        for p in paths
        if not any(q.is_symlink() for q in p.parents)
        and not {"jobs", "spark"} & set(p.relative_to(ROOT).parts)
    ]
    return {code for path in own for code in _codes(ast.parse(path.read_text(encoding="utf-8")))}


@functools.cache
def shown() -> set[str]:
    """Every SQLSTATE that a script expects."""
    scripts = (ROOT / "sql_tests").glob("*.test")
    return {code for path in scripts for code in _EXAMPLE.findall(path.read_text(encoding="utf-8"))}


def test_every_sqlstate_of_a_statement_has_an_example() -> None:
    assert sorted(raised() - shown() - _ELSEWHERE.keys()) == []


def test_examples_and_exceptions_are_about_codes_there_are() -> None:
    assert sorted(shown() - raised()) == []
    assert sorted(_ELSEWHERE.keys() - raised()) == []
    assert all(map(_CODE.fullmatch, raised()))
    assert sorted(shown() & _ELSEWHERE.keys()) == []
