"""Owns one node's fetch session (KIP-227): what the client wants, and what the broker remembers.

From the difference it decides which partitions a Fetch request must name, and whether a response
may be used. The cost of a request in a session grows with the changes since the last one, not with
the number of partitions. It builds no request. Does not wait.
Source: KIP-227, KIP-516, FetchSessionHandler.
"""

import logging
from collections import Counter
from collections.abc import Callable, Collection
from uuid import UUID

from aiokafka_lite.errors import FetchSessionIdNotFound
from aiokafka_lite.light_named_tuple import NamedTuple
from aiokafka_lite.model import TopicPartition

logger = logging.getLogger(__name__)

NO_SESSION_ID = 0
INITIAL_EPOCH = 0
FINAL_EPOCH = -1
_MAX_EPOCH = 2**31 - 1


class SessionPartition(NamedTuple):
    """What the session knows of a partition. A partition with a difference must be sent again."""

    topic_id: UUID
    """ZERO_UUID if the broker has no topic ids."""
    fetch_offset: int
    max_bytes: int
    current_leader_epoch: int


class ForgottenPartition(NamedTuple):
    """A partition that the broker must drop from the session, and its topic id in the session."""

    topic_partition: TopicPartition
    topic_id: UUID


class FetchSessionRequest:
    """What one Fetch request must tell the broker about the session."""

    __slots__ = (
        "can_use_topic_ids",
        "session_epoch",
        "session_id",
        "to_forget",
        "to_replace",
        "to_send",
    )

    def __init__(
        self,
        session_id: int,
        session_epoch: int,
        to_send: dict[TopicPartition, SessionPartition],
        to_forget: tuple[ForgottenPartition, ...],
        to_replace: tuple[ForgottenPartition, ...],
        can_use_topic_ids: bool,
    ) -> None:
        self.session_id = session_id
        self.session_epoch = session_epoch
        self.to_send = to_send
        """In the order of the request. The broker fills them in that order."""
        self.to_forget = to_forget
        self.to_replace = to_replace
        """Partitions whose topic id has changed, with the old id. `to_send` has the new id."""
        self.can_use_topic_ids = can_use_topic_ids
        """False: some partition has no topic id, so the request's version is 12 at most (2a-6)."""

    @property
    def is_full(self) -> bool:
        """True if the request lists every partition, False if it lists only changes (2a-2)."""
        return self.session_epoch in (INITIAL_EPOCH, FINAL_EPOCH)


