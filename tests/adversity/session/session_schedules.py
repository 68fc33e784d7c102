"""The run of a schedule: a cluster, sessions that copy a topic, and what `session_steps` says.

`play_sessions` goes through the steps in virtual time, ends all trouble, and lets the sessions that
are there copy the rest. What the model has to complain of by then is what the tests judge.
"""

import asyncio
import random
from collections.abc import Sequence

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer, ExactlyOnceSession
from aiokafka_lite.consumer.assignors.cooperative_sticky import CooperativeStickyAssignor
from aiokafka_lite.consumer.assignors.range import RangePartitionAssignor
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.broker.state.transactions.txn_metadata import TxnState
from aiokafka_lite.testing.fake_clock import FakeClock
from aiokafka_lite.testing.virtual_network import VirtualNetwork
from tests.adversity.cluster_troubles import ClusterTroubles
from tests.adversity.committed_log import committed_records
from tests.adversity.group.group_steps import NODES, Crash, Isolate, MoveLeader, Wait, Work, Write
from tests.adversity.producer.producer_schedules import producer_options
from tests.adversity.session.session_member import SessionMember, SlowListener
from tests.adversity.session.session_model import Image, SessionModel
from tests.adversity.session.session_steps import (
    INPUT,
    INPUT_PARTITIONS,
    OUTPUT,
    OUTPUT_PARTITIONS,
    SESSIONS,
    Copy,
    End,
    Expel,
    HoldMarkers,
    Join,
    Leave,
    MoveTransactions,
    Rebalance,
    ReleaseMarkers,
    SessionOptions,
    SessionStep,
    TakeOver,
)
from tests.consumer.batches import batch

GROUP = "g"
FIRST_RECORDS = 8
SESSION_TIMEOUT_MS = 6_000
TRANSACTION_TIMEOUT_MS = 10_000
COPY_ALL_WITHIN_S = 60.0
"""When there is no trouble any more: sessions and transactions run out, what failed is repeated."""
FENCED_WITHIN_S = 15.0
"""Beside that, for each session: one whose place was taken may have to take over a partition before
it hears that it is fenced, and then leaves with a slow listener."""
LOOK_EVERY_S = 0.5
MAX_TURNS = 400_000


