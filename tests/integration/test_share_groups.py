"""Share consumers on real Apache Kafkas: what a member gets, and what becomes of its records."""

import asyncio
import contextlib
import re
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import confluent_kafka
import pytest

from aiokafka_lite import (
    AcknowledgeType,
    AIOKafkaConsumer,
    AIOKafkaProducer,
    AIOKafkaShareConsumer,
    ShareWorkers,
    TopicPartition,
)
from aiokafka_lite.admin import AIOKafkaAdminClient, ConfigResource, ConfigResourceType
from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.errors import (
    GroupIdNotFound,
    IllegalStateError,
    InvalidRecordStateError,
    KafkaError,
    RecordDeserializationError,
    UnsupportedVersionError,
)
from aiokafka_lite.model import ConsumerRecord
from aiokafka_lite.testing.apache_kafka import ApacheKafka
from tests.conftest import require_kafka
from tests.share.share_kafka import text
from tests.support.patience import eventually_equals
from tests.support.topics import create_topic

WAIT_MS = 20_000
QUIET_MS = 1_500
Record = ConsumerRecord[Any, Any]

pytestmark = [pytest.mark.real_kafka, pytest.mark.asyncio(loop_factories=["asyncio"])]


@pytest.fixture(scope="module", params=["4.4.0", "4.3.1"])
def address(request: pytest.FixtureRequest) -> Iterator[str]:
    """A node on which locks may be as short as a test wants."""
    require_kafka(request.param)
    short = {"group.share.min.record.lock.duration.ms": "1000"}
    with ApacheKafka(request.param, properties=short) as kafka:
        yield kafka.bootstrap_servers


@asynccontextmanager
async def group(address: str, name: str, **configs: str) -> AsyncIterator[dict[str, Any]]:
    """A share group that reads a new topic of the same name from its beginning."""
    await create_topic(address, name, partitions=1)
    settings = {"share.auto.offset.reset": "earliest"}
    settings |= {f"share.{key}": value for key, value in configs.items()}
    resource = ConfigResource(ConfigResourceType.GROUP, name, configs=settings)
    async with AIOKafkaAdminClient(bootstrap_servers=address) as admin:
        changed = await admin.incremental_alter_configs([resource])
        changed.raise_first()

        async def in_force() -> dict[str, str | None]:
            """What the node knows: the controller answers before the node has read the change."""
            (found,) = (await admin.get_configs([resource])).values()
            assert not isinstance(found, KafkaError)
            return {key: entry.value for key, entry in found.items()}

        await eventually_equals(in_force, settings)
    yield {"bootstrap_servers": address, "group_id": name}


async def write(address: str, topic: str, *values: str, **options: Any) -> None:
    async with AIOKafkaProducer(bootstrap_servers=address, **options) as producer:
        for value in values:
            await producer.send_and_wait(topic, value.encode())


async def read(consumer: AIOKafkaShareConsumer[Any, Any], wait_ms: int = WAIT_MS) -> list[Record]:
    return [record for records in (await consumer.getmany(wait_ms)).values() for record in records]


def values(records: list[Record]) -> list[str]:
    return [text(record) for record in records]


async def test_implicit_mode_accepts_what_was_returned(address: str, topic_name: str) -> None:
    async with group(address, topic_name) as options:
        await write(address, topic_name, "a", "b")
        async with AIOKafkaShareConsumer(topic_name, **options) as consumer:
            first = await read(consumer)
            assert values(first) == ["a", "b"]
            assert [record.delivery_count for record in first] == [1, 1]
            assert await read(consumer, 0) == []
            assert consumer.acquisition_lock_timeout_ms() == 30_000
            await write(address, topic_name, "c")
            assert values(await read(consumer)) == ["c"]
        # "a" and "b" were accepted by the second poll; nothing has accepted "c".
        async with AIOKafkaShareConsumer(topic_name, **options) as consumer:
            again = await read(consumer)
            assert values(again) == ["c"]
            assert again[0].delivery_count == 2
            assert await consumer.commit() == {TopicPartition(topic_name, 0): None}
        async with AIOKafkaShareConsumer(topic_name, **options) as consumer:
            assert await read(consumer, QUIET_MS) == []