class FetchSession:
    """The session with one node. The first request asks for one; the broker may refuse it."""

    def __init__(self, node_id: int) -> None:
        self.node_id = node_id
        self.session_id = NO_SESSION_ID
        self.epoch = INITIAL_EPOCH
        self.wanted: dict[TopicPartition, SessionPartition] = {}
        """What the next request must ask for."""
        self.partitions: dict[TopicPartition, SessionPartition] = {}
        """What the session holds after the newest request."""
        self._changed: dict[TopicPartition, None] = {}  # where the two may differ
        self._wanted_without_id = 0
        self._topics: Counter[tuple[UUID, str]] = Counter()  # of `partitions`
        self._names: dict[bytes, str] = {}  # by the bytes of the topic's id
        self._uses_topic_ids = False

    def __repr__(self) -> str:
        return (
            f"<FetchSession node={self.node_id} id={self.session_id} epoch={self.epoch} "
            f"partitions={len(self.partitions)}>"
        )

    @property
    def is_open(self) -> bool:
        """True if the broker keeps a session, which `build_close` can end."""
        return self.session_id != NO_SESSION_ID

    def topic_name(self, topic_id: UUID) -> str | None:
        """Return the topic with this id in the newest request; None if the request lacks the id."""
        return self.name_told_by(topic_id.bytes)

    def name_told_by(self, topic_id_bytes: bytes) -> str | None:
        """Return the topic, as `topic_name`, by the bytes of its id."""
        return self._names.get(topic_id_bytes) if self._uses_topic_ids else None

    # What is wanted…

    def want(self, tp: TopicPartition, data: SessionPartition) -> None:
        """Ask for a partition from the next request on, or change what is asked of it."""
        before = self.wanted.get(tp)
        if before == data:
            return
        if before is not None:
            self._wanted_without_id -= not before.topic_id.int
        self._wanted_without_id += not data.topic_id.int
        self.wanted[tp] = data
        self._changed[tp] = None

    def unwant(self, tp: TopicPartition) -> None:
        """Stop asking for a partition. Harmless if it was not asked for."""
        before = self.wanted.pop(tp, None)
        if before is not None:
            self._wanted_without_id -= not before.topic_id.int
            self._changed[tp] = None

    # The request…

    def build(self, place: Callable[[TopicPartition], int]) -> FetchSessionRequest:
        """Return what to send so that the session holds exactly `wanted`.

        `place` returns the place of a wanted partition in the order in which the broker shall fill
        them. The session counts as changed from now on. Report the end of the request to
        `handle_response` or `handle_error`. Source: 2a-2, 2a-4, 2a-5, 2a-6.
        """
        if self.epoch == INITIAL_EPOCH:
            return self._build_full(place)
        return self._build_incremental(place)

    def _build_full(self, place: Callable[[TopicPartition], int]) -> FetchSessionRequest:
        self._forget_partitions()
        self._changed.clear()
        for tp in sorted(self.wanted, key=place):
            self._hold(tp, self.wanted[tp])
        self._uses_topic_ids = not self._wanted_without_id
        return self._request(dict(self.partitions), (), ())

    def _build_incremental(self, place: Callable[[TopicPartition], int]) -> FetchSessionRequest:
        changed, self._changed = self._changed, {}
        forget: list[ForgottenPartition] = []
        replace: list[ForgottenPartition] = []
        to_send: dict[TopicPartition, SessionPartition] = {}
        for tp in changed:
            if tp not in self.wanted and (known := self._drop(tp)) is not None:
                forget.append(ForgottenPartition(tp, known.topic_id))
        asked = [tp for tp in changed if tp in self.wanted]
        if len(asked) > 1:
            asked.sort(key=place)
        for tp in asked:
            data = self.wanted[tp]
            before = self.partitions.get(tp)
            if before == data:
                continue
            to_send[tp] = data
            if before is not None and before.topic_id is data.topic_id:
                del self.partitions[tp]  # a partition that is sent moves to the end (2a-4)
                self.partitions[tp] = data
                continue
            self._drop(tp)
            self._hold(tp, data)
            if before is not None and _is_replaced(before.topic_id, data.topic_id):
                replace.append(ForgottenPartition(tp, before.topic_id))
        without_id = [forgotten for forgotten in forget if not forgotten.topic_id.int]
        self._uses_topic_ids = not (self._wanted_without_id or without_id)
        return self._request(to_send, tuple(forget), tuple(replace))

    def _hold(self, tp: TopicPartition, data: SessionPartition) -> None:
        self.partitions[tp] = data
        self._topics[data.topic_id, tp.topic] += 1
        self._names[data.topic_id.bytes] = tp.topic

    def _drop(self, tp: TopicPartition) -> SessionPartition | None:
        data = self.partitions.pop(tp, None)
        if data is not None:
            key = data.topic_id, tp.topic
            self._topics[key] -= 1
            if not self._topics[key]:
                del self._topics[key]
                self._names.pop(data.topic_id.bytes, None)
        return data

    def _forget_partitions(self) -> None:
        self.partitions = {}
        self._topics.clear()
        self._names.clear()

    def build_close(self) -> FetchSessionRequest:
        """Return the request that ends the session: no partitions and the final epoch (2a-11)."""
        closing = FetchSessionRequest(self.session_id, FINAL_EPOCH, {}, (), (), True)
        self._forget_session()
        self._forget_partitions()
        return closing

    def _request(
        self,
        to_send: dict[TopicPartition, SessionPartition],
        to_forget: tuple[ForgottenPartition, ...],
        to_replace: tuple[ForgottenPartition, ...],
    ) -> FetchSessionRequest:
        return FetchSessionRequest(
            self.session_id, self.epoch, to_send, to_forget, to_replace, self._uses_topic_ids
        )

    # The answer…

    def handle_response(
        self,
        error_code: int,
        session_id: int,
        throttle_time_ms: int,
        partitions: Collection[TopicPartition],
        unknown_topic_ids: Collection[bytes] = (),
    ) -> bool:
        """Update the session after a response; return whether the data of the response may be used.

        `partitions` are those that the response names. `unknown_topic_ids` are those ids in it that
        the request did not have. Source: 2a-3, 2a-7, 2a-8, 2a-9.
        """
        if error_code:
            self._handle_error_code(error_code)
            return False
        if self.epoch == INITIAL_EPOCH:
            return self._handle_full(session_id, throttle_time_ms, partitions, unknown_topic_ids)
        return self._handle_incremental(session_id, partitions, unknown_topic_ids)

    def _handle_error_code(self, error_code: int) -> None:
        logger.debug("node %d answered a fetch of %r with error %d", self.node_id, self, error_code)
        if error_code == FetchSessionIdNotFound.errno:
            self._forget_session()
        else:
            self.epoch = INITIAL_EPOCH

    def _handle_full(
        self,
        session_id: int,
        throttle_time_ms: int,
        partitions: Collection[TopicPartition],
        unknown_topic_ids: Collection[bytes],
    ) -> bool:
        if not partitions and not unknown_topic_ids and throttle_time_ms > 0:
            self._forget_session()  # throttled: the broker did not look at the partitions (KIP-219)
            return False
        if unknown_topic_ids or set(partitions) != self.partitions.keys():
            self._log_mismatch(partitions, unknown_topic_ids)
            self._forget_session()
            return False
        self.session_id = session_id
        self.epoch = INITIAL_EPOCH if session_id == NO_SESSION_ID else 1
        return True

    def _handle_incremental(
        self,
        session_id: int,
        partitions: Collection[TopicPartition],
        unknown_topic_ids: Collection[bytes],
    ) -> bool:
        if unknown_topic_ids or not self.partitions.keys() >= set(partitions):
            self._log_mismatch(partitions, unknown_topic_ids)
            self.epoch = INITIAL_EPOCH
            return False
        if session_id == NO_SESSION_ID:
            self._forget_session()
        else:
            self.epoch = 1 if self.epoch == _MAX_EPOCH else self.epoch + 1
        return True

    def handle_error(self) -> None:
        """Note that the newest request got no response: the next one is a full one (2a-10)."""
        self.epoch = INITIAL_EPOCH

    def _forget_session(self) -> None:
        self.session_id = NO_SESSION_ID
        self.epoch = INITIAL_EPOCH

    def _log_mismatch(
        self, partitions: Collection[TopicPartition], unknown_topic_ids: Collection[bytes]
    ) -> None:
        extra = set(partitions) - self.partitions.keys()
        missing = self.partitions.keys() - set(partitions)
        logger.info(
            "node %d answered %r with %d partitions that were not requested, %d unknown topic ids, "
            "and without %d requested ones; its data is dropped, and the next fetch is a full one",
            self.node_id,
            self,
            len(extra),
            len(unknown_topic_ids),
            len(missing),
        )


def _is_replaced(before: UUID, now: UUID) -> bool:
    return bool(before.int and now.int) and before != now


__all__ = [
    "FINAL_EPOCH",
    "INITIAL_EPOCH",
    "NO_SESSION_ID",
    "FetchSession",
    "FetchSessionRequest",
    "ForgottenPartition",
    "SessionPartition",
]
