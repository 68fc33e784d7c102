"""One round of fetches at one node: how its bytes are made, and who takes its outcome. Does not
wait.

Where records come one by one, request and response are written and read in one go. Any other form
goes through the message, with an object for each of its parts.
"""

from struct import Struct
from typing import Any
from uuid import UUID

from aiokafka_lite.codec.parts import Parts
from aiokafka_lite.consumer.consumer_config import ConsumerConfig
from aiokafka_lite.consumer.fetch.fetch_bytes import read_lone_answer, request_bytes
from aiokafka_lite.consumer.fetch.fetch_session import FetchSessionRequest, ForgottenPartition
from aiokafka_lite.net.exchange import Exchange
from aiokafka_lite.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
)
from aiokafka_lite.schema.field_types import ZERO_UUID

_LIMITS = Struct(">iib")
_NOTHING_FORGOTTEN = b"\x01"
_NO_TAGS = b"\0"
_MOST_RACK_BYTES = 126
"""So long a name has a size of one byte."""


class FetchTerms:
    """What all Fetch requests of a consumer say of themselves."""

    __slots__ = (
        "_topic_id",
        "_topic_id_bytes",
        "isolation_level",
        "limits",
        "max_bytes",
        "min_bytes",
        "rack_id",
        "tail",
    )

    def __init__(self, config: ConsumerConfig) -> None:
        self.min_bytes = config.fetch_min_bytes
        self.max_bytes = config.fetch_max_bytes
        self.isolation_level = int(config.is_read_committed)
        self.rack_id = config.client_rack or ""
        self.limits = _LIMITS.pack(self.min_bytes, self.max_bytes, self.isolation_level)
        """The bytes of the first three, whose options fit their fields."""
        self.tail: bytes | None = None
        """All that comes behind the topics, if nothing is forgotten; None: a long name of a rack
        needs the message."""
        self._topic_id = ZERO_UUID
        self._topic_id_bytes = ZERO_UUID.bytes
        rack = self.rack_id.encode()
        if len(rack) <= _MOST_RACK_BYTES:
            self.tail = _NOTHING_FORGOTTEN + bytes((len(rack) + 1,)) + rack + _NO_TAGS

    def id_bytes(self, topic_id: UUID) -> bytes:
        """Return the bytes of an id. Those of the newest one are kept."""
        if topic_id is not self._topic_id:
            self._topic_id, self._topic_id_bytes = topic_id, topic_id.bytes
        return self._topic_id_bytes


class FetchRound(Exchange):
    """One Fetch request to one node, and its response. It is planned by a poll, and sent once."""

    request: FetchRequest

    __slots__ = ("_forgotten", "_max_wait_ms", "_planned", "_terms", "fetcher", "node", "node_id")

    def __init__(
        self,
        node_id: int,
        terms: FetchTerms,
        planned: FetchSessionRequest,
        max_wait_ms: int,
        forgotten: tuple[ForgottenPartition, ...] = (),
        max_version: int | None = None,
    ) -> None:
        """`max_version`: 12 if a partition has no topic id; None: the newest version that both
        sides know.
        """
        super().__init__(PlannedRequest(terms, planned, max_wait_ms, forgotten), max_version)
        self.node_id = node_id
        self._terms = terms
        self._planned = planned
        self._max_wait_ms = max_wait_ms
        self._forgotten = forgotten
        self.fetcher: Any = None
        """The `Fetcher` that files the response into the buffer; None: whoever awaits it takes the
        response.
        """
        self.node: Any = None
        """The `NodeFetcher`, whose task awaits the round."""

    def ended(self, response: Any, error: BaseException | None) -> None:
        if self.fetcher is None:
            Exchange.ended(self, response, error)
        else:
            Exchange.ended(self, None, self.fetcher.round_is_over(self, response, error))

    def write(self, version: int) -> Parts:
        """Return a request; of one partition or none, which forgets none, without its message."""
        terms, planned = self._terms, self._planned
        if version not in USUAL_VERSIONS or self._forgotten or terms.tail is None:
            return Exchange.write(self, version)
        if len(planned.to_send) > 1:
            return Exchange.write(self, version)
        asked = None
        for (_, partition), data in planned.to_send.items():
            topic_id, offset, max_bytes, epoch = data
            asked = (terms.id_bytes(topic_id), partition, epoch, offset, max_bytes)
        written = request_bytes(
            self._max_wait_ms,
            terms.limits,
            planned.session_id,
            planned.session_epoch,
            asked,
            terms.tail,
        )
        return Exchange.write(self, version) if written is None else [written]

    def read(self, frame: memoryview, version: int) -> Any:
        """Read a response; one whose only partition has records and no error without a message."""
        lone = read_lone_answer(frame) if version in USUAL_VERSIONS else None
        return Exchange.read(self, frame, version) if lone is None else lone


