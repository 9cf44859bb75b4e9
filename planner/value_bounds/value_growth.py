"""The functions whose values can outgrow their arguments, each with the rule that bounds them.

A rule says how many bytes one call may make, or for comparisons of texts how many steps it takes,
from the sizes of its arguments. It is written once, over `Measures`: as numbers where the text of
the statement tells the sizes, else as SQL that the engine computes for each row.

What may be said too high is: bytes of a list count 16 an element, 64 of a constant one, a pad four
a character.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol

ELEMENT_BYTES = 16
CONSTANT_ELEMENT_BYTES = 64  # the engine holds lists that it works out beforehand by elements
PATTERN_COST = 1024  # what compiling a byte of a pattern costs, in steps
_CHARACTER_BYTES = 4
_CELLS = 640 * 1024  # ten times the largest cell: those of tables are seldom so large
_LINEAR = 1024 * 1024

Amount = Any  # a number, or an expression of one; both add and multiply


class Measures(Protocol):
    """The arguments of one call, counted from 1.

    Attributes:
        count: of the arguments.
        element: bytes of an element of a list beside what it points to.
    """

    count: int
    element: int

    def size(self, place: int) -> Amount:
        """Bytes of an argument as a text."""

    def held(self, place: int) -> Amount:
        """Bytes of an argument as a part of another value."""

    def written(self, place: int) -> Amount:
        """Bytes of an argument that is a text, nothing of another one."""

    def items(self, place: int) -> Amount:
        """Elements of an argument that is a list."""

    def mapped(self, place: int, amount: Amount, parameters: Sequence[Amount]) -> Amount:
        """Bytes of a list that is made of an argument, an element for each."""

    def texts(self, place: int) -> Amount:
        """Bytes of the elements of a list as texts."""

    def value(self, place: int) -> Amount:
        """An argument that is a number."""

    def span(self) -> Amount:
        """How many values a range has."""

    def fields(self) -> Amount:
        """Bytes of what a pattern of `format` makes."""


Rule = Callable[[Measures], Amount]


@dataclass(frozen=True, slots=True)
class Growth:
    """How large one call may get.

    Attributes:
        rule: the bound of bytes, or of steps.
        carrier: the argument that is given to the function only if the bound holds; counted
            from 1. Never one that the engine wants as a constant.
        small: what the text of the statement shows to be at most this is not checked, if cells
            of tables are what makes it so large.
        wants_constant: whether the engine works out a constant carrier once for all rows.
    """

    rule: Rule
    carrier: int = 1
    wants_constant: bool = False
    small: int = 32 * 1024


def _all_sizes(factor: int, first: int = 1) -> Rule:
    def rule(measures: Measures) -> Amount:
        total = measures.size(first)
        for place in range(first + 1, measures.count + 1):
            total = total + measures.size(place)
        return total * factor

    return rule


def _all_held(measures: Measures) -> Amount:
    total = measures.held(1)
    for place in range(2, measures.count + 1):
        total = total + measures.held(place)
    return total


def _all_items(measures: Measures) -> Amount:
    total = measures.items(1)
    for place in range(2, measures.count + 1):
        total = total + measures.items(place)
    return total * measures.element


def _joined(measures: Measures) -> Amount:
    """Elements with a separator between them, which may be missing."""
    texts = measures.texts(1)
    if measures.count < 2:
        return texts + measures.items(1)
    return texts + measures.items(1) * measures.size(measures.count)


_SPLIT = Growth(lambda a: a.size(1) * (a.element + 1))
_PADDED = Growth(lambda a: a.value(2) * _CHARACTER_BYTES + a.size(1), carrier=2)
_COMPARED = Growth(lambda a: a.size(1) * a.size(2))
_RESIZED = Growth(lambda a: a.value(2) * a.element, carrier=2)
_CHAINED = Growth(_all_items, small=_LINEAR)
_JOINED = Growth(_joined)
_HOLDING = Growth(_all_held, small=_LINEAR)
# An element is written with two bytes at least.
_READ = Growth(lambda a: a.written(1) * a.element / 2, small=_LINEAR)


def times(factor: int) -> Growth:
    """What writes each byte as so many."""
    return Growth(_all_sizes(factor), small=_LINEAR)


_PATTERNED = Growth(
    lambda a: a.size(2) * PATTERN_COST,
    carrier=2,
    small=_LINEAR,
    wants_constant=True,
)
_PATTERNED_CALLS = """
    regexp_extract regexp_full_match regexp_i_like regexp_like regexp_matches
