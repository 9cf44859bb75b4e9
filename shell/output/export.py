"""Results as streams of text for programs: the formats, and Markdown and one line a value.

Each format is a generator over batches, so a result larger than memory passes through: over
columns where the text of a cell depends on nothing else (`columnar`), over rows otherwise.
Every chunk it yields ends in a line end, except inside JSON, where the closing bracket does.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from pykudu_sql.shell.output.display import escape, pad, width
from pykudu_sql.shell.output.markup import html, latex
from pykudu_sql.shell.output.text_tables import box, psql
from pykudu_sql.shell.output.values import to_text

Batches = Iterable[Sequence[Sequence[Any]]]
Export = Callable[[Sequence[str], Batches, str], Iterator[str]]

# Everything that GitHub's Markdown reads within a line; `_` acts at the edges of a word alone.
_MARKDOWN_SPECIAL = re.compile(r"[\\`*\[\]<>&~|]|(?<![^\W_])_|_(?![^\W_])")


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


# Those of `columnar.exports`, which is loaded when one of them is written.
COLUMN_FORMATS = frozenset({"csv", "json", "jsonlines", "tsv"})
ROW_EXPORTS: Mapping[str, Export] = {
    "box": box,
    "html": html,
    "latex": latex,
    "line": line,
    "markdown": markdown,
    "psql": psql,
}
# Those whose first chunk is the names of the columns.
HEADED_FORMATS = frozenset({"csv", "tsv"})
# Those that end with the number of rows.
COUNTED_FORMATS = frozenset({"psql"})
SPREADSHEET_FORMATS = frozenset({"csv", "tsv"})
# How NULL is written unless the user chose otherwise.
NULL_TEXTS: Mapping[str, str] = {"csv": "", "psql": "", "tsv": "\\N"}
