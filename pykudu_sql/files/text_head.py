"""What a text begins with: its encoding, the names in a CSV header, its delimiter."""

import csv
from collections.abc import Collection, Sequence
from typing import Final

from pykudu_sql.storage.errors import DataError

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
# By their byte order marks; that of UTF-32 begins with that of UTF-16.
_ENCODINGS: Final = (
    (b"\xff\xfe\0\0", "UTF-32"),
    (b"\0\0\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
_DELIMITERS: Final = (",", ";", "\t", "|")


def without_mark(head: bytes, name: str) -> bytes:
    """The first bytes of a file, which are to be UTF-8, without a byte order mark.

    Raises DataError: the mark is that of another encoding.
    """
    encoding = next((kind for mark, kind in _ENCODINGS if head.startswith(mark)), None)
    if encoding is not None:
        raise DataError(
            f"'{name}' is {encoding}, and texts are read as UTF-8",
            hint=f"iconv -f {encoding} -t UTF-8 FILE > NEW_FILE converts it",
            sqlstate="22021",
        )
    return head.removeprefix(_BYTE_ORDER_MARK)


def header_names(cells: Sequence[str], columns: Collection[str] = ()) -> list[str]:
    """The columns that a CSV header names: without blanks around them, each another in any case.

    One without a name is `column5` by its place; of several with one name all but the first get a
    number, as `total_1`. `columns`: names in lower case that have their blanks.
    """
    names: list[str] = []
    proposals = [
        cell if cell.lower() in columns else cell.strip() or f"column{place}"
        for place, cell in enumerate(cells, 1)
    ]
    proposed_names = {name.lower() for name in proposals}
    taken_names: set[str] = set()
    for name in proposals:
        unique, number = name, 0
        while unique.lower() in taken_names or (number and unique.lower() in proposed_names):
            number += 1
            unique = f"{name}_{number}"
        taken_names.add(unique.lower())
        names.append(unique)
    return names


def likely_delimiter(header: str, expected: str, quote: str) -> str:
    """What stands between the names of a header: the expected one, or one that is there instead."""
    try:
        counts = {
            delimiter: len(next(csv.reader([header], delimiter=delimiter, quotechar=quote), []))
            for delimiter in (expected, *_DELIMITERS)
        }
    except csv.Error:
        return expected
    if counts[expected] > 1:
        return expected
    return max(counts, key=counts.__getitem__)
