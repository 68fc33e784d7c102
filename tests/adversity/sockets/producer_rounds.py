"""Rounds of producers on a rough network, and what has to be true of what they wrote.

A round sends from several tasks in every way. All that is random comes from its seed; when things
happen depends on the machine, too.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from aiokafka_lite import AIOKafkaProducer
from aiokafka_lite.errors import KafkaError, KafkaTimeoutError
from aiokafka_lite.model import RecordMetadata
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.adversity.committed_log import committed_records
from tests.adversity.sockets.checked_values import checked, name_of, some_size
from tests.adversity.sockets.storm import Storm, storm

TOPIC: Final = "orders"
PARTITIONS: Final = 3
TASKS: Final = 3
_DELIVERY_TIMEOUT_MS: Final = 3_000
_END_S: Final = 20.0
"""Everything ends within this time once the network is calm."""
_TRANSACTIONAL_ID: Final = "t"


@dataclass(slots=True, eq=False)
class Sent:
    """Records that a call handed over, and what became of them."""

    names: list[str]
    partition: int
    sender: int
    """The task whose call it was."""
    fates: list[RecordMetadata | BaseException | None] = field(default_factory=list)
    """What was told of each; None: nothing but that it was written. Empty: the call was cancelled,
    or raised.
    """


@dataclass(slots=True, eq=False)
class Transaction:
    """One transaction, as its user knows it."""

    sent: list[Sent] = field(default_factory=list)
    outcome: str = "unknown"
    """"committed", "aborted" or "unknown"."""


def producer_options(rng: random.Random, acks: int | str) -> dict[str, Any]:
    """Return how the producer of a round is set up."""
    in_flight = rng.choice([1, 2, 5])
    return {
        "acks": acks,
        "enable_idempotence": acks == "all",
        "max_in_flight_requests_per_connection": in_flight,
        "linger_ms": rng.choice([0, 0, 5, 20]),
        "max_batch_size": rng.choice([300, 4_096, 16_384]),
        "compression_type": rng.choice([None, None, None, "gzip", "lz4"]),
        "buffer_memory": rng.choice([400_000, 2_000_000, 33_554_432]),
        "delivery_timeout_ms": _DELIVERY_TIMEOUT_MS,
        "max_block_ms": _DELIVERY_TIMEOUT_MS,
    }


class Senders:
    """Tasks that send by one producer, each to partitions in an order that it knows."""

    def __init__(self, producer: AIOKafkaProducer, rng: random.Random) -> None:
        self.producer = producer
        self.sent: list[Sent] = []
        self._rng = rng
        self.next_name = 0
        self._senders = 0

    async def send_some(self, calls: int, into: list[Sent] | None = None) -> None:
        """Make calls in every way, one after the other; now and then one is cancelled."""
        rng = self._rng
        self._senders += 1
        sender = self._senders
        for _ in range(calls):
            sent = self._new(rng.choice([1, 1, 1, 4, 40]), sender)
            if into is not None:
                into.append(sent)
            work = asyncio.ensure_future(self._send(sent))
            if rng.random() < 0.1:
                for _ in range(rng.randint(0, 3)):
                    await asyncio.sleep(0)
                work.cancel()
            with suppress(KafkaError):
                await asyncio.wait([work])
                if not work.cancelled():
                    work.result()
            await asyncio.sleep(rng.choice([0.0, 0.0, 0.001, 0.01]))

    def _new(self, count: int, sender: int) -> Sent:
        names = [f"{self.next_name + at}" for at in range(count)]
        self.next_name += count
        sent = Sent(names, self._rng.randrange(PARTITIONS), sender)
        self.sent.append(sent)
        return sent

    async def _send(self, sent: Sent) -> None:
        """Send by one of the ways. The acks are followed by whoever wants to: they outlive this."""
        rng, producer = self._rng, self.producer
        size = some_size(rng) if len(sent.names) < 40 else rng.choice([0, 60, 450])
        values = [checked(name, size) for name in sent.names]
        sent.fates = [asyncio.CancelledError()] * len(values)
        if len(values) > 1 and rng.random() < 0.5:
            told = await producer.send_many(TOPIC, values, sent.partition)
            await _hear_many(sent, told)
            return
        for at, value in enumerate(values):
            chosen: Any = value
            if rng.random() < 0.3:
                chosen = bytearray(value)
            if rng.random() < 0.2 and len(values) == 1:
                sent.fates[at] = await producer.send_and_wait(
                    TOPIC, chosen, partition=sent.partition
                )
            else:
                ack = await producer.send(TOPIC, chosen, partition=sent.partition)
                sent.fates[at] = None
                ack.add_done_callback(_noting(sent, at))
            if isinstance(chosen, bytearray):
                chosen[:] = b"\0" * len(chosen)  # it was copied, or the log is damaged


def _noting(sent: Sent, at: int) -> Callable[[Any], None]:
    def note(ack: Any) -> None:
        sent.fates[at] = ack.exception() or ack.result()

    return note


async def _hear_many(sent: Sent, told: Any) -> None:
    with suppress(KafkaError):
        await told
    errors = dict(told.errors()) if told.failed_count else {}
    places = [] if told.failed_count else list(told.metadata())
    for at in range(len(sent.names)):
        sent.fates[at] = errors.get(at) or (places[at] if places else None)


# Rounds…


async def play_producer(seed: int, *, tls: bool, acks: int | str, calls: int) -> list[str]:
    """Play a round of one producer. Raises AssertionError where a promise is broken."""
    async with storm(seed, tls=tls) as (weather, options):
        rng = random.Random(seed + 1)
        weather.broker.create_topic(TOPIC, PARTITIONS)
        async with AIOKafkaProducer(**options, **producer_options(rng, acks)) as producer:
            senders = Senders(producer, rng)
            async with weather.raging(), asyncio.timeout(120), asyncio.TaskGroup() as tasks:
                for _ in range(TASKS):
                    tasks.create_task(senders.send_some(calls))
            async with asyncio.timeout(_END_S):
                await producer.flush()
            assert producer._engine.pool.used_bytes == 0
            async with asyncio.timeout(_END_S):
                last = await producer.send_and_wait(TOPIC, checked("last", 1), partition=0)
            assert acks == 0 or last.offset >= 0, "the producer does not recover"
        judge(weather, senders.sent, acks)
        return weather.log


async def play_transactions(seed: int, *, tls: bool, calls: int, transactions: int) -> list[str]:
    """Play a round of transactions. Raises AssertionError where a promise is broken."""
    async with storm(seed, tls=tls) as (weather, of_clients):
        rng = random.Random(seed + 1)
        weather.broker.create_topic(TOPIC, PARTITIONS)
        options = of_clients | producer_options(rng, "all")
        options |= {"transactional_id": _TRANSACTIONAL_ID, "transaction_timeout_ms": 30_000}
        made: list[Transaction] = []
        async with weather.raging(), asyncio.timeout(240):
            while len(made) < transactions:
                await _transact(options, rng, made, calls, transactions)
        async with (
            asyncio.timeout(_END_S),
            AIOKafkaProducer(**options) as producer,
            producer.transaction(),
        ):
            await producer.send(TOPIC, checked("last", 1), partition=0)
        judge_transactions(weather, made)
        return weather.log


async def _transact(
    options: dict[str, Any],
    rng: random.Random,
    made: list[Transaction],
    calls: int,
    transactions: int,
) -> None:
    """Play transactions by one producer, until it cannot go on, or there are enough of them."""
    producer = AIOKafkaProducer(**options)
    try:
        await producer.start()
    except KafkaError:
        return
    try:
        senders = Senders(producer, rng)
        senders.next_name = 1_000_000 * len(made)
        while len(made) < transactions:
            try:
                await producer.begin_transaction()
            except KafkaError:
                return
            transaction = Transaction()
            made.append(transaction)
            await senders.send_some(rng.randint(0, calls), transaction.sent)
            if not await _end(producer, transaction, rng):
                return
    finally:
        with suppress(KafkaError):
            await producer.stop(timeout_ms=_DELIVERY_TIMEOUT_MS)


async def _end(producer: AIOKafkaProducer, transaction: Transaction, rng: random.Random) -> bool:
    """Commit or abort, and say whether the producer can go on."""
    if rng.random() < 0.7:
        try:
            await producer.commit_transaction()
        except KafkaTimeoutError:
            return False  # whether it was committed, nobody knows
        except KafkaError:
            pass
        else:
            transaction.outcome = "committed"
            return True
    try:
        await producer.abort_transaction()
    except KafkaError:
        return False
    transaction.outcome = "aborted"
    return True


# What has to be true…


def names_in_log(broker: EmbeddedBroker, partition: int) -> dict[int, str]:
    """Return the names of a partition's records, by their offsets. Checks every byte."""
    return {
        record.offset: name_of(record.value) for record in broker.log((TOPIC, partition)).records()
    }


