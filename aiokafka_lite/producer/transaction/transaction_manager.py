"""Owns the transactions of a producer: begin, commit, abort, or leaving the end to another process.

A call of the user goes on when its caller gives up (`transaction_calls`). The states are in
`transaction_state`, the errors in `transaction_errors`, and what belongs to the open transaction in
`transaction_scope`. Source: 2d'-1 to 2d'-8, KIP-98, KIP-447.
"""

import logging
from collections.abc import Callable, Mapping
from contextlib import suppress

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.concurrency.task_owner import OwnedTask
from aiokafka_lite.errors import (
    BrokerResponseError,
    CommitFailedError,
    IllegalStateError,
    InvalidProducerEpoch,
    InvalidProducerIdMapping,
    InvalidTxnState,
    KafkaError,
    NoTransactionError,
    TransactionAbortableError,
    UnsupportedVersionError,
)
from aiokafka_lite.model import ConsumerGroupMetadata, OffsetAndMetadata, TopicPartition
from aiokafka_lite.producer.accumulator.record_accumulator import RecordAccumulator
from aiokafka_lite.producer.accumulator.sequence_numbers import SequenceNumbers
from aiokafka_lite.producer.batch.batch_wait import all_done
from aiokafka_lite.producer.batch.producer_batch import ProducerBatch
from aiokafka_lite.producer.producer_config import ProducerConfig
from aiokafka_lite.producer.transaction.transaction_calls import TransactionCalls
from aiokafka_lite.producer.transaction.transaction_coordinator import (
    TransactionCoordinator,
    TransactionError,
)
from aiokafka_lite.producer.transaction.transaction_errors import (
    ADD_OFFSETS_ACTIONS,
    ADD_PARTITIONS_ACTIONS,
    END_ACTIONS,
    INIT_ACTIONS,
    TxnAction,
    as_expired,
    as_fenced,
    as_kafka_error,
    as_timed_out,
    produce_action_for,
)
from aiokafka_lite.producer.transaction.transaction_offsets import TransactionOffsets
from aiokafka_lite.producer.transaction.transaction_requests import (
    add_partitions_error,
    add_partitions_request,
    refused_partitions,
    txn_offset_commit_request,
)
from aiokafka_lite.producer.transaction.transaction_scope import TransactionScope
from aiokafka_lite.producer.transaction.transaction_sends import TransactionSends
from aiokafka_lite.producer.transaction.transaction_state import (
    PreparedTransaction,
    TransactionState,
    TransactionStatus,
)
from aiokafka_lite.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from aiokafka_lite.protocol.messages.add_partitions_to_txn import AddPartitionsToTxnRequest
from aiokafka_lite.protocol.messages.end_txn import EndTxnRequest
from aiokafka_lite.protocol.messages.init_producer_id import InitProducerIdRequest
from aiokafka_lite.protocol.messages.produce import ProduceRequest
from aiokafka_lite.protocol.messages.txn_offset_commit import TxnOffsetCommitRequest

logger = logging.getLogger(__name__)

FEATURE = "transaction.version"
V2 = 2
"""The feature level of the second protocol (KIP-890). Each transaction has an epoch of its own. A
request that writes to a partition or group also adds it to the transaction."""

Offsets = Mapping[TopicPartition, OffsetAndMetadata]

INIT, COMMIT, ABORT = "init", "commit_transaction()", "abort_transaction()"
"""The names of the calls in messages."""

_MAY_HAVE_BATCHES = (
    TransactionState.IN_TRANSACTION,
    TransactionState.COMMITTING,
    TransactionState.ABORTING,
    TransactionState.ABORTABLE_ERROR,
)


