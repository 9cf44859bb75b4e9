"""The types of a query's columns, noted in its tree where decimals may need more than 38 digits.

Most statements have none that do, and nothing is noted then. Else every column that has a source
gets the name of its type, and every query those of its columns, inner queries first; what belongs
together by name alone (USING, the two parts of a recursive WITH query) is checked on the way.
"""

from collections.abc import Sequence

from sqlglot import exp

from pykudu_sql.planner.bind.bound_query import BoundQuery, source_of
from pykudu_sql.planner.bind.sources import OutputColumn, Source, TableReference
from pykudu_sql.planner.functions.decimal_values import MAX_DIGITS, Digits, digits_of
from pykudu_sql.planner.query.number_types import (
    COLUMNS,
    TYPE,
    NumberTypes,
    alternatives,
    digits_of_type,
    fit_together,
    number,
    type_name,
    united,
)
from pykudu_sql.planner.query.type_conflicts import recursive_conflict, using_conflict
from pykudu_sql.storage.common.types.types import DataType, Kind

_INTEGER_DIGITS = 19  # of a BIGINT, as which counts and lengths come
_INTEGERS = {3: "TINYINT", 5: "SMALLINT", 10: "INTEGER", 19: "BIGINT"}


def may_outgrow(tree: exp.Expr, bound: BoundQuery) -> bool:
    """Whether decimals of a query may have no type of the engine in common; cheap, and cautious."""
    found = [Digits(_INTEGER_DIGITS, 0)]
    for reference in bound.references:
        by_id = reference.table.schema.by_id
        types = (by_id[i].type for i in reference.used)
        found += [digits for each in types if (digits := digits_of(each)) is not None]
    has_decimals = any(each.scale or each.whole > _INTEGER_DIGITS for each in found)
    sums, terms, factors, rounds = False, 0, 1, False
    for node in tree.walk():
        match node:
            case exp.Literal() if (written := number(node)) is not None:
                has_decimals |= "." in str(node.this)
                exponent = written.as_tuple().exponent
                assert isinstance(exponent, int)
                found.append(Digits(max(1, written.adjusted() + 1), max(0, -exponent)))
            case exp.DataType() if (cast := _digits_of_cast(node)) is not None:
                has_decimals |= node.is_type(exp.DType.DECIMAL)
                found.append(cast)
            case exp.Sum():
                sums = True
            case exp.Add() | exp.Sub():
                terms += 1
            case exp.Mul():
                factors += 1
            case exp.With():
                rounds |= bool(node.args.get("recursive"))
            case exp.Lag() | exp.Lead():
                rounds |= node.args.get("default") is not None
            case exp.Placeholder() if _is_united(node):
                has_decimals = rounds = True
    if not has_decimals:
        return False
    whole = max(each.whole for each in found) * factors + terms
    scale = max(each.scale for each in found) * factors
    return rounds or (MAX_DIGITS + 1 if sums else whole) + scale > MAX_DIGITS


def _is_united(parameter: exp.Placeholder) -> bool:
    """Whether a parameter becomes one column, list or value with others."""
    node = parameter.parent
    while isinstance(node, exp.Paren | exp.Alias | exp.Neg | exp.If | exp.Tuple):
        if isinstance(node, exp.Tuple) and isinstance(node.parent, exp.Values):
            return len(node.parent.expressions) > 1
        if isinstance(node, exp.If) and not isinstance(node.parent, exp.Case):
            return True
        node = node.parent
    if isinstance(node, exp.Select):
        return node.find_ancestor(exp.SetOperation) is not None
    return node is not None and len(alternatives(node)) > 1


def _digits_of_cast(target: exp.DataType) -> Digits | None:
    """The digits of a type that is cast to; printing it is dear, and most are no numbers."""
    if target.this not in exp.DataType.NUMERIC_TYPES:
        return None
    return digits_of_type(target.sql("duckdb").upper())


def note_types(bound: BoundQuery, types: NumberTypes) -> None:
    """Note the types of columns and of queries in a bound tree.

    Args:
        bound: what binding it found.
        types: that tells those of expressions.

    Raises:
        ProgrammingError: columns that are joined by USING, or the parts of a recursive query, have
            no type of the engine in common.
    """
    notes = _Notes(bound, types)
    for query, columns in bound.outputs:
        notes.columns_of(query)
        query.meta[COLUMNS] = tuple((column.name, notes.output(column)) for column in columns)
        recursive_conflict(query)
    for _, frame in bound.frames:
        for name in sorted(frame.merged):
            using_conflict(name, [notes.column(each, name) for each in frame.holders(name)])