class PlannedRequest(FetchRequest):
    """A Fetch request whose fields are made only if somebody asks for them."""

    __slots__ = ("_forgotten", "_max_wait_ms", "_planned", "_terms")

    def __init__(
        self,
        terms: FetchTerms,
        planned: FetchSessionRequest,
        max_wait_ms: int,
        forgotten: tuple[ForgottenPartition, ...],
    ) -> None:
        self._terms = terms
        self._planned = planned
        self._max_wait_ms = max_wait_ms
        self._forgotten = forgotten

    def __getattr__(self, name: str) -> Any:
        """Make the fields. Called for those alone."""
        if name not in _FIELDS:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        terms, planned = self._terms, self._planned
        # Names and ids are both filled in. The version decides which of them are sent.
        FetchRequest.__init__(
            self,
            max_wait_ms=self._max_wait_ms,
            min_bytes=terms.min_bytes,
            max_bytes=terms.max_bytes,
            isolation_level=terms.isolation_level,
            session_id=planned.session_id,
            session_epoch=planned.session_epoch,
            topics=_topics(planned),
            forgotten_topics_data=_forgotten_topics(self._forgotten),
            rack_id=terms.rack_id,
        )
        return getattr(self, name)


PlannedRequest.__name__ = FetchRequest.__name__  # which is what errors and logs name
_FIELDS = frozenset(vars(FetchRequest)["__slots__"])
USUAL_VERSIONS = range(FetchRequest.replica_state_since, FetchRequest.versions.max + 1)
"""The versions that are written and read without a message."""


def _topics(planned: FetchSessionRequest) -> list[FetchTopic]:
    """Group partitions by topic only if they are neighbours.

    The broker fills the partitions in their order in the request, so the order must stay.
    """
    topics: list[FetchTopic] = []
    last: tuple[str, UUID] | None = None
    for tp, data in planned.to_send.items():
        if last != (tp.topic, data.topic_id):
            last = (tp.topic, data.topic_id)
            topics.append(FetchTopic(topic=tp.topic, topic_id=data.topic_id, partitions=[]))
        topics[-1].partitions.append(
            FetchPartition(
                partition=tp.partition,
                current_leader_epoch=data.current_leader_epoch,
                fetch_offset=data.fetch_offset,
                partition_max_bytes=data.max_bytes,
            )
        )
    return topics


def _forgotten_topics(forgotten: tuple[ForgottenPartition, ...]) -> list[ForgottenTopic]:
    topics: dict[tuple[str, UUID], ForgottenTopic] = {}
    for (topic, partition), topic_id in forgotten:
        entry = topics.setdefault(
            (topic, topic_id), ForgottenTopic(topic=topic, topic_id=topic_id, partitions=[])
        )
        entry.partitions.append(partition)
    return list(topics.values())


__all__ = [
    "USUAL_VERSIONS",
    "FetchRound",
    "FetchTerms",
    "PlannedRequest",
]
