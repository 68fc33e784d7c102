"""A cluster that stops accepting a client tells the next call, loses nothing, and takes the client
back once the credentials are right again.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka_lite.errors import AuthenticationFailedError, KafkaError, ProducerClosed
from aiokafka_lite.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.support.patience import PATIENCE_S

SOON = {"reconnect_backoff_max_ms": 200, "retry_backoff_max_ms": 200}


@pytest.fixture
async def broker() -> AsyncIterator[EmbeddedBroker]:
    users = {"alice": "secret"}
    mechanisms = ["PLAIN"]
    made = EmbeddedBroker(3, security="SASL_PLAINTEXT", users=users, mechanisms=mechanisms)
    async with made as broker:
        broker.create_topic("t")
        yield broker


def options(broker: EmbeddedBroker, password: str = "secret", **more: Any) -> dict[str, Any]:
    servers = {"bootstrap_servers": broker.bootstrap_servers}
    given = {**servers, **broker.client_options("alice"), **SOON, **more}
    return {**given, "sasl_plain_password": password}


def lock_out(broker: EmbeddedBroker) -> None:
    """Change the password, and end the connections that the old one has opened."""
    broker.set_password("alice", "changed")
    broker.drop_connections()


def attempts(broker: EmbeddedBroker) -> int:
    return len(broker.requests_of(SaslAuthenticateRequest))


async def eventually(condition: Callable[[], Awaitable[bool]]) -> None:
    """Return once `condition()` is true."""
    async with asyncio.timeout(PATIENCE_S):
        while not await condition():
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("client", [AIOKafkaProducer, AIOKafkaConsumer])
async def test_wrong_credentials_end_a_start_at_once(broker: EmbeddedBroker, client: Any) -> None:
    began_s = time.monotonic()
    with pytest.raises(AuthenticationFailedError) as raised:
        await client(**options(broker, password="hunter2")).start()
    assert time.monotonic() - began_s < 5
    text = str(raised.value)
    assert "PLAIN" in text
    assert any(address in text for address in broker.bootstrap_servers.split(","))
    assert "hunter2" not in text
    assert attempts(broker) <= 3  # each seed at most once: more could lock the user out


async def test_the_next_record_says_it_and_waiting_records_are_written_later(
    broker: EmbeddedBroker,
) -> None:
    async with AIOKafkaProducer(**options(broker, linger_ms=0)) as producer:
        await producer.send_and_wait("t", b"before", partition=0)
        lock_out(broker)
        waiting = await producer.send("t", b"waits", partition=0)
        refused = []

        async def is_refused() -> bool:
            try:
                waiting_too.append(await producer.send("t", b"waits too", partition=0))
            except AuthenticationFailedError as error:
                refused.append(error)
            return bool(refused)

        waiting_too: list[Any] = []
        await eventually(is_refused)
        assert "PLAIN" in str(refused[0])
        accepted_again = await producer.send("t", b"taken", partition=0)  # the error comes once
        broker.set_password("alice", "secret")
        offsets = [(await ack).offset for ack in (waiting, *waiting_too, accepted_again)]
        assert offsets == list(range(1, len(offsets) + 1))  # all are written, in their order


async def test_send_nowait_says_it_too(broker: EmbeddedBroker) -> None:
    async with AIOKafkaProducer(**options(broker, linger_ms=0)) as producer:
        await producer.send_and_wait("t", b"before", partition=0)
        lock_out(broker)

        async def is_refused() -> bool:
            try:
                producer.send_nowait("t", b"waits", partition=0)
            except AuthenticationFailedError:
                return True
            return False

        await eventually(is_refused)
        broker.set_password("alice", "secret")


async def test_a_call_that_waits_for_metadata_says_it(broker: EmbeddedBroker) -> None:
    async with AIOKafkaProducer(**options(broker)) as producer:
        lock_out(broker)
        with pytest.raises(AuthenticationFailedError, match="PLAIN"):
            await producer.partitions_for("never-seen")
        broker.set_password("alice", "secret")

        async def is_back() -> bool:
            try:
                return bool(await producer.partitions_for("t"))
            except AuthenticationFailedError:
                return False

        await eventually(is_back)


@pytest.mark.parametrize("group_id", [None, "g"])
async def test_a_poll_says_it_and_reading_goes_on_later(
    broker: EmbeddedBroker, group_id: str | None
) -> None:
    async with (
        AIOKafkaProducer(**options(broker)) as producer,
        AIOKafkaConsumer(
            "t", **options(broker), group_id=group_id, auto_offset_reset="earliest"
        ) as consumer,
    ):
        for value in (b"1", b"2"):
            await producer.send_and_wait("t", value, partition=0)
        assert (await consumer.getone()).value == b"1"
        assert (await consumer.getone()).value == b"2"
        lock_out(broker)

        async def is_refused() -> bool:
            try:
                await consumer.getmany(timeout_ms=100)
            except AuthenticationFailedError as error:
                return "PLAIN" in str(error)
            return False

        await eventually(is_refused)
        broker.set_password("alice", "secret")
        read: list[bytes | None] = []

        async def has_read_on() -> bool:
            try:
                polled = await consumer.getmany(timeout_ms=100)
                if not read:
                    await producer.send("t", b"3", partition=0)
            except AuthenticationFailedError:
                return False  # of an attempt before the password was right again
            read.extend(record.value for records in polled.values() for record in records)
            return bool(read)

        await eventually(has_read_on)
        assert set(read) == {b"3"}


async def test_a_transaction_can_only_be_aborted_and_the_next_one_succeeds(
    broker: EmbeddedBroker,
) -> None:
    async with AIOKafkaProducer(**options(broker, transactional_id="tx")) as producer:
        await producer.begin_transaction()
        await producer.send_and_wait("t", b"first", partition=0)
        lock_out(broker)
        await producer.send("t", b"second", partition=0)
        with pytest.raises(AuthenticationFailedError, match="PLAIN"):
            await producer.commit_transaction()
        broker.set_password("alice", "secret")

        async def is_aborted() -> bool:
            try:
                await producer.abort_transaction()
            except AuthenticationFailedError:
                return False
            return True

        await eventually(is_aborted)
        async with producer.transaction():
            await producer.send("t", b"third", partition=0)
    async with AIOKafkaConsumer(
        **options(broker), isolation_level="read_committed", auto_offset_reset="earliest"
    ) as consumer:
        consumer.assign([TopicPartition("t", 0)])
        assert (await consumer.getone()).value == b"third"


async def test_no_log_line_shows_a_password(
    broker: EmbeddedBroker, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        async with AIOKafkaProducer(**options(broker)) as producer:
            await producer.send_and_wait("t", b"x")
        with pytest.raises(KafkaError):
            await AIOKafkaProducer(**options(broker, password="hunter2")).start()
    assert caplog.records
    assert "secret" not in caplog.text.replace("secrets", "")
    assert "hunter2" not in caplog.text


# Ends…


async def producer_with_a_record(broker: EmbeddedBroker) -> Any:
    producer: Any = AIOKafkaProducer(**options(broker, linger_ms=0))
    await producer.start()
    await producer.send_and_wait("t", b"before", partition=0)
    lock_out(broker)
    await producer.send("t", b"waits", partition=0)
    return producer


async def producer_in_a_transaction(broker: EmbeddedBroker) -> Any:
    producer: Any = AIOKafkaProducer(**options(broker, transactional_id="x"))
    await producer.start()
    await producer.begin_transaction()
    await producer.send_and_wait("t", b"before", partition=0)
    lock_out(broker)
    return producer


async def member_with_a_record(broker: EmbeddedBroker) -> Any:
    broker.produce("t", b"v", partition=0)
    consumer: Any = AIOKafkaConsumer(
        "t", **options(broker), group_id="g", auto_offset_reset="earliest"
    )
    await consumer.start()
    await consumer.getone()
    lock_out(broker)
    return consumer


@pytest.mark.parametrize(
    "locked_out", [producer_with_a_record, producer_in_a_transaction, member_with_a_record]
)
async def test_a_stop_takes_no_longer_than_the_refusal(
    broker: EmbeddedBroker, locked_out: Callable[[EmbeddedBroker], Awaitable[Any]]
) -> None:
    """What waits for a node that does not accept the client any more has no success (H9)."""
    client = await locked_out(broker)
    async with asyncio.timeout(15):  # stop_timeout_ms is 30 s
        await client.stop()


async def test_the_records_of_a_stopped_producer_say_that_it_was_refused(
    broker: EmbeddedBroker,
) -> None:
    producer = AIOKafkaProducer(**options(broker, linger_ms=0))
    await producer.start()
    await producer.send_and_wait("t", b"before", partition=0)
    lock_out(broker)
    ack = await producer.send("t", b"waits", partition=0)
    await producer.stop()
    with pytest.raises(ProducerClosed, match=r"does not accept it any more.*PLAIN") as raised:
        await ack
    assert isinstance(raised.value.__cause__, AuthenticationFailedError)


async def test_a_flush_says_that_it_is_refused_and_the_records_wait_on(
    broker: EmbeddedBroker,
) -> None:
    async with AIOKafkaProducer(**options(broker, linger_ms=0)) as producer:
        await producer.send_and_wait("t", b"before", partition=0)
        lock_out(broker)
        ack = await producer.send("t", b"waits", partition=0)
        with pytest.raises(AuthenticationFailedError, match="PLAIN"):
            await asyncio.wait_for(producer.flush(), PATIENCE_S)
        broker.set_password("alice", "secret")
        assert (await ack).offset == 1
