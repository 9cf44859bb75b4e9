"""GROUP BY over text by the codes of dictionaries instead of the words.

Columns with few distinct texts are stored in codes (DICT_ENCODING), and scans keep the codes. An
engine that groups by small integers takes about half the time that it needs for text. So of a
query that groups by text columns of stored tables there is a second form: keys of groups are
codes, and what is shown of them is looked up in a list of the words, once a group:

    SELECT city, sum(x) FROM t GROUP BY city
    SELECT list_extract($1, code + 1), sum(x) FROM t GROUP BY code

Which form is computed is decided when the scans were read, for only then it is known whether their
words are few. Inside aggregates the text stays.

Where all text keys are those of one group over one table there is a third form, in which one code
stands for the words of all of them: an engine that groups by one small integer needs no hash table.

    SELECT city, kind, sum(x) FROM t GROUP BY city, kind
    SELECT list_extract($1, code + 1), list_extract($2, code + 1), sum(x) FROM t GROUP BY code

A key may be a function of a text column (`text_functions`): its values are computed once a word,
and codes are those of the values.

    SELECT upper(city), sum(x) FROM t GROUP BY upper(city)
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial

from sqlglot import exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.bind.binder import SCAN_PREFIX
from pykudu_sql.planner.bind.bound_query import BoundQuery, relation_of, table_of
from pykudu_sql.planner.bind.relations import TableReference
from pykudu_sql.planner.plan.query_plans import CodedColumn, CodedGroups
from pykudu_sql.planner.printing.engine_sql import to_sql
from pykudu_sql.planner.pushdown.condition import stored_column
from pykudu_sql.planner.pushdown.words.text_functions import function_of_text, over_words
from pykudu_sql.planner.tree_nodes import all_nodes, nodes_of
from pykudu_sql.storage.common.types.schema import ColumnSchema

ScanNames = Mapping[TableReference, str]
_META = "group_code"
_CODE_PREFIX = f"{SCAN_PREFIX}code_"
GROUPING_SETS = ("grouping_sets", "cube", "rollup", "totals", "all")


@dataclass(frozen=True, slots=True)
class _Key:
    """A text column of a mention of a table, or a function of one."""

    reference: TableReference
    column: ColumnSchema
    function: exp.Expr | None = None


@dataclass(frozen=True, slots=True)
class _Mark:
    """What a node of the tree is noted to be.

    Attributes:
        alias: the engine's name of a key's table.
        number: which of the coded columns it is.
        mentions: of a key that is a function, how many nodes behind the groups are it too.
    """

    alias: str
    number: int
    mentions: int = 0


def mark_group_keys(bound: BoundQuery, scans: ScanNames) -> tuple[CodedColumn, ...]:
    """Note in the tree where text columns are keys of groups.

    Args:
        bound: the query; its tree is as it was bound, but for the tables' names.
        scans: the name of each mention's scan.

    Returns the columns, each once.
    """
    numbers: dict[CodedColumn, int] = {}
    whole = {scans[reference] for reference in bound.starred}
    for select in (each.node for each in bound.selects):
        _write_keys_of_all(select, bound)
        group, parts = select.args.get("group"), _behind_groups(select)
        if group is None or parts is None:
            continue
        keys: dict[tuple[TableReference | None, str], _Key] = {}
        functions: list[tuple[exp.Expr, _Key]] = []
        for item in group.expressions:
            key = _text_key(select_entry(item, select), bound)
            if key is None or scans[key.reference] in whole:
                continue
            if key.function is not None:
                functions.append((item, key))
                continue
            keys[key.reference, key.column.name] = key
            item.meta[_META] = _mark(key, bound.engine_alias(key.reference), scans, numbers)
        if functions and _has_absent_rows(select):
            functions.clear()
        for item, key in functions:
            is_column_key = (key.reference, key.column.name) in keys
            mentions = _mentions(key, parts, bound, is_column_key)
            if mentions is not None:
                mark = _mark(key, bound.engine_alias(key.reference), scans, numbers)
                item.meta[_META] = replace(mark, mentions=len(mentions))
                for node in mentions:
                    node.meta[_META] = mark
        for column in (column for part in parts for column in nodes_of(part, exp.Column)):
            name = column.name.lower()
            group_key = keys.get((table_of(column), name))
            if _is_named_inside(column):
                group_key = next((key for key in keys.values() if key.column.name == name), None)
            if group_key is not None and not _is_taken(column):
                column.meta[_META] = _mark(
                    group_key, bound.engine_alias(group_key.reference), scans, numbers
                )
    return tuple(numbers)


def coded_groups(
    tree: exp.Expr, columns: Sequence[CodedColumn], parameters_before: int
) -> CodedGroups | None:
    """The form over codes of a tree in which `mark_group_keys` noted keys.

    Args:
        tree: as the engine is to have it otherwise; it stays as it is.
        columns: of `mark_group_keys`.
        parameters_before: parameters that come before those of the words.

    Returns None where a function that was noted has been replaced since.
    """
    marked = _marked(tree)
    keys = [node for node in marked if not _is_decoded(node)]
    mentions = [node.meta[_META].number for node in marked if _is_decoded(node)]
    for number, column in enumerate(columns):
        marks = [key.meta[_META] for key in keys if key.meta[_META].number == number]
        if column.values and mentions.count(number) != sum(mark.mentions for mark in marks):
            return None
    decoded = tuple(dict.fromkeys(mentions))
    parameters = {number: parameters_before + place for place, number in enumerate(decoded, 1)}
    joint = None
    if _are_joint(keys, columns):
        all_as_one = [columns[0]] * len(columns)
        joint = cache(partial(_coded_sql, tree, all_as_one, parameters))
    by_column = cache(partial(_coded_sql, tree, columns, parameters))
    return CodedGroups(tuple(columns), decoded, by_column, joint)


def _marked(tree: exp.Expr) -> list[exp.Expr]:
    """The nodes that have a mark."""
    return [node for node in all_nodes(tree) if node.meta_get(_META) is not None]


def _are_joint(keys: Sequence[exp.Expr], columns: Sequence[CodedColumn]) -> bool:
    """Whether several columns are keys of one group only, and of one mention of a table.

    `keys`: the marked nodes of GROUP BY.
    """
    return (
        len(columns) > 1
        and len({key.meta[_META].alias for key in keys}) == 1
        and len({id(key.parent) for key in keys}) == 1
        and {key.meta[_META].number for key in keys} == set(range(len(columns)))
    )


def _coded_sql(
    tree: exp.Expr, columns: Sequence[CodedColumn], parameters: Mapping[int, int]
) -> str:
    """The SQL of the form over codes.

    Args:
        columns: that have the codes, by number; a key whose codes are an earlier one's is none.
        parameters: those of the words, by the column.
    """
    coded = tree.copy()
    for node in _marked(coded):
        mark = node.meta[_META]
        code = exp.column(columns[mark.number].code, table=mark.alias, quoted=True)
        if not _is_decoded(node):
            assert isinstance(node.parent, exp.Group)
            if code in node.parent.expressions:
                node.pop()
            else:
                node.replace(code)
            continue
        words = exp.Placeholder(this=str(parameters[mark.number]))
        place = exp.Add(this=exp.cast(code, exp.DType.INT), expression=exp.Literal.number(1))
        word = exp.Anonymous(this="list_extract", expressions=[words, place])
        is_item = isinstance(node.parent, exp.Select) and isinstance(node, exp.Column)
        node.replace(exp.alias_(word, node.name, quoted=True) if is_item else word)
    return to_sql(coded)


def _write_keys_of_all(select: exp.Select, bound: BoundQuery) -> None:
    """Write GROUP BY ALL as the places of the columns and functions of texts that it stands for, if
    the other entries of the SELECT list are aggregates."""
    group = select.args.get("group")
    if group is None or not group.args.get("all") or group.expressions:
        return
    entries = [entry.unalias() for entry in select.expressions]
    places = [
        place
        for place, entry in enumerate(entries, 1)
        if (isinstance(entry, exp.Column) and not entry.is_star) or function_of_text(entry, bound)
    ]
    others = [entry for place, entry in enumerate(entries, 1) if place not in places]
    is_plain = all(
        entry.find(exp.AggFunc) is not None
        and entry.find(exp.Anonymous, exp.Query, exp.Window) is None
        for entry in others
    )
    if places and is_plain:
        group.set("all", None)
        group.set("expressions", [exp.Literal.number(place) for place in places])


def _is_decoded(node: exp.Expr) -> bool:
    """Whether a node is a mark of `mark_group_keys` where the word is wanted, not its code."""
    return node.meta_get(_META) is not None and not isinstance(node.parent, exp.Group)


def _behind_groups(select: exp.Select) -> Sequence[exp.Expr] | None:
    """The clauses that see groups; None where they may see more than keys and aggregates."""
    group = select.args.get("group")
    if group is None or any(group.args.get(name) for name in GROUPING_SETS):
        return None
    if select.args.get("qualify") or select.args.get("distinct"):
        return None
    clauses = [*select.expressions, select.args.get("having"), select.args.get("order")]
    parts = [part for part in clauses if part is not None]
    for part in parts:
        for node in nodes_of(part, exp.Query, exp.Window, exp.Star):
            if not (isinstance(node, exp.Star) and isinstance(node.parent, exp.Count)):
                return None
    return parts


def select_entry(item: exp.Expr, select: exp.Select) -> exp.Expr:
    """The entry of the SELECT list that an item of GROUP BY names or counts."""
    items: list[exp.Expr] = []
    if isinstance(item, exp.Literal) and not item.is_string and item.this.isdigit():
        items = select.expressions[int(item.this) - 1 : int(item.this)]
    elif isinstance(item, exp.Column) and relation_of(item) is None and not item.table:
        name = item.name.lower()
        items = [each for each in select.expressions if each.alias.lower() == name]
    return items[0].unalias() if len(items) == 1 else item


def _text_key(node: exp.Expr, bound: BoundQuery) -> _Key | None:
    """The text column of a stored table that an expression is, or that it is a function of."""
    stored = stored_column(node, bound)
    key = None if stored is None else _Key(*stored)
    if key is None:
        argument = function_of_text(node, bound)
        key = None if argument is None else _Key(*argument, node)
    if key is None or not key.column.type.is_text:
        return None
    return None if _code_name(key.column) in key.reference.table.schema.by_name else key


def _mentions(
    key: _Key,
    parts: Sequence[exp.Expr],
    bound: BoundQuery,
    is_column_key: bool,
) -> list[exp.Expr] | None:
    """Where clauses behind groups have the function that is a key.

    Args:
        key: a function.
        parts: the clauses.
        is_column_key: whether the function's column is a key too, and may be there by itself.

    Returns None where a clause has the column in another way.
    """
    function = key.function
    assert function is not None
    text, mentions, stack = function.sql(), list[exp.Expr](), list(parts)
    while stack:
        node = stack.pop()
        if type(node) is type(function) and node.sql() == text:
            if function_of_text(node, bound) != (key.reference, key.column):
                return None
            mentions.append(node)
        elif isinstance(node, exp.Column) and node.name.lower() == key.column.name:
            if not is_column_key:
                return None
        elif not _gathers(node):
            stack += node.iter_expressions()
    return mentions


def _is_named_inside(column: exp.Column) -> bool:
    """Whether HAVING or ORDER BY computes with a name that the SELECT list has too.

    The engine takes the key of the groups for it.
    """
    return relation_of(column) is None and not isinstance(column.parent, exp.Ordered)


def _has_absent_rows(select: exp.Select) -> bool:
    """Whether a join may give rows without one of a table.

    What a function makes of their NULL may be a value, but the code of an absent row is NULL.
    """
    return any(join.side or join.method for join in nodes_of(select, exp.Join))


def _is_taken(column: exp.Column) -> bool:
    """Whether an aggregate, or a function that is a key, takes a column's cells."""
    ancestor = column.parent
    while ancestor is not None and not isinstance(ancestor, exp.Select):
        if _gathers(ancestor) or ancestor.meta_get(_META) is not None:
            return True
        ancestor = ancestor.parent
    return False


def _gathers(node: exp.Expr) -> bool:
    """Whether a node is an aggregate, or what belongs to one; MIN and MAX of several are none."""
    several = isinstance(node, exp.Max | exp.Min) and node.expressions
    return isinstance(node, exp.AggFunc | exp.Filter) and not several


def _code_name(column: ColumnSchema) -> str:
    return f"{_CODE_PREFIX}{column.id}"


def _mark(key: _Key, alias: str, scans: ScanNames, numbers: dict[CodedColumn, int]) -> _Mark:
    """The mark of a key. `alias`: the engine's name of its table."""
    scan, column = scans[key.reference], key.column
    values = "" if key.function is None else to_sql(over_words(key.function))
    for coded, number in numbers.items():
        if (coded.scan, coded.column, coded.values) == (scan, column.name, values):
            return _Mark(alias, number)
    number = len(numbers)
    code = f"{_code_name(column)}_{number}" if values else _code_name(column)
    numbers[CodedColumn(scan, column.name, code, values)] = number
    return _Mark(alias, number)
