"""The context of planning: what it reads of the database and the session."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.operands.bound_parameters import BoundParameters
from pykudu_sql.storage.catalog.catalog import Catalog
from pykudu_sql.storage.catalog.namespace import DEFAULT_DATABASE, ViewInfo
from pykudu_sql.storage.catalog.snapshots import NamedSnapshot
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound, Timestamp
from pykudu_sql.storage.errors import InternalError, ReadOnlyError

if TYPE_CHECKING:
    from pykudu_sql.planner.plan.frame_table import FrameTable
    from pykudu_sql.planner.plan.plan import Plan
    from pykudu_sql.planner.plan.prepared_plans import PreparedText


@dataclass(frozen=True, slots=True)
class PlanSettings:
    """The session's settings that change plans.

    Attributes:
        default_hash_partitions: buckets over the whole key for a CREATE TABLE without PARTITION
            BY; below 2 such a table has one tablet.
        implicit_primary_key: a CREATE TABLE without a key gets only the hidden counter.
        database: of names that have none.
        collects_row_errors: rows of a statement that do not fit are reported, by their keys.
        double_quoted_strings: whether `"x"` is a string.
        key_access: whether a statement about one row by its whole key does without the engine.
        as_of: the bound at which tables without their own AS OF are read; None is now.
    """

    default_hash_partitions: int = 0
    implicit_primary_key: bool = False
    as_of: SnapshotBound | None = None
    database: str = DEFAULT_DATABASE
    collects_row_errors: bool = False
    double_quoted_strings: bool = False
    key_access: bool = True


# Begins the names of relations that stand in the place of listings.
LISTED_PREFIX = "?"


@dataclass(frozen=True, slots=True)
class ListedRows:
    """What SHOW or the like listed: names and types of columns, rows of Python values."""

    names: Sequence[str]
    types: Sequence[str]
    rows: Sequence[Sequence[Any]]


def _no_frame(name: str) -> "FrameTable | None":
    return None


def _no_listing(plan: "Plan") -> ListedRows:
    raise InternalError("nothing is listed here")


@dataclass(frozen=True, slots=True)
class PlanContext:
    """The world a statement is planned in.

    Attributes:
        catalog: the tables now, names resolved in the session's database, as in `catalog_at`.
        catalog_at: the tables that a snapshot of a bound sees.
        now: the hybrid time of the statement.
        evaluate: runs a SELECT of one row without tables in the engine and returns its values
            as Python; raises a `DataError` or `ProgrammingError`.
        settings: the session's.
        snapshots: those that have a name, by it.
        trace: takes the name of each rewrite pass and what it changed, as lines; None in all but
            EXPLAIN (PASSES).
        prepared: the statements that the session keeps, by name.
        bound_parameters: values of the statement's parameters, if its plan is for these alone.
        folds_parameters: whether all of them become literals.
        list_rows: runs a statement that lists something.
        listed: the rows that this statement has listed, as views, by name.
        frames: those that the program has registered, by name in lower case.
        frame_in_scope: the frame that a variable of the program is, by a name as it is written;
            None where there is none, or the program did not permit it.
        cancel_check: raises an Error where planning should stop; see `planner.cancellation`.
    """

    catalog: Catalog
    catalog_at: Callable[[SnapshotBound], Catalog]
    now: Timestamp
    evaluate: Callable[[str], Sequence[Any]]
    settings: PlanSettings = field(default_factory=PlanSettings)
    snapshots: Mapping[str, NamedSnapshot] = field(default_factory=dict)
    trace: Callable[[str, Sequence[str]], None] | None = None
    prepared: "Mapping[str, PreparedText]" = field(default_factory=dict)
    bound_parameters: BoundParameters | None = None
    folds_parameters: bool = False
    list_rows: "Callable[[Plan], ListedRows]" = _no_listing
    listed: Mapping[str, ViewInfo] = field(default_factory=dict)
    frames: "Mapping[str, FrameTable]" = field(default_factory=dict)
    frame_in_scope: "Callable[[str], FrameTable | None]" = _no_frame
    cancel_check: Callable[[], None] = lambda: None

    def without_key_access(self) -> "PlanContext":
        """The same context for statements that must be planned as queries."""
        return replace(self, settings=replace(self.settings, key_access=False))

    @property
    def as_read(self) -> "PlanContext":
        """The same context for what tells of tables as they are read: those of `SET as_of`."""
        bound = self.settings.as_of
        return self if bound is None else replace(self, catalog=self.catalog_at(bound))

    def within(self, database: str, bound: SnapshotBound | None) -> "PlanContext":
        """The same world, seen from a database and, unless the bound is None, at a moment.

        Nobody's frames are seen there.
        """
        catalog_at = self.catalog_at
        return replace(
            self,
            catalog=self.catalog.in_database(database),
            catalog_at=lambda moment: catalog_at(moment).in_database(database),
            settings=replace(self.settings, database=database, as_of=bound),
            frames={},
            frame_in_scope=_no_frame,
        )


def check_writable(as_of: object) -> None:
    """Refuse to write while the session's tables are those of a past moment.

    `as_of`: the session's setting; None is now. Raises ReadOnlyError: it is set.
    """
    if as_of is not None:
        raise ReadOnlyError(
            "the session reads at a past moment and cannot write",
            hint="SET as_of = DEFAULT returns to the present",
        )
