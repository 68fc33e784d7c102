"""Owns the answer to why each partition of a consumer is being fetched or not.

It reads the parts of the consumer and changes nothing. Does not wait.
"""

from collections.abc import Iterable, Iterator

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.cluster.lane import Lane
from aiokafka_lite.cluster.metadata.metadata_snapshot import MetadataSnapshot
from aiokafka_lite.cluster.metadata.refresh_failures import why_leaderless
from aiokafka_lite.concurrency.life import LifeState
from aiokafka_lite.consumer.consumer_config import ConsumerConfig
from aiokafka_lite.consumer.consumer_engine import ConsumerEngine
from aiokafka_lite.consumer.fetch.completed_fetch import CompletedFetch
from aiokafka_lite.consumer.fetch.fetch_wishes import node_to_read
from aiokafka_lite.consumer.position.partition_state import FetchState, PartitionState
from aiokafka_lite.consumer.position.subscription_state import SubscriptionState
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.metrics.explanation import (
    Explanation,
    WaitReason,
    explain_partition,
    explain_waits,
)
from aiokafka_lite.model import TopicPartition


def explain_consumer(
    life: LifeState,
    config: ConsumerConfig,
    subscription: SubscriptionState,
    engine: ConsumerEngine | None,
) -> tuple[Explanation, ...]:
    """Return what concerns the whole consumer, then one value for each assigned partition, in queue
    order.

    `engine` None: the consumer was not started.
    """
    ended = explain_life(life, None if engine is None else engine.client)
    if ended is not None or engine is None:
        return () if ended is None else (ended,)
    partitions = _Partitions(config, subscription, engine)
    return (
        *_of_whole(subscription, engine),
        *explain_waits(engine.client.lasting()),
        *map(partitions.explain, subscription.states()),
    )


def explain_life(life: LifeState, client: KafkaClient | None) -> Explanation | None:
    """Return why a consumer of any kind does nothing at all; None if it works.

    `client` None: the consumer was not started.
    """
    if life in (LifeState.STOPPING, LifeState.STOPPED):
        return Explanation(WaitReason.STOPPED, "stop() was called: make a new consumer")
    if client is None:
        return Explanation(WaitReason.NOT_STARTED, "the consumer is not started: await start()")
    failure = client.owner.failure
    if failure is not None:
        said = reason_of(failure)
        text = f"a background task has failed, and every call raises it: {said}"
        return Explanation(WaitReason.CLIENT_FAILED, text, error=said)
    return None


def explain_topics(topics: Iterable[str], snapshot: MetadataSnapshot) -> Iterator[Explanation]:
    """Return a value for each topic of which no partition is known."""
    for topic in sorted(topics):
        if not snapshot.partition_ids(topic):
            why = why_leaderless(TopicPartition(topic, 0), snapshot)
            text = f"no partition of topic {quoted(topic)} is known: {why}"
            yield Explanation(WaitReason.TOPIC_UNKNOWN, text, topic=topic)


def explain_no_partition(topics: Iterable[str], snapshot: MetadataSnapshot) -> Explanation:
    """Return that a member of a group has no partition of its topics."""
    known = sum(len(snapshot.partition_ids(topic)) for topic in topics)
    text = (
        f"the group has assigned no partition to this member; its topics have {known} partitions, "
        f"and other members have them"
    )
    return Explanation(WaitReason.NOTHING_ASSIGNED, text)


def _of_whole(subscription: SubscriptionState, engine: ConsumerEngine) -> Iterator[Explanation]:
    if subscription.is_empty:
        text = "nothing is subscribed or assigned: call subscribe() or assign()"
        yield Explanation(WaitReason.NOTHING_SUBSCRIBED, text)
        return
    snapshot = engine.client.metadata.snapshot
    yield from explain_topics(subscription.topics, snapshot)
    if subscription.pattern is not None and not subscription.topics:
        text = f"no topic is known whose name matches {quoted(subscription.pattern.pattern)}"
        yield Explanation(WaitReason.TOPIC_UNKNOWN, text)
    if engine.group is None or not subscription.is_subscribed:
        return
    joining = engine.group.membership.explain()
    if joining is not None:
        yield joining
    elif not subscription.assignment:
        yield explain_no_partition(subscription.topics, snapshot)


