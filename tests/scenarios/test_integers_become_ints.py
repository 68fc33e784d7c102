"""What a call hands to a request, a dict or a user is an int, whatever integer it was given.

Python's own rule for integers is `operator.index`.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from aiokafka_lite import (
    AIOKafkaAdminClient,
    AIOKafkaConsumer,
    AIOKafkaProducer,
    AIOKafkaShareConsumer,
    KeyedWorkers,
    OffsetAndMetadata,
    ShareWorkers,
    TopicPartition,
)
from aiokafka_lite.admin import NewPartitions, NewTopic, OffsetSpec, RecordsToDelete, ShiftBy
from aiokafka_lite.errors import IllegalArgumentError
from aiokafka_lite.testing.broker import EmbeddedBroker

LONG = "a text of another class " * 1000


class Int64:
    """Has what NumPy's integers have, and no more of an int than `__index__`."""

    def __init__(self, value: int) -> None:
        self._value = value

    def __index__(self) -> int:
        return self._value

    def __eq__(self, other: object) -> bool:
        return self._value == other

    def __hash__(self) -> int:
        return hash(self._value)

    def __repr__(self) -> str:
        return LONG


class Int(int):
    """As an int of Spark's or of a web framework's may be."""

    def __repr__(self) -> str:
        return LONG

    __str__ = __repr__


KINDS = pytest.mark.parametrize("kind", [Int64, Int])


def _tp(kind: Any, partition: int = 0) -> TopicPartition:
    return TopicPartition("t", kind(partition))


CONSUMER: dict[str, Callable[[AIOKafkaConsumer, Any], Awaitable[object]]] = {
    "position": lambda consumer, kind: consumer.position(_tp(kind)),
    "committed": lambda consumer, kind: consumer.committed(_tp(kind)),
    "end_offsets": lambda consumer, kind: consumer.end_offsets([_tp(kind)]),
    "beginning_offsets": lambda consumer, kind: consumer.beginning_offsets([_tp(kind)]),
    "offsets_for_times": lambda consumer, kind: consumer.offsets_for_times({_tp(kind): kind(5)}),
    "list_offsets": lambda consumer, kind: consumer.list_offsets({_tp(kind): kind(5)}),
    "seek_to_beginning": lambda consumer, kind: consumer.seek_to_beginning(_tp(kind)),
    "seek_to_end": lambda consumer, kind: consumer.seek_to_end(_tp(kind)),
    "seek_to_timestamp": lambda consumer, kind: consumer.seek_to_timestamp(kind(5), _tp(kind)),
    "seek_to_committed": lambda consumer, kind: consumer.seek_to_committed(_tp(kind)),
    "commit": lambda consumer, kind: consumer.commit({_tp(kind): kind(1)}),
    "commit with a note": lambda consumer, kind: consumer.commit({_tp(kind): (kind(1), "n")}),
    "commit with an epoch": lambda consumer, kind: consumer.commit(
        {_tp(kind): OffsetAndMetadata(kind(1), "n", kind(0))}
    ),
    "getmany": lambda consumer, kind: consumer.getmany(
        _tp(kind), timeout_ms=kind(1), max_records=kind(1)
    ),
    "getmany_arrow": lambda consumer, kind: consumer.getmany_arrow(
        _tp(kind), timeout_ms=kind(1), max_records=kind(1), max_bytes=kind(9), until={_tp(kind): 1}
    ),
}


@KINDS
async def test_a_consumer_takes_them(kind: Any) -> None:
    async with EmbeddedBroker() as broker:
        broker.produce("t", b"v")
        consumer = AIOKafkaConsumer(
            bootstrap_servers=broker.bootstrap_servers,
            group_id="g",
            enable_auto_commit=False,
            max_poll_records=kind(7),
            request_timeout_ms=kind(9000),
        )
        consumer.assign([_tp(kind)])
        consumer.seek(_tp(kind), kind(0))
        assert [type(tp.partition) for tp in consumer.assignment()] == [int]
        async with consumer:
            consumer.pause(_tp(kind))
            consumer.resume(_tp(kind))
            assert consumer.paused() == set()
            for name, call in CONSUMER.items():
                shown = repr(await call(consumer, kind)) + repr(consumer.explain())
                assert LONG not in shown, name
            assert await consumer.committed(_tp(int)) == 1
            consumer.seek(_tp(kind), OffsetAndMetadata(kind(1)))
            assert await consumer.position(_tp(int)) == 1


