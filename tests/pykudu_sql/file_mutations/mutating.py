"""Files of every format, and what may befall them."""

import csv
import gzip
import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Final

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.orc as orc
import pyarrow.parquet as pq

TEXT_FORMATS: Final = ("csv", "tsv", "jsonl", "json")
BINARY_FORMATS: Final = ("parquet", "orc", "arrow")
_WORDS: Final = ("a", "two\nlines", 'q"q', "é,", "", "x" * 40, "{[]}", "tab\t", "]},")
_PIECES: Final = (
    b'"', b'""', b"\0", b"\r", b"\r\n", b"\n", b"\xef\xbb\xbf", b"\xff", b"\xc3", b"{", b"}",
    b"[", b"]", b",", b":", b"\\", b"\\u", b"null", b"9" * 400, b"1e999", b"-", b"[" * 3000,
    b'{"a":' * 3000, b"y" * 200_000, b'"' * 1001,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class MutatedFile:
    """A file. `name`: with its suffix; `data`: all of it; `text`: unpacked, if it can be known."""

    name: str
    data: bytes
    text: bytes | None


def mutated_file(random: Random) -> MutatedFile:
    """A file of some format that something befell."""
    rows = [
        {"id": number, "v": random.choice(_WORDS), "n": random.randrange(-40, 40) / 4}
        for number in range(random.choice((1, 3, 12, 40)))
    ]
    if random.random() < 0.3:
        kind = random.choice(BINARY_FORMATS)
        return MutatedFile(f"f.{kind}", mutated(random, _BINARY[kind](random, rows)), None)
    kind = random.choice(TEXT_FORMATS)
    data = _TEXT[kind](random, rows)
    if random.random() < 0.7:
        data = mutated(random, data)
        return MutatedFile(f"f.{kind}", data, data)
    suffix, pack = random.choice((("gz", gzip.compress), ("zst", _zstd)))
    if random.random() < 0.3:
        text = mutated(random, data)
        return MutatedFile(f"f.{kind}.{suffix}", pack(text), text)
    return MutatedFile(f"f.{kind}.{suffix}", mutated(random, pack(data)), None)


def mutated(random: Random, data: bytes) -> bytes:
    """Bytes that something befell once to three times."""
    for _ in range(random.randrange(1, 4)):
        data = random.choice(_CHANGES)(random, data)
    return data


def _zstd(data: bytes) -> bytes:
    packed: bytes = pa.compress(data, "zstd", asbytes=True)
    return packed


def _flip(random: Random, data: bytes) -> bytes:
    place = random.randrange(max(len(data), 1))
    flipped = bytes(byte ^ 1 << random.randrange(8) for byte in data[place : place + 1])
    return data[:place] + flipped + data[place + 1 :]


def _cut(random: Random, data: bytes) -> bytes:
    return data[: random.randrange(len(data) + 1)]


def _remove(random: Random, data: bytes) -> bytes:
    place = random.randrange(len(data) + 1)
    return data[:place] + data[place + random.randrange(1, 30) :]


def _insert(random: Random, data: bytes) -> bytes:
    place = random.randrange(len(data) + 1)
    return data[:place] + random.choice(_PIECES) + data[place:]


def _repeat(random: Random, data: bytes) -> bytes:
    place, start = random.randrange(len(data) + 1), random.randrange(len(data) + 1)
    return data[:place] + data[start : start + random.randrange(60)] + data[place:]


def _line_ends(random: Random, data: bytes) -> bytes:
    return data.replace(b"\n", random.choice((b"\r\n", b"\r", b"\n\n")), random.randrange(1, 9))


def _mark(random: Random, data: bytes) -> bytes:
    return random.choice((b"\xef\xbb\xbf", b"\xff\xfe", b" \n", b"\0")) + data


_CHANGES: Final = (_flip, _flip, _cut, _remove, _insert, _insert, _repeat, _line_ends, _mark)

_Rows = list[dict[str, object]]
_Make = Callable[[Random, _Rows], bytes]


def _separated(delimiter: str) -> _Make:
    def make(random: Random, rows: _Rows) -> bytes:
        text = io.StringIO()
        writer = csv.DictWriter(text, ["id", "v", "n"], delimiter=delimiter, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return text.getvalue().encode()

    return make


def _lines(random: Random, rows: _Rows) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def _array(random: Random, rows: _Rows) -> bytes:
    return json.dumps(rows, indent=random.choice((None, 1)), ensure_ascii=False).encode()


def _parquet(random: Random, rows: _Rows) -> bytes:
    sink = pa.BufferOutputStream()
    packed = random.choice(("none", "snappy", "zstd", "gzip"))
    pq.write_table(pa.Table.from_pylist(rows), sink, compression=packed)
    return bytes(sink.getvalue())


def _orc(random: Random, rows: _Rows) -> bytes:
    sink = pa.BufferOutputStream()
    packed = random.choice(("uncompressed", "snappy", "zstd"))
    orc.write_table(pa.Table.from_pylist(rows), sink, compression=packed)
    return bytes(sink.getvalue())


def _arrow(random: Random, rows: _Rows) -> bytes:
    sink = pa.BufferOutputStream()
    packed = random.choice(("uncompressed", "zstd", "lz4"))
    feather.write_feather(pa.Table.from_pylist(rows), sink, compression=packed)
    return bytes(sink.getvalue())


_TEXT: Final[Mapping[str, _Make]] = {
    "csv": _separated(","), "tsv": _separated("\t"), "jsonl": _lines, "json": _array,
}  # fmt: skip
_BINARY: Final[Mapping[str, _Make]] = {"parquet": _parquet, "orc": _orc, "arrow": _arrow}
