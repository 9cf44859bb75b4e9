"""The functions whose values can outgrow their arguments, each with the rule that bounds them.

A rule says how many bytes one call may make, as its value or on the way to it, or how many steps it
takes, from the sizes of its arguments. It is written once, over `Measures`: as numbers where the
text of the statement shows the sizes, else as SQL that the engine computes for each row.

What may be said too high is: bytes of a list count 16 an element, 64 of a constant one, a pad four
a character.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.value_bounds.excess import Bounded

ELEMENT_BYTES = 16
CONSTANT_ELEMENT_BYTES = 64  # the engine holds lists that it works out beforehand by elements
PATTERN_COST = 4096  # what compiling a byte of a pattern costs, in steps
SHORT_PATTERN = 1024  # bytes of a constant that is compiled in milliseconds
_CHARACTER_BYTES = 4
_CELLS = 640 * 1024  # ten times the largest cell: those of tables are seldom so large
_LINEAR = 1024 * 1024
_ROW_OF_STEPS = 16  # a row of steps is held twice, eight bytes each
_HASHED = 4  # what looking up an element costs beside holding it
_ENTRY_BYTES = 256  # of a map while it is gathered

Amount = Any  # a number, or an expression of one, never of NULL; both add and multiply


class Measures(Protocol):
    """The arguments of one call, counted from 1.

    `count`: of the arguments; `element`: bytes of an element of a list beside what it points to.
    """

    count: int
    element: int

    def total(self, parts: Sequence[Amount]) -> Amount:
        """The sum of any number of amounts."""

    def smaller(self, one: Amount, other: Amount) -> Amount:
        """The smaller one of two amounts."""

    def size(self, position: int) -> Amount:
        """Bytes of an argument as a text."""

    def component(self, position: int) -> Amount:
        """Bytes of an argument as a part of another value."""

    def compiled(self, position: int) -> Amount:
        """Bytes of a pattern that the engine compiles for each row; a short constant is for all."""

    def written(self, position: int) -> Amount:
        """Bytes of an argument that is a text, nothing of another one."""

    def listed(self, position: int) -> Amount:
        """Bytes of an argument as a text if it is none, which are more than its elements."""

    def items(self, position: int) -> Amount:
        """Elements of an argument that is a list."""

    def elements(self, position: int) -> Amount:
        """No fewer than the elements of an argument if it is a list, nothing of a text."""

    def mapped(self, position: int, amount: Amount, parameters: Sequence[Amount]) -> Amount:
        """Bytes of a list that is made of an argument, an element for each."""

    def texts(self, position: int) -> Amount:
        """Bytes of the elements of a list as texts."""

    def widest(self, position: int) -> Amount:
        """Bytes of the largest element of a list as a text."""

    def value(self, position: int) -> Amount:
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
        bounded: what the rule is about.
        small: the bound in bytes below which a call over cells of tables needs no check.
        wants_constant: whether the engine works out a constant carrier once for all rows.
    """

    rule: Rule
    carrier: int = 1
    bounded: Bounded = Bounded.VALUE
    small: int = 32 * 1024
    wants_constant: bool = False


def _total(part: Callable[[Measures, int], Amount], factor: int = 1) -> Rule:
    """Of all arguments."""

    def rule(measures: Measures) -> Amount:
        parts = [part(measures, position) for position in range(1, measures.count + 1)]
        return measures.total(parts) * factor

    return rule


def _joined(measures: Measures) -> Amount:
    """Elements with a separator between them, which may be missing."""
    texts = measures.texts(1)
    if measures.count < 2:
        return texts + measures.items(1)
    return texts + measures.items(1) * measures.size(measures.count)


def _separated(measures: Measures) -> Amount:
    """Texts with the first argument between them, and between the elements of lists."""
    positions = range(2, measures.count + 1)
    texts = measures.total([measures.size(position) for position in positions])
    elements = measures.total([measures.listed(position) for position in positions])
    return texts + measures.size(1) * (elements + max(measures.count - 2, 1))


def _part(measures: Measures) -> Amount:
    """A text from a place on, of some length if that is an argument."""
    if measures.count < 3:
        return measures.size(1)
    return measures.smaller(measures.size(1), measures.value(3) * _CHARACTER_BYTES)


def _parts(measures: Measures) -> Amount:
    return measures.size(1) * (measures.element + 1)


def _pattern(measures: Measures) -> Amount:
    return measures.compiled(2) * PATTERN_COST


def _compared(measures: Measures) -> Amount:
    """Steps of each byte with each, and of making room for a row of them."""
    one, other = measures.size(1), measures.size(2)
    return one * other + (one + other) * _ROW_OF_STEPS


def _both(one: Rule, other: Rule) -> Rule:
    return lambda a: one(a) + other(a)


def _hashed(measures: Measures) -> Amount:
    """Entries of hash tables of the elements of all lists."""
    return _total(lambda a, i: a.items(i) * a.element, _HASHED)(measures)


def times(factor: int, carrier: int = 1) -> Growth:
    """What writes each byte as so many."""
    return Growth(_total(lambda a, i: a.size(i), factor), carrier, small=_LINEAR)


