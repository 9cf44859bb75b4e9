"""The embedded engine's messages in the words of our SQL: types, operators, functions.

The engine calls types by other names than our SQL does, and operators by those of the functions
behind them. What stands in single quotes is data and stays as it is.
"""

import re
from collections.abc import Callable, Mapping

_TYPES: Mapping[str, str] = {
    "INT8": "TINYINT",
    "INT16": "SMALLINT",
    "INT32": "INT",
    "INT64": "BIGINT",
    "INT128": "HUGEINT",
    "UINT8": "UTINYINT",
    "UINT16": "USMALLINT",
    "UINT32": "UINTEGER",
    "UINT64": "UBIGINT",
    "UINT128": "UHUGEINT",
    "INTEGER": "INT",
    "INTEGER_LITERAL": "INT",
    "STRING_LITERAL": "STRING",
    "VARCHAR": "STRING",
    "VARCHARs": "texts",
    "LISTs": "lists",
    "BLOB": "BINARY",
    "BOOL": "BOOLEAN",
    "TIMESTAMPTZ": "TIMESTAMP WITH TIME ZONE",
    "TIMESTAMPTZ_NS": "TIMESTAMP WITH TIME ZONE",
    "TIMETZ": "TIME WITH TIME ZONE",
}
_TYPE = re.compile(r"\b(?:" + "|".join(sorted(_TYPES, key=len, reverse=True)) + r")\b")
_DATA = re.compile(r"('(?:[^']|'')*')")
# Functions behind an operator or a clause, and how those are written.
_FORMS: Mapping[str, str] = {
    "~~": "{0} LIKE {1}",
    "!~~": "{0} NOT LIKE {1}",
    "~~*": "{0} ILIKE {1}",
    "!~~*": "{0} NOT ILIKE {1}",
    "~~~": "{0} GLOB {1}",
    "like_escape": "{0} LIKE {1} ESCAPE {2}",
    "not_like_escape": "{0} NOT LIKE {1} ESCAPE {2}",
    "ilike_escape": "{0} ILIKE {1} ESCAPE {2}",
    "not_ilike_escape": "{0} NOT ILIKE {1} ESCAPE {2}",
    "array_extract": "{0}[{1}]",
    "array_slice": "{0}[{1}:{2}]",
    "date_part": "extract(.. FROM {1})",
}
_SIGNATURE = re.compile(
    r"(?i)^(?:no function matches the given name and argument types|"
    r"could not choose a best candidate function for the function call) [\"'](\S+?)\((.*?)\)[\"'].*"
)


def _signature(match: re.Match[str]) -> str:
    name, listed = match[1].strip('"'), match[2]
    types = _split(listed)
    form = _FORMS.get(name)
    if form is not None and form.count("{") <= len(types) + ("{1}" in form and "{0}" not in form):
        return f"no operator matches {form.format(*types)}"
    if name and not name[0].isalpha() and len(types) == 2:
        return f"no operator matches {types[0]} {name} {types[1]}"
    if name and not name[0].isalpha() and len(types) == 1:
        return f"no operator matches {name}{types[0]}"
    return f"no function matches {name}({', '.join(types)})"


def _split(listed: str) -> list[str]:
    """The types of a list; `DECIMAL(9,2)` is one."""
    types, depth = [""], 0
    for character in listed:
        depth += (character == "(") - (character == ")")
        if character == "," and not depth:
            types.append("")
        else:
            types[-1] += character
    return [each.strip() for each in types if each.strip()]


_RULES: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = tuple(
    (re.compile(pattern, re.DOTALL), replacement)
    for pattern, replacement in (
        (_SIGNATURE.pattern, _signature),
        (
            r"(?i)^unimplemented type for cast \((.*?) -> (.*?)\)(?: when casting from .*)?$",
            r"\1 cannot be cast to \2",
        ),
        (r" when casting from source column (\S+)$", r" (column \1)"),
        (
            r'(?i)^the "\w+" argument in function "(\w+)" must be a constant expression.*',
            r"an argument of \1() must be a constant",
        ),
        (
            r"(?i)^(?:scalar |aggregate |table )?function with name (\w+) does not exist.*",
            r"function \1() is not offered",
        ),
        (r"(?i)^type with name (.+?) does not exist.*", r"there is no type \1"),
        (
            r"(?i)^cannot deduce template type '\w+' in function: '(\w+)\(.*",
            r"no function matches \1() with arguments of types as different as these",
        ),
        (
            r"(?i)^function \"(\w+)\" has a template parameter type .*",
            r"no function matches \1() with arguments of these types",
        ),
        (
            r"(?i)^window function macro bodies must.*",
            "window functions are made of one aggregate, and this one of several",
        ),
        (r"(?i)^star expression is only allowed.*", "* is no value"),
        (r"(?i)^array_slice can only operate on.*", "a slice [a:b] takes a list or a text"),
        (
            r"(?i)^unnest\(\) can only be applied to lists, structs and NULL, not (.*)",
            r"a list is expected, not \1",
        ),
        (r"(?i)^failed to cast value to numerical: (.*)", r"'\1' is no number"),
        (
            r'(?s)^malformed JSON at byte (\d+) of input: (.*?)\.?\s+Input: "(.*)"',
            r"'\3' is no JSON: \2 at byte \1",
        ),
        (r'^could not convert string "(.*)" to ', r"could not convert string '\1' to "),
        (r'"NULL"', "NULL"),
        (r"(?<=\w)[!.]$", ""),
    )
)


def translate_message(message: str) -> str:
    """A message of the engine with our names of types, operators and functions.

    `message`: its first line, without the prefix that says what kind of error it is.
    """
    for pattern, replacement in _RULES:
        message = pattern.sub(replacement, message)
    parts = _DATA.split(message)
    parts[::2] = [_TYPE.sub(lambda match: _TYPES[match[0]], part) for part in parts[::2]]
    return "".join(parts)
