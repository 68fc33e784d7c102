import asyncio
import logging
from dataclasses import replace
from typing import Any

import pytest

from aiokafka_lite.errors import (
    IllegalStateError,
    KafkaError,
    MessageSizeTooLargeError,
    SerializationError,
)
from aiokafka_lite.model import RecordMetadata, TopicPartition
from aiokafka_lite.producer.append.producer_interceptors import ProducerRecord
from aiokafka_lite.producer.producer import AIOKafkaProducer
from tests.producer.world import kafka, producing, written


class Journal:
    """Writes down what it hears."""

    def __init__(self, name: str = "", log: list[Any] | None = None) -> None:
        self.name = name
        self.log: list[Any] = [] if log is None else log

    def on_send(self, record: ProducerRecord) -> ProducerRecord:
        self.log.append((self.name, "send", record.value))
        return replace(record, value=record.value + self.name.encode())

    def on_acknowledgement(self, metadata: RecordMetadata) -> None:
        self.log.append((self.name, "ack", metadata.offset))

    def on_send_error(self, what: ProducerRecord | TopicPartition, error: Exception) -> None:
        self.log.append((self.name, "error", what, type(error)))


class Broken:
    """Fails at everything."""

    def on_send(self, record: ProducerRecord) -> ProducerRecord:
        raise ValueError("on_send")

    def on_acknowledgement(self, metadata: RecordMetadata) -> None:
        raise ValueError("on_acknowledgement")

    def on_send_error(self, what: object, error: Exception) -> None:
        raise ValueError("on_send_error")


async def test_records_pass_the_interceptors_in_order_and_each_hears_of_the_outcome() -> None:
    """Records pass all interceptors in order, and each hears of the outcome (C3, C8)."""
    log: list[Any] = []
    async with (
        kafka() as broker,
        producing(broker, interceptors=[Journal("a", log), Journal("b", log)]) as producer,
    ):
        metadata = await producer.send_and_wait("orders", b"v", key=b"k", partition=0)
        assert metadata.offset == 0
        assert written(broker) == [b"vab"]
    assert log == [
        ("a", "send", b"v"),
        ("b", "send", b"va"),
        ("a", "ack", 0),
        ("b", "ack", 0),
    ]


async def test_an_acknowledgement_is_told_before_the_users_callback_in_order_of_sending() -> None:
    """Interceptors hear of a record before its callback runs, in the order of sending (C8)."""
    journal = Journal()
    async with kafka() as broker, producing(broker, interceptors=[journal]) as producer:
        acks = [await producer.send("orders", b"v") for _ in range(3)]
        for ack in reversed(acks):
            ack.add_done_callback(lambda ack: journal.log.append(("user", ack.result().offset)))
        await producer.flush()
        await asyncio.sleep(0)
    assert journal.log[3:] == [
        entry for offset in range(3) for entry in (("", "ack", offset), ("user", offset))
    ]


