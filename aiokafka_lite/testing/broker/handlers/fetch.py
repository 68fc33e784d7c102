"""Fetch: reads for a session or for one request, and waits until enough data is available.

A PendingFetch decides; its one coroutine waits. Limits are soft as in Apache Kafka: the first batch
of a response always comes whole. Source: ReplicaManager.fetchMessages, DelayedFetch,
KafkaApis.handleFetchRequest; KIP-74, KIP-227, KIP-320, KIP-392, KIP-951.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from aiokafka_lite.concurrency.wakeup import Wakeup
from aiokafka_lite.errors import (
    BrokerResponseError,
    FencedLeaderEpochError,
    FetchSessionIdNotFound,
    FetchSessionTopicIdError,
    InvalidFetchSessionEpoch,
    NotLeaderForPartitionError,
    OffsetOutOfRangeError,
)
from aiokafka_lite.protocol.messages._leader import LeaderIdAndEpoch
from aiokafka_lite.protocol.messages.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Answer, Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation
from aiokafka_lite.testing.broker.security.client_quotas import FETCHED
from aiokafka_lite.testing.broker.state.cluster_state import BrokerPartition, partition_of
from aiokafka_lite.testing.broker.state.log.fetch_sessions import (
    NO_SESSION,
    FetchContext,
    RequestedPartition,
)

SESSION_ERRORS = (
    FetchSessionIdNotFound.errno,
    InvalidFetchSessionEpoch.errno,
    FetchSessionTopicIdError.errno,
)
READ_COMMITTED = 1
_HINT_AFTER = (NotLeaderForPartitionError, FencedLeaderEpochError)


def handle(context: RequestContext, request: FetchRequest) -> Answer:
    on_node = context.on_node
    try:
        context.injected.raise_for(among=SESSION_ERRORS)
        fetch = on_node.sessions.resolve(request, context.version, on_node.clock.monotonic())
    except BrokerResponseError as error:
        return FetchResponse(error_code=error.errno)
    pending = PendingFetch(context, request, fetch)
    found = pending.read()
    if pending.is_due() or _size_of(found) >= pending.min_bytes:
        return pending.answer(found)
    return pending.wait


@dataclass(slots=True)
class _Read:
    """One checked partition of the fetch: where to read, or its error."""

    asked: RequestedPartition
    partition: BrokerPartition | None = None
    error: BrokerResponseError | None = None
    diverging_epoch: EpochEndOffset | None = None
    preferred_replica: int | None = None
    """A follower in the client's rack. The response has no records, but names this follower."""


