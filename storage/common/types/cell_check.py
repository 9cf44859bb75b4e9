"""Whether a cell read from disk is one that its column's type can hold."""

from pykudu_sql.storage.common.types.types import Cell, DataType, Kind


def is_cell_of(cell: Cell, column_type: DataType) -> bool:
    """Whether a cell is NULL or a stored value of the type, range included."""
    if cell is None:
        return True
    if column_type.is_text:
        return isinstance(cell, str)
    if column_type.kind is Kind.BINARY:
        return isinstance(cell, bytes)
    limits = column_type.integer_range
    if limits is not None:
        return type(cell) is int and limits[0] <= cell <= limits[1]
    return isinstance(cell, bool if column_type.kind is Kind.BOOL else float)