def judge(weather: Storm, sent: list[Sent], acks: int | str) -> None:
    """Compare what was told with what is in the logs."""
    logs = {number: names_in_log(weather.broker, number) for number in range(PARTITIONS)}
    for each in sent:
        log = logs[each.partition]
        there = set(log.values())
        for name, fate in zip(each.names, each.fates, strict=False):
            if acks == 0:
                continue
            if isinstance(fate, RecordMetadata):
                assert log.get(fate.offset) == name, f"{name} is not at {fate}"
            elif fate is None:
                assert name in there, f"{name} is lost, and nobody was told"
    if acks == "all":
        for log in logs.values():
            _judge_once_and_in_order(log, sent)


def _judge_once_and_in_order(log: dict[int, str], sent: list[Sent]) -> None:
    """No record is there twice, and those of a task are in the order of its calls."""
    names = [log[offset] for offset in sorted(log)]
    twice = [name for name, count in Counter(names).items() if count > 1]
    assert not twice, f"written twice: {twice}"
    places = {name: at for at, name in enumerate(names)}
    for sender in {each.sender for each in sent}:
        of_it = [name for each in sent if each.sender == sender for name in each.names]
        found = [(places[name], name) for name in of_it if name in places]
        assert found == sorted(found), f"out of order: {found}"


def judge_transactions(weather: Storm, made: list[Transaction]) -> None:
    """Readers see all of a committed transaction, and nothing of an aborted one."""
    seen: Counter[str] = Counter()
    for partition in range(PARTITIONS):
        records = committed_records(weather.broker.log((TOPIC, partition)))
        seen.update(name_of(record.value) for record in records)
    twice = [name for name, count in seen.items() if count > 1]
    assert not twice, f"twice: {twice}"
    for transaction in made:
        told = {name for each in transaction.sent for name, fate in _told(each) if fate}
        all_names = {name for each in transaction.sent for name in each.names}
        match transaction.outcome:
            case "committed":
                missing = told - set(seen)
                assert not missing, f"committed, and not there: {sorted(missing)}"
            case "aborted":
                assert not all_names & set(seen), f"aborted: {sorted(all_names & set(seen))}"
            case _:
                found = told & set(seen)
                assert not found or found == told, "a transaction is there in part"


def _told(sent: Sent) -> Iterator[tuple[str, bool]]:
    """Give each record's name, and whether its sender was told that it was written."""
    for name, fate in zip(sent.names, sent.fates, strict=False):
        yield name, isinstance(fate, RecordMetadata)


__all__ = ["play_producer", "play_transactions"]
