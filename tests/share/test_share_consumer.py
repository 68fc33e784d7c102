"""The public calls of a share consumer: what they take, return and refuse."""

import asyncio
import pickle

import pytest

from aiokafka_lite import AcknowledgeType, AIOKafkaShareConsumer
from aiokafka_lite.errors import (
    ConsumerStoppedError,
    IllegalStateError,
    InvalidTopicError,
    KafkaConfigurationError,
)
from tests.share.share_kafka import TOPIC, TP, ShareKafka, read, run_share, seen


def test_options_of_other_consumers_are_refused_by_name() -> None:
    with pytest.raises(KafkaConfigurationError) as refusal:
        AIOKafkaShareConsumer(
            "t",
            group_id="g",
            auto_offset_reset="earliest",  # type: ignore[call-arg]
            group_instance_id="me",
        )
    assert "auto_offset_reset is no option of a share consumer" in str(refusal.value)
    assert "group_instance_id is no option of a share consumer" in str(refusal.value)


def test_an_unknown_option_names_the_one_that_was_meant() -> None:
    with pytest.raises(TypeError, match="did you mean 'share_acquire_mode'"):
        AIOKafkaShareConsumer("t", group_id="g", acquire_mode="x")  # type: ignore[call-arg]


def test_topics_are_checked() -> None:
    consumer = AIOKafkaShareConsumer(group_id="g")
    with pytest.raises(TypeError, match="needs topics"):
        consumer.subscribe([])
    with pytest.raises(TypeError, match="list of strings"):
        consumer.subscribe("t")
    with pytest.raises(InvalidTopicError):
        consumer.subscribe(["no topic"])
    consumer.subscribe(["a", "b"])
    assert consumer.subscription() == {"a", "b"}


def test_it_says_what_it_is_and_cannot_be_pickled() -> None:
    consumer = AIOKafkaShareConsumer("t", group_id="g", client_id="me")
    assert repr(consumer) == "<AIOKafkaShareConsumer client_id='me' not started>"
    assert consumer.kafka_client is None
    assert consumer.acquisition_lock_timeout_ms() is None
    with pytest.raises(TypeError):
        pickle.dumps(consumer)


async def test_before_the_start_nothing_can_be_read() -> None:
    consumer = AIOKafkaShareConsumer("t", group_id="g")
    for call in (consumer.getmany, consumer.getone, consumer.commit):
        with pytest.raises(IllegalStateError, match="await its start"):
            await call()
    await consumer.stop()
    with pytest.raises(ConsumerStoppedError):
        await consumer.getmany()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [((-1, None), "timeout_ms=-1"), ((0, 0), "max_records=0"), ((0, "1"), "max_records='1'")],
)
def test_arguments_are_checked(arguments: tuple[float, int], text: str) -> None:
    async def main(share: ShareKafka) -> None:
        async with share.consumer() as consumer:
            with pytest.raises(ValueError, match=text):
                await consumer.getmany(*arguments)

    run_share(main)


def test_in_implicit_mode_records_are_not_acknowledged_one_by_one() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.consumer() as consumer:
            (record,) = await read(consumer)
            with pytest.raises(IllegalStateError, match="share_acknowledgement_mode='explicit'"):
                consumer.acknowledge(record)

    run_share(main, "a")


def test_a_type_that_does_not_exist() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.explicit() as consumer:
            (record,) = await read(consumer)
            with pytest.raises(ValueError, match="9 is not a valid AcknowledgeType"):
                consumer.acknowledge(record, 9)  # type: ignore[arg-type]
            consumer.acknowledge(record, AcknowledgeType.REJECT)

    run_share(main, "a")


def test_commit_accepts_what_was_returned() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.consumer() as consumer:
            assert await consumer.commit() == {}
            assert seen(await read(consumer)) == [("a", 1)]
            assert await consumer.commit() == {TP: None}
            assert await consumer.commit() == {}
            assert consumer.acquisition_lock_timeout_ms() == 30_000

    run_share(main, "a")


def test_stop_sends_what_was_acknowledged_and_releases_the_rest_at_once() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.explicit() as consumer:
            first, second, third, *_ = await read(consumer)
            consumer.acknowledge(first)
            consumer.acknowledge(second, AcknowledgeType.REJECT)
            consumer.acknowledge(third, AcknowledgeType.RENEW)
        began_s = share.clock.monotonic()
        async with share.consumer() as other:
            assert seen(await read(other)) == [("c", 2), ("d", 2)]
        assert share.clock.monotonic() - began_s < 5

    run_share(main, "a", "b", "c", "d", together=True)


def test_stop_ends_calls_that_wait() -> None:
    async def main(share: ShareKafka) -> None:
        consumer = share.consumer()
        await consumer.start()
        waiting = asyncio.create_task(consumer.getone())
        await asyncio.sleep(0.1)
        began_s = share.clock.monotonic()
        await consumer.stop()
        assert share.clock.monotonic() - began_s < 1
        with pytest.raises(ConsumerStoppedError):
            await waiting
        with pytest.raises(ConsumerStoppedError):
            consumer.__aiter__()

    run_share(main)


def test_an_iteration_ends_when_the_consumer_stops() -> None:
    async def main(share: ShareKafka) -> None:
        consumer = share.consumer()
        await consumer.start()
        found: list[bytes | None] = []

        async def iterate() -> None:
            async for record in consumer:
                found.append(record.value)

        iteration = asyncio.create_task(iterate())
        await asyncio.sleep(1)
        await consumer.stop()
        await iteration
        assert found == [b"a"]

    run_share(main, "a")


def test_a_callback_that_fails_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def main(share: ShareKafka) -> None:
        async with share.consumer() as consumer:

            def fail(*_: object) -> None:
                raise OSError("no disk")

            consumer.set_acknowledgement_commit_callback(fail)
            await read(consumer)
            assert await consumer.commit() == {TP: None}
            assert "no disk" in caplog.text
            consumer.set_acknowledgement_commit_callback(None)

    run_share(main, "a")


def test_a_consumer_that_was_not_stopped_is_noticed() -> None:
    async def main(share: ShareKafka) -> None:
        consumer = share.consumer()
        await consumer.start()
        kept = [consumer]
        del consumer
        with pytest.warns(ResourceWarning, match="Unclosed AIOKafkaShareConsumer"):
            kept.clear()
        await asyncio.sleep(1)

    run_share(main)


def test_more_topics_than_one() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.consumer(TOPIC, "other") as consumer:
            assert consumer.subscription() == {TOPIC, "other"}
            assert seen(await read(consumer)) == [("a", 1)]

    run_share(main, "a")


def test_it_is_healthy_while_it_runs_and_a_broker_can_be_reached() -> None:
    async def main(share: ShareKafka) -> None:
        consumer = share.consumer()
        assert not consumer.is_healthy()
        async with consumer:
            await read(consumer)
            assert consumer.is_healthy()
            share.broker.stop_node(1)
            await asyncio.sleep(20)
            assert not consumer.is_healthy()
            share.broker.start_node(1)
            await asyncio.sleep(20)
            assert consumer.is_healthy()
        assert not consumer.is_healthy()

    run_share(main, "a")
