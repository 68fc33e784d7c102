"""Requests say which partitions come, go and are acknowledged, by topic id."""

from uuid import UUID

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.share.held_records import AckBatch
from aiokafka_lite.share.share_config import ShareConsumerConfig
from aiokafka_lite.share.share_requests import ShareRequests, released
from aiokafka_lite.share.share_session import SessionChange

A, B = UUID(int=1), UUID(int=2)
IDS = {"a": A, "b": B}
BATCHES = {
    TopicPartition("a", 1): [
        AckBatch(5, bytearray([1, 1])),
        AckBatch(0, bytearray([1, 0, 2])),
    ]
}


def requests(**options: int | str) -> ShareRequests:
    return ShareRequests(ShareConsumerConfig(group_id="g", **options), "m")  # type: ignore[arg-type]


def test_a_fetch_adds_forgets_and_acknowledges() -> None:
    change = SessionChange(3, added=[(A, 0), (B, 0)], forgotten=[(B, 1), (B, 2)])
    request = requests(max_poll_records=7).fetch(change, BATCHES, IDS, waits=True)
    assert (request.group_id, request.member_id, request.share_session_epoch) == ("g", "m", 3)
    assert (request.max_records, request.batch_size, request.max_wait_ms) == (7, 7, 500)
    assert request.share_acquire_mode == 0
    told = {
        (topic.topic_id, partition.partition_index): [
            (each.first_offset, each.last_offset, each.acknowledge_types)
            for each in partition.acknowledgement_batches
        ]
        for topic in request.topics
        for partition in topic.partitions
    }
    assert told == {(A, 1): [(0, 2, [1, 0, 2]), (5, 6, [1])], (A, 0): [], (B, 0): []}
    assert [(each.topic_id, each.partitions) for each in request.forgotten_topics_data] == [
        (B, [1, 2])
    ]


def test_a_fetch_that_must_not_wait_and_is_limited() -> None:
    change = SessionChange(0, [], [])
    request = requests(share_acquire_mode="record_limit").fetch(change, {}, IDS, waits=False)
    assert (request.max_wait_ms, request.share_acquire_mode) == (0, 1)


def test_a_request_that_only_acknowledges() -> None:
    request = requests().acknowledge(4, BATCHES, IDS, is_renewal=True)
    assert (request.share_session_epoch, request.is_renew_ack) == (4, True)
    ((topic,),) = (request.topics,)
    assert topic.topic_id == A
    assert [each.partition_index for each in topic.partitions] == [1]


def test_what_nobody_has_seen_is_released() -> None:
    (batch,) = released([(3, 5)], 10.0)
    assert (batch.first, batch.last, batch.wire_types(), batch.by_user) == (3, 5, [2], False)
    assert batch.expires_at_s == 10.0


def test_a_fetch_may_ask_for_less_than_the_option_allows() -> None:
    change = SessionChange(3, added=[], forgotten=[])
    for most, asked in ((2, 2), (9, 7)):
        request = requests(max_poll_records=7).fetch(change, {}, IDS, waits=True, most=most)
        assert (request.max_records, request.batch_size) == (asked, asked)
