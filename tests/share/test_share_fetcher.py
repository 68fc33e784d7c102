"""A session per node carries fetches and acknowledgements; when it is lost, a new one begins."""

import asyncio

import pytest

from aiokafka_lite import AIOKafkaProducer
from aiokafka_lite.errors import (
    BrokerResponseError,
    ConsumerStoppedError,
    CorruptRecordException,
    GroupAuthorizationFailedError,
    InvalidRecordStateError,
    InvalidShareSessionEpochError,
    KafkaTimeoutError,
    NotLeaderForPartitionError,
    ShareSessionLimitReachedError,
    ShareSessionNotFoundError,
    TopicAuthorizationFailedError,
    UnsupportedVersionError,
)
from aiokafka_lite.model import AcknowledgeType, TopicPartition
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.protocol.messages.share_acknowledge import ShareAcknowledgeRequest
from aiokafka_lite.protocol.messages.share_fetch import ShareFetchRequest
from aiokafka_lite.share.share_answers import RECOVERING
from tests.share.share_kafka import GROUP, TOPIC, TP, ShareKafka, read, run_share, seen


def test_acknowledgements_travel_with_the_next_fetch() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.consumer() as consumer:
            await read(consumer)
            share.broker.forget_requests()
            await read(consumer, 100)
            assert not share.broker.requests_of(ShareAcknowledgeRequest)
            (fetch, *_) = share.broker.requests_of(ShareFetchRequest)
            ((partition,),) = [topic.partitions for topic in fetch.topics]
            (batch,) = partition.acknowledgement_batches
            assert (batch.first_offset, batch.last_offset) == (0, 1)
            assert batch.acknowledge_types == [AcknowledgeType.ACCEPT]

    run_share(main, "a", "b", together=True)


def test_nothing_is_fetched_that_no_poll_wants() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.consumer() as consumer:
            await asyncio.sleep(60)
            assert not share.broker.requests_of(ShareFetchRequest)
            await read(consumer)
            share.broker.forget_requests()
            await asyncio.sleep(60)
            assert not share.broker.requests_of(ShareFetchRequest)

    run_share(main, "a")


def test_a_topic_that_is_deleted_does_not_hold_the_others_up() -> None:
    async def main(share: ShareKafka) -> None:
        share.broker.create_topic("other", 1)
        async with share.consumer(TOPIC, "other") as consumer:
            assert seen(await read(consumer)) == [("a", 1)]
            share.broker.delete_topic("other")
            await share.write("b")
            began_s = share.clock.monotonic()
            assert seen(await read(consumer)) == [("b", 1)]
            assert share.clock.monotonic() - began_s < 1
            assert await consumer.commit() == {TP: None}

    run_share(main, "a")


def test_what_is_held_of_a_topic_that_is_created_again_accepts_nothing_of_the_new_one() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.explicit(allow_auto_create_topics=False) as consumer:
            (old,) = await read(consumer)
            share.broker.delete_topic(TOPIC)
            await asyncio.sleep(1)
            share.broker.create_topic(TOPIC, 1)
            await share.write("new")
            await asyncio.sleep(10)
            consumer.acknowledge(old)
            assert isinstance((await consumer.commit())[TP], InvalidRecordStateError)
            assert seen(await read(consumer)) == [("new", 1)]

    run_share(main, "old")


@pytest.mark.parametrize("error", [ShareSessionNotFoundError, InvalidShareSessionEpochError])
def test_a_lost_session_is_opened_again_and_acknowledgements_are_sent_once_more(
    error: type[BrokerResponseError],
) -> None:
    async def main(share: ShareKafka) -> None:
        async with share.explicit() as consumer:
            (record,) = await read(consumer)
            share.broker.faults.fail(ShareAcknowledgeRequest, error, times=1)
            consumer.acknowledge(record)
            assert await consumer.commit() == {TP: None}
            await share.write("b")
            assert seen(await read(consumer)) == [("b", 1)]

    run_share(main, "a")


