"""The settings of a share group: its own ones first, and ages in ISO 8601."""

import pytest

from aiokafka_lite.testing.broker.state.broker_options import BrokerOptions
from aiokafka_lite.testing.broker.state.groups.share_settings import share_settings


def test_the_settings_of_the_group_go_before_those_of_the_brokers() -> None:
    options = BrokerOptions(
        group_share_record_lock_duration_ms=1,
        group_share_delivery_count_limit=2,
        group_share_partition_max_record_locks=3,
    )
    found = share_settings({}, options)
    assert (found.lock_duration_ms, found.delivery_count_limit, found.max_record_locks) == (1, 2, 3)
    assert (found.reads_committed, found.may_renew, found.reset) == (False, True, "latest")
    own = {
        "share.record.lock.duration.ms": "15000",
        "share.delivery.count.limit": "10",
        "share.partition.max.record.locks": "100",
        "share.isolation.level": "read_committed",
        "share.renew.acknowledge.enable": "false",
        "share.auto.offset.reset": "earliest",
    }
    found = share_settings(own, options)
    assert (found.lock_duration_ms, found.delivery_count_limit) == (15_000, 10)
    assert (found.max_record_locks, found.reads_committed) == (100, True)
    assert (found.may_renew, found.reset) == (False, "earliest")


def test_settings_are_read_as_kafka_reads_them() -> None:
    """Without spaces at the ends, and a truth in any letters."""
    own = {
        "share.record.lock.duration.ms": " 15000 ",
        "share.isolation.level": " read_committed ",
        "share.renew.acknowledge.enable": " False ",
        "share.auto.offset.reset": " earliest ",
    }
    found = share_settings(own, BrokerOptions())
    assert (found.lock_duration_ms, found.reads_committed) == (15_000, True)
    assert (found.may_renew, found.reset) == (False, "earliest")


@pytest.mark.parametrize(
    ("text", "seconds"), [("P1D", 86_400), ("PT1H2M3.5S", 3723.5), ("P1DT1S", 86_401)]
)
def test_the_age_of_the_first_record_is_a_duration(text: str, seconds: float) -> None:
    of_group = {"share.auto.offset.reset": f"by_duration:{text}"}
    assert share_settings(of_group, BrokerOptions()).reset_age_s() == seconds
