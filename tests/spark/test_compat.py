"""What a release of PySpark lacks has a stand-in."""

import importlib
import sys

import pytest

from tests.conftest import NO_SPARK

pytest.importorskip("pyspark", reason=NO_SPARK)

import pyspark.sql.datasource

from aiokafka_lite.spark import compat
from tests.spark.support.releases import needs


@needs("HAS_READ_LIMITS")
def test_what_pyspark_has_is_its_own() -> None:
    from pyspark.sql.streaming import datasource

    assert compat.ReadMaxRows is datasource.ReadMaxRows
    assert compat.SupportsTriggerAvailableNow is datasource.SupportsTriggerAvailableNow
    assert compat.StreamArrowWriter is pyspark.sql.datasource.DataSourceStreamArrowWriter


def test_older_releases_get_stand_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as older:
        older.setitem(sys.modules, "pyspark.sql.streaming.datasource", None)
        older.delattr(pyspark.sql.datasource, "DataSourceStreamArrowWriter", raising=False)
        old = importlib.reload(compat)
        assert old.StreamArrowWriter is None
        assert not old.HAS_READ_LIMITS
        assert isinstance(old.ReadAllAvailable(), old.ReadLimit)
        assert old.ReadMaxRows(5).max_rows == 5
        assert old.ReadMinRows(5).min_rows == 5
        assert issubclass(old.SupportsTriggerAvailableNow, object)
    importlib.reload(compat)
