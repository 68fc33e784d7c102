"""ShareFetch: a member of a share group acknowledges records, then acquires others (KIP-932).

A PendingShareFetch decides; its one coroutine waits. Limits are soft unless the member asks for
exact ones. Source: KafkaApis.handleShareFetchRequest, DelayedShareFetch, ShareFetchUtils.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import takewhile

from aiokafka_lite.concurrency.wakeup import Wakeup
from aiokafka_lite.errors import (
    BrokerResponseError,
    InvalidRecordStateError,
    InvalidRequestError,
    UnknownError,
)
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.protocol.messages.share_fetch import (
    AcquiredRecords,
    PartitionData,
    ShareFetchableTopicResponse,
    ShareFetchRequest,
    ShareFetchResponse,
)
from aiokafka_lite.record.batch_header import MAGIC_OFFSET, parse_header
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Answer, Handler, RequestContext
from aiokafka_lite.testing.broker.handlers._share_requests import (
    REQUEST_ERRORS,
    acknowledge,
    check_member,
    find_partition,
    find_share,
    leader_after,
)
from aiokafka_lite.testing.broker.state.cluster_state import BrokerPartition
from aiokafka_lite.testing.broker.state.groups.share_partition import (
    AcquireLimits,
    LogBatch,
    SharePartition,
)
from aiokafka_lite.testing.broker.state.groups.share_sessions import (
    FINAL_EPOCH,
    INITIAL_EPOCH,
    BrokerShareSession,
    SharedPartition,
)
from aiokafka_lite.testing.broker.state.groups.share_settings import share_settings
from aiokafka_lite.testing.broker.state.log.partition_log import StoredBatch

_ACK_ERRORS = (*REQUEST_ERRORS, InvalidRecordStateError.errno)
"""The errors that are none of a fetch of one partition."""
_BATCH_OPTIMIZED, _RECORD_LIMIT = 0, 1
_TRANSACTIONS_SINCE_MAGIC = 2

Told = dict[SharedPartition, PartitionData]


def handle(context: RequestContext, request: ShareFetchRequest) -> Answer:
    try:
        member = check_member(context, request.group_id, request.member_id)
        context.injected.raise_for(among=REQUEST_ERRORS)
        _check_request(request)
        session = _session(context, request, member)
    except BrokerResponseError as error:
        return ShareFetchResponse(error_code=error.errno, error_message=reason_of(error))
    told = _acknowledged(context, request, member)
    if request.share_session_epoch == FINAL_EPOCH:
        context.on_node.end_share_session(session)
        return _response(context, session, told)
    pending = PendingShareFetch(context, request, session, told)
    if pending.is_due():
        return pending.answer()
    return pending.wait


def _check_request(request: ShareFetchRequest) -> None:
    """Raise InvalidRequestError or UnknownError for what no member sends."""
    if request.share_acquire_mode not in (_BATCH_OPTIMIZED, _RECORD_LIMIT):
        raise UnknownError(f"there is no acquire mode {request.share_acquire_mode}")
    wants = (request.max_wait_ms, request.min_bytes, request.max_bytes, request.max_records)
    if request.is_renew_ack and any(wants):
        raise InvalidRequestError("a request that renews fetches nothing")
    acknowledges = any(
        partition.acknowledgement_batches
        for topic in request.topics
        for partition in topic.partitions
    )
    if request.share_session_epoch == INITIAL_EPOCH and acknowledges:
        raise InvalidRequestError("a request that opens a session acknowledges nothing")


def _session(
    context: RequestContext, request: ShareFetchRequest, member: tuple[str, str]
) -> BrokerShareSession:
    sessions, epoch = context.on_node.share_sessions, request.share_session_epoch
    if epoch == INITIAL_EPOCH:
        session = sessions.open(*member, context.session)
    else:
        session = sessions.resume(*member, epoch)
    if epoch != FINAL_EPOCH:
        session.update(
            (
                (
                    SharedPartition(topic.topic_id, asked.partition_index),
                    context.cluster.topic_name(topic.topic_id) is not None,
                )
                for topic in request.topics
                for asked in topic.partitions
            ),
            (
                SharedPartition(topic.topic_id, index)
                for topic in request.forgotten_topics_data
                for index in topic.partitions
            ),
        )
    return session


def _acknowledged(
    context: RequestContext, request: ShareFetchRequest, member: tuple[str, str]
) -> Told:
    told: Told = {}
    for topic in request.topics:
        for asked in topic.partitions:
            if not asked.acknowledgement_batches:
                continue
            where = SharedPartition(topic.topic_id, asked.partition_index)
            error = acknowledge(
                context,
                member,
                where,
                asked.acknowledgement_batches,
                may_renew=request.is_renew_ack,
            )
            told[where] = PartitionData(partition_index=where.partition, records=b"")
            if error is not None:
                told[where].acknowledge_error_code = error.errno
                told[where].acknowledge_error_message = reason_of(error)
                told[where].current_leader = leader_after(context, where, error)
    return told


@dataclass(slots=True)
class _Read:
    """One partition of the fetch, or its error."""

    where: SharedPartition
    partition: BrokerPartition | None = None
    share: SharePartition | None = None
    error: BrokerResponseError | None = None


class PendingShareFetch:
    """A fetch that may have to wait for records."""

    def __init__(
        self,
        context: RequestContext,
        request: ShareFetchRequest,
        session: BrokerShareSession,
        told: Told,
    ) -> None:
        """`told`: what the partitions are answered already, for what was acknowledged."""
        self._context = context
        self._request = request
        self._session = session
        self._told = told
        self._deadline = context.on_node.clock.monotonic() + request.max_wait_ms / 1000
        self._reads = self._look()

    def _look(self) -> list[_Read]:
        partitions = self._session.partitions
        rotated = self._session.rotated(self._request.share_session_epoch)
        return [self._look_at(where, is_known=partitions[where]) for where in rotated]

    def _look_at(self, where: SharedPartition, *, is_known: bool) -> _Read:
        read = _Read(where)
        try:
            read.partition = find_partition(self._context, where, is_known=is_known)
            self._context.injected.raise_for(read.partition.topic_partition, besides=_ACK_ERRORS)
            read.share = find_share(self._context, self._session.group_id, read.partition)
        except BrokerResponseError as error:
            read.error = error
        return read

    def is_due(self) -> bool:
        """Return whether further waiting is useless: enough bytes, or nothing to wait for."""
        request = self._request
        if request.max_wait_ms <= 0 or request.max_records <= 0:
            return True
        good = [read for read in self._reads if read.share is not None and read.error is None]
        if not good:
            return True
        return sum(self._available_bytes(read) for read in good) >= max(1, request.min_bytes)

    def _available_bytes(self, read: _Read) -> int:
        share, partition = read.share, read.partition
        if share is None or partition is None or share.is_full:
            return 0
        return partition.log.available_bytes(share.next_offset, self._upper_bound(partition))

    async def wait(self) -> ShareFetchResponse:
        """Return the response once it is due, at the latest after the request's max_wait_ms.

        Cancelled: leaves no watcher and no timer behind, and has acquired nothing.
        """
        clock = self._context.on_node.clock
        wakeup = Wakeup()
        watched = [read.partition for read in self._reads if read.partition is not None]
        for partition in watched:
            partition.watch(wakeup.set)
        try:
            while True:
                # Since the last check leaders may have moved, and topics may have been deleted.
                self._reads = self._look()
                if self.is_due() or any(read.error for read in self._reads if read.partition):
                    break
                if not await wakeup.wait_for(clock, self._deadline - clock.monotonic()):
                    break
        finally:
            for partition in watched:
                partition.unwatch(wakeup.set)
        return self.answer()

    def answer(self) -> ShareFetchResponse:
        """Acquire what is there, within the limits, and return the response."""
        request = self._request
        records, budget = request.max_records, request.max_bytes
        opens = request.share_session_epoch == INITIAL_EPOCH
        for read in self._reads:
            data = PartitionData(partition_index=read.where.partition, records=b"")
            if read.error is not None:
                data.error_code = read.error.errno
                data.current_leader = leader_after(self._context, read.where, read.error)
            elif records > 0:
                self._acquire(read, data, records, budget)
                records -= sum(
                    each.last_offset - each.first_offset + 1 for each in data.acquired_records
                )
                budget = max(0, budget - len(data.records))
            if not (opens or data.error_code or data.acquired_records):
                continue
            former = self._told.get(read.where)
            if former is not None:
                data.acknowledge_error_code = former.acknowledge_error_code
            self._told[read.where] = data
        return _response(self._context, self._session, self._told)

    def _acquire(self, read: _Read, data: PartitionData, records: int, budget: int) -> None:
        share, partition = read.share, read.partition
        if share is None or partition is None or share.is_full:
            return
        request = self._request
        is_first = budget == request.max_bytes
        batches = self._batches(partition, share.next_offset, budget, at_least_one=is_first)
        if not batches:
            return
        acquired = share.acquire(
            self._session.member_id,
            [self._log_batch(partition, each) for each in batches],
            AcquireLimits(records, request.batch_size, request.share_acquire_mode == _RECORD_LIMIT),
        )
        if not acquired:
            return
        data.acquired_records = [
            AcquiredRecords(first_offset=first, last_offset=last, delivery_count=count)
            for first, last, count in acquired
        ]
        data.records = b"".join(
            each.data
            for each in batches
            if each.last_offset >= acquired[0].first and each.base_offset <= acquired[-1].last
        )
        if self._context.injected.corrupts(partition.topic_partition):
            damaged = bytearray(data.records)
            damaged[-1] ^= 0xFF
            data.records = bytes(damaged)

    def _batches(
        self, partition: BrokerPartition, offset: int, budget: int, *, at_least_one: bool
    ) -> list[StoredBatch]:
        sizes = 0

        def fits(batch: StoredBatch) -> bool:
            nonlocal sizes
            is_first = at_least_one and not sizes
            sizes += len(batch.data)
            return is_first or sizes <= budget

        found = partition.log.batches_from(offset, self._upper_bound(partition))
        return [*takewhile(fits, found)]

    def _log_batch(self, partition: BrokerPartition, batch: StoredBatch) -> LogBatch:
        is_aborted = False
        if self._reads_committed and batch.data[MAGIC_OFFSET] >= _TRANSACTIONS_SINCE_MAGIC:
            header = parse_header(batch.data)
            is_aborted = not header.is_control and partition.log.transactions.is_aborted(
                header.producer_id, batch.base_offset
            )
        return LogBatch(batch.base_offset, batch.last_offset, is_aborted)

    @property
    def _reads_committed(self) -> bool:
        group = self._context.groups.find_share(self._session.group_id)
        return group is not None and group.settings.reads_committed

    def _upper_bound(self, partition: BrokerPartition) -> int:
        log = partition.log
        return log.last_stable_offset if self._reads_committed else log.high_watermark


def _response(
    context: RequestContext,
    session: BrokerShareSession,
    told: Mapping[SharedPartition, PartitionData],
) -> ShareFetchResponse:
    group = context.groups.find_share(session.group_id)
    settings = share_settings({}, context.groups.options) if group is None else group.settings
    leaders = {data.current_leader.leader_id for data in told.values() if data.error_code}
    return ShareFetchResponse(
        acquisition_lock_timeout_ms=settings.lock_duration_ms,
        responses=_by_topic(told.items()),
        node_endpoints=context.leader_endpoints(leaders),
    )


def _by_topic(
    told: Iterable[tuple[SharedPartition, PartitionData]],
) -> list[ShareFetchableTopicResponse]:
    topics: dict[object, ShareFetchableTopicResponse] = {}
    for where, data in told:
        topic = topics.setdefault(
            where.topic_id, ShareFetchableTopicResponse(topic_id=where.topic_id)
        )
        topic.partitions.append(data)
    return [*topics.values()]


HANDLER = Handler(ShareFetchRequest, handle, VersionRange(1, 2))


__all__ = ["PendingShareFetch", "handle"]
