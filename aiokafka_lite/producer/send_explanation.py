"""Owns the answer to why the records of a producer are not written yet. It reads the parts of the
producer and changes nothing. Does not wait.
"""

from collections.abc import Iterator

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.cluster.metadata.refresh_failures import why_leaderless
from aiokafka_lite.concurrency.life import LifeState
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.metrics.explanation import (
    Explanation,
    WaitReason,
    explain_partition,
    explain_waits,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.producer.accumulator.partition_queue import PartitionQueue
from aiokafka_lite.producer.batch.producer_batch import ProducerBatch
from aiokafka_lite.producer.producer_config import ProducerConfig
from aiokafka_lite.producer.producer_engine import ProducerEngine


def explain_producer(config: ProducerConfig, engine: ProducerEngine) -> tuple[Explanation, ...]:
    """Return what concerns the whole producer, then one value for each partition whose records have
    no outcome yet, those with the oldest records first.
    """
    life = engine.life.state
    if life is LifeState.STOPPED:
        return (Explanation(WaitReason.STOPPED, "stop() was called: make a new producer"),)
    if life is LifeState.NEW:
        return (Explanation(WaitReason.NOT_STARTED, "the producer is not started: await start()"),)
    failure = engine.client.owner.failure
    if failure is not None:
        said = reason_of(failure)
        text = f"a background task has failed, and every call raises it: {said}"
        return (Explanation(WaitReason.CLIENT_FAILED, text, error=said),)
    batches: dict[TopicPartition, list[ProducerBatch]] = {}
    for batch in engine.accumulator.incomplete:
        batches.setdefault(batch.topic_partition, []).append(batch)
    queues = {queue.topic_partition: queue for queue in engine.accumulator.waiting_queues()}
    partitions = _Partitions(config, engine)
    found = [
        *_of_whole(engine),
        *explain_waits(engine.client.lasting()),
        *(partitions.explain(tp, queues.get(tp), each) for tp, each in batches.items()),
    ]
    if not found:
        text = "nothing waits: every record that was sent has its outcome"
        found.append(Explanation(WaitReason.NOTHING_QUEUED, text))
    return tuple(found)


def _of_whole(engine: ProducerEngine) -> Iterator[Explanation]:
    if engine.transactions is not None and engine.transactions.status.has_failed:
        status = engine.transactions.status
        said = None if status.error is None else reason_of(status.error)
        help_ = "call stop()" if status.is_fatal else "call abort_transaction()"
        text = f"transactional_id={quoted(status.transactional_id)} is {status.state.value}: {said}"
        yield Explanation(WaitReason.TRANSACTION_FAILED, f"{text}; {help_}", error=said)
    snapshot = engine.client.metadata.snapshot
    for topic in engine.append_path.finder.order.topics_without_metadata:
        why = why_leaderless(TopicPartition(topic, 0), snapshot)
        text = f"calls of send() wait for the partitions of topic {quoted(topic)}: {why}"
        yield Explanation(WaitReason.TOPIC_UNKNOWN, text, topic=topic)
    pool = engine.pool
    if pool.waiting:
        text = (
            f"{pool.waiting} calls wait for memory: {pool.used_bytes} of "
            f"buffer_memory={pool.total_bytes} bytes are used"
        )
        yield Explanation(WaitReason.NO_MEMORY, text, size_in_bytes=pool.used_bytes)


class _Partitions:
    """Explains the partitions of one producer at one moment."""

    def __init__(self, config: ProducerConfig, engine: ProducerEngine) -> None:
        self._most_in_flight = config.max_in_flight_requests_per_connection
        self._engine = engine
        self._sequences = engine.sequences
        self._snapshot = engine.client.metadata.snapshot
        self._now_s = engine.client.clock.monotonic()

    def explain(
        self, tp: TopicPartition, queue: PartitionQueue | None, batches: list[ProducerBatch]
    ) -> Explanation:
        """Return what the oldest batch of the partition waits for. `queue` None: all its `batches`
        are on their way.
        """
        size = sum(batch.size_in_bytes for batch in batches)
        leader_id = self._snapshot.leader(tp).node_id
        if queue is None:
            text = f"{len(batches)} batches are on their way to node {leader_id}, without an answer"
            return explain_partition(tp, WaitReason.SENT, text, size, node_id=leader_id)
        if queue.leader_id is None:
            text = f"no leader is known: {why_leaderless(tp, self._snapshot)}"
            return explain_partition(tp, WaitReason.NO_LEADER, text, size)
        found = (
            self._out_of_turn(queue, size)
            or self._not_due(queue, size)
            or self._of_node(queue, queue.leader_id, size)
        )
        if found is not None:
            return found
        text = f"nothing stands in the way: it goes to node {queue.leader_id} in the next turn"
        return explain_partition(tp, WaitReason.DUE, text, size, node_id=queue.leader_id)

    def _out_of_turn(self, queue: PartitionQueue, size: int) -> Explanation | None:
        tp, sequences = queue.topic_partition, self._sequences
        if sequences is not None and not sequences.has_producer_id:
            failure = self._engine.sender.batches.id_failure
            said = None if failure is None else reason_of(failure)
            text = f"no broker has given a producer id: {said or 'it is being asked for'}"
            return explain_partition(tp, WaitReason.NO_PRODUCER_ID, text, size, error=said)
        if queue.is_muted:
            text = "the batch before it has no answer, and one may be on its way at a time"
            return explain_partition(tp, WaitReason.MUTED, text, size, node_id=queue.leader_id)
        if sequences is None or sequences.may_send(queue.batches[0]):
            return None
        if not sequences.is_in_transaction(tp):
            text = "the coordinator does not know yet that the transaction has this partition"
            return explain_partition(tp, WaitReason.NOT_IN_TRANSACTION, text, size)
        text = "an earlier batch has to have its outcome first, to keep the order"
        return explain_partition(tp, WaitReason.OUT_OF_TURN, text, size, node_id=queue.leader_id)

    def _not_due(self, queue: PartitionQueue, size: int) -> Explanation | None:
        batch, due_s = queue.batches[0], self._engine.accumulator.due_at(queue)
        delay_s = 0.0 if due_s is None else due_s - self._now_s
        if delay_s <= 0:
            return None
        tp, where = queue.topic_partition, queue.leader_id
        if not batch.attempts:
            text = f"linger_ms is not over for {delay_s:.3f} s: records may still join the batch"
            return explain_partition(
                tp, WaitReason.LINGERING, text, size, node_id=where, delay_s=delay_s
            )
        said = None if batch.last_error is None else reason_of(batch.last_error)
        text = f"attempt {batch.attempts} failed, and the next follows in {delay_s:.3f} s: {said}"
        return explain_partition(
            tp, WaitReason.BACKING_OFF, text, size, node_id=where, delay_s=delay_s, error=said
        )

    def _of_node(self, queue: PartitionQueue, node_id: int, size: int) -> Explanation | None:
        tp = queue.topic_partition
        wait = self._engine.client.network.node_wait(node_id)
        if wait is not None:
            return explain_partition(
                tp,
                wait.reason,
                wait.text,
                size,
                node_id=node_id,
                delay_s=wait.delay_s,
                error=wait.error,
            )
        in_flight, retry_s, failure = self._engine.sender.batches.state_of(node_id, self._now_s)
        if retry_s > 0:
            said = None if failure is None else reason_of(failure)
            text = f"node {node_id} is tried again in {retry_s:.3f} s: {said or 'it has failed'}"
            return explain_partition(
                tp,
                WaitReason.NODE_BACKING_OFF,
                text,
                size,
                node_id=node_id,
                delay_s=retry_s,
                error=said,
            )
        if in_flight >= self._most_in_flight:
            text = (
                f"{in_flight} requests are on their way to node {node_id}, and "
                f"max_in_flight_requests_per_connection={self._most_in_flight}"
            )
            return explain_partition(tp, WaitReason.IN_FLIGHT_FULL, text, size, node_id=node_id)
        pace = self._engine.accumulator.pace_of(node_id)
        left_bytes = pace.most_bytes - pace.bytes_on_their_way
        if in_flight and queue.batches[0].size_in_bytes > left_bytes:
            text = (
                f"{pace.bytes_on_their_way} bytes are on their way to node {node_id}, which has "
                f"shown that it takes {pace.most_bytes} in a part of request_timeout_ms"
            )
            return explain_partition(tp, WaitReason.IN_FLIGHT_FULL, text, size, node_id=node_id)
        return None


__all__ = ["explain_producer"]
