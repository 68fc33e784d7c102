"""Spreads the suite over processes, by file. Tests that hurt clusters all go to the same one."""

from typing import Final

from xdist.scheduler import LoadScopeScheduling

_FILES: Final = (
    "tests/integration/test_group_faults.py",
    "tests/integration/test_leaders_and_replicas.py",
    "tests/integration/test_producer_faults.py",
    "tests/testing/test_apache_kafka.py",
)
OWN_CLUSTERS: Final = "clusters of their own"
"""The group of the files that start clusters of several nodes, hurt them, and wait: one after the
other, first of all, while other processes use the processor."""

ONE_SESSION: Final = "one session of Spark"
"""The group of the tests with Spark, whose session takes seconds to start, and a gigabyte."""
_WITH_SPARK: Final = "tests/spark/"


def group_of(nodeid: str) -> str:
    """Return the name of the group of tests that runs in one process, in order."""
    path = nodeid.partition("::")[0]
    if path.startswith(_WITH_SPARK):
        return ONE_SESSION
    return OWN_CLUSTERS if path in _FILES else path


class SpreadByFile(LoadScopeScheduling):  # type: ignore[misc]  # it has no types
    """Gives the next file to a free process. (pytest 9.2 does not know xdist's own groups.)"""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)
