"""The types that a CAST may name, a closed list; their parameters are whole numbers."""

import difflib
from collections.abc import Callable, Mapping

from sqlglot import exp

from pykudu_sql.storage.errors import NotSupportedError, ProgrammingError, SourceSpan

T = exp.DType
KINDS = frozenset(
    {
        *(T.BOOLEAN, T.TINYINT, T.SMALLINT, T.INT, T.BIGINT, T.INT128, T.UTINYINT, T.USMALLINT),
        *(T.UINT, T.UBIGINT, T.UINT128, T.BIGNUM, T.FLOAT, T.DOUBLE, T.DECIMAL, T.UUID, T.BIT),
        *(T.TEXT, T.CHAR, T.NCHAR, T.BPCHAR, T.VARCHAR, T.NVARCHAR, T.BINARY, T.VARBINARY, T.BLOB),
        *(T.DATE, T.TIME, T.TIMETZ, T.TIME_NS, T.DATETIME, T.TIMESTAMP, T.TIMESTAMPNTZ),
        *(T.TIMESTAMPLTZ, T.TIMESTAMPTZ, T.TIMESTAMP_S, T.TIMESTAMP_MS, T.TIMESTAMP_NS),
        *(T.INTERVAL, T.JSON, T.JSONB, T.VARIANT, T.ENUM, T.ARRAY, T.LIST, T.MAP, T.STRUCT),
        T.UNION,
    }
)
# Types of the engine that sqlglot does not know.
NAMED_KINDS = frozenset(
    {
        *("guid", "integral", "oid", "timestamptz_ns", "uint8", "uint16", "uint32", "uint64"),
        "varint",
    }
)
# How the kinds are written that the parser calls otherwise.
_SPELLINGS: Mapping[T, str] = {
    T.NVARCHAR: "VARCHAR",
    T.TIMESTAMPNTZ: "TIMESTAMP",
    T.TIMESTAMPLTZ: "TIMESTAMP WITH TIME ZONE",
    T.TIMESTAMPTZ: "TIMESTAMP WITH TIME ZONE",
    T.TIMETZ: "TIME WITH TIME ZONE",
    T.NCHAR: "CHAR",
    T.BPCHAR: "CHAR",
    T.UINT: "UINTEGER",
    T.INT128: "HUGEINT",
    T.UINT128: "UHUGEINT",
}
_NAMES = (*(kind.value.lower() for kind in KINDS - {T.NVARCHAR}), *NAMED_KINDS, "string")
_LENGTHS = frozenset({T.TEXT, T.CHAR, T.NCHAR, T.BPCHAR, T.VARCHAR, T.NVARCHAR})
_NESTED = frozenset({T.ARRAY, T.LIST, T.MAP, T.STRUCT, T.UNION, T.USERDEFINED})
_ARGUMENTS = frozenset({"this", "expressions", "nested", "values", "kind", "nullable"})


def check_type(node: exp.DataType, span_of: Callable[[str], SourceSpan | None]) -> None:
    """Refuse a type that is not on the list, and parameters that are no numbers.

    The types inside of a type are nodes of their own and checked as such. `span_of`: where a word
    stands in the statement. Raises ProgrammingError: with the place, and a near name if there is
    one.
    """
    kind = node.this
    if kind is T.USERDEFINED:
        name = str(node.args.get("kind") or "")
        if name.lower() not in NAMED_KINDS:
            raise no_type(name, span_of(name))
    elif isinstance(kind, exp.Interval):
        if kind.this is not None:
            raise no_parameter("INTERVAL", span_of("INTERVAL"))
    elif kind is T.CHARACTER_SET:
        raise NotSupportedError(
            "convert(.. USING ..) is not supported",
            hint="texts are UTF-8; encode(x) gives their bytes",
            span=span_of("USING"),
        )
    elif kind not in KINDS:
        name = kind.value if isinstance(kind, T) else str(kind)
        raise no_type(name, span_of(name))
    if not is_closed(node):
        name = _spelling(node)
        raise no_parameter(name, span_of(name))


def _spelling(node: exp.DataType) -> str:
    """A type's name as it is written."""
    kind = node.this
    if kind is T.USERDEFINED:
        return str(node.args["kind"]).upper()
    return _SPELLINGS.get(kind, kind.value) if isinstance(kind, T) else "INTERVAL"


def is_closed(node: exp.DataType) -> bool:
    """Whether a type is on the list and holds nothing but types, names and whole numbers."""
    kind = node.this
    if kind is T.USERDEFINED:
        is_listed = str(node.args.get("kind") or "").lower() in NAMED_KINDS
    else:
        is_listed = isinstance(kind, exp.Interval) or (kind in KINDS and not node.args.get("kind"))
    others = any(value for key, value in node.args.items() if key not in _ARGUMENTS)
    sizes = node.args.get("values") or ()
    parameters = (_is_parameter(part, kind) for part in node.expressions)
    if kind in _LENGTHS and len(node.expressions) > 1:
        return False
    return is_listed and not others and all(map(_is_count, sizes)) and all(parameters)


def _is_parameter(part: object, kind: object) -> bool:
    """Whether a part of a type's parentheses is one that this kind of type may have."""
    match part:
        case exp.DataTypeParam():
            return _is_count(part.this) and part.args.get("expression") is None
        case exp.Literal():
            return part.is_string if kind is T.ENUM else _is_count(part)
        case exp.ColumnDef():
            others = any(value for key, value in part.args.items() if key not in ("this", "kind"))
            typed = isinstance(part.args.get("kind"), exp.DataType)
            return typed and isinstance(part.this, exp.Identifier) and not others
        case exp.DataType():
            return kind in _NESTED
    return False


def _is_count(node: object) -> bool:
    return isinstance(node, exp.Literal) and not node.is_string and node.name.isdecimal()


_OBJECT_NAMES = "objects have names alone: information_schema.tables lists them"
_FOREIGN: Mapping[str, str] = {
    **dict.fromkeys(("regclass", "regtype", "regproc", "oid"), _OBJECT_NAMES),
    "serial": "write BIGINT GENERATED BY DEFAULT AS IDENTITY",
    "money": "write DECIMAL(18, 2)",
    "unsigned": "write BIGINT",
    "signed": "write BIGINT",
    "xml": "write STRING",
    "inet": "write STRING",
    "sql_variant": "write STRING",
}


def no_type(name: str, span: SourceSpan | None) -> ProgrammingError:
    """The error of a type that there is not."""
    close = difflib.get_close_matches(name.lower(), _NAMES, n=1, cutoff=0.7)
    return ProgrammingError(
        f'type "{name:.60}" does not exist',
        hint=_FOREIGN.get(name.lower(), f"did you mean {close[0].upper()}?" if close else None),
        span=span,
        sqlstate="42704",
    )


def no_parameter(name: str, span: SourceSpan | None) -> ProgrammingError:
    """The error of a type whose parentheses hold what it does not take."""
    return ProgrammingError(
        f"type {name} does not take what stands in its parentheses",
        hint="write DECIMAL(18, 2), VARCHAR(10), STRUCT(a INT, b TEXT), MAP(TEXT, INT) or INT[]",
        span=span,
        sqlstate="42601",
    )
