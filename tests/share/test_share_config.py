"""Each wrong option is named, and so are those that only other consumers have."""

from typing import Any

import pytest

from aiokafka_lite.cluster.lane import Lane
from aiokafka_lite.consumer.assignors.round_robin import RoundRobinPartitionAssignor
from aiokafka_lite.consumer.consumer_config import ConsumerConfig
from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.protocol.frame import MAX_FRAME_BYTES
from aiokafka_lite.share.share_config import REFUSED, ShareConsumerConfig, refused
from aiokafka_lite.share.share_consumer import AIOKafkaShareConsumer


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, "group_id='' names no share group"),
        ({"group_id": 5}, "group_id=5 names no share group"),
        ({"share_acknowledgement_mode": "auto"}, "share_acknowledgement_mode='auto' is not known"),
        ({"share_acquire_mode": "all"}, "share_acquire_mode='all' is not known"),
        ({"max_poll_records": 0}, "max_poll_records=0 is below its minimum of 1"),
        ({"client_rack": 5}, "client_rack=5 is of type int; set it to a str or None"),
        ({"allow_auto_create_topics": "no"}, "allow_auto_create_topics='no' is not known"),
        ({"max_poll_interval_ms": 0}, "max_poll_interval_ms=0 is below its minimum of 1"),
        ({"fetch_max_wait_ms": 40_000}, "fetch_max_wait_ms=40000 exceeds request_timeout_ms=30000"),
        ({"value_deserializer": 5}, "value_deserializer=5 is of type int"),
    ],
)
def test_a_wrong_option_is_named(options: dict[str, Any], text: str) -> None:
    with pytest.raises(KafkaConfigurationError) as refusal:
        ShareConsumerConfig(**{"group_id": "g", **options} if options else {})
    assert text in str(refusal.value)


def test_the_modes() -> None:
    default = ShareConsumerConfig(group_id="g")
    assert not default.is_explicit
    assert not default.is_limited
    other = ShareConsumerConfig(
        group_id="g", share_acknowledgement_mode="explicit", share_acquire_mode="record_limit"
    )
    assert other.is_explicit
    assert other.is_limited


def test_only_an_answer_to_a_fetch_may_be_larger() -> None:
    config = ShareConsumerConfig(group_id="g", fetch_max_bytes=1000)
    assert config.max_answer_bytes(Lane.GENERAL) == MAX_FRAME_BYTES
    assert config.max_answer_bytes(Lane.FETCH) == MAX_FRAME_BYTES + 1000


def test_each_option_of_other_consumers_is_refused_with_a_sentence() -> None:
    found = refused(dict.fromkeys(REFUSED, "chosen"))
    assert len(found) == len(REFUSED)
    assert (
        "auto_offset_reset is no option of a share consumer: the group's config "
        "share.auto.offset.reset decides where it starts; leave it out"
    ) in found
    assert refused({"group_id": "g"}) == []


def test_a_default_of_other_consumers_may_be_handed_on() -> None:
    """A framework has one set of options for all consumers."""
    defaults = {name: getattr(ConsumerConfig(), name) for name in REFUSED}
    aiokafkas = {
        "session_timeout_ms": 10_000,
        "enable_auto_commit": True,
        "partition_assignment_strategy": (RoundRobinPartitionAssignor,),
    }
    for options in (defaults, defaults | aiokafkas):
        AIOKafkaShareConsumer("t", group_id="g", **options)