def test_acknowledgements_that_are_refused_twice_are_told() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.explicit() as consumer:
            (record,) = await read(consumer)
            share.broker.faults.fail(ShareAcknowledgeRequest, ShareSessionNotFoundError, times=2)
            consumer.acknowledge(record)
            outcome = await consumer.commit()
            assert isinstance(outcome[TP], ShareSessionNotFoundError)

    run_share(main, "a")


def test_records_of_a_session_that_the_broker_has_ended_come_again() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.explicit() as consumer:
            (record,) = await read(consumer)
            share.broker.end_share_sessions(GROUP)
            consumer.acknowledge(record)
            outcome = await consumer.commit()
            assert isinstance(outcome[TP], InvalidRecordStateError)
            assert seen(await read(consumer)) == [("a", 2)]

    run_share(main, "a")


def test_a_late_acknowledgement_is_told() -> None:
    async def main(share: ShareKafka) -> None:
        told: list[object] = []
        async with share.explicit() as consumer:
            consumer.set_acknowledgement_commit_callback(lambda *each: told.append(each))
            (record,) = await read(consumer)
            share.broker.expire_share_locks(GROUP)
            consumer.acknowledge(record)
            error = (await consumer.commit())[TP]
            assert isinstance(error, InvalidRecordStateError)
            assert told == [({TP: {0}}, error)]
            assert seen(await read(consumer)) == [("a", 2)]

    run_share(main, "a")


def test_too_many_sessions_are_waited_for() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.consumer() as consumer:
            share.broker.faults.fail(ShareFetchRequest, ShareSessionLimitReachedError, times=3)
            assert seen(await read(consumer)) == [("a", 1)]

    run_share(main, "a")


def test_a_refusal_for_good_is_raised() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.consumer() as consumer:
            share.broker.faults.fail(ShareFetchRequest, GroupAuthorizationFailedError, times=1)
            with pytest.raises(GroupAuthorizationFailedError):
                await read(consumer)
            assert seen(await read(consumer)) == [("a", 1)]

    run_share(main, "a")


@pytest.mark.parametrize("error", [TopicAuthorizationFailedError, CorruptRecordException])
def test_what_no_other_request_mends_is_raised(error: type[BrokerResponseError]) -> None:
    """CORRUPT_MESSAGE is retriable by its class, and a leader finds the same bytes again."""

    async def main(share: ShareKafka) -> None:
        async with share.consumer() as consumer:
            share.broker.faults.fail(ShareFetchRequest, error, topic_partition=TP)
            with pytest.raises(error, match="t-0"):
                await read(consumer)
            assert seen(await read(consumer)) == [("a", 1)]

    run_share(main, "a")


def test_a_request_without_an_answer_fails_what_it_carried() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.explicit() as consumer:
            (record,) = await read(consumer)
            share.broker.faults.cut(ShareAcknowledgeRequest, times=1)
            consumer.acknowledge(record)
            error = (await consumer.commit())[TP]
            assert error is not None
            assert error.retriable
            await share.write("b")
            found: list[tuple[str, int]] = []
            while ("b", 1) not in found:
                records = await read(consumer)
                for each in records:
                    consumer.acknowledge(each)
                found += seen(records)

    run_share(main, "a")


def test_renewed_records_come_again_before_others() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.explicit() as consumer:
            first, second = await read(consumer)
            consumer.acknowledge(first, AcknowledgeType.RENEW)
            consumer.acknowledge(second)
            await share.write("c")
            await asyncio.sleep(20)
            again = await read(consumer)
            assert again == [first]
            await asyncio.sleep(20)  # beyond the first lock
            consumer.acknowledge(first)
            assert seen(await read(consumer)) == [("c", 1)]

    run_share(main, "a", "b", together=True)


def test_brokers_that_cannot_renew_are_told_of() -> None:
    async def main(share: ShareKafka) -> None:
        old = {"ShareAcknowledge": 1, "ShareFetch": 1}
        async with share.explicit(max_api_versions=old) as consumer:
            (record,) = await read(consumer)
            consumer.acknowledge(record, AcknowledgeType.RENEW)
            error = (await consumer.commit())[TP]
            assert isinstance(error, UnsupportedVersionError)
            assert "cannot renew the lock" in str(error)

    run_share(main, "a")


