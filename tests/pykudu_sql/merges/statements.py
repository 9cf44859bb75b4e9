"""Random MERGE, UPDATE, DELETE, INSERT .. ON CONFLICT and SELECT, each with what it has to do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.pykudu_sql.differential.tables import literal
from tests.pykudu_sql.merges.logic import all_of, compared
from tests.pykudu_sql.merges.model import COLUMNS, DEFAULTS, Clause, Effects, Outcome
from tests.pykudu_sql.merges.sources import Source, Sources, State, Target
from tests.pykudu_sql.merges.terms import DECIMALS, WORDS, Field, Pair, Row, Rows, Term, Terms

_ACTIONS = {
    "MATCHED": ("UPDATE", "UPDATE", "DELETE", "DO NOTHING"),
    "BY TARGET": ("INSERT", "INSERT", "INSERT", "DO NOTHING"),
    "BY SOURCE": ("UPDATE", "DELETE", "DO NOTHING"),
}
_WHEN = {
    "MATCHED": ("WHEN MATCHED",),
    "BY TARGET": ("WHEN NOT MATCHED", "WHEN NOT MATCHED BY TARGET"),
    "BY SOURCE": ("WHEN NOT MATCHED BY SOURCE",),
}


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement with its parameters, and what it does.

    Attributes:
        outcome: to the table; None for a query.
        returned: the rows it gives; None for none.
    """

    text: str
    values: Sequence[Any]
    outcome: Outcome | None
    returned: list[tuple[Any, ...]] | None