_SPAN = Growth(lambda a: a.span() * a.element)
_PADDED = Growth(lambda a: a.value(2) * _CHARACTER_BYTES + a.size(1), carrier=2)
_REWRITTEN = Growth(
    _both(lambda a: (a.size(1) + 1) * (a.size(3) * 2 + 12), _pattern),
    bounded=Bounded.WORK,
    small=_CELLS * 2,
)
_TIME_PATTERN = Growth(lambda a: a.size(2) * 16, bounded=Bounded.WORK, small=_LINEAR)

_HASHING = """
    array_contains_all array_distinct array_has_all array_has_any array_intersect array_intersection
    array_overlaps array_unique arrays_overlap list_distinct list_entropy list_has_all list_has_any
    list_intersect list_mode list_unique map map_from_entries
"""
# By what a call is to the engine, or to the parser.
_GROWTHS: Sequence[tuple[str, Growth]] = (
    ("repeat",
     Growth(lambda a: (a.size(1) + a.elements(1) * a.element) * a.value(2), carrier=2)),
    ("space", Growth(lambda a: a.value(1))),
    ("pad lpad rpad", _PADDED),
    ("replace", Growth(lambda a: a.size(1) * (a.size(3) + 1), small=_CELLS)),
    ("regexp_replace", _REWRITTEN),
    ("to_base", Growth(lambda a: a.value(3) if a.count > 2 else a.size(1) * 64)),
    ("bar", Growth(lambda a: (a.value(4) if a.count > 3 else a.size(1)) * 4)),
    ("levenshtein jaro_similarity jaro_winkler_similarity jarowinkler_similarity",
     Growth(_compared, bounded=Bounded.STEPS)),
    ("damerau_levenshtein",
     Growth(lambda a: (a.size(1) + 2) * (a.size(2) + 2) * 8, bounded=Bounded.STEPS)),
    ("split string_to_array", Growth(_parts)),
    ("regexp_split regexp_split_to_array regexp_extract_all", Growth(_both(_parts, _pattern))),
    ("split_part", Growth(_parts, bounded=Bounded.WORK)),  # the engine splits the whole text
    ("regexp_count", Growth(_both(_parts, _pattern), bounded=Bounded.WORK, small=_CELLS * 2)),
    ("regexp_extract regexp_full_match regexp_i_like regexp_like regexp_matches",
     Growth(_pattern, carrier=2, bounded=Bounded.STEPS, small=_LINEAR, wants_constant=True)),
    ("time_to_str str_to_time str_to_date strptime try_strptime", _TIME_PATTERN),
    ("generate_series range", _SPAN),
    ("list_resize array_resize",
     Growth(lambda a: a.value(2) * (a.size(3) + a.element), carrier=2)),
    ("array_to_string list_string_agg list_aggregate list_aggr aggregate", Growth(_joined)),
    ("list_histogram",
     Growth(lambda a: a.items(1) * _ENTRY_BYTES, bounded=Bounded.WORK, small=_LINEAR)),
    (_HASHING, Growth(_hashed, bounded=Bounded.WORK, small=_LINEAR)),
    ("array_concat list_cat list_zip array_zip",
     Growth(_total(lambda a, i: a.items(i) * a.element), small=_LINEAR)),
    ("array_sort list_reverse_sort array_reverse_sort list_grade_up array_grade_up array_reverse"
     " flatten list_slice array_slice",
     Growth(lambda a: a.items(1) * a.element, bounded=Bounded.WORK, small=_LINEAR)),
    ("list_select array_select",
     Growth(lambda a: a.items(2) * (a.widest(1) + a.element), carrier=2, small=_LINEAR)),
    ("array list_pack struct row", Growth(_total(lambda a, i: a.component(i)), small=_LINEAR)),
    # An element is written with two bytes at least.
    ("cast_nested from_json json_transform",
     Growth(lambda a: a.written(1) * a.element / 2, small=_LINEAR)),
    ("initcap", Growth(times(4).rule, bounded=Bounded.WORK, small=_LINEAR)),
    # What goes through letters beyond ASCII one by one, or by groups.
    ("reverse left_grapheme substring_grapheme length_grapheme",
     Growth(lambda a: a.size(1) * 2, bounded=Bounded.WORK, small=_LINEAR)),
    # Their values may have more bytes than these steps, of letters that are few.
    ("lower upper", Growth(times(1).rule, bounded=Bounded.STEPS, small=_LINEAR)),
    ("trim ltrim rtrim", times(1)),
    ("substring substr", Growth(_part, small=_LINEAR)),
    ("array_append array_prepend array_push_back array_push_front",
     Growth(_total(lambda a, i: a.component(i)), small=_LINEAR)),
    ("strip_accents", Growth(lambda a: a.size(1) * 4, bounded=Bounded.WORK, small=_LINEAR)),
    ("concat json_merge_patch greatest least", times(1)),
    ("concat_ws", Growth(_separated, carrier=2, small=_LINEAR)),
    ("hex to_hex base64 to_base64 regexp_escape", times(2)),
    ("nfc_normalize url_encode", times(3)),
    ("translate", times(4)),
    ("json_quote to_json j_s_o_n_array json_array", times(6)),
    ("j_s_o_n_object json_object", times(6, carrier=2)),
    ("bin to_binary", times(8)),
)  # fmt: skip


def _by_name() -> Iterator[tuple[str, Growth]]:
    for names, growth in _GROWTHS:
        yield from ((name, growth) for name in names.split())


GROWING: Mapping[str, Growth] = MappingProxyType(dict(_by_name()))
