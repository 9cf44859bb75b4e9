"""Tests mirror the packages: a module with logic is imported by a test."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


# Planner, executor, and of the storage commits, rowsets and kernels.
FOLDERS = (
    "planner",
    "pykudu_sql/executor",
    "storage/cfile/encoding",
    "storage/commit",
    "storage/common",
    "storage/tablet/history",
    "storage/tablet/read",
    "storage/tablet/rowset",
)
TOPS = ("planner", "pykudu_sql", "shell", "storage")
# Those of Spark need a JVM and lie in tests/spark; jobs are tested by what they do.
TESTED_ABOVE = ("pykudu_sql/spark", "pykudu_sql/jobs/")
# In one folder, as many as a room may have modules.
FILES = 20
# Tests of no single room: many statements, a hostile input, two databases side by side.
CAMPAIGNS = (
    "pykudu_sql/concurrency",
    "pykudu_sql/corpus",
    "pykudu_sql/differential",
    "pykudu_sql/dml",
    "pykudu_sql/hostile",
    "pykudu_sql/isolation",
    "pykudu_sql/limits",
    "pykudu_sql/file_mutations",
    "pykudu_sql/merges",
    "pykudu_sql/mutations",
    "pykudu_sql/numbers",
    "pykudu_sql/pivots",
    "pykudu_sql/processes",
    "pykudu_sql/qualifiers",
    "pykudu_sql/quoting",
    "pykudu_sql/semantics",
    "pykudu_sql/sqlalchemy/compliance",
    "pykudu_sql/time_travel",
    "storage/faults",
    "storage/histories",
    "storage/hostile",
)


def modules_with_logic() -> Iterator[str]:
    """Modules of these folders that decide or repeat something."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            package = () if parts[0] == "pykudu_sql" else ("pykudu_sql",)
            deciding = (ast.If, ast.IfExp, ast.For, ast.While, ast.Match, ast.comprehension)
            nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            decides = any(isinstance(node, deciding) and not _names_types(node) for node in nodes)
            if path.name != "__init__.py" and decides:
                yield ".".join((*package, *parts))


def _names_types(node: ast.AST) -> bool:
    """Whether it is `if TYPE_CHECKING`, which decides nothing."""
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def imported_by_tests() -> set[str]:
    """All that a test imports, and that by which it may be imported: a module or a name in one."""
    imported = set()
    for path in (ROOT / "tests").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                imported |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
            elif isinstance(node, ast.Import):
                imported |= {name.name for name in node.names}
    return imported


def test_a_module_with_logic_is_imported_by_a_test() -> None:
    missing = set(modules_with_logic()) - imported_by_tests()
    assert sorted(missing) == []


def test_a_room_has_a_folder_of_tests() -> None:
    assert sorted(set(rooms()) - folders_of_tests()) == []


def test_a_folder_of_tests_is_one_of_a_room() -> None:
    assert sorted(folders_of_tests() - {*TOPS, *rooms(), *CAMPAIGNS}) == []


def test_a_test_beside_the_rooms_of_the_planner_is_of_a_module_there() -> None:
    modules = {f"test_{path.stem}" for path in (ROOT / "planner").glob("*.py")}
    tests = {path.stem for path in (ROOT / "tests" / "planner").glob("test_*.py")}
    assert sorted(tests - modules) == []


def test_a_folder_of_tests_has_few_files() -> None:
    modules = (path.parent for path in (ROOT / "tests").rglob("*.py"))
    assert {folder: files for folder, files in Counter(modules).items() if files > FILES} == {}


def rooms() -> Iterator[str]:
    """Folders of modules with logic."""
    for top in TOPS:
        for path in (ROOT / top).glob("**/__init__.py"):
            folder = path.parent.relative_to(ROOT).as_posix()
            if folder not in TOPS and not folder.startswith(TESTED_ABOVE):
                yield folder


def folders_of_tests() -> set[str]:
    """Folders with tests, named as the packages are."""
    tests = ROOT / "tests"
    paths = (path for top in TOPS for path in (tests / top).rglob("test_*.py"))
    return {path.parent.relative_to(tests).as_posix() for path in paths}
