"""Calls about transactions: list, describe, abort, and find those that hang.

`hanging_transactions` decides which transactions hang.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from aiokafka_lite.admin.calls.admin_requests import AskedNode
from aiokafka_lite.admin.calls.every_broker import ask_every_broker
from aiokafka_lite.admin.calls.outcomes import Outcomes, broker_error, raise_broker_error
from aiokafka_lite.admin.calls.outer_call import of_several_steps
from aiokafka_lite.admin.transactions.hanging_transactions import (
    MAX_TRANSACTION_TIMEOUT_MS,
    hanging,
    old_transactions,
)
from aiokafka_lite.admin.transactions.producer_calls import (
    ProducerCalls,
    or_none,
    partition_subject,
)
from aiokafka_lite.admin.transactions.transaction_answers import (
    AbortTransactionSpec,
    HangingTransaction,
    TransactionDescription,
    TransactionListing,
)
from aiokafka_lite.checks.item_lists import list_of, one_of, partition_of
from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.cluster.coordinator_cache import CoordinatorType
from aiokafka_lite.errors import (
    BrokerNotAvailableError,
    IllegalArgumentError,
    KafkaError,
    NotEnoughReplicasAfterAppendError,
    RequestTimedOutError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.describe_transactions import (
    DescribeTransactionsRequest,
    TransactionState,
)
from aiokafka_lite.protocol.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from aiokafka_lite.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from aiokafka_lite.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)

V = TypeVar("V")


class TransactionCalls(ProducerCalls):
    """Producers, of which the base class has the calls, and transactions."""

    async def list_transactions(
        self,
        states: Iterable[str] | None = None,
        producer_ids: Iterable[int] | None = None,
        duration_ms: int | None = None,
        transactional_id_pattern: str | None = None,
        timeout_ms: int | None = None,
    ) -> list[TransactionListing]:
        """Return the transactional ids that pass every filter, in order; all of them without one.

        Every broker is asked for those that it coordinates. The user sees ids that it may DESCRIBE.

        Args:
            states: names of states, such as "Ongoing".
            producer_ids: ids of producers.
            duration_ms: more milliseconds than that since the last transaction began. An id that
                has begun none passes, too (KIP-994; brokers from 3.8 on).
            transactional_id_pattern: a regular expression of RE2 for the whole id (KIP-1152;
                brokers from 4.1 on).
            timeout_ms: the bound of the call; None: request_timeout_ms.

        Raises: IllegalArgumentError naming states that a broker does not know;
        InvalidRegularExpressionError; UnsupportedVersionError for a filter that a broker does not
        have; KafkaConnectionError, KafkaTimeoutError or another error if any broker gave no result.
        Cancelled: nothing is left behind.
        Source: KIP-664.
        """
        request = ListTransactionsRequest(
            state_filters=list_of("states", () if states is None else states, str),
            producer_id_filters=list_of(
                "producer_ids", () if producer_ids is None else producer_ids, int
            ),
            duration_filter=-1 if duration_ms is None else duration_ms,
            transactional_id_pattern=transactional_id_pattern,
        )

        async def ask(node: AskedNode) -> list[TransactionListing]:
            return _listings(await node.request(request), request, node.node_id)

        answers = await ask_every_broker(
            self._running(), "list_transactions()", ask, timeout_s=self._timeout_s(timeout_ms)
        )
        # An id that moves while the brokers are asked may be in two answers.
        by_id = {each.transactional_id: each for listed in answers.values() for each in listed}
        return [by_id[transactional_id] for transactional_id in sorted(by_id)]

    async def describe_transactions(
        self, transactional_ids: Iterable[str], timeout_ms: int | None = None
    ) -> Outcomes[str, TransactionDescription]:
        """Return what the coordinator of each transactional id knows of it.

        An id that fails has its error as the value: TransactionalIdNotFoundError,
        TransactionalIdAuthorizationFailed without the right to DESCRIBE it, KafkaTimeoutError.

        Raises: IllegalArgumentError for anything but a list of ids; KafkaConnectionError,
        KafkaTimeoutError or another error if no node answered within `timeout_ms` (None:
        request_timeout_ms).
        Cancelled: nothing is left behind.
        Source: KIP-664.
        """

        async def ask(
            node: AskedNode, keys: list[str]
        ) -> Mapping[str, TransactionDescription | KafkaError]:
            answer = await node.request(DescribeTransactionsRequest(transactional_ids=keys))
            return {
                each.transactional_id: _description(each, node.node_id)
                for each in answer.transaction_states
            }

        requests = self._running()
        return await requests.for_each(
            "describe_transactions()",
            list_of("transactional_ids", transactional_ids, str),
            requests.routes.coordinator(CoordinatorType.TRANSACTION),
            ask,
            timeout_s=self._timeout_s(timeout_ms),
        )

    async def abort_transaction(
        self, spec: AbortTransactionSpec, timeout_ms: int | None = None
    ) -> None:
        """Abort a transaction in one partition, in place of a coordinator that does not know it.

        The partition's leader writes the marker. `find_hanging_transactions` returns what to abort.
        Do not abort a transaction that a coordinator knows: its producer would go on writing, and
        its records would count in part. When a response is lost, the call does not ask again.

        Raises: InvalidProducerEpoch if the producer has a newer epoch in the partition;
        TransactionCoordinatorFenced if its coordinator has a newer one;
        ClusterAuthorizationFailedError without the right to ALTER the cluster;
        UnknownTopicOrPartitionError; IllegalArgumentError for a partition that cannot exist;
        KafkaConnectionError; KafkaTimeoutError if there is no result within `timeout_ms` (None:
        request_timeout_ms).
        Cancelled: the leader may write the marker nevertheless.
        Source: KIP-664.
        """
        one_of("spec", spec, AbortTransactionSpec)
        topic_partition = partition_of("spec", spec.topic_partition)
        marker = WritableTxnMarker(
            producer_id=spec.producer_id,
            producer_epoch=spec.producer_epoch,
            transaction_result=False,
            topics=[
                WritableTxnMarkerTopic(
                    name=topic_partition.topic, partition_indexes=[topic_partition.partition]
                )
            ],
            coordinator_epoch=spec.coordinator_epoch,
        )

        async def ask(
            node: AskedNode, _: list[TopicPartition]
        ) -> Mapping[TopicPartition, KafkaError | None]:
            answer = await node.request(WriteTxnMarkersRequest(markers=[marker]))
            subject = partition_subject(topic_partition)
            return {
                TopicPartition(topic.name, part.partition_index): broker_error(
                    part.error_code, None, subject
                )
                for each in answer.markers
                for topic in each.topics
                for part in topic.partitions
            }

        requests = self._running()
        done = await requests.for_each(
            "abort_transaction()",
            [topic_partition],
            requests.routes.leader,
            ask,
            timeout_s=self._timeout_s(timeout_ms),
            is_repeatable=False,
            # The marker may be written, and a second one would end the producer's next transaction.
            final_errors=(NotEnoughReplicasAfterAppendError, RequestTimedOutError),
            passing_errors=(BrokerNotAvailableError,),
        )
        done.raise_first()

    @of_several_steps
    async def find_hanging_transactions(
        self,
        broker_id: int | None = None,
        topic: str | None = None,
        partition: int | None = None,
        max_transaction_timeout_ms: int = MAX_TRANSACTION_TIMEOUT_MS,
        timeout_ms: int | None = None,
    ) -> list[HangingTransaction]:
        """Return the transactions that are open in partitions, and that no coordinator will end.

        Looked at are the partitions with a replica on a broker, those of a topic, or one.
        `abort_transaction(found.to_abort)` ends what was found.

        Args:
            broker_id: looks at replicas of this broker.
            topic: looks at partitions of this topic.
            partition: looks at this partition of the topic.
            max_transaction_timeout_ms: looks at transactions without a record for so long. It must
                be transaction.max.timeout.ms of the brokers, or more.
            timeout_ms: the bound of the call; None: request_timeout_ms.

        Raises: IllegalArgumentError without a broker and a topic; otherwise as `describe_producers`
        and `list_transactions`, also for one partition that fails.
        Cancelled: nothing is left behind.
        Source: KIP-664.
        """
        if (broker_id is None and topic is None) or (topic is None and partition is not None):
            raise IllegalArgumentError(
                f"broker_id={quoted(broker_id)}, topic={quoted(topic)}, "
                f"partition={quoted(partition)}: name a broker"
                " or a topic to look at; a partition needs its topic"
            )
        left_ms = self._left_ms(timeout_ms)
        looked_at = await self._partitions(broker_id, topic, partition, left_ms())
        producers = await self.describe_producers(looked_at, broker_id, timeout_ms=left_ms())
        producers.raise_first()
        before_ms = round(self._running().client.clock.time() * 1000) - max_transaction_timeout_ms
        found = old_transactions(producers.succeeded, before_ms)
        if not found:
            return []
        listings = await self.list_transactions(
            producer_ids={each.producer.producer_id for each in found}, timeout_ms=left_ms()
        )
        descriptions = await self.describe_transactions(
            [each.transactional_id for each in listings], timeout_ms=left_ms()
        )
        return hanging(found, listings, descriptions)

    async def _partitions(
        self, broker_id: int | None, topic: str | None, partition: int | None, timeout_ms: int
    ) -> list[TopicPartition]:
        """Return the partitions of a topic, or of all, that a broker has; None: any broker."""

        async def ask(node: AskedNode) -> list[TopicPartition]:
            topics = None if topic is None else [MetadataRequestTopic(name=topic)]
            request = MetadataRequest(topics=topics, allow_auto_topic_creation=False)
            answer = await node.request(request)
            raise_broker_error(answer.error_code, None, "find_hanging_transactions()")
            found = []
            for each in answer.topics:
                error = broker_error(each.error_code, None, f"topic {quoted(each.name)}")
                if error is not None and topic is not None:
                    raise error
                found += [
                    TopicPartition(each.name or "", part.partition_index)
                    for part in each.partitions
                    if broker_id is None or broker_id in part.replica_nodes
                ]
            return found

        requests = self._running()
        found = await requests.one(
            "find_hanging_transactions()",
            topic,
            requests.routes.any_node,
            ask,
            timeout_s=timeout_ms / 1000,
        )
        if partition is None or topic is None:
            return found
        if TopicPartition(topic, partition) not in found:
            raise UnknownTopicOrPartitionError(
                f"topic {quoted(topic)} has no partition {partition}"
                + ("" if broker_id is None else f" on broker {broker_id}")
            )
        return [TopicPartition(topic, partition)]


def _listings(
    answer: ListTransactionsResponse, request: ListTransactionsRequest, node_id: int | None
) -> list[TransactionListing]:
    subject = f"expression {quoted(request.transactional_id_pattern)}"
    raise_broker_error(answer.error_code, None, subject)
    if answer.unknown_state_filters:
        raise IllegalArgumentError(
            f"states {', '.join(map(repr, sorted(answer.unknown_state_filters)))}: broker {node_id}"
            " knows none of that name; states are 'Empty', 'Ongoing', 'PrepareCommit',"
            " 'PrepareAbort', 'CompleteCommit', 'CompleteAbort', 'PrepareEpochFence', 'Dead'"
        )
    return [
        TransactionListing(each.transactional_id, each.producer_id, each.transaction_state)
        for each in answer.transaction_states
    ]


def _description(
    state: TransactionState, node_id: int | None
) -> TransactionDescription | KafkaError:
    error = broker_error(
        state.error_code, None, f"transactional id {quoted(state.transactional_id)}"
    )
    if error is not None:
        return error
    return TransactionDescription(
        -1 if node_id is None else node_id,
        state.transaction_state,
        state.producer_id,
        state.producer_epoch,
        state.transaction_timeout_ms,
        or_none(state.transaction_start_time_ms),
        frozenset(
            TopicPartition(topic.topic, partition)
            for topic in state.topics
            for partition in topic.partitions
        ),
    )


__all__ = ["TransactionCalls"]