"""


# By what a call is to the engine, or to the parser.
GROWING: Mapping[str, Growth] = MappingProxyType(
    {
        **dict.fromkeys(_PATTERNED_CALLS.split(), _PATTERNED),
        "repeat": Growth(lambda a: a.size(1) * a.value(2), carrier=2),
        "space": Growth(lambda a: a.value(1)),
        "pad": _PADDED,
        "lpad": _PADDED,
        "rpad": _PADDED,
        "replace": Growth(lambda a: a.size(1) * (a.size(3) + 1), small=_CELLS),
        "regexp_replace": Growth(
            lambda a: (a.size(1) + 1) * (a.size(3) * 2 + 4) + a.size(2) * PATTERN_COST,
            small=_CELLS,
        ),
        "to_base": Growth(lambda a: a.value(3) if a.count > 2 else a.size(1) * 64, carrier=1),
        "bar": Growth(lambda a: (a.value(4) if a.count > 3 else a.size(1)) * 4),
        "levenshtein": _COMPARED,
        "jaro_similarity": _COMPARED,
        "jaro_winkler_similarity": _COMPARED,
        "jarowinkler_similarity": _COMPARED,
        "damerau_levenshtein": Growth(lambda a: a.size(1) * a.size(2) * 8),
        "split": _SPLIT,
        "string_to_array": _SPLIT,
        "regexp_split": _SPLIT,
        "regexp_split_to_array": _SPLIT,
        "regexp_extract_all": _SPLIT,
        "split_part": _SPLIT,  # the engine splits the whole text
        "regexp_count": Growth(
            lambda a: a.size(1) * (a.element + 1) + a.size(2) * PATTERN_COST, small=_CELLS * 2
        ),
        "initcap": times(4),
        "generate_series": Growth(lambda a: a.span() * a.element),
        "range": Growth(lambda a: a.span() * a.element),
        "list_resize": _RESIZED,
        "array_resize": _RESIZED,
        "array_to_string": _JOINED,
        "list_string_agg": _JOINED,
        "list_aggregate": _JOINED,
        "list_aggr": _JOINED,
        "aggregate": _JOINED,
        "array_concat": _CHAINED,
        "list_cat": _CHAINED,
        "list_zip": _CHAINED,
        "array_zip": _CHAINED,
        "list_select": Growth(lambda a: a.items(2) * a.element, small=_LINEAR),
        "array_select": Growth(lambda a: a.items(2) * a.element, small=_LINEAR),
        "time_to_str": Growth(lambda a: a.size(2) * 16, small=_LINEAR),
        "nfc_normalize": times(3),
        "translate": times(4),
        "concat": Growth(_all_sizes(1), small=_LINEAR),
        "concat_ws": Growth(_all_sizes(1), small=_LINEAR, carrier=2),
        "bin": times(8),
        "to_binary": times(8),
        "hex": times(2),
        "to_hex": times(2),
        "base64": times(2),
        "to_base64": times(2),
        "regexp_escape": times(2),
        "url_encode": times(3),
        "json_quote": times(6),
        "to_json": times(6),
        "j_s_o_n_array": times(6),
        "json_array": times(6),
        "j_s_o_n_object": Growth(_all_sizes(6), small=_LINEAR, carrier=2),
        "json_merge_patch": times(1),
        "array": _HOLDING,
        "list_pack": _HOLDING,
        "struct": _HOLDING,
        "row": _HOLDING,
        "cast_nested": _READ,
        "from_json": _READ,
        "json_transform": _READ,
    }
)
