"""SQLAlchemy's constructs in our SQL: queries, writes and definitions."""

import warnings
from collections.abc import Sequence
from typing import Any

from sqlalchemy import exc, schema
from sqlalchemy.sql import compiler, selectable
from sqlalchemy.sql.dml import Insert
from sqlalchemy.sql.elements import BindParameter
from sqlalchemy.sql.sqltypes import JSON, STRINGTYPE, Integer, Interval, Uuid

from pykudu_sql.sqlalchemy.default_names import UUID, UUID_DIGITS, reflected_function
from pykudu_sql.sqlalchemy.on_conflict import OnConflictCompiler
from pykudu_sql.sqlalchemy.types import ComputedInterval
from pykudu_sql.sqlalchemy.upsert import Upsert


class PykuduCompiler(OnConflictCompiler):
    """Queries and writes."""

    def visit_now_func(self, fn: Any, **kw: Any) -> str:
        return "now()"

    def visit_aggregate_strings_func(self, fn: Any, **kw: Any) -> str:
        return f"string_agg{self.function_argspec(fn, **kw)}"

    def visit_char_length_func(self, fn: Any, **kw: Any) -> str:
        return f"length{self.function_argspec(fn, **kw)}"

    def visit_insert(self, insert_stmt: Insert, *args: Any, **kw: Any) -> str:
        """An INSERT, or an UPSERT, which differs in its first word."""
        text = str(super().visit_insert(insert_stmt, *args, **kw))  # type: ignore[no-untyped-call]
        if not isinstance(insert_stmt, Upsert):
            return text
        return text.replace("INSERT INTO", "UPSERT INTO", 1)

    def limit_clause(self, select: Any, **kw: Any) -> str:
        """LIMIT and OFFSET, each only if the statement has it."""
        text = ""
        if select._limit_clause is not None:
            text += "\n LIMIT " + self.process(select._limit_clause, **kw)
        if select._offset_clause is not None:
            text += "\n OFFSET " + self.process(select._offset_clause, **kw)
        return text

    def fetch_clause(
        self,
        select: Any,
        fetch_clause: Any = None,
        require_offset: bool = False,
        use_literal_execute_for_simple_int: bool = False,
        **kw: Any,
    ) -> str:
        """FETCH, as LIMIT and OFFSET. Raises CompileError: WITH TIES."""
        options = select._fetch_clause_options or {}
        if options.get("with_ties"):
            raise exc.CompileError("FETCH .. WITH TIES is not supported: use rank() in a subquery")
        clause = select._fetch_clause if fetch_clause is None else fetch_clause
        text = "\n LIMIT " + self.process(clause, **kw)
        if options.get("percent"):
            text += " PERCENT"
        if select._offset_clause is not None:
            text += "\n OFFSET " + self.process(select._offset_clause, **kw)
        return text

    def visit_add_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return self._sum(binary, " + ", kw)

    def visit_sub_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return self._sum(binary, " - ", kw)

    def _sum(self, binary: Any, word: str, kw: Any) -> str:
        """A sum or difference, in which a duration beside a time is an INTERVAL.

        Beside a column of durations, which holds times, it stays one of those.
        """
        binary = binary._clone()
        sides = [binary.left, binary.right]
        affinities = [side.type._type_affinity for side in sides]
        for number, side in enumerate(sides):
            is_duration = isinstance(side, BindParameter) and affinities[number] is Interval
            if is_duration and affinities[1 - number] is not Interval:
                sides[number] = side._with_binary_element_type(ComputedInterval())
        binary.left, binary.right = sides
        return str(self._generate_generic_binary(binary, word, **kw))

    def visit_floordiv_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        """Of integers an integer, cut towards zero as in PostgreSQL and SQLite."""
        sides = (binary.left, binary.right)
        if all(side.type._type_affinity is Integer for side in sides):
            return str(self._generate_generic_binary(binary, " // ", **kw))
        return str(super().visit_floordiv_binary(binary, operator, **kw))  # type: ignore[no-untyped-call]

    def visit_bitwise_xor_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        left, right = self.process(binary.left, **kw), self.process(binary.right, **kw)
        return f"xor({left}, {right})"

    def for_update_clause(self, select: Any, **kw: Any) -> str:
        """Nothing: transactions need no locks, the first to commit wins."""
        return ""

    def visit_empty_set_expr(self, element_types: Sequence[Any], **kw: Any) -> str:
        """A query without rows, of as many columns as types."""
        columns = ", ".join("1" for _ in element_types or (None,))
        return f"SELECT {columns} WHERE 1 != 1"

    def _regexp_call(self, name: str, parts: Sequence[Any], flags: Any, kw: Any) -> str:
        arguments = [self.process(part, **kw) for part in parts]
        if flags is not None:
            arguments.append(self.render_literal_value(flags, STRINGTYPE))
        return f"{name}({', '.join(arguments)})"

    def visit_regexp_match_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        parts = (binary.left, binary.right)
        return self._regexp_call("regexp_matches", parts, binary.modifiers["flags"], kw)

    def visit_not_regexp_match_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return f"NOT {self.visit_regexp_match_op_binary(binary, operator, **kw)}"

    def visit_regexp_replace_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        pattern, replacement = binary.right.clauses
        parts = (binary.left, pattern, replacement)
        return self._regexp_call("regexp_replace", parts, binary.modifiers["flags"], kw)

    def visit_json_getitem_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return self._json_item(binary, kw)

    def visit_json_path_getitem_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return self._json_item(binary, kw)

    def _json_item(self, binary: Any, kw: Any) -> str:
        document, path = self.process(binary.left, **kw), self.process(binary.right, **kw)
        if binary.type._type_affinity is JSON:
            return f"json_extract({document}, {path})"
        item = f"json_extract_string({document}, {path})"
        type_name = self.dialect.type_compiler_instance.process(binary.type)
        return item if type_name == "STRING" else f"CAST({item} AS {type_name})"

    def get_from_hint_text(self, table: Any, text: str | None) -> str | None:
        """A hint of `with_hint`, such as `FOR SYSTEM_TIME AS OF now()`, as it is."""
        return text

    def format_from_hint_text(self, sqltext: str, table: Any, hint: str, iscrud: bool) -> str:
        """A mention of a table with its hint, which stands before the alias."""
        if isinstance(table, selectable.Alias):
            mention, _, alias = sqltext.rpartition(" AS ")
            return f"{mention} {hint} AS {alias}"
        return f"{sqltext} {hint}"

    def delete_extra_from_clause(
        self, delete_stmt: Any, from_table: Any, extra_froms: Any, from_hints: Any, **kw: Any
    ) -> str:
        """The other tables of a DELETE."""
        tables = (t._compiler_dispatch(self, asfrom=True, fromhints=from_hints, **kw)
                  for t in extra_froms)  # fmt: skip
        return "USING " + ", ".join(tables)