class _Notes:
    def __init__(self, bound: BoundQuery, types: NumberTypes) -> None:
        self._types = types
        self._merged = {
            (id(source), name): [(each, name) for each in frame.holders(name)]
            for _, frame in bound.frames
            for name in frame.merged
            for source in frame.holders(name)
        }

    def columns_of(self, tree: exp.Expr) -> None:
        """Note the types of the columns in a part of the tree."""
        for column in tree.find_all(exp.Column):
            if TYPE in column.meta:
                continue
            source = source_of(column)
            name = column.name.lower()
            if source is not None:
                column.meta[TYPE] = self._joined(source, name)
            elif not column.table:
                column.meta[TYPE] = self._named(column, name)
        for each in tree.find_all(exp.Lambda):
            self._element_of(each)
        for comprehension in tree.find_all(exp.Comprehension):
            self._element_of(comprehension)

    def _element_of(self, node: exp.Lambda | exp.Comprehension) -> None:
        """Note the type of a list's elements at the variables that stand for them."""
        if isinstance(node, exp.Comprehension):
            listed, variables = node.args["iterator"], [node.expression.name.lower()]
        elif isinstance(node.parent, exp.Func):
            call = node.parent
            listed = call.expressions[0] if isinstance(call, exp.Anonymous) else call.this
            # A second one is the element's place, but of list_reduce, which has both of one type.
            only = None if call.name.lower().endswith("reduce") else 1
            variables = [each.name.lower() for each in node.expressions[:only]]
        else:
            return
        name = self._of(listed) or ""
        if not name.endswith("[]"):
            return
        for each in node.this.find_all(exp.Column, exp.Identifier):
            is_alone = not isinstance(each.parent, exp.Column)
            if is_alone and each.name.lower() in variables:
                each.meta[TYPE] = name.removesuffix("[]")

    def column(self, source: Source, name: str) -> str | None:
        """The type of a source's column."""
        if isinstance(source, TableReference):
            return _stored_name(source.column(name).type)
        column = source.column(name)
        return None if column is None else self.output(column)

    def output(self, column: OutputColumn) -> str | None:
        """The type of a query's column: the one for what it shows in each part of the query."""
        names: list[str | None] = []
        for each in column.shown:
            if isinstance(each, exp.Expr):
                self.columns_of(each)
                names.append(self._of(each))
            else:
                names.append(self._joined(*each))
        return _united_name(names)

    def _of(self, node: exp.Expr) -> str | None:
        """The type of an expression; a call without decimals is not worth asking for."""
        value = node.unalias()
        is_call = isinstance(value, exp.Func) and not isinstance(value, exp.Cast | exp.Count)
        asked = not is_call or self._types.holds_decimals(value)
        return self._types.of(value) if asked else None

    def _joined(self, source: Source, name: str) -> str | None:
        """The type of a column, which others of the name may stand for that USING joins with it."""
        holders = self._merged.get((id(source), name), [(source, name)])
        return _united_name([self.column(*each) for each in holders])

    def _named(self, column: exp.Column, name: str) -> str | None:
        """The type of what an entry of the SELECT list names."""
        select = column.find_ancestor(exp.Select)
        for item in select.expressions if select is not None else ():
            if isinstance(item, exp.Alias) and item.alias.lower() == name:
                if column.find_ancestor(exp.Alias) is item:
                    return None
                self.columns_of(item)
                return self._types.of(item)
        return None


def _united_name(names: Sequence[str | None]) -> str | None:
    if not names or len(set(names)) == 1:
        return names[0] if names else None
    found = [digits for each in names if (digits := digits_of_type(each)) is not None]
    if len(found) < len(names) or (fit_together(found) and not any(one.scale for one in found)):
        return None
    return type_name(united(found))


def _stored_name(data_type: DataType) -> str:
    """The engine's name of a stored type."""
    if data_type.kind is Kind.DECIMAL:
        return f"DECIMAL({data_type.precision},{data_type.scale})"
    digits = digits_of(data_type)
    return str(data_type).partition("(")[0] if digits is None else _INTEGERS[digits.whole]
