"""What our dialect can do of what SQLAlchemy's suite asks, and why it cannot do the rest."""

from sqlalchemy.testing import exclusions
from sqlalchemy.testing.requirements import SuiteRequirements

SUPPORTED = (
    "aggregate_order_by",
    "autocommit",
    "boolean_col_expressions",
    "check_constraint_reflection",
    "comment_reflection",
    "comment_reflection_full_unicode",
    "create_or_replace_view",
    "create_table_as",
    "ctes",
    "ctes_with_values",
    "date_historic",
    "datetime_historic",
    "datetime_literals",
    "datetime_timezone",
    "delete_from",
    "except_",
    "fetch_expression",
    "fetch_first",
    "fetch_no_order_by",
    "get_isolation_level_values",
    "index_ddl_if_exists",
    "infinity_floats",
    "intersect",
    "isolation_level",
    "json_type",
    "mod_operator_as_percent_sign",
    "nullsordering",
    "order_by_label_with_expression",
    "percent_schema_names",
    "precision_numerics_enotation_large",
    "precision_numerics_enotation_small",
    "precision_numerics_many_significant_digits",
    "precision_numerics_retains_significant_digits",
    "reflect_table_options",
    "regexp_match",
    "regexp_replace",
    "savepoints",
    "schemas",
    "server_defaults",
    "skip_autocommit_rollback",
    "supports_bitwise_and",
    "supports_bitwise_not",
    "supports_bitwise_or",
    "supports_bitwise_shift",
    "supports_bitwise_xor",
    "supports_is_distinct_from",
    "table_ddl_if_exists",
    "table_value_constructor",
    "timestamp_microseconds",
    "tuple_in",
    "unicode_ddl",
    "update_from",
    "views",
    "window_functions",
    "window_range",
    "window_range_numeric",
)

REASONS = {
    "deferrable_fks": "there are no foreign keys",
    "foreign_keys": "there are no foreign keys",
    "foreign_key_constraint_reflection": "there are no foreign keys",
    "implements_get_lastrowid": "an INSERT tells its key by RETURNING",
    "implicitly_named_constraints": "the key has no name",
    "indexes_with_ascdesc": "a skip index has no order",
    "named_constraints": "the key has no name, and there are no other constraints",
    "on_update_cascade": "there are no foreign keys",
    "recursive_fk_cascade": "there are no foreign keys",
    "reflect_indexes_with_ascdesc": "a skip index has no order",
    "self_referential_foreign_keys": "there are no foreign keys",
    "temp_table_reflection": "there are no temporary tables",
    "temporary_tables": "there are no temporary tables",
    "unique_constraint_reflection": "only the key is unique",
}  # fmt: skip


EXCLUDED = {
    "test_check_constraint_standalone[False-MyCkConst]": "names fold to lower case",
    "test_check_constraint_standalone[True-MyCkConst]": "names fold to lower case",
    "NameDenormalizeTest": "names fold to lower case",
    "test_get_indexes": "an index is a set of columns without an order, and not unique",
    "test_get_indexes_quoted_name": "names of indexes fold to lower case",
    "test_get_multi_indexes": "an index is a set of columns without an order, and not unique",
    "test_server_defaults[DateTime-default5-current_timestamp|now|getdate-_exclusions_05]": (
        "a default is a constant"
    ),
    "test_string_length_reflection[CHAR-_exclusions_02]": "CHAR is VARCHAR",
    "test_truediv_divisor": "the quotient of two decimals is a DOUBLE",
    "UnicodeSchemaTest": "names fold to lower case",
    "test_window_range": "it takes rows in the order in which they were inserted",
    "test_window_range_numeric": "it takes rows in the order in which they were inserted",
    "test_dialect_user_setting_is_restored": "AUTOCOMMIT is the one other isolation level",
    "test_view_dependencies_with_metadata": "no definition beside uncommitted changes of rows",
}


def _open() -> property:
    return property(lambda self: exclusions.open())


def _closed(reason: str) -> property:
    return property(lambda self: exclusions.skip_if(lambda: True, reason))


class Requirements(SuiteRequirements):
    """SQLAlchemy's requirements, as the two lists say."""


for name in SUPPORTED:
    setattr(Requirements, name, _open())
for name, reason in REASONS.items():
    setattr(Requirements, name, _closed(reason))
