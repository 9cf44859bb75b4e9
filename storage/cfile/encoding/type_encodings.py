"""The table of encodings: the one list of them (`cfile/type_encodings.cc`).

Writers and readers of blocks, schema checks and the SQL parser take names, tags, types, kernels and
feature bits from it. Of the encodings that fit a type the first one is its default.
"""

from collections.abc import Iterable, Mapping

from pykudu_sql.storage.cfile.encoding.delta import DELTA
from pykudu_sql.storage.cfile.encoding.dictionary import DICT_ENCODING
from pykudu_sql.storage.cfile.encoding.frame import BIT_SHUFFLE
from pykudu_sql.storage.cfile.encoding.plain import PLAIN_ENCODING
from pykudu_sql.storage.cfile.encoding.prefix import PREFIX_ENCODING
from pykudu_sql.storage.cfile.encoding.rle import RLE
from pykudu_sql.storage.cfile.encoding.traits import EncodingTraits
from pykudu_sql.storage.common.types.types import AUTO_ENCODING, DataType, Encoding
from pykudu_sql.storage.errors import InvalidSchemaError

ENCODINGS = (BIT_SHUFFLE, DICT_ENCODING, RLE, PLAIN_ENCODING, PREFIX_ENCODING, DELTA)

BY_NAME: Mapping[str, EncodingTraits] = {one.name: one for one in ENCODINGS}
BY_TAG: Mapping[int, EncodingTraits] = {one.tag: one for one in ENCODINGS}

# What may stand behind ENCODING in SQL.
SQL_NAMES: Mapping[str, Encoding] = {
    "AUTO": AUTO_ENCODING,
    AUTO_ENCODING: AUTO_ENCODING,
    **{one.name: one.name for one in ENCODINGS},
    **{alias: one.name for one in ENCODINGS for alias in one.aliases},
}


def encodings_of(column_type: DataType) -> tuple[EncodingTraits, ...]:
    """The encodings that fit a type, the default first."""
    return tuple(one for one in ENCODINGS if one.fits(column_type))


def resolve_encoding(column_type: DataType, encoding: Encoding) -> EncodingTraits:
    """The encoding of a name for a type; AUTO_ENCODING is the type's default.

    Raises InvalidSchemaError: there is none of that name, or it does not fit the type.
    """
    if encoding == AUTO_ENCODING:
        return encodings_of(column_type)[0]
    traits = BY_NAME.get(encoding)
    if traits is None:
        names = ", ".join((AUTO_ENCODING, *BY_NAME))
        raise InvalidSchemaError(f"unknown encoding {encoding}", hint=f"encodings are {names}")
    if not traits.fits(column_type):
        names = ", ".join(one.name for one in encodings_of(column_type))
        raise InvalidSchemaError(
            f"encoding {encoding} not supported for type {column_type}", hint=f"use one of {names}"
        )
    return traits


def features_of(encodings: Iterable[Encoding]) -> int:
    """The feature bits of a container whose CFiles have these encodings."""
    bits = 0
    for encoding in encodings:
        bits |= BY_NAME[encoding].feature
    return bits


SUPPORTED_FEATURES = features_of(one.name for one in ENCODINGS)
