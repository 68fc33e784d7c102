"""The broker's side of fetch sessions: the partitions of each session, and what it last sent of
them.

Each node has one cache. A session keeps its partitions in reading order. A partition that returned
records moves to the end, so that none starves behind a busy one. Does not wait. Source: KIP-227,
server/BrokerFetchSession.java (FetchManager, IncrementalFetchContext).
"""

import random
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from aiokafka_lite.errors import (
    FetchSessionIdNotFound,
    FetchSessionTopicIdError,
    InvalidFetchSessionEpoch,
)
from aiokafka_lite.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    PartitionData,
)

NO_SESSION = 0
INITIAL_EPOCH = 0
FINAL_EPOCH = -1
MAX_EPOCH = 2**31 - 1
EVICT_AFTER_S = 120.0
"""A session idle for this long may be evicted for a new one. Source: KIP-227."""

TopicKey = str | UUID
"""How the request names a topic: by id from version 13 on, by name before."""


@dataclass(slots=True)
class RequestedPartition:
    """A requested partition, and, within a session, what the client knows of it."""

    topic: TopicKey
    partition: int
    wanted: FetchPartition
    high_watermark: int = -1
    log_start_offset: int = -1

    def has_news(self, data: PartitionData) -> bool:
        """Store the response's values; return whether an incremental response must contain them."""
        news = (
            bool(data.records)
            or data.error_code != 0
            or data.high_watermark != self.high_watermark
            or data.log_start_offset != self.log_start_offset
            or data.preferred_read_replica >= 0
            or data.diverging_epoch.epoch >= 0
        )
        # After an error the next good response always contains the partition.
        self.high_watermark = -1 if data.error_code else data.high_watermark
        self.log_start_offset = data.log_start_offset
        return news


PartitionKey = tuple[TopicKey, int]


@dataclass(slots=True)
class BrokerFetchSession:
    """The state that a client need not repeat with each request."""

    session_id: int
    uses_topic_ids: bool
    last_used_s: float
    epoch: int = 1
    partitions: OrderedDict[PartitionKey, RequestedPartition] = field(default_factory=OrderedDict)

    def update(
        self, wanted: Iterable[RequestedPartition], forgotten: Iterable[PartitionKey]
    ) -> None:
        """Apply an incremental request. Changed partitions keep their place in the order."""
        for requested in wanted:
            known = self.partitions.setdefault((requested.topic, requested.partition), requested)
            known.wanted = requested.wanted
        for key in forgotten:
            self.partitions.pop(key, None)


@dataclass(slots=True)
class FetchContext:
    """One request, resolved with its session: what to read, in which order."""

    partitions: list[RequestedPartition]
    session: BrokerFetchSession | None = None
    is_incremental: bool = False
    wants_session: bool = False


class FetchSessionCache:
    """The sessions of one node."""

    def __init__(self, slots: int, rng: random.Random) -> None:
        self._slots = slots
        self._rng = rng
        self._sessions: OrderedDict[int, BrokerFetchSession] = OrderedDict()

    def __len__(self) -> int:
        return len(self._sessions)

    def resolve(self, request: FetchRequest, version: int, now_s: float) -> FetchContext:
        """Return what `request` asks for, and advance its session by one epoch.

        Raises: FetchSessionIdNotFound, InvalidFetchSessionEpoch or FetchSessionTopicIdError for the
        whole response; the session does not change then.
        """
        wanted = _requested_partitions(request, version)
        if request.session_epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            self._sessions.pop(request.session_id, None)
            return FetchContext(wanted, wants_session=request.session_epoch == INITIAL_EPOCH)
        session = self._sessions.get(request.session_id)
        if session is None:
            raise FetchSessionIdNotFound(f"fetch session {request.session_id} is not known here")
        if session.epoch != request.session_epoch:
            raise InvalidFetchSessionEpoch(
                f"fetch session {session.session_id} is at epoch {session.epoch}, "
                f"the request says {request.session_epoch}"
            )
        if session.uses_topic_ids != (version >= FetchRequest.topic_ids_since):
            raise FetchSessionTopicIdError(
                f"fetch session {session.session_id} was opened "
                f"{'with' if session.uses_topic_ids else 'without'} topic ids, "
                f"and cannot go on with version {version}"
            )
        session.update(wanted, _forgotten_partitions(request, version))
        if not session.partitions:
            del self._sessions[session.session_id]
            return FetchContext([])
        session.epoch = 1 if session.epoch == MAX_EPOCH else session.epoch + 1
        session.last_used_s = now_s
        self._sessions.move_to_end(session.session_id)
        return FetchContext(list(session.partitions.values()), session, is_incremental=True)

    def finish(
        self,
        context: FetchContext,
        version: int,
        answers: Sequence[tuple[RequestedPartition, PartitionData]],
        now_s: float,
    ) -> tuple[int, list[tuple[RequestedPartition, PartitionData]]]:
        """Return the session id and the partitions for the response, and record them as sent."""
        if context.is_incremental:
            session = context.session
            assert session is not None
            told = [(asked, data) for asked, data in answers if asked.has_news(data)]
            for asked, data in told:
                key = (asked.topic, asked.partition)
                if data.records and key in session.partitions:
                    session.partitions.move_to_end(key)
            return session.session_id, told
        session_id = NO_SESSION
        if context.wants_session and self._make_room(now_s):
            session_id = self._open(version, answers, now_s)
        return session_id, list(answers)

    def _make_room(self, now_s: float) -> bool:
        if len(self._sessions) < self._slots:
            return True
        oldest = next(iter(self._sessions.values()), None)
        if oldest is None or now_s - oldest.last_used_s < EVICT_AFTER_S:
            return False
        del self._sessions[oldest.session_id]
        return True

    def _open(
        self,
        version: int,
        answers: Sequence[tuple[RequestedPartition, PartitionData]],
        now_s: float,
    ) -> int:
        session_id = self._rng.randint(1, MAX_EPOCH)
        while session_id in self._sessions:
            session_id = self._rng.randint(1, MAX_EPOCH)
        session = BrokerFetchSession(session_id, version >= FetchRequest.topic_ids_since, now_s)
        for asked, data in answers:
            asked.has_news(data)
            session.partitions[asked.topic, asked.partition] = asked
        self._sessions[session_id] = session
        return session_id

    def clear(self) -> None:
        """Drop every session, as a restarting node does."""
        self._sessions.clear()


def _requested_partitions(request: FetchRequest, version: int) -> list[RequestedPartition]:
    return [
        RequestedPartition(
            topic.topic_id if version >= FetchRequest.topic_ids_since else topic.topic,
            wanted.partition,
            wanted,
        )
        for topic in request.topics
        for wanted in topic.partitions
    ]


def _forgotten_partitions(request: FetchRequest, version: int) -> list[PartitionKey]:
    return [
        (topic.topic_id if version >= FetchRequest.topic_ids_since else topic.topic, partition)
        for topic in request.forgotten_topics_data
        for partition in topic.partitions
    ]


__all__ = ["BrokerFetchSession", "FetchContext", "FetchSessionCache", "RequestedPartition"]