class TransactionManager:
    """The transactions of one producer, one after the other."""

    def __init__(
        self,
        client: KafkaClient,
        config: ProducerConfig,
        accumulator: RecordAccumulator,
        sequences: SequenceNumbers,
        scope: TransactionScope,
        *,
        wake_sender: Callable[[], object],
    ) -> None:
        """`scope` is the gate of `sequences`. `wake_sender()` is called when batches may be sent
        that might not before.
        """
        assert config.transactional_id is not None
        self._client = client
        self._config = config
        self._accumulator = accumulator
        self._sequences = sequences
        self._scope = scope
        self._wake_sender = wake_sender
        self.transactional_id = config.transactional_id
        self.status = TransactionStatus(config.transactional_id)
        self.coordinator = TransactionCoordinator(client, config.transactional_id)
        """Sends the requests of the transaction and of its groups."""
        self.sends = TransactionSends(self.check_may_send)
        """The calls of `send` that wait."""
        self._offsets = TransactionOffsets(client)
        self._calls = TransactionCalls(client, on_refusal=self._refused, why_not=self._why_not)
        self._adding: OwnedTask | None = None
        self._told_versions: tuple[object, ...] = ()
        self._may_have_v2 = False
        self._prepared: PreparedTransaction | None = None
        self._began_s = 0.0

    # For the sender and for send(); nothing here waits…

    @property
    def max_produce_version(self) -> int | None:
        """The newest version of Produce that may be used; None: any."""
        return None if self._scope.is_v2 else ProduceRequest.transactions_v2_since - 1

    def check_may_send(self) -> None:
        """Raise unless a record may be added to a transaction.

        Raises: NoTransactionError outside of a transaction; why it can only be aborted.
        """
        if not self.status.is_open:
            self.status.raise_error()
            raise NoTransactionError(
                f"transactional_id={quoted(self.transactional_id)} is {self.status.state.value}: "
                "call begin_transaction() first"
            )

    def add_partition(self, tp: TopicPartition) -> None:
        """Note that the transaction writes to a partition. Raises: as `check_may_send`."""
        self.check_may_send()
        if tp not in self._scope.partitions and self._scope.add(tp):
            self._add_partitions_soon()

    def told_as(self, error: Exception) -> Exception:
        """Return the error for the user of a batch that was given up."""
        if isinstance(error, InvalidProducerEpoch):
            return as_fenced(self.transactional_id, error)
        return self._with_age(error) if isinstance(error, InvalidTxnState) else error

    def batch_failed(self, batch: ProducerBatch, error: Exception) -> None:
        """Fail the transaction because a batch was given up (2d'-4)."""
        if self.status.state not in _MAY_HAVE_BATCHES:
            return
        action = produce_action_for(error)
        if action is TxnAction.ABORT and batch.has_sequence:
            action = TxnAction.ABORT_AND_BUMP  # its sequence numbers are a gap
        self._fail(action, as_kafka_error(error))
        logger.debug("%r failed within a transaction", batch)

    def authentication_failed(self, error: KafkaError) -> None:
        """Fail the open transaction because a node does not accept the client. It can be aborted,
        and the next one may succeed. A commit ends at once: it would wait until its batches expire.
        """
        if self.status.is_open:
            self._fail(TxnAction.ABORT, error)
        elif self.status.state is TransactionState.COMMITTING:
            self._calls.end(self._fail(TxnAction.ABORT, error))

    def sequence_is_lost(self) -> None:
        """Fail the transaction because sequence numbers have a gap; the next one needs a new epoch
        (2d-20).

        While the new epoch is asked for, a gap is ignored: every partition starts at 0 then.
        """
        if self.status.state not in _MAY_HAVE_BATCHES:
            return
        error = KafkaError("a batch expired, and nobody knows whether it was written")
        self._fail(TxnAction.ABORT_AND_BUMP, error)

    # Calls of the user…

    @property
    def unfinished(self) -> str | None:
        """The name of the call whose result no caller has got yet: it has to be made again."""
        return self._calls.current_name

    async def init(self, timeout_s: float) -> None:
        """Become the one producer of the transactional id. Another instance is fenced, and its open
        transaction aborted.

        Raises: KafkaTimeoutError, call again; an error of the coordinator that is not retriable.
        """
        await self._calls.run(INIT, self._init, timeout_s)

    def begin(self) -> None:
        """Begin a transaction. Raises: IllegalStateError; the fatal error."""
        self._calls.check_no_other("begin_transaction()")
        self.status.to(TransactionState.IN_TRANSACTION)
        self._began_s = self._client.clock.monotonic()
        self.sends.begin()
        self.coordinator.failures.clear()
        self._scope.is_v2 = self._has_v2()

    def _has_v2(self) -> bool:
        """Whether the cluster has the second protocol, and its requests may be sent.

        The user can limit them by max_api_versions, and other nodes may be older.
        """
        network = self._client.network
        told = network.told_versions()
        if told != self._told_versions:
            versions = [
                (network.highest_version(kind), kind.transactions_v2_since)
                for kind in (ProduceRequest, EndTxnRequest, TxnOffsetCommitRequest)
            ]
            is_limited = any(version is not None and version < since for version, since in versions)
            self._told_versions = told
            self._may_have_v2 = network.finalized_level(FEATURE) >= V2 and not is_limited
        return self._may_have_v2

    async def commit(self, timeout_s: float) -> None:
        """Write the queued batches and commit. Raises: as `AIOKafkaProducer.commit_transaction`."""
        if not self._calls.is_current(COMMIT):
            self.status.raise_error()
        await self._calls.run(COMMIT, self._commit, timeout_s)

    async def abort(self, timeout_s: float) -> None:
        """Fail the queued batches and abort."""
        await self._calls.run(ABORT, self._abort, timeout_s)

    def check_takes_members(self) -> None:
        """Raise UnsupportedVersionError if no broker, of those connected so far, takes offsets in
        the name of a member. They would refuse the request when the transaction has begun.
        """
        version = self._client.network.highest_version(TxnOffsetCommitRequest)
        if version is not None and version < TxnOffsetCommitRequest.members_since:
            raise UnsupportedVersionError(
                "offsets of a consumer's group within a transaction need Kafka 2.5 (KIP-447); with"
                " older brokers only send_offsets_to_transaction() with a group_id works, which"
                " does not notice that the group has moved on"
            )

    async def send_offsets(
        self, offsets: Offsets, group: ConsumerGroupMetadata, timeout_s: float
    ) -> None:
        """Commit offsets of a group with the transaction, whose end waits for that. The caller has
        called `check_may_send`.

        Raises: as `check_takes_members`, for a member, before anything is sent.
        """
        if group != ConsumerGroupMetadata(group.group_id):
            self.check_takes_members()
        await self._calls.run_beside(
            "send_offsets_to_transaction()", lambda: self._send_offsets(offsets, group), timeout_s
        )

    async def prepare(self, timeout_s: float) -> PreparedTransaction | None:
        """Write the queued batches, and return the transaction for another process to end.

        None: nothing was written, so the coordinator knows of no transaction. The producer's
        `close` does not abort a returned transaction. The next one needs an `init`.
        Raises: as `commit`.
        """
        if not self._calls.is_current("prepare()"):
            self.status.raise_error()
        await self._calls.run("prepare()", self._prepare, timeout_s)
        return self._prepared

    def rename(self, transactional_id: str) -> None:
        """Take another transactional id, which needs an `init`. If an `init` for the same id has
        not ended, that one goes on. Raises: IllegalStateError during a transaction.
        """
        if self._calls.is_current(INIT) and transactional_id == self.transactional_id:
            return
        self._calls.check_no_other("rename()")
        if self.status.state not in (TransactionState.UNINITIALIZED, TransactionState.READY):
            self.status.raise_error()
            raise IllegalStateError(
                f"transactional_id={quoted(self.transactional_id)} is {self.status.state.value}, "
                "which has to end before another id can be taken"
            )
        self.transactional_id = transactional_id
        self.status = TransactionStatus(transactional_id)
        self.coordinator = TransactionCoordinator(self._client, transactional_id)

    async def close(self, timeout_s: float) -> None:
        """Abort an open transaction within `timeout_s`. If that fails, its coordinator aborts it
        after transaction_timeout_ms.

        It does not wait for an `init` that has not ended.
        """
        self.coordinator.is_closing = True
        if self._calls.is_current(INIT):
            return
        ends_at_s = self._client.clock.monotonic() + timeout_s
        with suppress(KafkaError):  # the caller of that call gets the error
            await self._calls.wait(timeout_s)
        try:
            if self.status.state in (
                TransactionState.IN_TRANSACTION,
                TransactionState.ABORTABLE_ERROR,
            ):
                await self.abort(max(0.0, ends_at_s - self._client.clock.monotonic()))
        except KafkaError as error:
            logger.warning(
                "transactional_id=%r: %s was not aborted: %s",
                *(self.transactional_id, self.status, error),
            )

    # When something went wrong…

    def _why_not(self) -> str:
        """Return what failed last of what a call waits for, for the end of an error's text; or
        "".
        """
        if self.coordinator.failures:
            return self.coordinator.last_failure
        for batch in self._accumulator.incomplete:
            if batch.last_error is not None:
                topic, partition = batch.topic_partition
                return f"; last failure, of records for {topic}-{partition}: {batch.last_error}"
        return ""

    def _refused(self, refusal: TransactionError) -> KafkaError:
        return self._fail(refusal.action, refusal.error)

    def _fail(self, action: TxnAction, error: KafkaError) -> KafkaError:
        """Act on an error; return the error for the user."""
        if action is TxnAction.FENCED:
            error = as_fenced(self.transactional_id, error)
        if isinstance(error, InvalidProducerIdMapping):
            error = as_expired(self.transactional_id, error)
        if isinstance(error, InvalidTxnState):
            error = self._with_age(error)
        if action is TxnAction.ABORT_COMMIT_FAILED:
            moved_on = CommitFailedError(
                f"the group has moved on without the member whose offsets these are: {error}; "
                f"abort the transaction, and go on with what the consumer's next poll returns"
            )
            moved_on.__cause__ = error
            error = moved_on
        is_over = action in (TxnAction.FENCED, TxnAction.FATAL)
        if is_over or isinstance(error, BrokerResponseError):
            error.fatal = is_over
        if is_over:
            logger.error("transactional_id=%r cannot go on: %s", self.transactional_id, error)
            self.status.fail_fatally(error)
            self._accumulator.fail_all(error)
        else:
            logger.warning("transaction of %r has failed: %s", self.transactional_id, error)
            self.status.fail_abortable(error, bump=action is TxnAction.ABORT_AND_BUMP)
            self._accumulator.fail_unsent(error)
        return error

    def _with_age(self, error: InvalidTxnState) -> InvalidTxnState:
        age_s = self._client.clock.monotonic() - self._began_s
        timeout_ms = self._config.transaction_timeout_ms
        return as_timed_out(self.transactional_id, error, age_s, timeout_ms)

    # What they do…

    async def _init(self) -> None:
        self.status.to(TransactionState.INITIALIZING)
        try:
            await self._get_producer_id()
        except TransactionError:
            self.status.to(TransactionState.UNINITIALIZED)
            raise
        self.status.to(TransactionState.READY)

    async def _get_producer_id(self, *, bump: bool = False) -> None:
        """Get a producer id, or with `bump` the next epoch of the present id (KIP-360)."""
        producer_id, epoch = self._sequences.producer if bump else (-1, -1)
        request = InitProducerIdRequest(
            transactional_id=self.transactional_id,
            transaction_timeout_ms=self._config.transaction_timeout_ms,
            producer_id=producer_id,
            producer_epoch=epoch,
        )
        answer = await self.coordinator.ask(
            "InitProducerId", lambda: request, lambda told: told.error_code, INIT_ACTIONS
        )
        self._sequences.begin_epoch(answer.producer_id, answer.producer_epoch)
        logger.info(
            "transactional_id=%r is producer id %d, epoch %d",
            self.transactional_id,
            answer.producer_id,
            answer.producer_epoch,
        )

    async def _commit(self) -> None:
        await self._complete()
        await self._end(committed=True)

    async def _complete(self) -> None:
        """Write all records of the transaction, and have all its partitions and offsets added.

        Raises: why that failed; the transaction can then only be aborted.
        """
        self.status.to(TransactionState.COMMITTING)
        self.sends.end()
        await self._all_added()
        await self._flush()
        if self.status.has_failed:
            self.status.raise_error()

    async def _prepare(self) -> None:
        await self._complete()
        producer_id, epoch = self._sequences.producer
        self._prepared = None
        if self._scope.has_begun:
            self._prepared = PreparedTransaction(
                self.transactional_id, producer_id, epoch, self._scope.is_v2
            )
        self._scope.clear()
        self.status.to(TransactionState.UNINITIALIZED)

    async def _abort(self) -> None:
        self.status.to(TransactionState.ABORTING)
        self.sends.end()
        aborted = KafkaError("the transaction was aborted before the record was sent")
        self._accumulator.fail_unsent(aborted, is_wanted=True)
        await self._all_added()
        await self._flush()
        await self._end(committed=False)

    async def _all_added(self) -> None:
        """Return when no request is in flight that adds to the transaction."""
        if self._adding is not None:
            await self._adding.wait()
        await self._calls.none_beside()

    def _adds_in_vain(self) -> bool:
        return self.status.has_failed or self.status.state is TransactionState.ABORTING

    async def _flush(self) -> None:
        batches = self._accumulator.incomplete.begin_flush()
        self._wake_sender()
        try:
            await all_done(batches)
        finally:
            self._accumulator.incomplete.end_flush()

    async def _end(self, *, committed: bool) -> None:
        """End the transaction, at the coordinator if it knows of it (2d'-3)."""
        if self._scope.has_begun:
            await self._end_begun(committed=committed)
        if self.status.needs_epoch_bump:
            self.status.to(TransactionState.INITIALIZING)
            await self._get_producer_id(bump=True)
        self._scope.clear()
        self.status.to(TransactionState.READY)

    async def _end_begun(self, *, committed: bool) -> None:
        """Send EndTxn. Its response may have the next epoch."""
        producer_id, epoch = self._sequences.producer
        request = EndTxnRequest(
            transactional_id=self.transactional_id,
            producer_id=producer_id,
            producer_epoch=epoch,
            committed=committed,
        )
        try:
            answer = await self.coordinator.ask(
                "EndTxn",
                lambda: request,
                lambda told: told.error_code,
                END_ACTIONS,
                max_version=None if self._scope.is_v2 else EndTxnRequest.transactions_v2_since - 1,
            )
        except TransactionError as refusal:
            is_hopeless = refusal.action in (TxnAction.FENCED, TxnAction.FATAL)
            if not committed and isinstance(refusal.error, TransactionAbortableError):
                # It stands for an abort that cannot be done: another one would meet it again.
                raise TransactionError(TxnAction.FATAL, refusal.error) from refusal
            if self._scope.may_not_have_begun and isinstance(refusal.error, InvalidTxnState):
                is_hopeless = False  # there was nothing to end
            if committed or is_hopeless:
                raise
            # The abort has failed. A new epoch makes the coordinator abort the transaction.
            logger.warning("transactional_id=%r: %s", self.transactional_id, refusal)
            self.status.needs_epoch_bump = True
            return
        self._scope.has_begun = False
        if self._scope.is_v2 and answer.producer_id >= 0:
            self._sequences.begin_epoch(answer.producer_id, answer.producer_epoch)
            self.status.needs_epoch_bump = False

    # Partitions and groups, as the first protocol has it…

    def _add_partitions_soon(self) -> None:
        if self._adding is None or self._adding.done:
            self._adding = self._client.owner.spawn("add_partitions", self._add_partitions)

    async def _add_partitions(self) -> None:
        while wanted := self._scope.unconfirmed():
            if self._adds_in_vain():
                return
            request = add_partitions_request(
                self.transactional_id, self._sequences.producer, wanted
            )
            try:
                await self.coordinator.ask(
                    "AddPartitionsToTxn",
                    lambda request=request: request,  # type: ignore[misc]
                    add_partitions_error,
                    ADD_PARTITIONS_ACTIONS,
                    max_version=AddPartitionsToTxnRequest.brokers_since - 1,
                    gives_up=self._adds_in_vain,
                    refused=refused_partitions,
                )
            except TransactionError as refusal:
                self._note_doubt(refusal)
                self._refused(refusal)
                return
            self._scope.confirm(wanted)
            self._wake_sender()

    def _note_doubt(self, refusal: TransactionError) -> None:
        """Make sure that the transaction is ended, if an earlier attempt may have been served.

        The end gives the producer a new epoch, with which brokers refuse late requests.
        """
        if refusal.may_be_served:
            self._scope.doubt()
            self.status.needs_epoch_bump = True

    async def _send_offsets(self, offsets: Offsets, group: ConsumerGroupMetadata) -> None:
        try:
            await self._add_offsets(offsets, group)
        except TransactionError as refusal:
            self._note_doubt(refusal)
            raise

    async def _add_offsets(self, offsets: Offsets, group: ConsumerGroupMetadata) -> None:
        if not self._scope.is_v2 and group.group_id not in self._scope.groups:
            producer_id, epoch = self._sequences.producer
            add = AddOffsetsToTxnRequest(
                transactional_id=self.transactional_id,
                producer_id=producer_id,
                producer_epoch=epoch,
                group_id=group.group_id,
            )
            await self.coordinator.ask(
                f"AddOffsetsToTxn of group {quoted(group.group_id)}",
                lambda: add,
                lambda told: told.error_code,
                ADD_OFFSETS_ACTIONS,
                gives_up=self._adds_in_vain,
            )
            self._scope.groups.add(group.group_id)
        self._scope.has_begun = True
        transactional_id, producer = self.transactional_id, self._sequences.producer
        await self._offsets.commit(
            self.coordinator,
            lambda topic_ids: txn_offset_commit_request(
                transactional_id, producer, offsets, group, topic_ids
            ),
            is_v2=self._scope.is_v2,
            gives_up=self._adds_in_vain,
        )


__all__ = ["COMMIT", "TransactionManager"]
