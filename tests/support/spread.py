"""Spreads the suite over processes, by file. All tests that kill nodes go to the same process."""

from typing import Final

from xdist.scheduler import LoadScopeScheduling

_FILES: Final = (
    "tests/integration/test_admin_faults.py",
    "tests/integration/test_group_faults.py",
    "tests/integration/test_leaders_and_replicas.py",
    "tests/integration/test_producer_faults.py",
    "tests/testing/test_apache_kafka.py",
)
OWN_CLUSTERS: Final = "clusters of their own"
"""The group of the files that start clusters of several nodes, kill nodes, and wait. They run one
after the other and begin first. While they wait, other processes use the processor."""

ONE_SESSION: Final = "one session of Spark"
"""The group of the tests with Spark. A session takes seconds to start, and a gigabyte."""
_WITH_SPARK: Final = "tests/spark/"

ONE_SECURED_KAFKA: Final = "one secured Kafka"
"""The group of the tests with all listeners: one broker for each release has them."""
_SECURED: Final = "tests/security/"
USERS_OF_ADMIN: Final = "users that an admin changes"
"""The group of the admin client's tests with users: one secured broker of their own has them."""
_USERS: Final = "tests/admin/security/"


def group_of(nodeid: str) -> str:
    """Return the name of the group of tests that runs in one process, in order."""
    path = nodeid.partition("::")[0]
    if path.startswith(_WITH_SPARK):
        return ONE_SESSION
    if path.startswith(_SECURED):
        return ONE_SECURED_KAFKA
    if path.startswith(_USERS):
        return USERS_OF_ADMIN
    return OWN_CLUSTERS if path in _FILES else path


class SpreadByFile(LoadScopeScheduling):  # type: ignore[misc]  # it has no types
    """Gives the next file to a free process. (pytest 9.2 does not support xdist's own groups.)"""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)
