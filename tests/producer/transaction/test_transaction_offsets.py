"""Which version and which ids offsets in a transaction are sent with: see also
`tests/scenarios/transactions/test_transactions_topic_ids.py`.
"""

from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from aiokafka_lite.concurrency.long_waits import LongWaits
from aiokafka_lite.errors import (
    KafkaConnectionError,
    KafkaError,
    TopicAuthorizationFailedError,
    UnknownMemberIdError,
    UnknownTopicIdError,
)
from aiokafka_lite.producer.transaction.transaction_coordinator import TransactionError
from aiokafka_lite.producer.transaction.transaction_errors import TxnAction
from aiokafka_lite.producer.transaction.transaction_offsets import TopicIds, TransactionOffsets
from aiokafka_lite.protocol.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseTopic,
)
from aiokafka_lite.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestTopic,
)
from aiokafka_lite.schema.field_types import ZERO_UUID
from aiokafka_lite.testing.fake_clock import FakeClock

A, B = UUID(int=1), UUID(int=2)


class World:
    """A client and a coordinator that answer as they are told."""

    def __init__(self, *refusals: TransactionError, highest: int | None = 6) -> None:
        self.ids: TopicIds | None = {"t": A}
        self.topic_error = 0
        self.failures: dict[str, KafkaError] = {}
        self.cannot_be_asked: set[int] = set()
        """Which questions about topics, from 1 on, have no answer."""
        self.questions = 0
        self.asked: list[tuple[UUID, int | None]] = []
        self.clock = FakeClock(autojump_threshold_s=0)
        self.backoffs: list[int] = []
        self.waits = LongWaits(self.clock, "c")
        self.retry_backoff = SimpleNamespace(delay=self.note_backoff)
        self.network = self
        self.offsets = TransactionOffsets(self)  # type: ignore[arg-type]
        self.config = SimpleNamespace()
        self._refusals = list(refusals)
        self._highest = highest

    def note_backoff(self, attempts: int) -> float:
        self.backoffs.append(attempts)
        return 0.1

    def highest_version(self, request_type: object) -> int | None:
        return self._highest

    async def request_any(self, request: MetadataRequest) -> MetadataResponse:
        self.questions += 1
        if self.ids is None or self.questions in self.cannot_be_asked:
            raise KafkaConnectionError("gone")
        topics = [
            MetadataResponseTopic(error_code=self.topic_error, name=name, topic_id=i)
            for name, i in self.ids.items()
        ]
        return MetadataResponse(topics=topics)

    async def ask(self, what: str, request: Any, *_: object, **how: Any) -> None:
        self.asked.append((request().topics[0].topic_id, how["max_version"]))
        if self._refusals:
            raise self._refusals.pop(0)

    async def commit(self, name: str = "t", *, is_v2: bool = True, gives_up: bool = False) -> None:
        def request(ids: TopicIds) -> TxnOffsetCommitRequest:
            topic = TxnOffsetCommitRequestTopic(name=name, topic_id=ids.get(name, ZERO_UUID))
            return TxnOffsetCommitRequest(group_id="g", topics=[topic])

        await self.offsets.commit(self, request, is_v2=is_v2, gives_up=lambda: gives_up)  # type: ignore[arg-type]


def refusal(error: type[UnknownTopicIdError] | type[UnknownMemberIdError]) -> TransactionError:
    return TransactionError(TxnAction.ABORT, error("no"))


@pytest.mark.parametrize(
    ("is_v2", "highest", "expected"),
    [
        (True, 6, (A, None)),
        (True, 5, (ZERO_UUID, 5)),
        (True, None, (ZERO_UUID, 5)),
        (False, 6, (ZERO_UUID, 4)),
    ],
)
async def test_ids_are_for_transactions_v2_and_brokers_that_take_them(
    is_v2: bool, highest: int | None, expected: tuple[UUID, int | None]
) -> None:
    world = World(highest=highest)
    await world.commit(is_v2=is_v2)
    assert world.asked == [expected]


@pytest.mark.parametrize("ids", [None, {}, {"t": ZERO_UUID}])
async def test_without_ids_names_do(ids: TopicIds | None) -> None:
    world = World()
    world.ids = ids
    await world.commit()
    assert world.asked == [(ZERO_UUID, 5)]


async def test_what_a_refused_topic_has_for_an_id_is_not_used() -> None:
    world = World()
    world.topic_error = TopicAuthorizationFailedError.errno
    await world.commit()
    assert world.asked == [(ZERO_UUID, 5)]


async def test_an_id_is_not_taken_for_another_while_nobody_can_be_asked() -> None:
    world = World(refusal(UnknownTopicIdError))
    world.cannot_be_asked = {2}
    await world.commit()
    assert world.asked == [(A, None)] * 2


async def test_other_refusals_are_for_the_caller() -> None:
    world = World(refusal(UnknownMemberIdError))
    with pytest.raises(TransactionError):
        await world.commit()
    assert len(world.asked) == 1


async def test_who_gives_up_does_not_ask_again() -> None:
    world = World(refusal(UnknownTopicIdError))
    with pytest.raises(TransactionError):
        await world.commit(gives_up=True)
    assert len(world.asked) == 1


async def test_an_id_that_stays_is_sent_again() -> None:
    world = World(refusal(UnknownTopicIdError), refusal(UnknownTopicIdError))
    await world.commit()
    assert world.asked == [(A, None)] * 3
    assert world.backoffs == [0, 1]


async def test_an_id_is_asked_for_once_whatever_others_are_asked_for_in_between() -> None:
    world = World()
    for name, topic_id in (("t", A), ("u", B), ("t", A)):
        world.ids = {name: topic_id}
        await world.commit(name)
    assert world.asked == [(A, None), (B, None), (A, None)]
    assert world.questions == 2
