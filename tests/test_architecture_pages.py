"""ARCHITECTURE.md, the glossary and the pages of the rooms name what there is, and all files."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

from pykudu_sql.planner.query.passes import PASSES

ROOT = Path(__file__).resolve().parent.parent
GLOSSARY = ROOT / "docs" / "architecture" / "glossary.md"
PAGES = (ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", *sorted(GLOSSARY.parent.glob("*.md")))
# A page of a room may leave out the folders above the room.
_ABOVE = ("", "pykudu_sql", "storage", "storage/tablet")
_ROOMS = (
    "pykudu_sql|planner|shell|storage|tests|docs|engine|executor|spark|dbapi|results|jobs|"
    "tablet|common|cfile|log|fs|commit|catalog|transaction|ingest|remote|recovery|scan|upkeep"
)
_FILE = re.compile(rf"`((?:{_ROOMS})/[\w./]+)`")
_HOUSE = ("planner", "storage", "pykudu_sql", "shell")
_ROOMS_TABLE = re.compile(
    r"^Paths are below `(?P<folder>[^`]+)`[^|]+^\| [Ff]ile \|.*\n\|-.*\n(?P<rows>(?:\|.*\n)+)",
    re.MULTILINE,
)
_ROW = re.compile(r"^\| (?!term |-)(?P<term>[^|]+) \|.*\| `(?P<path>[^`]+)` \|$", re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_files_that_a_page_names_exist(page: Path) -> None:
    named = _FILE.findall(page.read_text(encoding="utf-8"))
    assert [name for name in named if not is_file_or_module(name)] == []


def test_the_tree_of_the_house_is_the_folders() -> None:
    """Each line of the map names folders of the one above it, or files there."""
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    lines = page.partition("## The house")[2].split("```")[1].splitlines()
    missing, top = [], ""
    for line in lines[1:]:
        names = re.findall(r"(?<![\w/])[\w/]+(?:/|\.py)(?=[ ,:;()]|$)", line)
        if not line.startswith(" "):
            top = names.pop(0)
        missing += [top + name for name in names if not is_in(top, name)]
    assert missing == []


def is_in(top: str, name: str) -> bool:
    return any((ROOT / top).rglob(name.rstrip("/")))


def is_file_or_module(name: str) -> bool:
    name = re.sub(r"\.(?!py$|md$|golden$)\w+$", "", name)  # a name within a module
    places = [ROOT / above / name for above in _ABOVE]
    return any(place.exists() or place.with_name(f"{place.name}.py").exists() for place in places)


def test_the_tables_of_rooms_name_files_with_their_folders() -> None:
    assert [name for name, file in files_of_tables() if not file.is_file()] == []


def test_every_file_of_the_house_is_in_a_table_of_rooms() -> None:
    named = {file.resolve() for _, file in files_of_tables()}
    folders = (path for top in _HOUSE for path in (ROOT / top).rglob("*.py"))
    files = {path.resolve() for path in folders if not path.name.startswith("__")}
    assert sorted(str(file.relative_to(ROOT.resolve())) for file in files - named) == []


def files_of_tables() -> Iterator[tuple[str, Path]]:
    """The names in the first columns of the tables of rooms, and the files that they mean.

    A name is a path below the folder that the page says, or below the package.
    """
    for page in PAGES:
        for table in _ROOMS_TABLE.finditer(page.read_text(encoding="utf-8")):
            above = (ROOT / table["folder"], ROOT / "pykudu_sql", ROOT)
            for row in table["rows"].splitlines():
                for name in names_in(row.split(" | ")[0]):
                    files = [(folder / name).with_suffix(".py") for folder in above]
                    yield name, next((file for file in files if file.is_file()), files[0])


def names_in(cell: str) -> Iterator[str]:
    for quoted in re.findall(r"`([^`]+)`", cell):
        folder, brace, names = quoted.rstrip("}").partition("{")
        yield from (folder + name for name in names.split(",")) if brace else (quoted,)


def test_every_term_of_the_glossary_has_a_file_and_stands_there_once() -> None:
    text = GLOSSARY.read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if re.match(r"\| (?!term |-)", line)]
    terms = [row["term"] for row in _ROW.finditer(text) if (ROOT / row["path"]).is_file()]
    assert len(terms) == len(rows) > 60
    assert len(set(terms)) == len(terms)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_name_within_a_module_or_class_is_there(page: Path) -> None:
    """`module.name` and `Class.name`; words that are neither a module nor a class may have any."""
    names = names_by_owner()
    missing = [
        f"{owner}.{name}"
        for code in re.findall(r"`([^`\n]+)`", page.read_text(encoding="utf-8"))
        for owner, name in re.findall(r"(?<![\w.$])(\w+)\.(?=(\w+))", code)
        if owner in names and name not in names[owner] | {"py", "md"}
    ]
    assert missing == []


@cache
def names_by_owner() -> Mapping[str, set[str]]:
    """The names in each module and class of the product; of a class those of its bases too.

    Of a module that has the name of a folder, those of the modules in that as well.
    """
    names: dict[str, set[str]] = defaultdict(set)
    members: dict[str, set[str]] = defaultdict(set)
    bases: list[tuple[str, str]] = []
    for path in (path for top in _HOUSE for path in (ROOT / top).rglob("*.py")):
        members[path.parent.parent.name].add(path.parent.name)
        members[path.parent.name].add(path.stem)
        if path.stem == "__init__":
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names[path.stem].update(names_in_tree(tree))
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                names[node.name].update(names_in_tree(node))
                bases += [(node.name, base.id) for base in node.bases if isinstance(base, ast.Name)]
    for name, base in bases:
        names[name] |= names.get(base, set())
    return {owner: own | members[owner] for owner, own in names.items()}


def names_in_tree(tree: ast.AST) -> Iterator[str]:
    """The functions, classes, variables and attributes that a module or class defines.

    Texts too: names of slots, and of the places that a fault is injected at.
    """
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=str(name)) | ast.ClassDef(name=str(name)):
                yield name
            case ast.Name(id=str(name), ctx=ast.Store()):
                yield name
            case ast.Attribute(attr=str(name), ctx=ast.Store()):
                yield name
            case ast.Constant(value=str(text)):
                yield text.rpartition(".")[2]


def test_the_table_of_passes_has_them_in_their_order() -> None:
    page = (GLOSSARY.parent / "planner.md").read_text(encoding="utf-8")
    table = page.partition("| Pass | needs | guarantees |\n")[2].partition("\n\n")[0]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == [step.name for step in PASSES]
