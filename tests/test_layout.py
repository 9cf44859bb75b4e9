"""The house keeps its shape: packages, links and imports agree wherever the code is read from.

Four folders at the top level are one package when imported. Three things say so, and each is blind
without the others: the package table of pyproject.toml (for an install), the links under
`pykudu_sql/` (for a checkout), and imports by full name (for both).
"""

import ast
import functools
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import pykudu_sql

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("planner", "shell", "storage")
MODULES_IN_A_ROOM = 20
# Words that say what happened to a thing; a name says what the thing is: a mask, a match, a count.
PARTICIPLES = frozenset((
    "asked", "begun", "chosen", "dealt", "found", "given", "gone", "held", "kept", "known", "lost",
    "made", "met", "seen", "shown", "taken", "told", "wanted",
))  # fmt: skip
# The libraries of docs/architecture/dependencies.md.
HEAVY = (
    "deltalake", "duckdb", "google_crc32c", "numcodecs", "numpy", "pandas", "prompt_toolkit",
    "pyarrow", "pyspark", "sortedcontainers", "sqlalchemy", "sqlglot", "zstandard",
)  # fmt: skip


def setuptools_table() -> dict[str, Any]:
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text())
    table: dict[str, Any] = pyproject["tool"]["setuptools"]
    return table


def test_the_package_and_its_metadata_name_one_version() -> None:
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert pykudu_sql.__version__ == pyproject["project"]["version"]


def source_files() -> Iterator[Path]:
    for folder in ("pykudu_sql", *ROOMS, "pyspark_pykudu", "benchmarks", "tests"):
        # Paths through a link are the rooms' own files a second time.
        yield from (
            path
            for path in sorted((ROOT / folder).rglob("*.py"))
            if folder != "pykudu_sql" or path.relative_to(ROOT).parts[1] not in ROOMS
        )


def folders_with_code(top: Path, package: str) -> Iterator[str]:
    yield package
    for child in sorted(top.iterdir()):
        if child.is_dir() and not child.is_symlink() and any(child.glob("*.py")):
            yield from folders_with_code(child, f"{package}.{child.name}")


def folder_of(package: str) -> Path:
    parts = package.split(".")
    return ROOT.joinpath(*parts[1:] if parts[1:2] and parts[1] in ROOMS else parts)


class Import(NamedTuple):
    """A module that is imported, and what of it.

    `level`: of relativity, 0 for absolute; `names`: none for `import module`.
    """

    line: int
    level: int
    module: str
    names: tuple[str, ...] = ()


class Source(NamedTuple):
    """What the tests look for in a file, which is parsed once for all of them.

    `names`: line and name of every class, function, parameter, variable and attribute; `mutexes`:
    lines of module level that make one.
    """

    imports: tuple[Import, ...]
    names: tuple[tuple[int, str], ...]
    mutexes: tuple[int, ...]


@functools.cache
def source_of(path: Path) -> Source:
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    nodes = list(ast.walk(tree))
    return Source(
        tuple(one for node in nodes for one in imported_modules(node)),
        tuple(one for node in nodes for one in names_of(node)),
        tuple(module_level_mutexes(tree)),
    )


def imported_modules(node: ast.AST) -> Iterator[Import]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield Import(node.lineno, 0, alias.name)
    elif isinstance(node, ast.ImportFrom):
        names = tuple(alias.name for alias in node.names)
        yield Import(node.lineno, node.level, node.module or "", names)


def names_of(node: ast.AST) -> Iterator[tuple[int, str]]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield node.lineno, node.name
        case ast.arg():
            yield node.lineno, node.arg
        case ast.Name(ctx=ast.Store()):
            yield node.lineno, node.id
        case ast.Attribute(ctx=ast.Store()):
            yield node.lineno, node.attr
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield node.lineno, name


def module_level_mutexes(module: ast.Module) -> Iterator[int]:
    for node in module.body:
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        if value is not None and ast.unparse(value).startswith(("threading.", "Lock(", "RLock(")):
            yield node.lineno


