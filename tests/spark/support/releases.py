"""What the release of PySpark at hand has, of what a test needs."""

import importlib.util
from importlib import import_module

import pytest

from benchmarks.spark.official import VERSION

HAS_PYSPARK = importlib.util.find_spec("pyspark") is not None


def needs(feature: str) -> pytest.MarkDecorator:
    """Skip a test where `compat` says that PySpark lacks a thing; not where there is no PySpark,
    which another line of the summary says.
    """
    lacks = HAS_PYSPARK and not getattr(import_module("aiokafka_lite.spark.compat"), feature)
    return pytest.mark.skipif(lacks, reason=f"this PySpark has none of compat.{feature}")


def fits_official() -> bool:
    """Whether the official connector's jars are those of this Spark."""
    return not HAS_PYSPARK or import_module("pyspark").__version__ == VERSION


needs_official = pytest.mark.skipif(
    not fits_official(), reason=f"the official connector is here for PySpark {VERSION}"
)