async def test_explicit_mode_and_every_type(address: str, topic_name: str) -> None:
    async with group(address, topic_name) as options:
        await write(address, topic_name, "accept", "release", "reject", "renew")
        async with AIOKafkaShareConsumer(
            topic_name, share_acknowledgement_mode="explicit", **options
        ) as consumer:
            told: list[object] = []
            consumer.set_acknowledgement_commit_callback(lambda *each: told.append(each))
            first = await read(consumer)
            with pytest.raises(IllegalStateError, match="4 returned records"):
                await consumer.getmany(0)
            for record in first:
                consumer.acknowledge(record, AcknowledgeType[text(record).upper()])
            tp = TopicPartition(topic_name, 0)
            assert await consumer.commit() == {tp: None}
            assert sorted(map(str, told)) == sorted(
                map(str, [({tp: {3}}, None), ({tp: {0, 1, 2}}, None)])
            )
            renewed = await read(consumer)
            assert [(r.offset, r.delivery_count) for r in renewed] == [(3, 1)]
            consumer.acknowledge(renewed[0])
            released = await read(consumer)
            assert [(r.offset, r.delivery_count) for r in released] == [(1, 2)]
            consumer.acknowledge(released[0], AcknowledgeType.REJECT)
            consumer.acknowledge(released[0], AcknowledgeType.ACCEPT)  # the last call counts
            assert await read(consumer, QUIET_MS) == []


async def test_two_members_share_the_records_of_one_partition(
    address: str, topic_name: str
) -> None:
    async with group(address, topic_name) as options:
        many = [str(number) for number in range(60)]
        await write(address, topic_name, *many)
        limit: dict[str, Any] = {"share_acquire_mode": "record_limit", "max_poll_records": 10}
        async with (
            AIOKafkaShareConsumer(topic_name, **options, **limit) as first,
            AIOKafkaShareConsumer(topic_name, **options, **limit) as second,
        ):
            found: dict[AIOKafkaShareConsumer[Any, Any], list[str]] = {first: [], second: []}
            while sum(map(len, found.values())) < len(many):
                for consumer in (first, second):
                    records = await read(consumer, 5_000)
                    assert len(records) <= 10
                    found[consumer] += values(records)
            assert sorted(found[first] + found[second], key=int) == many
            assert found[first]
            assert found[second]
            await first.commit()
            await second.commit()


async def test_a_late_acknowledgement_is_refused(address: str, topic_name: str) -> None:
    tp = TopicPartition(topic_name, 0)
    async with group(address, topic_name, **{"record.lock.duration.ms": "1000"}) as options:
        await write(address, topic_name, "late")
        async with (
            AIOKafkaShareConsumer(
                topic_name, share_acknowledgement_mode="explicit", **options
            ) as consumer,
            AIOKafkaShareConsumer(topic_name, **options) as other,
        ):
            (record,) = await read(consumer)
            assert consumer.acquisition_lock_timeout_ms() == 1_000
            (again,) = await read(other)
            assert again.delivery_count == 2
            consumer.acknowledge(record)
            outcome = await consumer.commit()
            assert isinstance(outcome[tp], InvalidRecordStateError)
            assert await other.commit() == {tp: None}


async def test_a_record_released_too_often_is_archived(address: str, topic_name: str) -> None:
    async with group(address, topic_name, **{"delivery.count.limit": "2"}) as options:
        await write(address, topic_name, "bad")
        async with AIOKafkaShareConsumer(
            topic_name, share_acknowledgement_mode="explicit", **options
        ) as consumer:
            for count in (1, 2):
                (record,) = await read(consumer)
                assert record.delivery_count == count
                consumer.acknowledge(record, AcknowledgeType.RELEASE)
            assert await read(consumer, QUIET_MS) == []


async def test_a_lost_connection_releases_and_begins_a_new_session(
    address: str, topic_name: str
) -> None:
    tp = TopicPartition(topic_name, 0)
    sockets: list[socket.socket] = []

    async def connect(host: str, port: int) -> socket.socket:
        sockets.append(socket.create_connection((host, port)))
        return sockets[-1]

    async with group(address, topic_name) as options:
        await write(address, topic_name, "a")
        async with AIOKafkaShareConsumer(
            topic_name, share_acknowledgement_mode="explicit", connect=connect, **options
        ) as consumer:
            (record,) = await read(consumer)
            for each in sockets:
                if each.fileno() != -1:
                    each.shutdown(socket.SHUT_RDWR)
            consumer.acknowledge(record)
            assert (await consumer.commit())[tp] is not None
            (again,) = await read(consumer)
            assert again.delivery_count == 2
            consumer.acknowledge(again)
            assert await consumer.commit() == {tp: None}


async def test_a_killed_member_gives_its_records_to_others(address: str, topic_name: str) -> None:
    async with group(address, topic_name) as options:
        await write(address, topic_name, "a")
        program = (
            "import asyncio\n"
            "from aiokafka_lite import AIOKafkaShareConsumer\n"
            "async def main():\n"
            f"    async with AIOKafkaShareConsumer({topic_name!r}, **{options!r}) as consumer:\n"
            "        print((await consumer.getone()).value, flush=True)\n"
            "        await asyncio.sleep(600)\n"
            "asyncio.run(main())\n"
        )
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE
        )
        assert child.stdout is not None
        assert await child.stdout.readline() == b"b'a'\n"
        child.kill()
        await child.wait()
        async with AIOKafkaShareConsumer(topic_name, **options) as consumer:
            (record,) = await read(consumer)
            assert record.delivery_count == 2
            await consumer.commit()