class PendingFetch:
    """A fetch that may have to wait for data."""

    def __init__(self, context: RequestContext, request: FetchRequest, fetch: FetchContext) -> None:
        self._context = context
        self._request = request
        self._fetch = fetch
        self._deadline = context.on_node.clock.monotonic() + request.max_wait_ms / 1000
        self._reads = [self._look_at(asked) for asked in fetch.partitions]
        by_quota = context.users.quotas.most_bytes(FETCHED, context.user, context.client_id)
        self._max_bytes = int(min(request.max_bytes, by_quota))
        self.min_bytes = min(request.min_bytes, self._max_bytes)

    def is_due(self) -> bool:
        """Return whether further waiting is useless: enough bytes, an error, or an empty request.

        Counts the available bytes of each partition, up to its own limit. Source:
        DelayedFetch.tryComplete.
        """
        if self._request.max_wait_ms <= 0 or not self._reads:
            return True
        available = 0
        for read in self._reads:
            if read.partition is None or read.error or read.diverging_epoch:
                return True
            if read.preferred_replica is not None:
                return True
            wanted = read.asked.wanted
            available += min(
                wanted.partition_max_bytes,
                read.partition.log.available_bytes(
                    wanted.fetch_offset, self._upper_bound(read.partition)
                ),
            )
        return available >= self.min_bytes

    async def wait(self) -> FetchResponse:
        """Return the response once it is due, at the latest after the request's max_wait_ms.

        Cancelled: leaves no watcher and no timer behind.
        """
        clock = self._context.on_node.clock
        wakeup = Wakeup()
        watched = [read.partition for read in self._reads if read.partition is not None]
        for partition in watched:
            partition.watch(wakeup.set)
        try:
            while True:
                # Since the last check leaders may have moved, and topics may have been deleted.
                self._reads = [self._look_at(read.asked) for read in self._reads]
                if self.is_due():
                    break
                if not await wakeup.wait_for(clock, self._deadline - clock.monotonic()):
                    break
        finally:
            for partition in watched:
                partition.unwatch(wakeup.set)
        return self.answer(self.read())

    def read(self) -> list[tuple[RequestedPartition, PartitionData]]:
        """Read the present data, in order, within the limits."""
        found: list[tuple[RequestedPartition, PartitionData]] = []
        budget = self._max_bytes
        at_least_one = True
        for read in self._reads:
            limit = min(budget, read.asked.wanted.partition_max_bytes)
            data = self._read(read, limit, at_least_one=at_least_one)
            if data.records:
                at_least_one = False
                budget = max(0, budget - len(data.records))
            found.append((read.asked, data))
        return found

    def answer(self, found: Sequence[tuple[RequestedPartition, PartitionData]]) -> FetchResponse:
        """Return the response for the data; the session records it.

        Beyond the quota it has no data but the time to pause, and the session stays as it is.
        """
        on_node = self._context.on_node
        throttle_time_ms = self._context.throttle_ms(FETCHED, _size_of(found), withholds=True)
        if throttle_time_ms:
            session = self._fetch.session
            return FetchResponse(
                throttle_time_ms=throttle_time_ms,
                session_id=NO_SESSION if session is None else session.session_id,
            )
        session_id, told = on_node.sessions.finish(
            self._fetch, self._context.version, found, on_node.clock.monotonic()
        )
        leaders = {data.current_leader.leader_id for _, data in told if data.error_code}
        return FetchResponse(
            session_id=session_id,
            responses=_by_topic(told),
            node_endpoints=self._context.leader_endpoints(leaders),
        )

    def _look_at(self, asked: RequestedPartition) -> _Read:
        read = _Read(asked)
        wanted = asked.wanted
        cluster = self._context.cluster
        try:
            if isinstance(asked.topic, UUID):
                topic = cluster.topic_by_id(asked.topic)
                self._context.session.check_topic(Operation.READ, topic.name)
            else:
                self._context.session.check_topic(Operation.READ, asked.topic)
                topic = cluster.topic_by_name(asked.topic)
            read.partition = partition = partition_of(topic, asked.partition)
            self._context.injected.raise_for(partition.topic_partition)
            self._check_node(partition, wanted.current_leader_epoch)
            log = partition.log
            if not log.log_start_offset <= wanted.fetch_offset <= log.log_end_offset:
                raise OffsetOutOfRangeError(
                    f"offset {wanted.fetch_offset} is not within {log.log_start_offset} and "
                    f"{log.log_end_offset} of {partition.topic_partition}"
                )
            if wanted.last_fetched_epoch >= 0:
                read.diverging_epoch = _divergence(
                    partition, wanted.last_fetched_epoch, wanted.fetch_offset
                )
            if partition.leader == self._context.node_id:
                rack = self._request.rack_id
                read.preferred_replica = cluster.replica_in_rack(partition, rack)
        except BrokerResponseError as error:
            read.error = error
        return read

    def _check_node(self, partition: BrokerPartition, current_leader_epoch: int) -> None:
        """Raise unless this node may serve the partition.

        From the version with racks on, a follower may serve a consumer, too.
        """
        if self._context.version >= FetchRequest.rack_since:
            partition.check_replica(self._context.node_id, current_leader_epoch)
        else:
            partition.check_leader(self._context.node_id, current_leader_epoch)

    def _read(self, read: _Read, max_bytes: int, *, at_least_one: bool) -> PartitionData:
        partition = read.partition
        if partition is None or read.error is not None:
            return self._failed(read)
        log = partition.log
        data = PartitionData(
            partition_index=read.asked.partition,
            high_watermark=log.high_watermark,
            last_stable_offset=log.last_stable_offset,
            log_start_offset=log.log_start_offset,
            aborted_transactions=None,
            records=b"",
        )
        if read.diverging_epoch is not None:
            data.diverging_epoch = read.diverging_epoch
            return data
        if read.preferred_replica is not None:
            data.preferred_read_replica = read.preferred_replica
            return data
        fetch_offset = read.asked.wanted.fetch_offset
        found = log.read(
            fetch_offset, max_bytes, self._upper_bound(partition), at_least_one=at_least_one
        )
        data.records = found.records
        if self._request.isolation_level == READ_COMMITTED:
            data.aborted_transactions = [
                AbortedTransaction(producer_id=producer_id, first_offset=first_offset)
                for producer_id, first_offset in log.transactions.aborted_between(
                    fetch_offset, found.end_offset
                )
            ]
        if found.records and self._context.injected.corrupts(partition.topic_partition):
            damaged = bytearray(found.records)
            damaged[-1] ^= 0xFF
            data.records = bytes(damaged)
        return data

    def _failed(self, read: _Read) -> PartitionData:
        data = PartitionData(
            partition_index=read.asked.partition,
            error_code=read.error.errno if read.error else 0,
            high_watermark=-1,
            records=b"",
        )
        if (
            read.partition is not None
            and self._context.version >= FetchRequest.leader_hints_since
            and isinstance(read.error, _HINT_AFTER)
        ):
            data.current_leader = LeaderIdAndEpoch(
                leader_id=read.partition.leader, leader_epoch=read.partition.leader_epoch
            )
        return data

    def _upper_bound(self, partition: BrokerPartition) -> int:
        if self._request.isolation_level == READ_COMMITTED:
            return partition.log.last_stable_offset
        return partition.log.high_watermark


def _size_of(found: Sequence[tuple[RequestedPartition, PartitionData]]) -> int:
    return sum(len(data.records or b"") for _, data in found)


def _divergence(
    partition: BrokerPartition, last_fetched_epoch: int, fetch_offset: int
) -> EpochEndOffset | None:
    """Return where the log differs from what the client fetched; None if it does not (KIP-595)."""
    epoch, end_offset = partition.log.end_of_epoch(last_fetched_epoch)
    if end_offset < 0:
        raise OffsetOutOfRangeError(
            f"leader epoch {last_fetched_epoch} of {partition.topic_partition} is not known"
        )
    if epoch < last_fetched_epoch or end_offset < fetch_offset:
        return EpochEndOffset(epoch=epoch, end_offset=end_offset)
    return None


def _by_topic(
    told: Sequence[tuple[RequestedPartition, PartitionData]],
) -> list[FetchableTopicResponse]:
    """Group neighbours of the same topic; the order of partitions stays."""
    topics: list[FetchableTopicResponse] = []
    newest: str | UUID | None = None
    for asked, data in told:
        if asked.topic != newest:
            newest = asked.topic
            topics.append(
                FetchableTopicResponse(topic_id=newest)
                if isinstance(newest, UUID)
                else FetchableTopicResponse(topic=newest)
            )
        topics[-1].partitions.append(data)
    return topics


HANDLER = Handler(FetchRequest, handle, VersionRange(4, 18))


__all__ = ["PendingFetch", "handle"]
