"""Results as streams of text for programs: CSV, TSV, JSON, JSON lines, Markdown, one line a value.

Each format is a generator over batches of rows, so a result larger than memory passes through.
Every chunk it yields ends in a line end, except inside JSON, where the closing bracket does.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from pykudu_sql.shell.output.display import escape, pad, width
from pykudu_sql.shell.output.markup import html, latex
from pykudu_sql.shell.output.text_tables import box, psql
from pykudu_sql.shell.output.values import to_json, to_text, unique_names

Batches = Iterable[Sequence[Sequence[Any]]]
Export = Callable[[Sequence[str], Batches, str], Iterator[str]]

_CSV_SPECIAL = re.compile(r'[",\r\n]|^\s|\s$|^$')
_TSV_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})
# Everything that GitHub's Markdown reads within a line; `_` acts at the edges of a word alone.
_MARKDOWN_SPECIAL = re.compile(r"[\\`*\[\]<>&~|]|(?<![^\W_])_|_(?![^\W_])")


def csv(names: Sequence[str], batches: Batches, null: str) -> Iterator[str]:
    """Comma separated values (RFC 4180, with the line ends of Unix).

    NULL is an empty field and the empty string is `""`, so both come back as they were.
    """
    yield ",".join(map(_csv_field, names)) + "\n"
    for batch in batches:
        yield "".join(
            ",".join(null if v is None else _csv_field(to_text(v)) for v in row) + "\n"
            for row in batch
        )


def _csv_field(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if _CSV_SPECIAL.search(text) else text


def tsv(names: Sequence[str], batches: Batches, null: str) -> Iterator[str]:
    """Tab separated values; tab, line ends and backslash are escaped with a backslash."""
    yield "\t".join(name.translate(_TSV_ESCAPES) for name in names) + "\n"
    for batch in batches:
        yield "".join(
            "\t".join(null if v is None else to_text(v).translate(_TSV_ESCAPES) for v in row) + "\n"
            for row in batch
        )


def jsonlines(names: Sequence[str], batches: Batches, null: str) -> Iterator[str]:
    """One JSON object a line; repeated column names are numbered."""
    for batch in _objects(names, batches):
        yield "".join(f"{text}\n" for text in batch)


def json_array(names: Sequence[str], batches: Batches, null: str) -> Iterator[str]:
    """One JSON array of objects, an object a line; repeated column names are numbered."""
    separator = "["
    for batch in _objects(names, batches):
        text = ",\n ".join(batch)
        if text:
            yield separator + text
            separator = ",\n "
    yield "[]\n" if separator == "[" else "]\n"


def _objects(names: Sequence[str], batches: Batches) -> Iterator[list[str]]:
    keys = [json.dumps(name, ensure_ascii=False) + ": " for name in unique_names(names)]
    for batch in batches:
        yield [
            "{" + ", ".join(key + to_json(v) for key, v in zip(keys, row, strict=True)) + "}"
            for row in batch
        ]


def markdown(names: Sequence[str], batches: Batches, null: str) -> Iterator[str]:
    """A table of GitHub's Markdown; line ends and control characters are spelled out.

    Data shows as it is: what Markdown or HTML would act on is escaped.
    """
    yield _markdown_row(names) + "| " + " | ".join(["---"] * len(names)) + " |\n"
    for batch in batches:
        yield "".join(
            _markdown_row([null if v is None else to_text(v) for v in row]) for row in batch
        )


def _markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_MARKDOWN_SPECIAL.sub(r"\\\g<0>", escape(c)) for c in cells) + " |\n"


def line(names: Sequence[str], batches: Batches, null: str) -> Iterator[str]:
    """One `name = value` a line, a blank line between rows; control characters spelled out."""
    escaped = [escape(name) for name in names]
    columns = max(map(width, escaped), default=0)
    heads = [pad(name, columns, right=True) + " = " for name in escaped]
    for number, row in enumerate(chain.from_iterable(batches)):
        texts = (null if v is None else escape(to_text(v)) for v in row)
        lines = "".join(f"{h}{text}\n" for h, text in zip(heads, texts, strict=True))
        yield f"\n{lines}" if number else lines


EXPORTS: Mapping[str, Export] = {
    "box": box,
    "csv": csv,
    "html": html,
    "json": json_array,
    "jsonlines": jsonlines,
    "latex": latex,
    "line": line,
    "markdown": markdown,
    "psql": psql,
    "tsv": tsv,
}
# Those whose first chunk is the names of the columns.
HEADED_FORMATS = frozenset({"csv", "tsv"})
SPREADSHEET_FORMATS = frozenset({"csv", "tsv"})
# How NULL is written unless the user chose otherwise.
NULL_TEXTS: Mapping[str, str] = {"csv": "", "psql": "", "tsv": "\\N"}