class Statements:
    """Draws statements about a table of some key.

    Args:
        table, others: the tables' names with their databases.
        lookup: the rows of table r.
    """

    def __init__(
        self, random: Random, key: Sequence[str], table: str, others: str, lookup: Rows
    ) -> None:
        self._random = random
        self._effects = Effects(key)
        self._table = table
        self._terms = Terms(random, lookup)
        self._sources = Sources(random, self._terms, table, others)

    def statement(self, state: State) -> Statement:
        """One that changes rows, a MERGE more often than not."""
        merge, others = self._merge, (self._update, self._delete, self._delete_using, self._upsert)
        kind = merge if self._random.random() < 0.6 else self._random.choice(others)
        return kind(state)

    def queries(self, state: State) -> tuple[Statement, Statement]:
        """A SELECT by a condition, and an UPDATE or DELETE by the same one."""
        where = self._terms.condition(self._plain_target().fields(True), 2)
        rows = [row for row in state.table.values() if where.value((row, None)) is True]
        text = f"SELECT * FROM {self._table} WHERE {where.text}"
        query = self._finished(text, None, [tuple(row.values()) for row in rows])
        change = self._random.choice((self._updated, self._deleted))
        return query, change(state, self._plain_target(), where)

    def _plain_target(self) -> Target:
        return Target(self._table, (f"{self._table}.", f"{self._table.rpartition('.')[2]}."))

    def _finished(
        self, text: str, outcome: Outcome | None, returned: list[tuple[Any, ...]] | None
    ) -> Statement:
        spelled = self._terms.spellings.spelled(text)
        return Statement(spelled.ours, spelled.our_values, outcome, returned)

    # MERGE

    def _merge(self, state: State) -> Statement:
        pick = self._random
        self._terms.spellings.clear()
        target = self._sources.target()
        source = self._sources.source(state, target)
        if target.qualifiers == source.qualifiers:
            source = self._sources.source(state, target)
        on, joined = self._on(target, source)
        clauses, texts = [], []
        for _ in range(pick.choice((1, 2, 2, 3, 4))):
            clause, text = self._clause(target, source)
            clauses.append(clause)
            texts.append(text)
        outcome = self._effects.merge(state.table, source.rows, on.value, clauses)
        text = (
            f"{source.heading}MERGE INTO {target.text} USING {source.text} {joined}"
            f" {' '.join(texts)}"
        )
        return self._returning(text, outcome, target, source)

    def _on(self, target: Target, source: Source) -> tuple[Term, str]:
        """The condition and its text behind the source."""
        pick, key = self._random, self._effects.key
        mine, theirs = target.fields(False), source.fields(False)

        def named(fields: Sequence[Field], name: str) -> Field:
            return next(field for field in fields if field.name == name)

        def equal(pair: Pair) -> bool | None:
            return all_of(
                [
                    compared("=", named(mine, n).value(pair), named(theirs, n).value(pair))
                    for n in key
                ]
            )

        if source.has_same_names and all(source.names[n] == n for n in key) and pick.random() < 0.4:
            return Term("", equal), f"USING ({', '.join(key)})"
        if pick.random() < 0.1:
            condition = self._terms.condition([*mine, *theirs], 1, subqueries=False)
            return condition, f"ON {condition.text}"
        pairs = [
            (pick.choice(named(mine, n).spellings), pick.choice(named(theirs, n).spellings))
            for n in key
        ]
        if pick.random() < 0.3 and len(key) > 1:
            left, right = (", ".join(side) for side in zip(*pairs, strict=True))
            text = f"({left}) = ({right})"
        else:
            text = " AND ".join(f"{a} = {b}" for a, b in pairs)
        if pick.random() < 0.3:
            more = self._terms.condition([*mine, *theirs], 1, subqueries=False)
            both = Term("", lambda pair: all_of([equal(pair), more.value(pair)]))
            return both, f"ON {text} AND {more.text}"
        return Term("", equal), f"ON {text}"

    def _clause(self, target: Target, source: Source) -> tuple[Clause, str]:
        pick = self._random
        kind = pick.choice(("MATCHED", "MATCHED", "BY TARGET", "BY TARGET", "BY SOURCE"))
        action = pick.choice(_ACTIONS[kind])
        fields = self._fields(kind, target, source)
        condition, text = None, pick.choice(_WHEN[kind])
        if pick.random() < 0.5:
            condition = self._terms.condition(fields, 1)
            text += f" AND {condition.text}"
        text += f" THEN {action}"
        values: Mapping[str, Term] = {}
        if action == "UPDATE":
            values, more = self._set(kind, target, source, fields)
            text += more
        elif action == "INSERT":
            values, more = self._inserted(target, source, fields)
            text += more
        return Clause(kind, condition, action, values), text

    def _fields(self, kind: str, target: Target, source: Source) -> list[Field]:
        """What a clause may name, and how."""
        if kind == "BY SOURCE":
            return target.fields(True)
        if kind == "BY TARGET":
            return source.fields(True)
        names = set(source.names.values())
        mine = [_plain(f) if f.name not in names else f for f in target.fields(False)]
        theirs = [
            _plain(f, source.names[f.name]) if source.names[f.name] not in COLUMNS else f
            for f in source.fields(False)
        ]
        return [*mine, *theirs]

    def _set(
        self, kind: str, target: Target, source: Source, fields: Sequence[Field]
    ) -> tuple[Mapping[str, Term], str]:
        pick = self._random
        settable = [name for name in COLUMNS if name not in self._effects.key]
        whole = kind == "MATCHED" and source.has_same_names
        if whole and set(source.names.values()) >= set(COLUMNS) and pick.random() < 0.3:
            return self._from_source(source, settable), " SET *"
        names = pick.sample(settable, pick.randint(1, 3))
        return self._assignments(names, target, fields)

    def _assignments(
        self, names: Sequence[str], target: Target, fields: Sequence[Field], subqueries: bool = True
    ) -> tuple[Mapping[str, Term], str]:
        """SET of some columns."""
        pick = self._random
        values = {name: self._value(name, fields, subqueries) for name in names}
        columns = [f"{pick.choice(('', '', *target.qualifiers))}{name}" for name in names]
        texts = [value.text for value in values.values()]
        if len(names) > 1 and pick.random() < 0.3:
            return values, f" SET ({', '.join(columns)}) = ({', '.join(texts)})"
        return values, " SET " + ", ".join(
            f"{column} = {text}" for column, text in zip(columns, texts, strict=True)
        )

    def _value(self, name: str, fields: Sequence[Field], subqueries: bool) -> Term:
        """A value for a column; constants fit it, as those that do not are refused at once."""
        if self._random.random() < 0.1 and name not in self._effects.key:
            return Term("DEFAULT", lambda _: DEFAULTS[name])
        family = COLUMNS[name]
        if self._random.random() < 0.15 or all(field.family != family for field in fields):
            return self._terms.constant(family, nullable=name != "n")
        return self._terms.value(fields, family, subqueries=subqueries)

    def _inserted(
        self, target: Target, source: Source, fields: Sequence[Field]
    ) -> tuple[Mapping[str, Term], str]:
        pick = self._random
        if (
            source.has_same_names
            and set(source.names.values()) >= set(COLUMNS)
            and pick.random() < 0.3
        ):
            return self._from_source(source, list(COLUMNS)), " *"
        names = list(COLUMNS)
        listing = ""
        if pick.random() < 0.8:
            rest = [name for name in COLUMNS if name not in self._effects.key]
            names = [*self._effects.key, *pick.sample(rest, pick.randint(0, len(rest)))]
            pick.shuffle(names)
            columns = [f"{pick.choice(('', '', *target.qualifiers))}{name}" for name in names]
            listing = f" ({', '.join(columns)})"
        values = {name: self._insertable(name, source, fields) for name in names}
        texts = ", ".join(value.text for value in values.values())
        return values, f"{listing} VALUES ({texts})"

    def _insertable(self, name: str, source: Source, fields: Sequence[Field]) -> Term:
        if name in self._effects.key and self._random.random() < 0.8:
            field = next(field for field in fields if field.name == name)
            return Term(self._random.choice(field.spellings), field.value)
        if name in self._effects.key:
            return self._terms.constant("int", nullable=False)
        return self._value(name, fields, subqueries=True)

    def _from_source(self, source: Source, names: Sequence[str]) -> Mapping[str, Term]:
        by_name = {field.name: field for field in source.fields(False)}
        return {name: Term(name, by_name[name].value) for name in names}

    def _returning(
        self, text: str, outcome: Outcome, target: Target, source: Source | None
    ) -> Statement:
        """A statement with RETURNING, or without."""
        pick = self._random
        if pick.random() < 0.5:
            return self._finished(text, outcome, None)
        fields = target.fields(source is None)
        if source is not None:
            fields = self._fields("MATCHED", target, source)
        items = [self._returned(fields) for _ in range(pick.randint(1, 4))]
        texts = [item.text for item in items]
        rows: list[tuple[Any, ...]] = [
            tuple(item.value((row, other)) for item in items) for _, row, other in outcome.changes
        ]
        if source is not None:
            texts.append(pick.choice(("merge_action()", "merge_action() AS act")))
            rows = [
                (*row, action) for row, (action, _, _) in zip(rows, outcome.changes, strict=True)
            ]
        if pick.random() < 0.3:
            texts.append(f"{pick.choice(target.qualifiers)}*")
            rows = [
                (*row, *written.values())
                for row, (_, written, _) in zip(rows, outcome.changes, strict=True)
            ]
        return self._finished(f"{text} RETURNING {', '.join(texts)}", outcome, rows)

    def _returned(self, fields: Sequence[Field]) -> Term:
        pick = self._random
        if pick.random() < 0.7:
            field = pick.choice(list(fields))
            return Term(pick.choice(field.spellings), field.value)
        condition = self._terms.condition(fields, 1, subqueries=False)
        return Term(f"({condition.text})", condition.value)

    # the others

    def _update(self, state: State) -> Statement:
        self._terms.spellings.clear()
        target = self._sources.target()
        return self._updated(state, target, self._terms.condition(target.fields(True), 2))

    def _updated(self, state: State, target: Target, where: Term) -> Statement:
        settable = [name for name in COLUMNS if name not in self._effects.key]
        names = self._random.sample(settable, self._random.randint(1, 3))
        values, text = self._assignments(names, target, target.fields(True))
        outcome = self._effects.update(state.table, values, where)
        return self._returning(
            f"UPDATE {target.text}{text} WHERE {where.text}", outcome, target, None
        )

    def _delete(self, state: State) -> Statement:
        self._terms.spellings.clear()
        target = self._sources.target()
        return self._deleted(state, target, self._terms.condition(target.fields(True), 2))

    def _deleted(self, state: State, target: Target, where: Term) -> Statement:
        outcome = self._effects.delete(state.table, [None], where)
        return self._returning(
            f"DELETE FROM {target.text} WHERE {where.text}", outcome, target, None
        )

    def _delete_using(self, state: State) -> Statement:
        self._terms.spellings.clear()
        target = self._sources.target()
        source = self._sources.source(state, target)
        fields = self._fields("MATCHED", target, source)
        where = self._terms.condition(fields, 2, subqueries=False)
        outcome = self._effects.delete(state.table, source.rows, where)
        text = f"{source.heading}DELETE FROM {target.text} USING {source.text} WHERE {where.text}"
        return self._finished(text, outcome, None)

    def _upsert(self, state: State) -> Statement:
        pick = self._random
        self._terms.spellings.clear()
        target = self._sources.target()
        proposed = [self._proposed() for _ in range(pick.choice((1, 2, 5)))]
        settable = [name for name in COLUMNS if name not in self._effects.key]
        excluded = [Field(1, n, f, (f"excluded.{n}",)) for n, f in COLUMNS.items()]
        fields = [*target.fields(True), *excluded]
        values, assigned = self._assignments(
            pick.sample(settable, pick.randint(1, 3)), target, fields, subqueries=False
        )
        where = self._terms.condition(fields, 1, subqueries=False)
        outcome = self._effects.upsert(state.table, proposed, values, where)
        rows = ", ".join(f"({', '.join(map(literal, row.values()))})" for row in proposed)
        into = f"INSERT INTO {target.text} ({', '.join(COLUMNS)}) VALUES {rows}"
        text = f"{into} ON CONFLICT ({', '.join(self._effects.key)}) DO UPDATE{assigned}"
        return self._returning(f"{text} WHERE {where.text}", outcome, target, None)

    def _proposed(self) -> Row:
        pick = self._random
        row: dict[str, Any] = {name: pick.randint(0, 6) for name in ("a", "b", "c", "n")}
        return {**row, "s": pick.choice((None, *WORDS)), "d": pick.choice((None, *DECIMALS))}


def _plain(field: Field, name: str | None = None) -> Field:
    """A column that may also stand without a qualifier."""
    plain = field.name if name is None else name
    return Field(field.side, field.name, field.family, (*field.spellings, plain))
