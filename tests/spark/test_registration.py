"""Registering says what is missing where PySpark is."""

import importlib.util
import sys

import pytest

import aiokafka_lite.spark
from aiokafka_lite.spark.registration import register


def test_the_door_offers_registering_and_loads_nothing_heavy() -> None:
    assert aiokafka_lite.spark.__all__ == ["register"]
    assert aiokafka_lite.spark.register is register


def test_without_pyspark_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "aiokafka_lite.spark.source", raising=False)
    monkeypatch.setitem(sys.modules, "pyspark.sql.datasource", None)
    monkeypatch.delitem(sys.modules, "aiokafka_lite.spark.compat", raising=False)
    if importlib.util.find_spec("pyspark") is None:
        monkeypatch.delitem(sys.modules, "pyspark.sql.datasource")
    with pytest.raises(ImportError, match=r"pip install 'aiokafka-lite\[spark\]'"):
        register(object())  # it does not come so far