async def test_a_deserializer_that_fails(address: str, topic_name: str) -> None:
    def number(data: bytes) -> int:
        return int(data)

    async with group(address, topic_name) as options:
        await write(address, topic_name, "1", "two", "3")
        async with AIOKafkaShareConsumer(
            topic_name,
            value_deserializer=number,
            share_acknowledgement_mode="explicit",
            **options,
        ) as consumer:
            found: list[int | None] = []
            failed: list[tuple[int, list[int | None]]] = []
            while len(found) < 2:
                try:
                    for record in await read(consumer):
                        found.append(record.value)
                        consumer.acknowledge(record)
                except RecordDeserializationError as error:
                    failed.append((error.offset, list(found)))
                    consumer.acknowledge_offset(topic_name, 0, 1, AcknowledgeType.REJECT)
            assert failed == [(1, [1])]
            assert found == [1, 3]
            assert await consumer.commit() == {TopicPartition(topic_name, 0): None}
            assert await read(consumer, QUIET_MS) == []


async def test_markers_and_aborted_records_are_gaps(address: str, topic_name: str) -> None:
    async with group(address, topic_name, **{"isolation.level": "read_committed"}) as options:
        async with AIOKafkaProducer(
            bootstrap_servers=address, transactional_id=topic_name
        ) as producer:
            for value, commits in (("a", True), ("b", False), ("c", True)):
                await producer.begin_transaction()
                await producer.send_and_wait(topic_name, value.encode())
                await (producer.commit_transaction() if commits else producer.abort_transaction())
        async with AIOKafkaShareConsumer(topic_name, **options) as consumer:
            found: list[str] = []
            while len(found) < 2:
                found += values(await read(consumer))
            assert found == ["a", "c"]
            assert all(error is None for error in (await consumer.commit()).values())
        async with AIOKafkaShareConsumer(topic_name, **options) as consumer:
            assert await read(consumer, QUIET_MS) == []


async def test_a_cancelled_poll_loses_and_locks_nothing(address: str, topic_name: str) -> None:
    async with (
        group(address, topic_name) as options,
        AIOKafkaShareConsumer(topic_name, **options) as consumer,
    ):
        waiting = asyncio.create_task(consumer.getmany(WAIT_MS))
        assert await asyncio.wait([waiting], timeout=0.5) == (set(), {waiting})
        waiting.cancel()
        await asyncio.wait([waiting])
        await write(address, topic_name, "a")
        (record,) = await read(consumer)
        assert (record.value, record.delivery_count) == (b"a", 1)


async def test_unsubscribe_releases_and_leaves(address: str, topic_name: str) -> None:
    async with group(address, topic_name) as options:
        await write(address, topic_name, "a")
        async with (
            AIOKafkaShareConsumer(topic_name, **options) as first,
            AIOKafkaShareConsumer(topic_name, **options) as second,
        ):
            assert values(await read(first)) == ["a"]
            first.unsubscribe()
            (again,) = await read(second)
            assert again.delivery_count == 2
            with pytest.raises(IllegalStateError, match="nothing is subscribed"):
                await first.getmany(0)
            await second.commit()
            first.subscribe([topic_name])
            second.unsubscribe()
            await write(address, topic_name, "b")
            assert values(await read(first)) == ["b"]


async def test_the_id_of_another_kind_of_group(address: str, topic_name: str) -> None:
    async with (
        group(address, topic_name) as options,
        AIOKafkaConsumer(topic_name, **options, group_protocol="consumer"),
    ):
        with pytest.raises(GroupIdNotFound, match="is not a share group"):
            await AIOKafkaShareConsumer(topic_name, **options).start()
    async with (
        group(address, f"{topic_name}-shared") as options,
        AIOKafkaShareConsumer(topic_name, **options),
    ):
        with pytest.raises(GroupIdNotFound, match="is not a consumer group"):
            await AIOKafkaConsumer(topic_name, **options, group_protocol="auto").start()


async def test_without_polls_the_member_leaves(address: str, topic_name: str) -> None:
    async with group(address, topic_name) as options:
        await write(address, topic_name, "a")
        async with (
            AIOKafkaShareConsumer(topic_name, **options, max_poll_interval_ms=1_000) as sleeper,
            AIOKafkaShareConsumer(topic_name, **options) as other,
        ):
            assert values(await read(sleeper)) == ["a"]
            (again,) = await read(other)
            assert again.delivery_count == 2
            await other.commit()
            other.unsubscribe()
            await write(address, topic_name, "b")
            assert values(await read(sleeper)) == ["b"]


