"""docs/python-api.md, built from signatures and docstrings: `make docs`."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "python-api.md"

_HEAD = """# Python API

Built from the docstrings by `make docs`. How the parts work together is on the page
[Python](python.md), which also lists the errors."""

# What a program uses, by module, in the order of the page.
_PARTS = (
    ("pykudu_sql/dbapi/opening.py", ("connect",)),
    ("pykudu_sql/dbapi/connection.py", ("Connection",)),
    ("pykudu_sql/dbapi/cursor.py", ("Cursor",)),
    ("planner/parse/scripts.py", ("split_statements", "is_complete")),
    ("pykudu_sql/aio/connection.py", ("AsyncConnection",)),
    ("pykudu_sql/aio/cursor.py", ("AsyncCursor",)),
)
_WIDTH = 80
_ITEM = re.compile(r"^    (?P<name>[*\w, ]+): (?P<text>.*(?:\n {8}.*)*)", re.MULTILINE)
_SECTION = re.compile(r"^(?P<title>Args|Raises|Yields):\n(?P<items>(?: {4}.*\n?)+)", re.MULTILINE)


def built() -> str:
    """The whole page."""
    return "\n\n".join((_HEAD, *_parts())) + "\n"


def _parts() -> Iterator[str]:
    for module, names in _PARTS:
        tree = ast.parse((ROOT / module).read_text(encoding="utf-8"))
        defined = {
            node.name: node
            for node in tree.body
            if isinstance(node, ast.FunctionDef | ast.ClassDef)
        }
        for name in names:
            node = defined[name]
            if isinstance(node, ast.ClassDef):
                yield from _class(node)
            else:
                yield _function(node, f"## {name}", name)


def _class(node: ast.ClassDef) -> Iterator[str]:
    yield f"## {node.name}\n\n{_markdown(node)}"
    for member in node.body:
        is_function = isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef)
        if is_function and not member.name.startswith("_") and ast.get_docstring(member):
            name = f"{node.name}.{member.name}"
            yield _function(member, f"### {name}", member.name)


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef, heading: str, name: str) -> str:
    return f"{heading}\n\n```python\n{_signature(node, name)}\n```\n\n{_markdown(node)}"


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> str:
    result = ast.unparse(node.returns).strip("'\"") if node.returns is not None else "None"
    if any(isinstance(each, ast.Name) and each.id == "property" for each in node.decorator_list):
        return f"{name}: {result}"
    waits = "await " if isinstance(node, ast.AsyncFunctionDef) else ""
    arguments = list(_arguments(node.args))
    line = f"{waits}{name}({', '.join(arguments)}) -> {result}"
    if len(line) <= _WIDTH:
        return line
    return "\n".join((f"{waits}{name}(", *(f"    {each}," for each in arguments), f") -> {result}"))


def _arguments(arguments: ast.arguments) -> Iterator[str]:
    """Each argument but `self`, with type and default."""
    defaults = [None] * (len(arguments.args) - len(arguments.defaults)) + arguments.defaults
    for argument, default in zip(arguments.args, defaults, strict=True):
        if argument.arg != "self":
            yield _argument(argument, default)
    if arguments.kwonlyargs:
        yield "*"
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield _argument(argument, default)
    if arguments.kwarg is not None:
        yield f"**{ast.unparse(arguments.kwarg)}"


def _argument(argument: ast.arg, default: ast.expr | None) -> str:
    text = ast.unparse(argument)
    return text if default is None else f"{text} = {ast.unparse(default)}"


def _markdown(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> str:
    """A docstring as Markdown: arguments become a list."""
    return _SECTION.sub(_list, (ast.get_docstring(node) or "").replace("<", "\\<")).strip()


def _list(section: re.Match[str]) -> str:
    found = [
        (item["name"], " ".join(item["text"].split())) for item in _ITEM.finditer(section["items"])
    ]
    items = [f"- `{name}`: {text}" for name, text in found]
    title = "Raises:\n\n" if section["title"] == "Raises" else ""
    return title + "\n".join(items) + "\n"


def main() -> int:
    """Write the page anew."""
    PAGE.write_text(built(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
