"""Partition schemas: how the rows of a table are spread over tablets (Kudu's `common/partition.h`).

Zero or more hash dimensions over disjoint sets of key columns, and at most one range dimension with
bounds that do not overlap and need not cover everything. A range may have hash dimensions of its
own, in the same number. Every range times every combination of buckets is one partition; a tablet
holds one. A `Partition` is a value that says what it holds, so tablets keep theirs while ranges are
added and dropped around them.

Cells of bounds compare as Python tuples do, which is the order of encoded keys.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from typing import Any

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.cached_property import cached_property
from pykudu_sql.storage.common.partition.range_bound import (
    Bound,
    check_bound,
    range_text,
    tuple_text,
)
from pykudu_sql.storage.common.types.cells import cell_from_json, cell_to_json
from pykudu_sql.storage.common.types.schema import ColumnSchema, Schema
from pykudu_sql.storage.errors import DuplicateObjectError, InvalidSchemaError

MAX_TABLETS = 1000
"""Of one table: each has files, memory and maintenance of its own."""


@dataclass(frozen=True, slots=True)
class HashDimension:
    """Rows go to bucket `murmur64a(encoded columns, seed) mod buckets`.

    Attributes:
        column_ids: columns of the key, ascending.
        buckets: at least 2, fixed for ever.
        seed: of the hash.
    """

    column_ids: tuple[int, ...]
    buckets: int
    seed: int = 0


@dataclass(frozen=True, slots=True)
class RangePartition:
    """Rows whose range columns are at or above `lower` and below `upper`.

    Attributes:
        lower: inclusive, one cell for each range column; None for no bound.
        upper: exclusive, likewise.
        hash_dimensions: its own hash dimensions; None for those of the table.
    """

    lower: Bound | None = None
    upper: Bound | None = None
    hash_dimensions: tuple[HashDimension, ...] | None = None

    def overlaps(self, other: "RangePartition") -> bool:
        """Whether a row may lie in both."""
        ends = ((self.lower, other.upper), (other.lower, self.upper))
        return all(low is None or high is None or low < high for low, high in ends)


@dataclass(frozen=True, slots=True)
class Partition:
    """What one tablet holds.

    Attributes:
        range: its range; the unbounded one where the table has no range dimension.
        buckets: its bucket in each hash dimension.
    """

    range: RangePartition
    buckets: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        """The partition as plain JSON values."""
        return {"range": _range_to_json(self.range), "buckets": list(self.buckets)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Partition":
        """The inverse of `to_json`."""
        return cls(_range_from_json(value["range"]), tuple(value["buckets"]))


UNBOUNDED = RangePartition()


def check_count(partitions: int) -> None:
    """See that a table may have so many partitions. Raises InvalidSchemaError: it may not."""
    if partitions > MAX_TABLETS:
        raise InvalidSchemaError(
            f"{partitions} partitions are more than the {MAX_TABLETS} allowed in a table",
            hint="use fewer hash partitions, or wider ranges",
        )


@dataclass(frozen=True)
class PartitionSchema:
    """How a table is partitioned.

    Attributes:
        hash_dimensions: those of every range that has none of its own.
        range_column_ids: columns of the range dimension, in order; empty when there is none.
        ranges: ascending; of a table without range dimension empty, and taken as one unbounded.
    """

    hash_dimensions: tuple[HashDimension, ...] = ()
    range_column_ids: tuple[int, ...] = ()
    ranges: tuple[RangePartition, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "ranges", tuple(sorted(self.ranges, key=_lower_key)))

    @cached_property
    def covering_ranges(self) -> tuple[RangePartition, ...]:
        """The ranges, or the one that holds everything."""
        return self.ranges if self.range_column_ids else (UNBOUNDED,)

    def hash_dimensions_of(self, span: RangePartition) -> tuple[HashDimension, ...]:
        """The hash dimensions that hold within a range."""
        return self.hash_dimensions if span.hash_dimensions is None else span.hash_dimensions

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """For each range the index of its first partition, then the number of partitions."""
        result = [0]
        for span in self.covering_ranges:
            buckets = prod(dimension.buckets for dimension in self.hash_dimensions_of(span))
            result.append(result[-1] + buckets)
        return tuple(result)

    def partitions(self) -> tuple[Partition, ...]:
        """All partitions: ranges ascending, within one the last hash dimension varies fastest."""
        return self._partitions

    @cached_property
    def _partitions(self) -> tuple[Partition, ...]:
        return tuple(
            Partition(span, buckets)
            for span in self.covering_ranges
            for buckets in product(*(range(d.buckets) for d in self.hash_dimensions_of(span)))
        )

    def add_range(self, schema: Schema, added: RangePartition) -> "PartitionSchema":
        """This schema with one range more.

        Raises DuplicateObjectError: the same range exists; InvalidSchemaError: it overlaps one, or
        breaks another rule.
        """
        for span in self.ranges:
            if (span.lower, span.upper) == (added.lower, added.upper):
                raise DuplicateObjectError(
                    f"range partition {self._range_text(schema, added)} already exists"
                )
        changed = replace(self, ranges=(*self.ranges, added))
        changed.validate(schema)
        return changed

    def drop_range(self, schema: Schema, dropped: RangePartition) -> "PartitionSchema":
        """This schema without the range of exactly these bounds.

        Raises InvalidSchemaError: there is no such range.
        """
        remaining = tuple(
            span
            for span in self.ranges
            if (span.lower, span.upper) != (dropped.lower, dropped.upper)
        )
        if len(remaining) == len(self.ranges):
            raise InvalidSchemaError(
                f"no range partition {self._range_text(schema, dropped)} to drop",
                hint="its bounds must be those of an existing one; see SHOW RANGE PARTITIONS",
                sqlstate="42704",
            )
        return replace(self, ranges=remaining)

    def validate(self, schema: Schema) -> None:
        """Check every rule.

        Raises InvalidSchemaError: one is broken, or there are more than `MAX_TABLETS` partitions.
        """
        _check_hash(schema, self.hash_dimensions)
        if not self.range_column_ids and self.ranges:
            raise InvalidSchemaError("range partitions need range columns")
        _check_key_columns(schema, self.range_column_ids, "range")
        if len(set(self.range_column_ids)) != len(self.range_column_ids):
            raise InvalidSchemaError("a column is named twice in the range partition columns")
        for span in self.ranges:
            self._check_range(schema, span)
        for before, after in zip(self.ranges, self.ranges[1:], strict=False):
            if before.upper is None or after.lower is None or after.lower < before.upper:
                raise InvalidSchemaError(
                    "new range partition conflicts with existing one: "
                    f"{self._range_text(schema, after)} overlaps {self._range_text(schema, before)}"
                )
        check_count(self.offsets[-1])

    def _check_range(self, schema: Schema, span: RangePartition) -> None:
        columns = schema_columns(schema, self.range_column_ids)
        for bound in (span.lower, span.upper):
            check_bound(columns, bound)
        if span.lower is not None and span.upper is not None and not span.lower < span.upper:
            raise InvalidSchemaError(
                "range partition lower bound must be less than the upper bound: "
                f"{self._range_text(schema, span)}"
            )
        if span.hash_dimensions is not None:
            _check_hash(schema, span.hash_dimensions)
            if len(span.hash_dimensions) != len(self.hash_dimensions):
                raise InvalidSchemaError(
                    f"range partition {self._range_text(schema, span)} has "
                    f"{len(span.hash_dimensions)} hash dimensions where the table has "
                    f"{len(self.hash_dimensions)}",
                    hint="the number of hash dimensions must be the same in all ranges",
                )

    def _range_text(self, schema: Schema, span: RangePartition) -> str:
        return range_text(schema_columns(schema, self.range_column_ids), span.lower, span.upper)

    def to_json(self) -> dict[str, Any]:
        """The partition schema as plain JSON values."""
        return {
            "hash": [_hash_to_json(d) for d in self.hash_dimensions],
            "range_columns": list(self.range_column_ids),
            "ranges": [_range_to_json(span) for span in self.ranges],
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "PartitionSchema":
        """The inverse of `to_json`."""
        return cls(
            tuple(_hash_from_json(d) for d in value["hash"]),
            tuple(value["range_columns"]),
            tuple(_range_from_json(span) for span in value["ranges"]),
        )


def split_range(
    columns: Sequence[ColumnSchema], ranges: Sequence[RangePartition], row: Bound
) -> tuple[RangePartition, ...]:
    """Ranges with the one that a row lies in cut in two, the row the first of the upper part.

    `ranges`: that do not overlap; `row`: one cell for each column. Raises InvalidSchemaError: it
    lies in no range, or where one begins.
    """
    check_bound(columns, row)
    for index, span in enumerate(ranges):
        above = span.lower is None or span.lower < row
        if above and (span.upper is None or row < span.upper):
            parts = (replace(span, upper=row), replace(span, lower=row))
            return (*ranges[:index], *parts, *ranges[index + 1 :])
    raise InvalidSchemaError(
        f"split row {tuple_text(columns, row)} is the bound of a range partition, or outside all",
        hint="split rows are distinct and lie inside the bounds",
    )


def schema_columns(schema: Schema, column_ids: Iterable[int]) -> list[ColumnSchema]:
    """The columns of some ids, in that order."""
    return [schema.by_id[column_id] for column_id in column_ids]


def _lower_key(span: RangePartition) -> tuple[bool, Bound]:
    return span.lower is not None, span.lower or ()


def _check_hash(schema: Schema, dimensions: tuple[HashDimension, ...]) -> None:
    used: set[int] = set()
    for dimension in dimensions:
        if not dimension.column_ids:
            raise InvalidSchemaError("hash partition needs at least one column")
        _check_key_columns(schema, dimension.column_ids, "hash")
        names = ", ".join(c.name for c in schema_columns(schema, dimension.column_ids))
        if dimension.buckets < 2:
            raise InvalidSchemaError(
                f"HASH ({names}) needs at least 2 partitions, not {dimension.buckets}",
                hint="leave the clause out for one tablet",
            )
        if dimension.column_ids != tuple(sorted(set(dimension.column_ids))):
            raise InvalidSchemaError(
                f"columns of HASH ({names}) must be distinct and in the table's order"
            )
        twice = used.intersection(dimension.column_ids)
        if twice:
            raise InvalidSchemaError(
                f"column '{schema.by_id[min(twice)].name}' is in two hash dimensions"
            )
        used.update(dimension.column_ids)
        if not 0 <= dimension.seed < 1 << 32:
            raise InvalidSchemaError(f"hash seed {dimension.seed} is not a 32-bit number")


def _check_key_columns(schema: Schema, column_ids: tuple[int, ...], what: str) -> None:
    for column_id in column_ids:
        if column_id not in schema.key_ids:
            column = schema.by_id.get(column_id)
            name = column.name if column else f"#{column_id}"
            raise InvalidSchemaError(
                f"{what} partition column '{name}' is not part of the primary key",
                hint=f"use columns of the key: {', '.join(c.name for c in schema.key_columns)}",
            )


def _hash_to_json(dimension: HashDimension) -> dict[str, Any]:
    return {
        "columns": list(dimension.column_ids),
        "buckets": dimension.buckets,
        "seed": dimension.seed,
    }


def _hash_from_json(value: Mapping[str, Any]) -> HashDimension:
    return HashDimension(tuple(value["columns"]), value["buckets"], value["seed"])


def _range_to_json(span: RangePartition) -> dict[str, Any]:
    own = span.hash_dimensions
    return {
        "lower": None if span.lower is None else [cell_to_json(cell) for cell in span.lower],
        "upper": None if span.upper is None else [cell_to_json(cell) for cell in span.upper],
        "hash": None if own is None else [_hash_to_json(dimension) for dimension in own],
    }


def _range_from_json(value: Mapping[str, Any]) -> RangePartition:
    lower, upper, own = value["lower"], value["upper"], value["hash"]
    return RangePartition(
        None if lower is None else tuple(cell_from_json(cell) for cell in lower),
        None if upper is None else tuple(cell_from_json(cell) for cell in upper),
        None if own is None else tuple(_hash_from_json(dimension) for dimension in own),
    )
