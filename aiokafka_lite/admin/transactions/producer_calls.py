"""Calls about the producers of partitions and of transactional ids: describe, fence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from aiokafka_lite.admin.calls.admin_family import AdminFamily
from aiokafka_lite.admin.calls.admin_requests import AskedNode
from aiokafka_lite.admin.calls.outcomes import Outcomes, broker_error
from aiokafka_lite.admin.calls.outer_call import of_several_steps
from aiokafka_lite.admin.transactions.transaction_answers import ProducerIdAndEpoch, ProducerState
from aiokafka_lite.checks.item_lists import list_of, partitions_of
from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.cluster.coordinator_cache import CoordinatorType
from aiokafka_lite.errors import (
    IllegalArgumentError,
    KafkaError,
    NotLeaderForPartitionError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.describe_producers import (
    DescribeProducersRequest,
    PartitionResponse,
    TopicRequest,
)
from aiokafka_lite.protocol.messages.init_producer_id import InitProducerIdRequest


class ProducerCalls(AdminFamily):
    """Producers."""

    async def describe_producers(
        self,
        partitions: Iterable[TopicPartition],
        broker_id: int | None = None,
        timeout_ms: int | None = None,
    ) -> Outcomes[TopicPartition, list[ProducerState]]:
        """Return the producers that each partition's leader knows, idempotent and transactional.

        With `broker_id`, that broker's replicas are asked in place of the leaders. A broker forgets
        a producer that has written nothing for a day (producer.id.expiration.ms).

        A partition that fails has its error as the value: UnknownTopicOrPartitionError,
        TopicAuthorizationFailedError without the right to READ the topic,
        NotLeaderForPartitionError if `broker_id` has no replica, KafkaTimeoutError.

        Raises: IllegalArgumentError for a partition that cannot exist; KafkaConnectionError,
        KafkaTimeoutError or another error if no node answered within `timeout_ms` (None:
        request_timeout_ms).
        Cancelled: nothing is left behind.
        Source: KIP-664.
        """
        asked = partitions_of("partitions", partitions)

        async def ask(
            node: AskedNode, keys: list[TopicPartition]
        ) -> Mapping[TopicPartition, list[ProducerState] | KafkaError]:
            by_topic: dict[str, list[int]] = {}
            for topic, partition in keys:
                by_topic.setdefault(topic, []).append(partition)
            request = DescribeProducersRequest(
                topics=[
                    TopicRequest(name=name, partition_indexes=indexes)
                    for name, indexes in by_topic.items()
                ]
            )
            return {
                TopicPartition(topic.name, each.partition_index): _producers(topic.name, each)
                for topic in (await node.request(request)).topics
                for each in topic.partitions
            }

        requests = self._running()
        routes = requests.routes
        return await requests.for_each(
            "describe_producers()",
            asked,
            routes.leader if broker_id is None else routes.node(lambda _: broker_id),
            ask,
            timeout_s=self._timeout_s(timeout_ms),
            # A named broker has no replica; only leaders move.
            final_errors=() if broker_id is None else (NotLeaderForPartitionError,),
        )

    async def fence_producers(
        self, transactional_ids: Iterable[str], timeout_ms: int | None = None
    ) -> Outcomes[str, ProducerIdAndEpoch]:
        """Fence the producers of transactional ids: none of them can write any more.

        An open transaction is aborted. The value is the identity that fences the producers. An id
        that nobody has used is created.

        An id that fails has its error as the value: TransactionalIdAuthorizationFailed without the
        right to WRITE, KafkaTimeoutError.

        Raises: IllegalArgumentError for anything but a list of ids; KafkaConnectionError,
        KafkaTimeoutError or another error if no node answered within `timeout_ms` (None:
        request_timeout_ms).
        Cancelled: the coordinators may fence the producers nevertheless.
        Source: KAFKA-12888, FenceProducersHandler.
        """

        async def ask(
            node: AskedNode, keys: list[str]
        ) -> Mapping[str, ProducerIdAndEpoch | KafkaError]:
            (key,) = keys
            answer = await node.request(
                InitProducerIdRequest(
                    transactional_id=key, transaction_timeout_ms=min(node.left_ms, longest_ms)
                )
            )
            error = broker_error(answer.error_code, None, f"transactional id {quoted(key)}")
            return {key: error or ProducerIdAndEpoch(answer.producer_id, answer.producer_epoch)}

        requests = self._running()
        longest_ms = requests.client.config.request_timeout_ms  # brokers refuse what is too long
        return await requests.for_each(
            "fence_producers()",
            list_of("transactional_ids", transactional_ids, str),
            requests.routes.coordinator(CoordinatorType.TRANSACTION),
            ask,
            timeout_s=self._timeout_s(timeout_ms),
            most_items=1,
        )

    @of_several_steps
    async def force_terminate_transaction(
        self, transactional_id: str, timeout_ms: int | None = None
    ) -> None:
        """End the transaction of a producer, which is fenced: `fence_producers` for one id, by the
        name that Java gives it since 4.2.

        For a transaction that was prepared and that nobody ends (KIP-939), for example. Without an
        open transaction the producer is fenced all the same.

        Raises: TransactionalIdAuthorizationFailed; otherwise as `fence_producers`.
        Cancelled: the coordinator may fence the producer nevertheless.
        Source: KIP-939, KafkaAdminClient.forceTerminateTransaction.
        """
        if not isinstance(transactional_id, str):
            raise IllegalArgumentError(
                f"transactional_id={quoted(transactional_id)} is of type "
                f"{type(transactional_id).__name__}; give a str"
            )
        (await self.fence_producers([transactional_id], timeout_ms)).raise_first()


def _producers(topic: str, answer: PartitionResponse) -> list[ProducerState] | KafkaError:
    subject = partition_subject(TopicPartition(topic, answer.partition_index))
    error = broker_error(answer.error_code, answer.error_message, subject)
    if error is not None:
        return error
    return [
        ProducerState(
            each.producer_id,
            each.producer_epoch,
            each.last_sequence,
            each.last_timestamp,
            or_none(each.coordinator_epoch),
            or_none(each.current_txn_start_offset),
        )
        for each in answer.active_producers
    ]


def partition_subject(topic_partition: TopicPartition) -> str:
    return f"partition '{topic_partition.topic}-{topic_partition.partition}'"


def or_none(value: int) -> int | None:
    """Return the value; None for -1, which stands for none."""
    return None if value < 0 else value


__all__ = ["ProducerCalls", "or_none", "partition_subject"]