@KINDS
async def test_a_producer_takes_them(kind: Any) -> None:
    async with EmbeddedBroker() as broker:
        broker.create_topic("t", 2)
        async with AIOKafkaProducer(
            bootstrap_servers=broker.bootstrap_servers, linger_ms=kind(1), acks=kind(1)
        ) as producer:
            where: dict[str, Any] = {"partition": kind(1), "timestamp_ms": kind(5)}
            acks: list[Any] = [
                await producer.send("t", b"v", **where),
                producer.send_nowait("t", b"v", **where),
            ]
            acks.append(await producer.send_many("t", [(None, b"v")], partition=kind(1)))
            batch = producer.create_batch()
            assert batch.append(key=None, value=b"v", timestamp=kind(5))
            await producer.send_batch(batch, "t", partition=kind(1))
            for ack in acks:
                await ack
        written = broker.records("t", partition=1)
        assert len(written) == 4
        assert [record.timestamp for record in written].count(5) == 3


@KINDS
async def test_offsets_of_a_transaction_may_be_such(kind: Any) -> None:
    async with EmbeddedBroker() as broker:
        broker.create_topic("t")
        options: dict[str, Any] = {"bootstrap_servers": broker.bootstrap_servers}
        async with (
            AIOKafkaProducer(transactional_id="x", **options) as producer,
            producer.transaction(),
        ):
            await producer.send_offsets_to_transaction({_tp(kind): kind(3)}, "g")
        async with AIOKafkaConsumer(group_id="g", **options) as consumer:
            assert await consumer.committed(_tp(int)) == 3


@KINDS
async def test_an_admin_client_takes_them(kind: Any) -> None:
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        await admin.create_topics([NewTopic("t", kind(2), kind(1))], kind(5000))
        await admin.create_topics([NewTopic("u", replica_assignments={0: [kind(1)]})])
        await admin.create_partitions({"t": NewPartitions(kind(3))})
        for value in (b"a", b"b"):
            broker.produce("t", value, partition=0)
        assert await admin.delete_records({_tp(kind): RecordsToDelete(kind(1))}) == {_tp(int): 1}
        listed = await admin.list_offsets({_tp(kind): OffsetSpec.LATEST, _tp(kind, 1): kind(5)})
        assert listed.succeeded[_tp(int)].offset == 2
        await admin.alter_consumer_group_offsets("g", {_tp(kind): kind(2)})
        stored = await admin.list_consumer_group_offsets("g", kind(1), [_tp(kind)])
        assert stored[_tp(int)].offset == 2
        targets = ((kind(1), 1), (ShiftBy(kind(1)), 2), ({_tp(kind): kind(1)}, 1))
        for to, offset in targets:
            plan = await admin.plan_offset_reset("g", to=to, partitions=[_tp(kind)])
            assert plan.offsets == {_tp(int): offset}
            (await admin.reset_offsets(plan)).raise_first()
        assert (await admin.describe_log_dirs([kind(1)])).succeeded
        assert (await admin.describe_replica_log_dirs([(kind(1), _tp(kind))])).succeeded


async def _handle(_record: object) -> None: ...


@KINDS
async def test_share_consumers_and_workers_take_them(kind: Any) -> None:
    async with EmbeddedBroker() as broker:
        broker.create_topic("t")
        options: dict[str, Any] = {"bootstrap_servers": broker.bootstrap_servers}
        async with AIOKafkaShareConsumer(
            "t", group_id="s", share_acknowledgement_mode="explicit", **options
        ) as consumer:
            assert await consumer.getmany(timeout_ms=kind(1), max_records=kind(1)) == {}
        idle = AIOKafkaShareConsumer(
            "t", group_id="s", share_acknowledgement_mode="explicit", **options
        )
        ShareWorkers(idle, _handle, concurrency=kind(2), max_records=kind(4))
        KeyedWorkers(
            AIOKafkaConsumer("t", group_id="g", enable_auto_commit=False, **options),
            _handle,
            concurrency=kind(2),
            max_records=kind(4),
            retries=kind(1),
        )


@pytest.mark.parametrize("wrong", [1.5, "1", True, b"1", Int64(-1)])
async def test_what_is_no_integer_is_none(wrong: Any) -> None:
    async with EmbeddedBroker() as broker:
        broker.create_topic("t")
        async with AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
            with pytest.raises(IllegalArgumentError, match="partition=") as caught:
                await producer.send("t", b"v", partition=wrong)
            assert LONG not in str(caught.value)
