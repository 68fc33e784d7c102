"""Locks of records that are held over polls: when they are renewed, and when they are given up."""

import asyncio
from collections.abc import Collection

import pytest

from aiokafka_lite import AIOKafkaProducer
from aiokafka_lite.model import AcknowledgeType, TopicPartition
from aiokafka_lite.protocol.messages.share_acknowledge import ShareAcknowledgeRequest
from aiokafka_lite.share.held_locks import Place
from aiokafka_lite.share.held_records import GAP
from aiokafka_lite.share.pending_acknowledgements import AckGroup, Outcome
from aiokafka_lite.share.share_engine import ShareEngine
from tests.share.share_kafka import GROUP, TOPIC, TP, ShareKafka, read, run_share, seen


class Holder:
    """Notes what it hears."""

    def __init__(self) -> None:
        self.lost: list[Place] = []
        self.refused: list[TopicPartition] = []

    def locks_lost(self, places: Collection[Place]) -> None:
        self.lost += places

    def topics_replaced(self, topics: Collection[str]) -> None:
        raise AssertionError(topics)

    def answered(self, group: AckGroup, outcome: Outcome) -> None:
        self.refused += [tp for tp in group.batches if outcome[tp] is not None]


async def held(engine: ShareEngine, room: int = 10) -> list[int]:
    """The offsets that one poll of a holder returns."""
    found = await engine.poll_beside(room, 5.0)
    return [record.offset for records in found.values() for record in records]


def test_what_is_held_stays_locked_while_others_are_polled() -> None:
    async def main(share: ShareKafka) -> None:
        holder, consumer = Holder(), share.explicit(share_acquire_mode="record_limit")
        consumer._life.holder = holder
        async with consumer:
            engine = consumer._life.running()
            locks = engine.locks
            assert locks is not None
            assert await held(engine, room=2) == [0, 1]
            assert locks.interval_s == 3.0
            assert await held(engine, room=1) == [2]
            await asyncio.sleep(10)
            locks.look()
            assert not engine.fetcher.unanswered(), "more than half of the time is left"
            await asyncio.sleep(10)
            locks.look()
            locks.look()
            await asyncio.sleep(1)
            assert locks.renewed == 3
            await asyncio.sleep(20)
            engine.held.settle(TP, 0, AcknowledgeType.ACCEPT)
            engine.acknowledge_held()
            await asyncio.sleep(1)
            assert (holder.lost, holder.refused) == ([], [])
            await asyncio.sleep(9)
            locks.look()
            assert holder.lost == [(TP, 1), (TP, 2)]
            assert not engine.held.settle(TP, 1, AcknowledgeType.ACCEPT)

    run_share(main, "a", "b", "c", "d", together=True)


def test_a_verdict_that_comes_too_late_is_not_sent() -> None:
    async def main(share: ShareKafka) -> None:
        holder, consumer = Holder(), share.explicit()
        consumer._life.holder = holder
        async with consumer:
            engine = consumer._life.running()
            assert await held(engine) == [0]
            engine.held.settle(TP, 0, AcknowledgeType.ACCEPT)
            await asyncio.sleep(31)
            assert await held(engine) == [0]
            assert (holder.lost, holder.refused) == ([(TP, 0)], [])

    run_share(main, "a")


def test_brokers_that_do_not_renew_are_told_once(caplog: pytest.LogCaptureFixture) -> None:
    async def main(share: ShareKafka) -> None:
        holder, consumer = Holder(), share.explicit()
        consumer._life.holder = holder
        async with consumer:
            engine = consumer._life.running()
            engine.fetcher._can_renew = lambda node_id: False  # type: ignore[method-assign]
            assert await held(engine) == [0]
            locks = engine.locks
            assert locks is not None
            for _ in range(4):
                await asyncio.sleep(7)
                locks.look()
            assert holder.lost == []
            await asyncio.sleep(2)
            locks.look()
            assert holder.lost == [(TP, 0)]

    run_share(main, "a")
    (text,) = [text for text in caplog.messages if "not renewed from now on" in text]
    assert "that needs Kafka 4.2 (KIP-1222)" in text


def test_gaps_do_not_wait_for_the_records_beside_them() -> None:
    async def main(share: ShareKafka) -> None:
        consumer = share.explicit()
        consumer._life.holder = Holder()
        async with consumer:
            records = consumer._life.running().held
            records.add(TP, 0, 5, 7, [])
            records.add(TP, 0, 8, 8, ())
            assert [each[2].types for each in records.take()] == [
                bytearray([GAP] * 3),
                bytearray([GAP]),
            ]

    run_share(main)


def test_a_renewed_lock_lasts_from_the_request_however_late_the_answer_is_read() -> None:
    async def main(share: ShareKafka) -> None:
        holder, consumer = Holder(), share.explicit(share_acquire_mode="record_limit")
        consumer._life.holder = holder
        async with consumer:
            engine = consumer._life.running()
            locks = engine.locks
            assert locks is not None
            assert await held(engine, room=1) == [0]
            await asyncio.sleep(16)
            share.broker.faults.delay(ShareAcknowledgeRequest, 25)
            locks.look()
            await asyncio.sleep(26)
            assert (locks.renewed, holder.lost) == (1, [])
            await asyncio.sleep(5)
            locks.let_go_of_expired()
            assert holder.lost == [(TP, 0)]

    run_share(main, "a")


def test_a_look_that_is_overdue_is_made_up_for() -> None:
    async def main(share: ShareKafka) -> None:
        holder, consumer = Holder(), share.explicit(share_acquire_mode="record_limit")
        consumer._life.holder = holder
        async with consumer:
            engine = consumer._life.running()
            locks = engine.locks
            assert locks is not None
            assert await held(engine, room=1) == [0]
            await asyncio.sleep(14)
            locks.look()
            await asyncio.sleep(5)
            locks.look_if_late()
            assert not engine.fetcher.unanswered(), "the next look will renew in time"
            await asyncio.sleep(11)
            locks.look_if_late()
            assert holder.lost == [(TP, 0)]

    run_share(main, "a")


def test_what_is_acknowledged_of_a_partition_that_went_to_another_member_fetches_nothing() -> None:
    async def main(share: ShareKafka) -> None:
        consumer = share.explicit(share_acquire_mode="record_limit")
        consumer._life.holder = Holder()
        async with AIOKafkaProducer(**share.kafka.client_options) as producer, consumer:
            for partition in range(2):
                await producer.send_and_wait(TOPIC, b"held", partition=partition)
            engine = consumer._life.running()
            got: list[int] = []
            while got != [0, 0]:
                got += await held(engine)
            async with share.consumer() as other:
                for _ in range(3):
                    await engine.poll_beside(10, 5.0)
                await asyncio.sleep(1)  # no fetch is on its way, and the next one acknowledges
                _, member = share.broker.group(GROUP).members.values()
                (given,) = member.partitions()
                engine.held.settle(given, 0, AcknowledgeType.ACCEPT)
                await engine.poll_beside(10, 1.0)
                await producer.send_and_wait(TOPIC, b"new", partition=given.partition)
                for _ in range(3):
                    await engine.poll_beside(10, 1.0)
                assert seen(await read(other)) == [("new", 1)]

    run_share(main, num_partitions=2)
