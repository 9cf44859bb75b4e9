"""A table at one moment: its columns, tablets, properties and constraints."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.cached_property import cached_property
from pykudu_sql.storage.common.types.identifiers import check_comment, check_identifier
from pykudu_sql.storage.common.types.schema import Schema
from pykudu_sql.storage.common.types.table_properties import Properties, check_properties

if TYPE_CHECKING:
    from pykudu_sql.storage.catalog.check_constraint import CheckConstraint
    from pykudu_sql.storage.common.keys.key_encoder import KeyEncoder
    from pykudu_sql.storage.common.partition.partition import Partition, PartitionSchema
    from pykudu_sql.storage.common.partition.partition_assigner import PartitionAssigner
    from pykudu_sql.storage.common.partition.partition_pruner import PartitionPruner


@dataclass(frozen=True, slots=True)
class TabletInfo:
    """One tablet of a table: its UUID and the part of the key space it holds."""

    id: str
    partition: "Partition"


@dataclass(frozen=True)
class TableInfo:
    """A table at one moment.

    Attributes:
        id: a UUID that a rename keeps.
        name: lower case, perhaps `database.table`.
        schema: the columns of that moment.
        partition_schema: how rows map to tablets.
        tablets: in the order of `partition_schema.partitions()`.
        properties: see `table_properties`; not to be changed in place.
        checks: that every row written from this moment on passes.
    """

    id: str
    name: str
    schema: Schema
    partition_schema: "PartitionSchema"
    tablets: tuple[TabletInfo, ...]
    comment: str = ""
    properties: Properties = field(default_factory=dict)
    checks: "tuple[CheckConstraint, ...]" = ()

    @cached_property
    def assigner(self) -> "PartitionAssigner":
        """Maps rows to indices into `tablets`."""
        from pykudu_sql.storage.common.partition.partition_assigner import PartitionAssigner

        return PartitionAssigner(self.schema, self.partition_schema)

    @cached_property
    def pruner(self) -> "PartitionPruner":
        """Tells which of `tablets` a predicate needs."""
        from pykudu_sql.storage.common.partition.partition_pruner import PartitionPruner

        return PartitionPruner(self.schema, self.partition_schema)

    @cached_property
    def key_encoder(self) -> "KeyEncoder":
        """Encodes primary keys."""
        from pykudu_sql.storage.common.keys.key_encoder import KeyEncoder

        return KeyEncoder(self.schema.key_columns)

    def to_json(self) -> dict[str, Any]:
        """The table as plain JSON values."""
        return {
            "id": self.id,
            "name": self.name,
            "schema": self.schema.to_json(),
            "partition_schema": self.partition_schema.to_json(),
            "tablets": [tablet.id for tablet in self.tablets],
            "comment": self.comment,
            "properties": dict(self.properties),
            "checks": [check.to_json() for check in self.checks],
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "TableInfo":
        """The inverse of `to_json`."""
        from pykudu_sql.storage.common.partition.partition import PartitionSchema

        partition_schema = PartitionSchema.from_json(value["partition_schema"])
        # Before there are as many partitions as the bucket numbers multiply to.
        if partition_schema.offsets[-1] != len(value["tablets"]):
            raise ValueError(f"{len(value['tablets'])} tablets do not fit the partitions")
        pairs = zip(value["tablets"], partition_schema.partitions(), strict=True)
        return cls(
            id=value["id"],
            name=value["name"],
            schema=Schema.from_json(value["schema"]),
            partition_schema=partition_schema,
            tablets=tuple(TabletInfo(tablet_id, partition) for tablet_id, partition in pairs),
            comment=value["comment"],
            properties=MappingProxyType(dict(value.get("properties", {}))),
            checks=_checks_of(value.get("checks", ())),
        )


def _checks_of(values: Sequence[Mapping[str, Any]]) -> "tuple[CheckConstraint, ...]":
    """The constraints of a table, which few tables have."""
    if not values:
        return ()
    from pykudu_sql.storage.catalog.check_constraint import CheckConstraint

    return tuple(map(CheckConstraint.from_json, values))


def new_table(
    name: str,
    schema: Schema,
    partition_schema: "PartitionSchema",
    comment: str,
    properties: Properties,
    checks: "tuple[CheckConstraint, ...]" = (),
) -> TableInfo:
    """A table that has not been there before, with ids of its own.

    Raises InvalidSchemaError: name, comment, encoding, partition schema or property breaks a rule.
    """
    from pykudu_sql.storage.cfile.encoding.type_encodings import resolve_encoding

    check_identifier(name, "table")
    check_comment(comment, f"table '{name}'")
    check_properties(properties)
    for column in schema.columns:
        resolve_encoding(column.type, column.encoding)
    partition_schema.validate(schema)
    tablets = tuple(TabletInfo(str(uuid.uuid4()), p) for p in partition_schema.partitions())
    return TableInfo(
        str(uuid.uuid4()), name, schema, partition_schema, tablets, comment, properties, checks
    )