def test_what_arrives_after_unsubscribing_is_given_back() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.consumer() as first, share.consumer() as second:
            waiting = asyncio.create_task(first.getmany(300))
            await asyncio.sleep(0.1)
            first.unsubscribe()
            await share.write("a")
            assert await waiting == {}
            assert [value for value, _ in seen(await read(second))] == ["a"]

    run_share(main)


def test_partitions_on_several_nodes() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.consumer() as consumer:
            expected = {TopicPartition(TOPIC, partition) for partition in range(6)}
            async with AIOKafkaProducer(**share.kafka.client_options) as producer:
                for tp in expected:
                    await producer.send(TOPIC, b"v", partition=tp.partition)
            found: set[TopicPartition] = set()
            while found != expected:
                found |= (await consumer.getmany(5_000)).keys()
            assert all(error is None for error in (await consumer.commit()).values())

    run_share(main, nodes=3, num_partitions=6)


def test_records_that_arrive_when_their_locks_have_ended_are_not_returned() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.consumer(request_timeout_ms=90_000) as late, share.consumer() as other:
            share.broker.faults.delay(ShareFetchRequest, 40)
            waiting = asyncio.create_task(late.getmany(60_000))
            await share.broker.wait_until(lambda: bool(share.broker.requests_of(ShareFetchRequest)))
            assert seen(await read(other, 39_000)) == [("a", 2)]
            await other.commit()
            assert await waiting == {}

    run_share(main, "a")


@pytest.mark.parametrize("error", RECOVERING)
def test_a_leader_that_reads_the_groups_state_anew_is_asked_again(
    error: type[BrokerResponseError],
) -> None:
    async def main(share: ShareKafka) -> None:
        async with share.consumer() as consumer:
            share.broker.faults.fail(ShareFetchRequest, error, times=5, topic_partition=TP)
            assert seen(await read(consumer)) == [("a", 1)]

    run_share(main, "a")


def test_a_leader_that_has_moved_is_asked_at_once_by_the_hint_of_the_former_one() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.consumer() as consumer:
            assert seen(await read(consumer)) == [("a", 1)]
            await consumer.commit()
            await share.write("b")
            share.broker.move_leader(TP, 2)
            share.broker.forget_requests()
            share.broker.faults.stall(MetadataRequest, times=None)
            began_s = share.clock.monotonic()
            assert seen(await read(consumer)) == [("b", 1)]
            assert share.clock.monotonic() - began_s < 0.05
            assert not share.broker.requests_of(MetadataRequest)
            share.broker.faults.clear()

    run_share(main, "a", nodes=2)


def test_an_acknowledgement_to_a_former_leader_tells_the_new_one() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.explicit() as consumer:
            (record,) = await read(consumer)
            share.broker.move_leader(TP, 2)
            share.broker.faults.stall(MetadataRequest, times=None)
            consumer.acknowledge(record)
            outcome = await consumer.commit()
            assert isinstance(outcome[TP], NotLeaderForPartitionError)
            share.broker.forget_requests()
            assert seen(await read(consumer)) == [("a", 1)]
            asked = {
                each.node_id
                for each in share.broker.requests
                if isinstance(each.request, ShareFetchRequest)
            }
            assert asked == {2}
            share.broker.faults.clear()

    run_share(main, "a", nodes=2)


def test_what_nobody_has_answered_at_the_end_is_told() -> None:
    async def main(share: ShareKafka) -> None:
        told: list[object] = []
        async with share.explicit(stop_timeout_ms=2_000) as consumer:
            consumer.set_acknowledgement_commit_callback(
                lambda places, error: told.append((places, type(error)))
            )
            (record,) = await read(consumer)
            share.broker.faults.drop(ShareAcknowledgeRequest)
            consumer.acknowledge(record)
            committing = asyncio.create_task(consumer.commit())
            await asyncio.sleep(0.1)
            await consumer.stop()
            with pytest.raises(ConsumerStoppedError):
                await committing
        assert told == [({TP: {0}}, KafkaTimeoutError)]

    run_share(main, "a")
