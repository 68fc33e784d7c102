"""A transactional producer that is used in every way at once; sends may still wait when their
transaction ends. What else may happen is in `transaction_schedules`.
"""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from aiokafka_lite import AIOKafkaProducer
from aiokafka_lite.errors import KafkaError, NotCoordinatorForGroupError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from aiokafka_lite.protocol.messages.add_partitions_to_txn import AddPartitionsToTxnRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.fake_clock import FakeClock
from aiokafka_lite.testing.virtual_network import VirtualNetwork
from tests.adversity.committed_log import committed_records
from tests.adversity.mixed.mixed_schedules import Burst, MixedOptions, make_all
from tests.adversity.producer.producer_schedules import NODES, producer_options
from tests.adversity.producer.send_calls import Call, Caller, CancelCalls, Way
from tests.adversity.producer.send_model import Written
from tests.adversity.topic_changes import (
    PARTITIONS,
    CreateTopic,
    GrowTopic,
    Refresh,
    Topics,
)
from tests.adversity.transaction.transaction_schedules import (
    TRANSACTION_TIMEOUT_MS,
    TRANSACTIONAL_ID,
    HoldMarkers,
    Transaction,
    TransactionPlay,
    TransactionStep,
)

GROUP = "g"
OFFSETS_OF = TopicPartition("orders", 0)


class SendOffsets(NamedTuple):
    """The next offset of a group is committed with the transaction."""


class InDoubt(NamedTuple):
    """Partitions, or a group, are added to the transaction: that is done, its answer is lost, and
    the next attempts are refused while the user ends the transaction.
    """

    is_group: bool
    is_abort: bool


class MoveGroup(NamedTuple):
    """Another node coordinates the group."""

    node: int


MixedTransactionStep = (
    TransactionStep
    | Burst
    | Call
    | CancelCalls
    | CreateTopic
    | GrowTopic
    | Refresh
    | SendOffsets
    | InDoubt
    | MoveGroup
)


@dataclass(slots=True)
class MixedTransaction(Transaction):
    """A transaction, and the offsets that were sent to it."""

    number: int = 0
    offsets: list[tuple[int, bool]] = field(default_factory=list)
    """Each offset, and whether it was taken."""


@dataclass(slots=True)
class MixedTransactionStory:
    """Everything that came of a schedule."""

    caller: Caller
    topics: Topics
    transactions: list[MixedTransaction]
    visible: list[Written] = field(default_factory=list)
    logs: list[Written] = field(default_factory=list)
    offset: int | None = None
    """What the group has in the end."""

    def __str__(self) -> str:
        transactions = [
            f"transaction {each.number} {each.outcome.value}: {each.offsets} {each.why}"
            for each in self.transactions
        ]
        logs = [f"visible {log}" for log in self.visible] + [str(log) for log in self.logs]
        return "\n".join([*transactions, str(self.caller), *logs, f"offset {self.offset}"])