async def test_workers_accept_release_and_renew(address: str, topic_name: str) -> None:
    """Two members; a lock is shorter than a handler, and each fifth record fails at first."""
    began: list[tuple[int, int]] = []
    ended: list[int] = []

    async def handle(record: Record) -> None:
        began.append((record.offset, record.delivery_count))
        if record.offset % 5 == 0 and record.delivery_count == 1:
            raise OSError(record.offset)
        await asyncio.sleep(2.5 if record.offset == 7 else 0)
        ended.append(record.offset)

    async with group(address, topic_name, **{"record.lock.duration.ms": "1000"}) as options:
        await write(address, topic_name, *map(str, range(40)))
        async with contextlib.AsyncExitStack() as stack:
            running = []
            for _ in range(2):
                consumer = AIOKafkaShareConsumer[Any, Any](
                    topic_name,
                    share_acknowledgement_mode="explicit",
                    share_acquire_mode="record_limit",
                    fetch_max_wait_ms=100,
                    **options,
                )
                pool = ShareWorkers(
                    consumer, handle, concurrency=4, max_records=8, retry_backoff_ms=50
                )
                running.append(await stack.enter_async_context(pool))
            runs = [asyncio.create_task(each.run()) for each in running]
            async with asyncio.timeout(60):
                while sum(each.statistics().accepted_records for each in running) < 40:
                    await asyncio.sleep(0.02)
            for each in running:
                each.stop()
            await asyncio.gather(*runs)
            figures = [each.statistics() for each in running]
        assert sorted(ended) == list(range(40))
        assert len(began) == 48
        assert sum(each.released_records for each in figures) == 8
        assert sum(each.renewed_locks for each in figures) >= 3
        assert sum(each.lost_locks + each.refused_acknowledgements for each in figures) == 0
        async with AIOKafkaShareConsumer(topic_name, **options) as other:
            assert await read(other, QUIET_MS) == []


def javas_sharer(kafka: ApacheKafka, topic: str, group_id: str, records: int) -> list[int]:
    """Let Java's console consumer accept so many records; return their offsets."""
    said = kafka.run_tool(
        "org.apache.kafka.tools.consumer.ConsoleShareConsumer",
        *("--topic", topic, "--group", group_id, "--max-messages", str(records)),
        *("--timeout-ms", "60000", "--formatter-property", "print.offset=true"),
        *("--formatter-property", "print.value=false"),
    )
    return [int(found) for found in re.findall(r"^Offset:(\d+)", said, re.MULTILINE)]


def confluents_sharer(kafka: ApacheKafka, topic: str, group_id: str, records: int) -> list[int]:
    """Let confluent-kafka's share consumer accept at least so many; return their offsets."""
    consumer = confluent_kafka.ShareConsumer(
        {"bootstrap.servers": kafka.bootstrap_servers, "group.id": group_id}
    )
    consumer.subscribe([topic])
    found: list[int | None] = []
    until_s = SYSTEM_CLOCK.monotonic() + WAIT_MS * 3 / 1000
    while len(found) < records and SYSTEM_CLOCK.monotonic() < until_s:
        found += [message.offset() for message in consumer.poll(1.0)]
    consumer.commit_sync(WAIT_MS / 1000)
    consumer.close()
    return [offset for offset in found if offset is not None]


@pytest.mark.parametrize("sharer", [javas_sharer, confluents_sharer])
async def test_another_client_in_the_same_group(
    sharer: Callable[[ApacheKafka, str, str, int], list[int]],
    running_kafka: Callable[[str], ApacheKafka],
    topic_name: str,
) -> None:
    """Ours holds some records, the other takes some beside it, and ours takes the rest."""
    kafka = running_kafka("4.4.0")
    long = {"record.lock.duration.ms": "60000"}
    async with group(kafka.bootstrap_servers, topic_name, **long) as options:
        await write(kafka.bootstrap_servers, topic_name, *map(str, range(60)))
        async with AIOKafkaShareConsumer(
            topic_name, share_acquire_mode="record_limit", max_poll_records=10, **options
        ) as consumer:
            ours = [record.offset for record in await read(consumer)]
            assert len(ours) == 10
            others = await asyncio.to_thread(sharer, kafka, topic_name, topic_name, 20)
            assert len(others) >= 20
            async with asyncio.timeout(60):
                while len(ours) + len(others) < 60:
                    ours += [record.offset for record in await read(consumer)]
            assert sorted(ours + others) == list(range(60))
            assert set((await consumer.commit()).values()) <= {None}
            assert await read(consumer, QUIET_MS) == []


async def test_a_broker_without_share_groups(
    running_kafka: Callable[[str], ApacheKafka], topic_name: str
) -> None:
    address = running_kafka("3.9.2").bootstrap_servers
    consumer = AIOKafkaShareConsumer(topic_name, bootstrap_servers=address, group_id=topic_name)
    with pytest.raises(UnsupportedVersionError, match="do not offer share groups"):
        await consumer.start()