class SessionPlay:
    """One run of a schedule."""

    def __init__(
        self,
        broker: EmbeddedBroker,
        clock: FakeClock,
        network: VirtualNetwork,
        model: SessionModel,
        *,
        is_cooperative: bool,
    ) -> None:
        self.broker = broker
        self.clock = clock
        self.network = network
        self.model = model
        self.troubles = ClusterTroubles(broker, network, GROUP)
        self.places: dict[int, SessionMember] = {}
        self.everyone: list[SessionMember] = []
        self._may_be_unassigned = False
        """A static member was replaced by another, perhaps between the two rebalances in which
        partitions move cooperatively: nobody has them until the next rebalance (KIP-345)."""
        self._assignor = CooperativeStickyAssignor if is_cooperative else RangePartitionAssignor

    # Sessions…

    def join(self, number: int, options: SessionOptions) -> None:
        """Let a session take a place."""
        name = f"s{number}.{len(self.everyone)}"
        self.model.tell(f"{name} joins")
        self._may_be_unassigned |= options.is_static and number in self.places
        session = ExactlyOnceSession(
            self._consumer(name, number, options), self._producer(name, number, options)
        )
        member = SessionMember(name, session, self.model, self.clock)
        member.task = asyncio.create_task(member.live(), name=name)
        self.places[number] = member
        self.everyone.append(member)

    def _consumer(
        self, name: str, number: int, options: SessionOptions
    ) -> AIOKafkaConsumer[bytes, bytes]:
        consumer: AIOKafkaConsumer[bytes, bytes] = AIOKafkaConsumer(
            bootstrap_servers=self.broker.bootstrap_servers,
            client_id=name,
            group_id=GROUP,
            group_instance_id=f"i{number}" if options.is_static else None,
            partition_assignment_strategy=[self._assignor],
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            isolation_level="read_committed",
            session_timeout_ms=SESSION_TIMEOUT_MS,
            heartbeat_interval_ms=1_000,
            max_poll_interval_ms=options.max_poll_interval_ms,
            prefetch_max_bytes=options.prefetch_max_bytes,
            fetch_max_wait_ms=200,
            request_timeout_ms=3_000,
            default_api_timeout_ms=5_000,
            retry_backoff_ms=20,
            retry_backoff_max_ms=200,
            reconnect_backoff_ms=20,
            reconnect_backoff_max_ms=200,
            allow_auto_create_topics=False,
            clock=self.clock,
            rng=random.Random(number),
        )
        slow = SlowListener(self.clock, options.listens_ms)
        consumer.subscribe([INPUT], listener=slow if options.listens_ms else None)
        return consumer

    def _producer(self, name: str, number: int, options: SessionOptions) -> AIOKafkaProducer:
        return AIOKafkaProducer(
            **(producer_options(self.broker, self.clock, seed=number) | {"client_id": name}),
            transactional_id=_transactional_id(number),
            transaction_timeout_ms=TRANSACTION_TIMEOUT_MS,
            buffer_memory=options.buffer_memory,
        )

    @property
    def _living(self) -> list[SessionMember]:
        return [member for member in self.places.values() if not member.is_over]

    def _of(self, number: int) -> SessionMember | None:
        """Return one of those who are there: numbers are counted round."""
        living = self._living
        return living[number % len(living)] if living else None

    # What happens…

    async def step(self, step: SessionStep) -> None:
        """Let one step happen."""
        self.model.tell(f"-- {step}")
        match step:
            case Join() | TakeOver():
                self._take_place(step)
            case Wait(ms):
                await self.clock.sleep(ms / 1000)
            case Write(_, partition, sizes):
                self.write(partition % INPUT_PARTITIONS, sizes)
            case MoveLeader(topic, partition, node):
                count = INPUT_PARTITIONS if topic == INPUT else OUTPUT_PARTITIONS
                if node in self.troubles.alive:
                    self.broker.move_leader((topic, partition % count), node)
            case MoveTransactions() | HoldMarkers() | ReleaseMarkers():
                self._hurt_transactions(step)
            case Copy() | Work() | Leave() | Rebalance() | End() | Crash() | Isolate() | Expel():
                self._of_session(step)
            case _:
                self.troubles.happens(step)
        await asyncio.sleep(0)
        self.look()

    def _take_place(self, step: Join | TakeOver) -> None:
        former = self.places.get(step.member)
        if former is not None and not former.is_over:
            if isinstance(step, Join):
                return
            former.drain()
        self.join(step.member, step.options)

    def _hurt_transactions(self, step: MoveTransactions | HoldMarkers | ReleaseMarkers) -> None:
        match step:
            case MoveTransactions(number, node):
                if node is None or node in self.troubles.alive:
                    self.broker.move_transaction_coordinator(_transactional_id(number), node)
            case HoldMarkers():
                self.broker.hold_transaction_markers()
            case ReleaseMarkers():
                self.broker.release_transaction_markers()

    def _of_session(
        self, step: Copy | Work | Leave | Rebalance | End | Crash | Isolate | Expel
    ) -> None:
        member = self._of(step.member)
        if member is None:
            return
        match step:
            case End(_, times):
                member.end(times)
            case Crash():
                self.troubles.crash(member.name)
                member.is_dead = True
                member.end()
            case Isolate():
                self.network.isolate(member.name)
            case Expel():
                self._expel(member)
            case _:
                member.steps.put_nowait(step)

    def _expel(self, member: SessionMember) -> None:
        for view in self.broker.group(GROUP).members.values():
            group = self.broker._groups.find(GROUP)
            if view.client_id == member.name and group is not None:
                group.membership.leave(view.member_id, view.group_instance_id)
                group.membership.left("expelled")

    def write(self, partition: int, sizes: Sequence[int]) -> None:
        """Append batches of these sizes to the input."""
        tp = TopicPartition(INPUT, partition)
        for size in sizes:
            first = self.broker.log(tp).log_end_offset
            self.broker.append(tp, batch([b""] * size, first))
            self.model.wrote(partition, size)

    # What came of it…

    def look(self) -> None:
        """Show the model what counts now, unless it has seen something wrong before."""
        if self.model.complaints:
            return
        images: list[Image] = []
        for partition in range(OUTPUT_PARTITIONS):
            for record in committed_records(self.broker.log((OUTPUT, partition))):
                source, offset = (record.value or b"").split(b"/")
                images.append((int(source), int(offset)))
        stands = self.broker.group(GROUP).offsets
        self.model.seen(
            images,
            {tp.partition: committed.offset for tp, committed in stands.items()},
            is_settled=self._is_settled(),
        )

    def _is_settled(self) -> bool:
        return not any(
            self.broker.transaction(_transactional_id(number)).state in _OPEN
            for number in range(SESSIONS)
        )

    async def copy_all(self) -> None:
        """Let the sessions copy on until everything counts."""
        for member in self._living:
            if self._may_be_unassigned:
                member.steps.put_nowait(Rebalance(0))
            member.drain()
        while any(not member.steps.empty() for member in self._living):
            await self.clock.sleep(LOOK_EVERY_S)
        within_s = COPY_ALL_WITHIN_S + FENCED_WITHIN_S * len(self.everyone)
        until_s = self.clock.monotonic() + within_s
        while not (self.model.complaints or (self.model.is_done() and self._is_settled())):
            if self.clock.monotonic() > until_s:
                self.model.complain(f"copied {self.model.copied} of {self.model.ends}")
                return
            if not self._living:
                self.join(0, SessionOptions())
                self.places[0].drain()
            await self.clock.sleep(LOOK_EVERY_S)
            self.look()

    def heal(self) -> None:
        """End all trouble."""
        self.model.tell("-- all trouble is over")
        self.troubles.heal()
        self.broker.release_transaction_markers()
        for number in range(SESSIONS):
            if self.broker.transaction(_transactional_id(number)).coordinator is None:
                self.broker.move_transaction_coordinator(_transactional_id(number), 1)

    async def leave(self) -> None:
        """Let everybody leave, and wait for those who are on their way."""
        for member in self.everyone:
            member.steps.put_nowait(Leave(0))
        await asyncio.gather(*(member.task for member in self.everyone if member.task))
        self.look()