class MixedTransactionPlay(TransactionPlay):
    """One run of a schedule."""

    def __init__(
        self,
        broker: EmbeddedBroker,
        clock: FakeClock,
        network: VirtualNetwork,
        options: MixedOptions,
    ) -> None:
        super().__init__(broker, clock, network)
        self.topics = Topics(broker)
        self.caller = Caller(clock)
        self.transactions: list[MixedTransaction] = []
        self._options = options
        self._next_offset = 1
        self._began_at_s = 0.0
        self._may_be_fenced = False

    async def _new_producer(self) -> AIOKafkaProducer:
        options: dict[str, Any] = producer_options(self.broker, self.clock, self._options.seed)
        options |= self._options.for_producer()
        producer = AIOKafkaProducer(
            **options,
            transactional_id=TRANSACTIONAL_ID,
            transaction_timeout_ms=TRANSACTION_TIMEOUT_MS,
        )
        await producer.start()
        self._may_be_fenced = False
        self.caller.producer = producer
        return producer

    async def replace(self) -> None:
        self._note_time()
        if self.is_fatal and not self._may_be_fenced:
            raise AssertionError("the producer cannot go on, and nothing fences it")
        await super().replace()

    def _note_time(self) -> None:
        """The coordinator fences who lets a transaction lie for too long."""
        open_s = self.clock.monotonic() - self._began_at_s
        if self.transaction is not None and open_s >= TRANSACTION_TIMEOUT_MS / 1000 - 1:
            self._may_be_fenced = True

    async def begin(self) -> None:
        """Begin a transaction if none is open."""
        if self.transaction is not None:
            return
        try:
            await self.producer.begin_transaction()
        except KafkaError:
            assert self.is_fatal
            await self.replace()
            await self.producer.begin_transaction()
        self._began_at_s = self.clock.monotonic()
        self.caller.transaction += 1
        self.transaction = begun = MixedTransaction(number=self.caller.transaction)
        self.transactions.append(begun)

    async def commit(self) -> None:
        try:
            await super().commit()
        finally:
            self._note_time()

    async def abort(self) -> None:
        try:
            await super().abort()
        finally:
            self._note_time()

    async def _to_its_end(self, call: Any) -> None:
        try:
            await super()._to_its_end(call)
        finally:
            self._note_time()

    async def mixed_step(self, step: MixedTransactionStep) -> None:
        """Let one step happen."""
        match step:
            case Call():
                await self.begin()
                await self.caller.make(step)
            case Burst():
                await self.begin()
                await make_all(self.caller, step)
            case CancelCalls():
                await self.caller.cancel()
            case CreateTopic() | GrowTopic():
                self.topics.step(step)
            case Refresh():
                self.topics.mislead(step)
                self.producer.kafka_client.metadata.request_update()
            case SendOffsets():
                await self.begin()
                await self._send_offsets()
            case HoldMarkers():
                # V2: an abort while the transaction before is still being ended is fenced, as the
                # coordinator takes it for the end of that one by somebody else.
                self._may_be_fenced = True
                await self.step(step)
            case InDoubt():
                await self._in_doubt(step)
            case MoveGroup(node) if node in self.alive:
                self.broker.move_coordinator(GROUP, node)
            case MoveGroup():
                pass
            case _:
                await self.step(step)

    async def _in_doubt(self, step: InDoubt) -> None:
        await self.begin()
        api = AddOffsetsToTxnRequest if step.is_group else AddPartitionsToTxnRequest
        self.broker.faults.cut(api)
        if step.is_group:
            adding = asyncio.create_task(self._send_offsets())
        else:
            adding = asyncio.create_task(self._send_one())
        await self.clock.sleep(0.01)
        self.broker.faults.fail(api, NotCoordinatorForGroupError, 6)
        await (self.abort() if step.is_abort else self.commit())
        await adding

    async def _send_one(self) -> None:
        await self.caller.make(Call(Way.SEND, *OFFSETS_OF, None, 1, 0))

    async def _send_offsets(self) -> None:
        offset, self._next_offset = self._next_offset, self._next_offset + 1
        transaction = self.transactions[-1]
        try:
            await self.producer.send_offsets_to_transaction({OFFSETS_OF: offset}, GROUP)
        except KafkaError as error:
            transaction.why.append(f"offset {offset}: {error!r}")
            transaction.offsets.append((offset, False))
        else:
            transaction.offsets.append((offset, True))

    async def heal(self) -> None:
        await super().heal()
        self.topics.heal()

    async def to_the_end(self) -> None:
        """End what is open. Nothing may be left of it that the coordinator would fence the producer
        for: after some time, one more transaction, to each partition.
        """
        await self.heal()
        await self.commit()
        await self.clock.sleep(TRANSACTION_TIMEOUT_MS / 1000 + 1)
        await self.begin()
        for topic in PARTITIONS:
            for partition in range(self.topics.count(topic)):
                await self.caller.make(Call(Way.AND_WAIT, topic, partition, None, 1, 0))
        await self._send_offsets()
        await self.caller.settle()
        await self.commit()

    def story_of_it(self) -> MixedTransactionStory:
        story = MixedTransactionStory(self.caller, self.topics, self.transactions)
        story.logs = self.topics.logs()
        for log in story.logs:
            place = TopicPartition(log.topic, log.partition)
            written = self.broker.log(place)
            hangs = written.last_stable_offset != written.log_end_offset
            assert not hangs, f"a transaction hangs in {place}"
            found = [(each.offset, each.value or b"") for each in committed_records(written)]
            story.visible.append(Written.of(*place, found))
        committed = self.broker.group(GROUP).offsets.get(OFFSETS_OF)
        story.offset = None if committed is None else committed.offset
        return story


async def play_mixed_transactions(
    clock: FakeClock,
    network: VirtualNetwork,
    *,
    schedule: Sequence[MixedTransactionStep],
    options: MixedOptions,
    transaction_version: int,
) -> MixedTransactionStory:
    """Let a schedule happen, and bring it to its end."""
    async with EmbeddedBroker(
        NODES,
        clock=clock,
        transaction_version=transaction_version,
        max_logged_requests=0,
        auto_create_topics=False,
        rng=random.Random(options.seed),
    ) as broker:
        play = MixedTransactionPlay(broker, clock, network, options)
        with play.topics.misleading():
            async with play.running():
                try:
                    for step in schedule:
                        await play.mixed_step(step)
                    await play.to_the_end()
                    assert play.producer._engine.pool.used_bytes == 0
                    return play.story_of_it()
                except AssertionError as error:
                    error.add_note(
                        str(MixedTransactionStory(play.caller, play.topics, play.transactions))
                    )
                    raise


__all__ = [
    "InDoubt",
    "MixedTransaction",
    "MixedTransactionStep",
    "MixedTransactionStory",
    "MoveGroup",
    "SendOffsets",
    "play_mixed_transactions",
]
