"""Formats of files and their compression, by their names or a statement's options."""

from collections.abc import Mapping, Sequence
from typing import Final

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.errors import InvalidValueError

FORMATS: Final = ("csv", "json", "parquet", "orc", "arrow")
TEXTS: Final = ("csv", "json")
_SUFFIXES: Final[Mapping[str, str]] = {
    "tsv": "csv", "jsonl": "json", "ndjson": "json", "pq": "parquet", "ipc": "arrow",
    "feather": "arrow",
}  # fmt: skip
_PACKED: Final[Mapping[str, str]] = {"gz": "gzip", "zst": "zstd"}
# How each format may be packed; the first is what files are written with if nothing is said.
_COMPRESSIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "csv": ("none", "gzip", "zstd"),
    "json": ("none", "gzip", "zstd"),
    "parquet": ("zstd", "snappy", "gzip", "lz4", "none"),
    "orc": ("zstd", "snappy", "lz4", "none"),
    "arrow": ("none", "zstd", "lz4"),
}


@dataclass(frozen=True, slots=True)
class FileOptions:
    """Options of a statement for files that it reads or writes.

    Attributes:
        file_format: one of `FORMATS`; None takes it from the name.
        compression: how they are packed; None takes it from the name.
        header: whether the first line of CSV names the columns.
        delimiter: between the cells of CSV; None is a comma, and a tab for `.tsv`.
        quote: around cells of CSV.
        null: how NULL is written in CSV, without quotes.
        row_group_size: rows of a row group of written Parquet, at most; None for the default.
    """

    file_format: str | None = None
    compression: str | None = None
    header: bool = True
    delimiter: str | None = None
    quote: str = '"'
    null: str = ""
    row_group_size: int | None = None


@dataclass(frozen=True, slots=True)
class FileKind:
    """What a file is.

    Attributes:
        format: one of `FORMATS`.
        compression: how it is packed, or "none".
        delimiter: between the cells of CSV.
        options: as the statement gives them.
    """

    format: str
    compression: str
    delimiter: str
    options: FileOptions

    @property
    def is_text(self) -> bool:
        """Whether values are written as text, without types."""
        return self.format in TEXTS

    def is_empty(self, size: int) -> bool:
        """Whether a file of so many bytes is a text without a line, header included: no rows."""
        return self.is_text and not size


def named_format(name: str, packed: Sequence[str]) -> str:
    """The format that a file's name implies by its suffix, or that suffix if it implies none.

    `packed`: suffixes of packed files, which are passed over.
    """
    lower = name.lower()
    for suffix in packed:
        lower = lower.removesuffix(suffix)
    suffix = lower.rpartition(".")[2]
    return _SUFFIXES.get(suffix, suffix)


def file_kind(path: str, options: FileOptions) -> FileKind:
    """The kind of a file, by its name and by a statement's options.

    Raises InvalidValueError: the name does not say its format; or the format is never packed so.
    """
    ending = path.lower().rpartition(".")[2]
    file_format = options.file_format or named_format(path, [f".{one}" for one in _PACKED])
    if file_format not in FORMATS:
        raise InvalidValueError(
            f"the name '{path:.200}' does not say the format of the file",
            hint=f"end it with .{', .'.join(FORMATS)}, or write COPY with (FORMAT csv)",
        )
    compressions = _COMPRESSIONS[file_format]
    by_name = _PACKED.get(ending) if file_format in TEXTS else None
    compression = options.compression or by_name or compressions[0]
    if compression not in compressions:
        raise InvalidValueError(
            f"{file_format} files are not packed by '{compression:.40}'",
            hint="COMPRESSION is one of " + ", ".join(compressions),
        )
    is_tsv = path.lower().removesuffix(f".{ending}" if by_name else "").endswith(".tsv")
    return FileKind(
        file_format, compression, options.delimiter or ("\t" if is_tsv else ","), options
    )
