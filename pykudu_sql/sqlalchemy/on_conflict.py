"""ON CONFLICT of an INSERT: the `insert` of SQLAlchemy's SQLite, PostgreSQL and MySQL dialects.

Only the primary key can conflict, so a target is its columns or nothing.
"""

import warnings
from typing import Any

from sqlalchemy import exc
from sqlalchemy.sql import coercions, compiler, roles, visitors
from sqlalchemy.sql.elements import BindParameter, ClauseElement


class OnConflictCompiler(compiler.SQLCompiler):
    """The clauses that `on_conflict_do_nothing` and `on_conflict_do_update` add to an INSERT."""

    def visit_on_conflict_do_nothing(self, clause: Any, **kw: Any) -> str:
        """DO NOTHING. Raises CompileError: see `_target`."""
        return f"ON CONFLICT {self._target(clause)}DO NOTHING"

    def visit_on_conflict_do_update(self, clause: Any, **kw: Any) -> str:
        """DO UPDATE SET of each column in the table's order. Raises CompileError: see `_target`."""
        text = f"ON CONFLICT {self._target(clause)}DO UPDATE SET "
        text += self._assignments(dict(clause.update_values_to_set), kw)
        if clause.update_whereclause is None:
            return text
        names = {**kw, "include_table": True, "use_schema": False}
        return f"{text} WHERE {self.process(clause.update_whereclause, **names)}"

    def visit_on_duplicate_key_update(self, clause: Any, **kw: Any) -> str:
        """MySQL's ON DUPLICATE KEY UPDATE: DO UPDATE SET, `inserted` being the row proposed."""
        insert: Any = self.stack[-1]["selectable"]
        excluded = insert.table.alias("excluded")

        def proposed(element: Any, **_: Any) -> Any:
            is_inserted = getattr(element, "table", None) is clause.inserted_alias
            return excluded.c[element.key] if is_inserted else None

        values = {
            name: visitors.replacement_traverse(value, {}, proposed)
            if isinstance(value, ClauseElement)
            else value
            for name, value in clause.update.items()
        }
        return f"ON CONFLICT DO UPDATE SET {self._assignments(values, kw)}"

    def _target(self, clause: Any) -> str:
        """The columns of the key in parentheses, or nothing.

        Raises CompileError: the target is a constraint's name, or an index of some of the rows.
        """
        constraint = getattr(clause, "constraint_target", None)
        if constraint is not None:
            insert: Any = self.stack[-1]["selectable"]
            table = insert.table
            if str(constraint) in (table.primary_key.name, f"{table.name}_pkey"):
                columns = (self.preparer.quote(column.name) for column in table.primary_key)
                return f"({', '.join(columns)}) "
            raise exc.CompileError(
                f"ON CONFLICT ON CONSTRAINT {constraint} is not supported: only the primary key "
                "can conflict; give its columns as index_elements"
            )
        if clause.inferred_target_elements is None:
            return ""
        if clause.inferred_target_whereclause is not None:
            raise exc.CompileError(
                "index_where is not supported: only the primary key can conflict, for all rows"
            )
        columns = (
            self.preparer.quote(element)
            if isinstance(element, str)
            else self.process(element, include_table=False, use_schema=False)
            for element in clause.inferred_target_elements
        )
        return f"({', '.join(columns)}) "

    def _assignments(self, values: dict[Any, Any], kw: dict[str, Any]) -> str:
        """What SET holds; what is no column of the table comes last, with a warning."""
        insert: Any = self.stack[-1]["selectable"]
        table = insert.table
        assignments = []
        for column in table.c:
            key = column.key if column.key in values else column
            if key in values:
                assignments.append(self._assignment(column.name, column, values.pop(key), kw))
        for key, value in values.items():
            name = key if isinstance(key, str) else key.name
            warnings.warn(
                f"set_ names '{name}', which is no column of table '{table.name}'",
                exc.SAWarning,
                stacklevel=2,
            )
            assignments.append(self._assignment(name, None, value, kw))
        return ", ".join(assignments)

    def _assignment(self, name: str, column: Any, value: Any, kw: dict[str, Any]) -> str:
        """`name = value`; a value without a type has that of its column."""
        value = coercions.expect(roles.ExpressionElementRole, value)
        if column is not None and isinstance(value, BindParameter) and value.type._isnull:
            value = value._with_binary_element_type(column.type)
        text = self.process(
            value.self_group(), **{**kw, "use_schema": False, "is_upsert_set": True}
        )
        return f"{self.preparer.quote(name)} = {text}"
