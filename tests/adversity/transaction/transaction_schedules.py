"""What may happen to a transactional producer, as data, and the run that lets it happen.

The user in it does as the documentation says: a call that timed out is made again, a transaction
that cannot be committed is aborted, and a producer that cannot go on is replaced.
"""

import random
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

from aiokafka_lite import AIOKafkaProducer
from aiokafka_lite.errors import (
    BrokerResponseError,
    DeliveryTimeoutError,
    KafkaError,
    KafkaTimeoutError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.producer.batch.record_ack import RecordAck
from aiokafka_lite.producer.transaction.transaction_state import TransactionState
from aiokafka_lite.schema.message import Request
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.fake_clock import FakeClock
from aiokafka_lite.testing.virtual_network import VirtualNetwork
from tests.adversity.committed_log import committed_records
from tests.adversity.producer.producer_schedules import (
    NODES,
    TOPIC,
    Disconnect,
    HurtCluster,
    Latency,
    MoveLeader,
    Send,
    StartNode,
    StopNode,
    Wait,
    producer_options,
)

TRANSACTIONAL_ID = "t"
TRANSACTION_TIMEOUT_MS = 10_000
PARTITIONS = 2
_PATIENCE = 3
"""How often a call that timed out is repeated before the trouble is ended."""


class Commit(NamedTuple):
    """commit_transaction(), if one is open."""


class Abort(NamedTuple):
    """abort_transaction(), if one is open."""


class Replace(NamedTuple):
    """Another producer takes over the transactional id, in mid transaction or not."""


class MoveCoordinator(NamedTuple):
    """Another node coordinates."""

    node: int


class HoldMarkers(NamedTuple):
    """Transactions that end stay without markers: CONCURRENT_TRANSACTIONS."""


class ReleaseMarkers(NamedTuple):
    """They get them."""


class DropOf(NamedTuple):
    """The next request of an API is done, but never answered."""

    api: type[Request[Any]]


class CutOf(NamedTuple):
    """The next one is done, and its connection breaks in mid answer."""

    api: type[Request[Any]]
    after_bytes: int


class DelayOf(NamedTuple):
    """The next one is answered late."""

    api: type[Request[Any]]
    ms: int


class FailOf(NamedTuple):
    """The next ones are refused."""

    api: type[Request[Any]]
    error: type[BrokerResponseError]
    times: int


TransactionStep = (
    Send
    | Wait
    | Commit
    | Abort
    | Replace
    | Latency
    | MoveCoordinator
    | HoldMarkers
    | ReleaseMarkers
    | DropOf
    | CutOf
    | DelayOf
    | FailOf
    | MoveLeader
    | StopNode
    | StartNode
    | Disconnect
)


class Outcome(Enum):
    """What the user knows of a transaction."""

    COMMITTED = "committed"
    ABORTED = "aborted"
    UNKNOWN = "committed or aborted"


@dataclass(slots=True)
class Transaction:
    """A transaction, and what its user knows."""

    sent: dict[int, list[tuple[int, RecordAck]]] = field(default_factory=dict)
    """Partition -> (record's number, ack) of what `send` took, in that order."""
    outcome: Outcome = Outcome.ABORTED
    why: list[str] = field(default_factory=list)
    """What calls raised, in their order."""

    def numbers(self, partition: int) -> list[int]:
        return [number for number, _ in self.sent.get(partition, [])]


@dataclass(slots=True)
class TransactionStory:
    """Everything that came of a schedule."""

    transactions: list[Transaction] = field(default_factory=list)
    committed: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    """Partition -> (offset, record's number) as read_committed reads them."""
    logs: dict[int, list[int]] = field(default_factory=dict)
    """Partition -> records in the log, committed or not."""

    def __str__(self) -> str:
        lines = [
            f"{transaction.outcome.value}: "
            f"{ {partition: transaction.numbers(partition) for partition in transaction.sent} } "
            f"{transaction.why}"
            for transaction in self.transactions
        ]
        lines += [f"committed in {partition}: {log}" for partition, log in self.committed.items()]
        lines += [f"log of {partition}: {log}" for partition, log in self.logs.items()]
        return "\n".join(lines)


class TransactionPlay(HurtCluster):
    """One run of a schedule."""

    def __init__(self, broker: EmbeddedBroker, clock: FakeClock, network: VirtualNetwork) -> None:
        super().__init__(broker, clock, network, PARTITIONS)
        self.story = TransactionStory()
        self.producer: AIOKafkaProducer
        self.transaction: Transaction | None = None
        self.next_number = 0

    # Producers…

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Have a producer, whichever, during the block."""
        self.producer = await self._new_producer()
        try:
            yield
        finally:
            await self.producer.stop()

    async def _new_producer(self) -> AIOKafkaProducer:
        producer = AIOKafkaProducer(
            **producer_options(self.broker, self.clock, seed=1),
            transactional_id=TRANSACTIONAL_ID,
            transaction_timeout_ms=TRANSACTION_TIMEOUT_MS,
        )
        await producer.start()
        return producer

    async def replace(self) -> None:
        """Let another producer take over, while nothing stands in its way."""
        await self.heal()
        old, self.producer = self.producer, await self._new_producer()
        self.transaction = None
        await old.stop()

    @property
    def is_fatal(self) -> bool:
        transactions = self.producer._engine.transactions
        assert transactions is not None
        return transactions.status.state is TransactionState.FATAL_ERROR

    # Transactions…

    async def send(self, partition: int) -> None:
        """Send a record, in a new transaction if there is none."""
        if self.transaction is None:
            try:
                await self.producer.begin_transaction()
            except KafkaError:
                assert self.is_fatal
                await self.replace()
                await self.producer.begin_transaction()
            self.transaction = Transaction()
            self.story.transactions.append(self.transaction)
        number, self.next_number = self.next_number, self.next_number + 1
        try:
            ack = await self.producer.send(TOPIC, b"%04d" % number, partition=partition)
        except KafkaError as error:
            self.transaction.why.append(f"send: {error!r}")
            return
        self.transaction.sent.setdefault(partition, []).append((number, ack))

    async def commit(self) -> None:
        """Commit what is open, or abort it if that cannot be."""
        transaction = self.transaction
        if transaction is None:
            return
        try:
            await self._to_its_end(self.producer.commit_transaction)
        except KafkaError as error:
            transaction.why.append(f"commit: {error!r}")
            if self.is_fatal:
                transaction.outcome = Outcome.UNKNOWN
                await self.replace()
            else:
                await self.abort()
        else:
            transaction.outcome = Outcome.COMMITTED
        self.transaction = None

    async def abort(self) -> None:
        """Abort what is open."""
        transaction = self.transaction
        if transaction is None:
            return
        try:
            await self._to_its_end(self.producer.abort_transaction)
        except KafkaError as error:
            transaction.why.append(f"abort: {error!r}")
            if not self.is_fatal:
                raise AssertionError(f"an abort failed without need\n{self.story}") from error
            await self.replace()
        self.transaction = None

    async def _to_its_end(self, call: Callable[[], Awaitable[None]]) -> None:
        for attempt in range(10):
            try:
                return await call()
            except DeliveryTimeoutError:
                raise
            except KafkaTimeoutError:
                if attempt + 1 == _PATIENCE:
                    await self.heal()
        raise AssertionError(f"a call never ends\n{self.story}")

    # What happens…

    async def step(self, step: TransactionStep) -> None:
        """Let one step happen."""
        match step:
            case Send(partition, records):
                for _ in range(records):
                    await self.send(partition % PARTITIONS)
            case Wait(ms):
                await self.clock.sleep(ms / 1000)
            case Commit():
                await self.commit()
            case Abort():
                await self.abort()
            case Replace():
                await self.replace()
            case _:
                self._trouble(step)

    def _trouble(self, step: TransactionStep) -> None:
        match step:
            case Latency() | StopNode() | StartNode() | Disconnect() | MoveLeader():
                self.hurt(step)
            case MoveCoordinator(node) if node in self.alive:
                self.broker.move_transaction_coordinator(TRANSACTIONAL_ID, node)
            case HoldMarkers():
                self.broker.hold_transaction_markers()
            case ReleaseMarkers():
                self.broker.release_transaction_markers()
            case _:
                self._arm(step)

    def _arm(self, step: TransactionStep) -> None:
        faults = self.broker.faults
        match step:
            case DropOf(api):
                faults.drop(api)
            case CutOf(api, after_bytes):
                faults.cut(api, after_bytes)
            case DelayOf(api, ms):
                faults.delay(api, ms / 1000)
            case FailOf(api, error, times):
                faults.fail(api, error, times)

    async def heal(self) -> None:
        self.broker.release_transaction_markers()
        await super().heal()

    # What is there at the end…

    def read(self) -> None:
        """Read every log, as read_committed and as it lies there."""
        for partition in range(PARTITIONS):
            self.story.committed[partition] = self._committed(partition)
            records = self.broker.log((TOPIC, partition)).records()
            self.story.logs[partition] = [int(record.value or b"-1") for record in records]

    def _committed(self, partition: int) -> list[tuple[int, int]]:
        log = self.broker.log(TopicPartition(TOPIC, partition))
        end = log.log_end_offset
        assert log.last_stable_offset == end, f"a transaction hangs in {partition}\n{self.story}"
        return [(record.offset, int(record.value or b"-1")) for record in committed_records(log)]


async def play_transactions(
    clock: FakeClock,
    network: VirtualNetwork,
    *,
    schedule: Sequence[TransactionStep],
    transaction_version: int,
) -> TransactionStory:
    """Let a schedule happen; at the end one more transaction, when nothing stands in its way."""
    async with EmbeddedBroker(
        NODES,
        clock=clock,
        transaction_version=transaction_version,
        max_logged_requests=0,
        rng=random.Random(1),
    ) as broker:
        broker.create_topic(TOPIC, partitions=PARTITIONS)
        run = TransactionPlay(broker, clock, network)
        async with run.running():
            for step in schedule:
                await run.step(step)
            await run.heal()
            await run.commit()
            for partition in range(PARTITIONS):
                await run.send(partition)
            await run.commit()
        run.read()
    return run.story


__all__ = [
    "Abort",
    "Commit",
    "CutOf",
    "DelayOf",
    "DropOf",
    "FailOf",
    "HoldMarkers",
    "MoveCoordinator",
    "Outcome",
    "ReleaseMarkers",
    "Replace",
    "Transaction",
    "TransactionPlay",
    "TransactionStep",
    "TransactionStory",
    "play_transactions",
]
