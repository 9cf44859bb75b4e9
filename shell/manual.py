"""The pages of SQL in the shell: the part of one that a statement is about, and its summary."""

import re
from collections.abc import Iterator
from pathlib import Path

from pykudu_sql.dataclass import dataclass

PAGES = Path(__file__).parent / "pages"
_HEADING = re.compile(r"^#{1,2} (.+)$", re.MULTILINE)
# A block without a language is grammar; the others are examples and what they print.
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# A line that belongs to no paragraph before it: a blank one, an item, a row of a table, a heading.
_BEGINS = re.compile(r"$|- |\d+\. |\||#")
_OPTIONAL = re.compile(r"\[[^][]*\] ?")
_BRACKETS = str.maketrans("", "", "[]")
_MOST_EXAMPLES = 2
# Statements that a page is about as a whole.
_TITLES = {"SELECT": "Queries", "WITH": "Queries", "VALUES": "Queries"}
# Where several pages have a statement in their grammar, the first of these explains it.
_FIRST = ("queries", "rows", "transactions", "tables", "views")


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page.

    `heading`: its title; `text`: what stands below, in Markdown; `page`: the file, without `.md`.
    """

    heading: str
    text: str
    page: str = ""

    def summary(self, statement: str) -> str:
        """The syntax of a statement and two examples, in Markdown.

        `statement`: as typed; examples with its word come first. A part without syntax is shown
        up to its first example.
        """
        blocks = list(_BLOCK.finditer(self.text))
        grammars = [block[0] for block in blocks if not block[1]]
        head = grammars[0] if grammars else self.text.partition("```")[0].strip("\n")
        pattern = re.compile(rf"\b{re.escape(statement.upper().split()[0])}\b")
        statements = [block[0] for block in blocks if block[1] == "sql"]
        statements.sort(key=lambda text: pattern.search(text) is None)
        return "\n\n".join([head, *statements[:_MOST_EXAMPLES]])

    def is_about(self, statement: str) -> bool:
        """Whether the heading names a statement, as `UPSERT, UPDATE, DELETE` does."""
        return statement in re.split(r", | and ", self.heading) or (
            _TITLES.get(statement) == self.heading
        )

    def defines(self, statement: str) -> bool:
        """Whether its grammar has a statement, with or without what may be left out."""
        pattern = re.compile(rf"(?:^|  |\| ){re.escape(statement)}(?![A-Z_])", re.MULTILINE)
        grammars = [block[2] for block in _BLOCK.finditer(self.text) if not block[1]]
        forms = [(_OPTIONAL.sub("", text), text.translate(_BRACKETS)) for text in grammars]
        return any(pattern.search(form) for pair in forms for form in pair)


def find_section(statement: str) -> Section | None:
    """The part about a statement such as `insert` or `create table`; None if there is none.

    `delete from` is about what `delete` is about, if nothing is about both words.
    """
    words = statement.upper().split()
    sections = list(_sections())
    for count in range(len(words), 0, -1):
        pattern = " ".join(words[:count])
        for matches_heading in (Section.is_about, Section.defines):
            section = next((s for s in sections if matches_heading(s, pattern)), None)
            if section is not None:
                return section
    return None


def paragraphs(text: str) -> Iterator[tuple[str, bool]]:
    """The parts of a page: a paragraph or an item of a list in one line, a block as it stands.

    Each with whether its lines may be broken elsewhere. Blank lines are parts of their own.
    """
    lines: list[str] = []
    in_block = False
    for line in text.splitlines():
        is_fence = line.startswith("```")
        begins = in_block or is_fence or _BEGINS.match(line) is not None
        if lines and begins and not in_block:
            yield " ".join(lines), True
            lines = []
        if in_block or is_fence or line.startswith("|"):
            yield line, False
        elif line:
            lines.append(line.strip() if lines else line)
        else:
            yield line, True
        in_block = in_block is not is_fence
    if lines:
        yield " ".join(lines), True


def _sections() -> Iterator[Section]:
    pages = sorted(PAGES.glob("*.md"))
    pages.sort(key=lambda page: _FIRST.index(page.stem) if page.stem in _FIRST else len(_FIRST))
    for page in pages:
        text = page.read_text(encoding="utf-8")
        headings = list(_HEADING.finditer(text))
        ends = [heading.start() for heading in headings[1:]] + [len(text)]
        for heading, end in zip(headings, ends, strict=True):
            yield Section(heading[1], text[heading.end() : end].strip("\n"), page.stem)