def test_the_package_list_is_the_folders_found() -> None:
    found = set(folders_with_code(ROOT / "pykudu_sql", "pykudu_sql"))
    for room in ROOMS:
        found |= set(folders_with_code(ROOT / room, f"pykudu_sql.{room}"))
    # Spark finds the data source by the beginning of this name, so it stands alone.
    found |= set(folders_with_code(ROOT / "pyspark_pykudu", "pyspark_pykudu"))
    assert sorted(setuptools_table()["packages"]) == sorted(found)


@pytest.mark.parametrize("package", setuptools_table()["packages"])
def test_no_room_is_too_full_to_read(package: str) -> None:
    modules = [path for path in folder_of(package).glob("*.py") if path.name != "__init__.py"]
    assert len(modules) <= MODULES_IN_A_ROOM


def test_the_package_directories_are_the_rooms() -> None:
    expected = {"pykudu_sql": "pykudu_sql"} | {f"pykudu_sql.{room}": room for room in ROOMS}
    assert setuptools_table()["package-dir"] == expected


@pytest.mark.parametrize("package", setuptools_table()["packages"])
def test_every_package_has_an_init_that_is_its_own(package: str) -> None:
    assert (folder_of(package) / "__init__.py").is_file()


@pytest.mark.parametrize("room", ROOMS)
def test_a_link_is_relative_and_leads_home(room: str) -> None:
    link = ROOT / "pykudu_sql" / room
    if not link.is_symlink() and link.is_file():
        pytest.skip("this checkout was made without symbolic links")
    assert link.readlink() == Path("..") / room
    assert link.resolve() == ROOT / room


def test_the_type_marker_is_shipped() -> None:
    assert (ROOT / "pykudu_sql" / "py.typed").is_file()
    assert setuptools_table()["package-data"]["pykudu_sql"] == ["py.typed"]


def test_the_pages_that_the_shell_shows_are_shipped() -> None:
    shipped, *others = setuptools_table()["package-data"]["pykudu_sql.shell"]
    pages = {path.resolve() for path in (ROOT / "shell").glob(shipped)}
    assert pages == set((ROOT / "docs" / "sql").glob("*.md")) and not others


def test_every_import_is_absolute_and_by_full_name() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {'.' * level}{module}"
        for path in source_files()
        for line, level, module, _ in source_of(path).imports
        if level or module.split(".")[0] in ROOMS
    ]
    assert wrong == []


def test_no_name_of_the_product_is_a_participle_alone() -> None:
    participles = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in source_files()
        if path.relative_to(ROOT).parts[0] != "tests"
        for line, name in source_of(path).names
        if name.strip("_").lower() in PARTICIPLES
    ]
    assert participles == []


def test_the_code_of_the_package_never_imports_tests_or_benchmarks() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {module}"
        for path in source_files()
        if path.relative_to(ROOT).parts[0] not in ("benchmarks", "tests")
        for line, _, module, _ in source_of(path).imports
        if module.split(".")[0] in ("benchmarks", "tests")
    ]
    assert wrong == []


def test_importing_the_face_loads_no_heavy_library() -> None:
    program = (
        "import sys; import pykudu_sql; "
        f"print(*sorted({set(HEAVY)!r} & {{name.split('.')[0] for name in sys.modules}}))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == []


def test_a_mutex_of_a_module_is_free_in_a_forked_child() -> None:
    files = [path for path in source_files() if path.relative_to(ROOT).parts[0] != "tests"]
    found = [
        f"{path.relative_to(ROOT)}:{line}" for path in files for line in source_of(path).mutexes
    ]
    assert found == []


def test_the_product_makes_its_dataclasses_by_the_decorator_that_is_quick() -> None:
    """`from dataclasses import dataclass` costs half a millisecond a class at every start."""
    own = ROOT / "pykudu_sql" / "dataclass.py"
    product = [
        path
        for path in source_files()
        if path.relative_to(ROOT).parts[0] not in ("tests", "benchmarks") and path.resolve() != own
    ]
    slow = [
        str(path.relative_to(ROOT))
        for path in product
        for _, _, module, names in source_of(path).imports
        if module == "dataclasses" and "dataclass" in names
    ]
    assert slow == []