class UnenforcedConstraintWarning(UserWarning):
    """A constraint that a table declares is not kept by the database."""


def _unenforced(constraint: Any, what: str) -> None:
    name = "" if constraint.name is None else f" '{constraint.name}'"
    columns = ", ".join(column.name for column in constraint.columns)
    listed = f" ({columns})" if columns else ""
    table = constraint.table.name
    warnings.warn(
        f"{what}{name}{listed} of table '{table}' is not enforced: the primary key is",
        UnenforcedConstraintWarning,
        stacklevel=2,
    )


def _is_numbered(column: schema.Column[Any]) -> bool:
    """Whether a column is an identity column: a key's one integer, unless the program says other.

    Raises CompileError: an Identity that is ALWAYS, or has a start or step.
    """
    identity = column.identity
    if identity is None:
        return column is column.table._autoincrement_column and column.server_default is None
    if identity.always or identity.start not in (None, 1) or identity.increment not in (None, 1):
        raise exc.CompileError(
            f"Identity of column '{column.name}': numbers are BY DEFAULT, from 1 in steps of 1"
        )
    return True


class PykuduDDLCompiler(compiler.DDLCompiler):
    """Definitions of tables, columns and indexes."""

    def get_column_specification(self, column: schema.Column[Any], **kw: Any) -> str:
        """A column with what Kudu says of one: encoding, compression, block size, immutability."""
        options = column.dialect_options["pykudu"]
        parts = [
            self.preparer.format_column(column),
            self.dialect.type_compiler_instance.process(column.type, type_expression=column),
        ]
        if _is_numbered(column):
            parts.append("GENERATED BY DEFAULT AS IDENTITY")
        if not column.nullable:
            parts.append("NOT NULL")
        for word in ("encoding", "compression", "block_size"):
            if options[word] is not None:
                parts.append(f"{word.upper()} {options[word]}")
        if options["immutable"]:
            parts.append("IMMUTABLE")
        default = self.get_column_default_string(column)
        if default is not None:
            parts.append(f"DEFAULT {default}")
        if column.comment is not None:
            parts.append("COMMENT " + self._text(column.comment))
        return " ".join(parts)

    def get_column_default_string(self, column: Any) -> str | None:
        """The default as SQL; a UUID as the digits that a column of type `Uuid` has."""
        default: str | None = super().get_column_default_string(column)
        if default is not None and isinstance(column.type, Uuid):
            return UUID_DIGITS if reflected_function(default) == UUID else default
        return default

    def visit_primary_key_constraint(
        self, constraint: schema.PrimaryKeyConstraint, **kw: Any
    ) -> str:
        """The key, which has no name."""
        if len(constraint) == 0:
            return ""
        columns = ", ".join(
            self.preparer.format_column(column) for column in constraint.columns_autoinc_first
        )
        unique = constraint.table.dialect_options["pykudu"]["unique_key"]
        return f"{'' if unique else 'NON UNIQUE '}PRIMARY KEY ({columns})"

    def visit_foreign_key_constraint(self, constraint: Any, **kw: Any) -> Any:
        """Nothing: there are no foreign keys."""
        return _unenforced(constraint, "foreign key")

    def visit_unique_constraint(self, constraint: Any, **kw: Any) -> Any:
        """Nothing: only the key is unique."""
        return _unenforced(constraint, "unique constraint")

    def visit_check_constraint(self, constraint: Any, **kw: Any) -> Any:
        """The condition, unless the program says that it is more than the database can check."""
        if not constraint.dialect_options["pykudu"]["enforced"]:
            return _unenforced(constraint, "CHECK constraint")
        return super().visit_check_constraint(constraint, **kw)  # type: ignore[no-untyped-call]

    def visit_add_constraint(self, create: Any, **kw: Any) -> str:
        """Empty for a constraint that is not enforced: foreign keys of tables that name each other.

        Raises CompileError: the constraint has no name.
        """
        if self.process(create.element) is None:
            return ""
        return str(super().visit_add_constraint(create, **kw))  # type: ignore[no-untyped-call]

    def visit_drop_constraint(self, drop: Any, **kw: Any) -> str:
        """Empty for what was never added."""
        constraint = drop.element
        is_rule = isinstance(constraint, schema.CheckConstraint)
        if isinstance(constraint, schema.ForeignKeyConstraint | schema.UniqueConstraint) or (
            is_rule and not constraint.dialect_options["pykudu"]["enforced"]
        ):
            return ""
        return str(super().visit_drop_constraint(drop, **kw))  # type: ignore[no-untyped-call]

    def post_create_table(self, table: schema.Table) -> str:
        """Partitions, comment and properties."""
        options = table.dialect_options["pykudu"]
        text = ""
        if options["partition_by"]:
            text += f"\nPARTITION BY {options['partition_by']}"
        if table.comment is not None:
            text += "\nCOMMENT " + self._text(table.comment)
        if options["properties"]:
            pairs = (
                f"{self._text(str(name))}={self._text(str(value))}"
                for name, value in options["properties"].items()
            )
            text += f"\nTBLPROPERTIES ({', '.join(pairs)})"
        return text

    def visit_create_index(self, create: Any, *args: Any, **kw: Any) -> str:
        """A skip index, which is unique in no case."""
        index, preparer = create.element, self.preparer
        if index.unique:
            _unenforced(index, "uniqueness of index")
        columns = ", ".join(
            self.sql_compiler.process(column, include_table=False, literal_binds=True)
            for column in index.expressions
        )
        missing = "IF NOT EXISTS " if create.if_not_exists else ""
        name = self._prepared_index_name(index, include_schema=False)
        return f"CREATE INDEX {missing}{name} ON {preparer.format_table(index.table)} ({columns})"

    def visit_drop_index(self, drop: Any, **kw: Any) -> str:
        name = self._prepared_index_name(drop.element, include_schema=False)
        table = self.preparer.format_table(drop.element.table)
        return f"DROP INDEX {'IF EXISTS ' if drop.if_exists else ''}{name} ON {table}"

    def _text(self, value: str) -> str:
        return self.sql_compiler.render_literal_value(value, STRINGTYPE)


class PykuduIdentifierPreparer(compiler.IdentifierPreparer):
    """Names, quoted where they are words of the language or have other characters."""

    reserved_words = compiler.RESERVED_WORDS | {
        "date", "default", "describe", "exists", "explain", "if", "interval", "key", "partition",
        "range", "set", "show", "time", "timestamp", "values", "view",
    }  # fmt: skip
