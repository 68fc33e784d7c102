"""`-m "not real_kafka"` leaves out every test that starts a real Apache Kafka, and no other."""

import re
import subprocess
import sys

import pytest

from aiokafka_lite.errors import UnsupportedVersionError
from aiokafka_lite.testing.apache_kafka import DEFAULT_VERSION
from tests.conftest import require_kafka
from tests.support import real_kafka
from tests.support.documents import ROOT

ALWAYS_REAL = "tests/testing/broker/apache/test_telemetry_agrees_with_apache.py"
EACH_WAY = (
    "tests/cluster/test_guest_connections.py",  # any_kafka
    "tests/compat/test_rolling_upgrade.py",  # apache_kafka
    "tests/admin/transactions/test_admin_transaction_calls.py",  # parameters of its own
    "tests/admin/security/test_quota_calls.py",  # a fixture that another one asks for
    "tests/testing/broker/apache/test_transactions_agree_with_apache.py",  # kinds of brokers
    ALWAYS_REAL,
)
"""Files that start one, by all the ways in which a test gets one."""
RELEASE = re.compile(r"\b\d[.]\d[.]\d\b")
"""What the id of a test has that runs on several brokers, where its broker is a real one."""


def chosen(marker: str) -> set[str]:
    """Return the ids that `-m` leaves of these files."""
    command = (sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider")
    done = subprocess.run(
        [*command, "-m", marker, *EACH_WAY], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return {line for line in done.stdout.splitlines() if "::" in line}


def test_what_starts_a_real_kafka_is_left_out() -> None:
    left = chosen("not real_kafka")
    assert not [name for name in left if RELEASE.search(name) or ALWAYS_REAL in name]
    assert {name for name in left if "embedded" in name}


def test_what_runs_on_the_embedded_broker_is_not_real() -> None:
    real = chosen("real_kafka")
    assert not [name for name in real if "embedded" in name]
    assert {name.partition("::")[0] for name in real} == set(EACH_WAY)


def test_a_test_without_the_marker_gets_no_real_kafka() -> None:
    """So none that starts one in a new way is left without it."""
    with pytest.raises(pytest.fail.Exception, match="has no marker real_kafka"):
        require_kafka(DEFAULT_VERSION)


@pytest.mark.parametrize(
    ("error", "version", "skips"),
    [
        (UnsupportedVersionError("Fetch needs Kafka 2.5 (KIP-1)"), "2.1.0", True),
        (UnsupportedVersionError("Fetch needs Kafka 2.5 (KIP-1)"), "2.5.1", False),
        (UnsupportedVersionError("Fetch needs Kafka 3.3 with KRaft"), "3.9.2", False),
        (UnsupportedVersionError("Fetch needs Kafka 2.7 with KRaft"), "2.8.2", True),
        (UnsupportedVersionError("Fetch needs Kafka 2.7, or 3.5 with KRaft"), "3.3.2", True),
        (UnsupportedVersionError("Fetch needs Kafka 2.7, or 3.5 with KRaft"), "2.8.2", False),
        (ExceptionGroup("", [UnsupportedVersionError("they need Kafka 4.1")]), "4.0.0", True),
        (UnsupportedVersionError("the versions differ"), "2.1.0", False),
        (AssertionError("needs Kafka 2.5"), "2.1.0", False),
        (UnsupportedVersionError("Fetch needs Kafka 2.5 (KIP-1)"), None, False),
    ],
)
def test_only_what_the_client_calls_newer_is_lacking(
    error: Exception, version: str | None, skips: bool
) -> None:
    assert (real_kafka.lacking(error, version) is not None) is skips