async def test_what_interceptors_raise_or_return_wrongly_is_logged_and_goes_no_further(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """An error of an interceptor is logged and does not reach the caller (C3)."""

    class Forgetful:
        def on_send(self, record: ProducerRecord) -> None:
            """Returns nothing."""

    journal = Journal("j")
    async with (
        kafka() as broker,
        producing(broker, interceptors=[Broken(), Forgetful(), journal]) as producer,
    ):
        assert (await producer.send_and_wait("orders", b"v")).offset == 0
        with pytest.raises(SerializationError):
            await producer.send("orders", b"v", headers={"a": b"b"})  # type: ignore[dict-item]
        await asyncio.sleep(0)
        assert written(broker) == [b"vj"]
    assert [entry[1] for entry in journal.log] == ["send", "ack", "send", "error"]
    texts = [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]
    assert len(texts) == 6  # on_send and the forgotten return twice, an ack, an error
    assert sum("returned <class 'NoneType'> and no ProducerRecord" in text for text in texts) == 2


async def test_errors_are_told_of_what_send_raises_and_of_what_fails_later() -> None:
    """Interceptors hear of errors that `send` raises and of those that come later (C4)."""
    journal = Journal()
    async with kafka() as broker:
        broker.create_topic("orders", configs={"max.message.bytes": "300"})
        async with producing(broker, interceptors=[journal], max_request_size=5000) as producer:
            with pytest.raises(MessageSizeTooLargeError):
                await producer.send("orders", b"v" * 6000, timestamp_ms=7)
            record = ProducerRecord("orders", b"v" * 6000, timestamp_ms=7)
            assert journal.log[1:] == [("", "error", record, MessageSizeTooLargeError)]
            with pytest.raises(MessageSizeTooLargeError):
                producer.send_nowait("orders", b"v" * 6000)
            ack = await producer.send("orders", b"v" * 400)
            with pytest.raises(MessageSizeTooLargeError):
                await ack
            assert journal.log[-1] == (
                "",
                "error",
                TopicPartition("orders", 0),
                MessageSizeTooLargeError,
            )


async def test_a_record_may_be_sent_elsewhere_but_not_be_emptied() -> None:
    """`on_send` may give a record another topic, but must leave it a key or a value (C3)."""

    class Elsewhere:
        def on_send(self, record: ProducerRecord) -> ProducerRecord:
            empty = record.value == b"empty"
            return replace(record, topic="bills", value=None if empty else record.value)

    async with kafka() as broker, producing(broker, interceptors=[Elsewhere()]) as producer:
        assert (await producer.send_and_wait("orders", b"v")).topic == "bills"
        with pytest.raises(AssertionError, match="Need at least one"):
            await producer.send("orders", b"empty")
        assert written(broker, "bills") == [b"v"]


async def test_on_send_may_be_async_but_not_for_send_nowait() -> None:
    """`send` awaits an `on_send` that is a coroutine, `send_nowait` refuses it (C3)."""

    class Slow:
        async def on_send(self, record: ProducerRecord) -> ProducerRecord:
            await asyncio.sleep(0)
            return replace(record, key=b"slow")

    async with kafka() as broker, producing(broker, interceptors=[Slow()]) as producer:
        await producer.send_and_wait("orders", b"v")
        (record,) = broker.log(("orders", 0)).records()
        assert record.key == b"slow"
        with pytest.raises(IllegalStateError, match="async"):
            producer.send_nowait("orders", b"v")


async def test_send_nowait_and_send_many_pass_the_interceptors_as_well() -> None:
    """Records of `send_nowait` and `send_many` pass the interceptors as well (C3, C8)."""
    journal = Journal("j")
    async with kafka() as broker, producing(broker, interceptors=[journal]) as producer:
        await producer.partitions_for("orders")
        producer.send_nowait("orders", b"0")
        await (await producer.send_many("orders", [b"1", (b"k", b"2")]))
        await asyncio.sleep(0)
        assert written(broker) == [b"0j", b"1j", b"2j"]
    assert [entry[1:] for entry in journal.log if entry[1] == "ack"] == [
        ("ack", 0),
        ("ack", 1),
        ("ack", 2),
    ]


async def test_a_cancelled_ack_takes_nothing_from_the_interceptors() -> None:
    """Interceptors hear of a record whose acknowledgement was cancelled (C8)."""
    journal = Journal()
    async with kafka() as broker, producing(broker, interceptors=[journal]) as producer:
        ack = await producer.send("orders", b"v")
        assert ack.cancel()
        await producer.flush()
        await asyncio.sleep(0)
        assert journal.log[1:] == [("", "ack", 0)]


async def test_a_failure_that_no_interceptor_asks_for_is_logged_all_the_same(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Glad:
        def on_acknowledgement(self, metadata: RecordMetadata) -> None:
            raise AssertionError(metadata)

    async with kafka() as broker:
        broker.create_topic("orders", configs={"max.message.bytes": "300"})
        async with producing(broker, interceptors=[Glad()]) as producer:
            await producer.send("orders", b"v" * 400)
            await producer.flush()
    assert any("were not delivered" in record.getMessage() for record in caplog.records)


@pytest.mark.parametrize(
    ("interceptors", "text"),
    [
        ([object()], "has none of the methods"),
        ("on_send", "is no list"),
        ([type("A", (), {"on_acknowledgement": asyncio.sleep})()], "async on_acknowledgement"),
    ],
)
def test_objects_that_cannot_intercept_are_refused(interceptors: Any, text: str) -> None:
    with pytest.raises((KafkaError, ValueError), match=text):
        AIOKafkaProducer(interceptors=interceptors)
