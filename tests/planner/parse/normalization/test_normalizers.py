"""The table of all normalizers."""

from pykudu_sql.planner.parse.normalization.clause_normalizers import CLAUSE_NORMALIZERS
from pykudu_sql.planner.parse.normalization.expression_normalizers import EXPRESSION_NORMALIZERS
from pykudu_sql.planner.parse.normalization.normalizers import NORMALIZERS
from pykudu_sql.planner.parse.normalization.unit_normalizers import UNIT_NORMALIZERS


def test_a_kind_of_node_has_one_normalizer() -> None:
    tables = (CLAUSE_NORMALIZERS, EXPRESSION_NORMALIZERS, UNIT_NORMALIZERS)
    assert len(NORMALIZERS) == sum(map(len, tables))