_OPEN = (
    TxnState.ONGOING,
    TxnState.PREPARE_COMMIT,
    TxnState.PREPARE_ABORT,
)


def _transactional_id(number: int) -> str:
    return f"t{number}"


async def play_sessions(
    clock: FakeClock,
    network: VirtualNetwork,
    *,
    schedule: Sequence[SessionStep],
    is_cooperative: bool,
    transaction_version: int,
) -> SessionModel:
    """Let a schedule happen to sessions; return the model, with its complaints."""
    model = SessionModel(clock.monotonic)
    async with EmbeddedBroker(
        NODES,
        auto_create_topics=False,
        group_min_session_timeout_ms=1_000,
        transaction_version=transaction_version,
        max_logged_requests=0,
        clock=clock,
        rng=random.Random(1),
    ) as broker:
        broker.create_topic(INPUT, INPUT_PARTITIONS)
        broker.create_topic(OUTPUT, OUTPUT_PARTITIONS)
        run = SessionPlay(broker, clock, network, model, is_cooperative=is_cooperative)
        for partition in range(INPUT_PARTITIONS):
            run.write(partition, (1,) * FIRST_RECORDS)
        try:
            for step in schedule:
                await run.step(step)
            run.heal()
            await run.copy_all()
            await run.leave()
        except Exception as error:
            error.add_note(str(model))
            raise
    return model


__all__ = ["MAX_TURNS", "play_sessions"]
