"""Results as tables of HTML and LaTeX: what the data holds shows as it is and acts on nothing."""

import html as html_escapes
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pykudu_sql.shell.output.display import escape
from pykudu_sql.shell.output.values import to_text

Batches = Iterable[Sequence[Sequence[Any]]]

_LATEX = str.maketrans({
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}",
})  # fmt: skip


def html(names: Sequence[str], batches: Batches, null: str) -> Iterator[str]:
    """One table; a cell with NULL has the class `null`."""
    head = "".join(f"<th>{_html(name)}</th>" for name in names)
    yield f"<table>\n<thead>\n<tr>{head}</tr>\n</thead>\n<tbody>\n"
    for batch in batches:
        yield "".join(
            "<tr>" + "".join(_html_cell(value, null) for value in row) + "</tr>\n" for row in batch
        )
    yield "</tbody>\n</table>\n"


def _html_cell(value: object, null: str) -> str:
    if value is None:
        return f'<td class="null">{_html(null)}</td>'
    return f"<td>{_html(to_text(value))}</td>"


def _html(text: str) -> str:
    return html_escapes.escape(escape(text, keep="\n\t"))


def latex(names: Sequence[str], batches: Batches, null: str) -> Iterator[str]:
    """One `tabular`; line ends and control characters are spelled out."""
    yield f"\\begin{{tabular}}{{{'l' * len(names)}}}\n\\hline\n{_latex_row(names)}\\hline\n"
    for batch in batches:
        yield "".join(_latex_row([null if v is None else to_text(v) for v in row]) for row in batch)
    yield "\\hline\n\\end{tabular}\n"


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(escape(cell).translate(_LATEX) for cell in cells) + " \\\\\n"
