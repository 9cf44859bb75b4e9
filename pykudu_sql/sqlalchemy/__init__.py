"""The SQLAlchemy 2 dialect: `create_engine("pykudu:///my.db")`.

Lives above the face and uses nothing else of the house; SQLAlchemy is imported in this room only.
"""

from pykudu_sql.sqlalchemy.dialect import PykuduDialect
from pykudu_sql.sqlalchemy.upsert import Upsert, upsert

__all__ = ["PykuduDialect", "Upsert", "upsert"]
