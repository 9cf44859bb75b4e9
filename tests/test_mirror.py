"""Tests mirror the packages: a module with logic is imported by a test."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


# Planner, executor, and the kernels of the storage: encodings, keys, predicates, histories.
FOLDERS = (
    "planner",
    "pykudu_sql/executor",
    "storage/cfile/encoding",
    "storage/common",
    "storage/tablet/history",
)


def modules_with_logic() -> Iterator[str]:
    """Modules of these folders that decide or repeat something."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            package = () if parts[0] == "pykudu_sql" else ("pykudu_sql",)
            deciding = (ast.If, ast.IfExp, ast.For, ast.While, ast.Match, ast.comprehension)
            nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if path.name != "__init__.py" and any(isinstance(node, deciding) for node in nodes):
                yield ".".join((*package, *parts))


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
    assert sorted(set(modules_with_logic()) - imported_by_tests()) == []


def test_a_room_of_the_planner_has_a_folder_of_tests() -> None:
    folders = {path.name for path in (ROOT / "tests" / "planner").iterdir() if path.is_dir()}
    rooms = {path.parent.name for path in (ROOT / "planner").glob("*/__init__.py")}
    assert rooms <= folders