class _Partitions:
    """Explains the partitions of one consumer at one moment."""

    def __init__(
        self, config: ConsumerConfig, subscription: SubscriptionState, engine: ConsumerEngine
    ) -> None:
        self._config = config
        self._subscription = subscription
        self._engine = engine
        self._snapshot = engine.client.metadata.snapshot
        self._now_s = engine.client.clock.monotonic()
        self._fetches: dict[TopicPartition, CompletedFetch] = {}
        for fetch in engine.buffer:
            self._fetches.setdefault(fetch.topic_partition, fetch)

    def explain(self, state: PartitionState) -> Explanation:
        """Return what keeps the partition from being fetched, or that it is being fetched."""
        return (
            self._held(state)
            or self._without_position(state)
            or self._buffered(state)
            or self._of_node(state)
        )

    def _held(self, state: PartitionState) -> Explanation | None:
        if state.is_being_revoked:
            text = "the group takes it away, or another member may own it by now"
            return explain_partition(state.topic_partition, WaitReason.BEING_REVOKED, text)
        if state.is_of_former_topic:
            text = "its topic was deleted; the group has not assigned the new one of that name"
            return explain_partition(state.topic_partition, WaitReason.BEING_REVOKED, text)
        if state.is_being_assigned:
            text = "on_partitions_assigned() of the listener has not returned"
            return explain_partition(state.topic_partition, WaitReason.BEING_ASSIGNED, text)
        if state.is_paused:
            text = "pause() was called: call resume()"
            return explain_partition(state.topic_partition, WaitReason.PAUSED, text)
        return None

    # Without a position…

    def _without_position(self, state: PartitionState) -> Explanation | None:
        if state.fetch_state is FetchState.FETCHING:
            return None
        if state.fetch_state is FetchState.AWAIT_VALIDATION:
            return self._asked_of_leader(
                state, WaitReason.VALIDATING, "the leader has to compare the position with its log"
            )
        asks_group = self._engine.group is not None and not state.has_no_committed
        if state.fetch_state is FetchState.INITIALIZING and asks_group:
            return self._without_committed(state)
        strategy = state.reset_strategy
        if state.fetch_state is FetchState.INITIALIZING:
            strategy = self._subscription.default_reset
        if strategy is None:
            text = "it has no position, and auto_offset_reset gives none: call seek()"
            return explain_partition(state.topic_partition, WaitReason.NEEDS_SEEK, text)
        text = f"its position is to be reset to {strategy.label}, and the leader has not told it"
        return self._asked_of_leader(state, WaitReason.NO_POSITION, text)

    def _without_committed(self, state: PartitionState) -> Explanation:
        assert self._engine.group is not None
        failure = self._engine.group.coordinators.last_failure
        text = "the group's committed offset has not come yet"
        if failure is not None:
            said = reason_of(failure)
            text += f", because the coordinator is not known: {said}"
            return explain_partition(
                state.topic_partition, WaitReason.COORDINATOR_UNKNOWN, text, error=said
            )
        return self._told_until_retry(state, WaitReason.NO_COMMITTED_OFFSET, text)

    def _asked_of_leader(self, state: PartitionState, reason: WaitReason, text: str) -> Explanation:
        node_id = self._snapshot.leader(state.topic_partition).node_id
        if node_id is None:
            return self._leaderless(state)
        wait = self._engine.client.network.node_wait(node_id)
        if wait is not None:
            return explain_partition(
                state.topic_partition,
                wait.reason,
                wait.text,
                node_id=node_id,
                delay_s=wait.delay_s,
                error=wait.error,
            )
        return self._told_until_retry(state, reason, text, node_id=node_id)

    def _told_until_retry(
        self, state: PartitionState, reason: WaitReason, text: str, node_id: int | None = None
    ) -> Explanation:
        delay_s = state.retry_at_s - self._now_s
        if state.failures and delay_s > 0:
            text += f"; it is asked again in {delay_s:.3f} s, after {state.failures} failures"
            return explain_partition(
                state.topic_partition, reason, text, node_id=node_id, delay_s=delay_s
            )
        return explain_partition(state.topic_partition, reason, text, node_id=node_id)

    # With a position…

    def _buffered(self, state: PartitionState) -> Explanation | None:
        fetch = self._fetches.get(state.topic_partition)
        if fetch is None:
            return None
        where, size = fetch.node_id, fetch.size_in_bytes
        if fetch.error is not None:
            said = reason_of(fetch.error)
            text = f"the record at offset {fetch.next_offset} cannot be read: {said}; seek past it"
            reason = WaitReason.BAD_RECORD
            if fetch.is_failure:
                text, reason = f"a fetch has failed: {said}", WaitReason.FETCH_FAILED
            return explain_partition(state.topic_partition, reason, text, node_id=where, error=said)
        if fetch.unprepared is not None:
            text = f"a deserializer waits: {fetch.unprepared}"
            return explain_partition(
                state.topic_partition,
                WaitReason.DESERIALIZING,
                text,
                node_id=where,
                size_in_bytes=size,
            )
        text = f"{size} bytes of it are buffered from offset {fetch.next_offset}: poll for them"
        return explain_partition(
            state.topic_partition, WaitReason.BUFFERED, text, node_id=where, size_in_bytes=size
        )

    def _of_node(self, state: PartitionState) -> Explanation:
        delay_s = state.retry_at_s - self._now_s
        if delay_s > 0:
            text = f"its newest fetch has failed; it is fetched again in {delay_s:.3f} s"
            return explain_partition(
                state.topic_partition, WaitReason.FETCH_FAILED, text, delay_s=delay_s
            )
        node_id = node_to_read(state, self._snapshot, self._now_s)
        if node_id is None:
            return self._leaderless(state)
        if self._engine.fetcher.was_dropped(state.topic_partition):
            text = "its records made room for partitions that polls have named: poll for it"
            return explain_partition(
                state.topic_partition, WaitReason.SET_ASIDE, text, node_id=node_id
            )
        return (
            self._on_its_way(state, node_id)
            or self._kept_back(state, node_id)
            or explain_partition(
                state.topic_partition,
                WaitReason.NOT_POLLED,
                f"nothing stands in the way: the next poll fetches it from node {node_id}"
                f"{_beginning(state)}",
                node_id=node_id,
            )
        )

    def _leaderless(self, state: PartitionState) -> Explanation:
        why = why_leaderless(state.topic_partition, self._snapshot)
        return explain_partition(
            state.topic_partition, WaitReason.NO_LEADER, f"no leader is known: {why}"
        )

    def _on_its_way(self, state: PartitionState, node_id: int) -> Explanation | None:
        fetcher = self._engine.fetcher
        wait = self._engine.client.network.node_wait(node_id, Lane.FETCH)
        if wait is not None:
            return explain_partition(
                state.topic_partition,
                wait.reason,
                wait.text,
                node_id=node_id,
                delay_s=wait.delay_s,
                error=wait.error,
            )
        if all(fetch.node_id != node_id for fetch in fetcher.pending_fetches):
            return None
        if fetcher.is_asked_for(state.topic_partition, node_id):
            text = f"a fetch from offset {state.offset} is on its way to node {node_id}"
            text += _beginning(state)
            return explain_partition(
                state.topic_partition, WaitReason.FETCHING, text, node_id=node_id
            )
        text = f"node {node_id} has to answer a fetch of other partitions first"
        return explain_partition(state.topic_partition, WaitReason.NODE_BUSY, text, node_id=node_id)

    def _kept_back(self, state: PartitionState, node_id: int) -> Explanation | None:
        fetcher, limit = self._engine.fetcher, self._config.fetch_buffer_bytes
        delay_s = fetcher.fetch_delay(node_id) or 0.0
        if delay_s > 0:
            said = fetcher.failure_of(node_id) or "the node has refused it"
            text = f"the newest fetch from node {node_id} has failed: {said}"
            return explain_partition(
                state.topic_partition,
                WaitReason.FETCH_FAILED,
                text,
                node_id=node_id,
                delay_s=delay_s,
                error=said,
            )
        unread = self._engine.buffer.unread_bytes(node_id)
        if unread >= limit:
            text = (
                f"{unread} bytes of node {node_id} are unread, and fetch_buffer_bytes={limit}: "
                f"poll for the other partitions, or raise it"
            )
            return explain_partition(
                state.topic_partition,
                WaitReason.BUFFER_FULL,
                text,
                node_id=node_id,
                size_in_bytes=unread,
            )
        return None


def _beginning(state: PartitionState) -> str:
    """Return where reading began, for a partition of which nothing has come since."""
    if state.began_at is None or state.returned_in_poll:
        return ""
    return (
        f"; nothing has come since its position was reset to {state.began_at.label}, which is "
        f"offset {state.offset}: what lies before it is not read"
    )


__all__ = ["explain_consumer", "explain_life", "explain_no_partition", "explain_topics"]
