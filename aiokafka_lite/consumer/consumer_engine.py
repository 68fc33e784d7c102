"""Owns the parts of a started consumer: it makes them in one order, starts and closes them.

It also follows the metadata and the assignment. It does not know the public consumer. A consumer
that starts again after a failure gets a new engine. Only `start`, `leave`, `give_up`,
`close_client` and `list_topics` wait.
"""

import asyncio
import logging
import weakref
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.cluster.metadata.metadata_snapshot import MetadataSnapshot
from aiokafka_lite.cluster.metadata.refresh_failures import refused_topics
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.concurrency.waiting_calls import WaitingCalls
from aiokafka_lite.consumer.consumer_config import ConsumerConfig, GroupMembershipOperation
from aiokafka_lite.consumer.fetch.fetch_buffer import FetchBuffer
from aiokafka_lite.consumer.fetch.fetch_collector import FetchCollector
from aiokafka_lite.consumer.fetch.fetcher import Fetcher
from aiokafka_lite.consumer.fetch.node_fetcher import close_fetches
from aiokafka_lite.consumer.group.rebalance_listener import ConsumerRebalanceListener
from aiokafka_lite.consumer.listed_topics import list_topics
from aiokafka_lite.consumer.matched_topics import present_topics
from aiokafka_lite.consumer.offset_calls import OffsetCalls
from aiokafka_lite.consumer.poll_signal import PollSignal
from aiokafka_lite.consumer.position.offset_fetcher import OffsetFetcher
from aiokafka_lite.consumer.position.offset_lister import OffsetLister
from aiokafka_lite.consumer.position.subscription_state import SubscriptionMode, SubscriptionState
from aiokafka_lite.consumer.record_poller import RecordPoller
from aiokafka_lite.consumer.stop_bounds import StopBounds, divide_stop_time
from aiokafka_lite.errors import KafkaTimeoutError, UnknownTopicOrPartitionError
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.metrics.counters import Counters
from aiokafka_lite.model import TopicPartition, names_of
from aiokafka_lite.protocol.messages.api_versions import ApiVersionsRequest
from aiokafka_lite.protocol.messages.fetch import FetchRequest
from aiokafka_lite.protocol.messages.list_offsets import ListOffsetsRequest
from aiokafka_lite.protocol.messages.metadata import MetadataRequest, MetadataResponseTopic
from aiokafka_lite.schema.compiled_functions import load_functions

if TYPE_CHECKING:
    from aiokafka_lite.consumer.group.consumer_group import ConsumerGroup
    from aiokafka_lite.metrics.statistics import ConsumerStatistics

logger = logging.getLogger(__name__)

PATIENCE_S = 3.0
"""How long a start waits for topics that are being created, and then for positions. A topic that
never comes, or a partition without a leader, holds it up no longer."""

load_functions(ApiVersionsRequest, MetadataRequest, ListOffsetsRequest, FetchRequest)


class ConsumerEngine:
    """Client, fetches, group, positions and polls of one consumer."""

    def __init__(
        self,
        config: ConsumerConfig,
        client: KafkaClient,
        subscription: SubscriptionState,
        signal: PollSignal,
        waiting_calls: WaitingCalls,
        listener: ConsumerRebalanceListener | None,
    ) -> None:
        self._config = config
        self.subscription = subscription
        self._signal = signal
        self._waiting_calls = waiting_calls
        self._is_started = self._is_stopped = self._is_seek_near = self._pursues_soon = False
        self.client = client
        self.buffer = FetchBuffer(subscription.revision, client.clock)
        self.collector = FetchCollector(subscription, self.buffer, client.observer)
        self.fetcher = Fetcher(config, client, subscription, self.buffer, signal)
        self.group: ConsumerGroup | None = None
        if config.group_id is not None:
            self.group = _group_kind()(
                config,
                client,
                subscription,
                signal,
                self.collector,
                self.assignment_changed,
                listener,
            )
            client.metrics_push.member_of(self.group)
        self._followed = client.metadata.snapshot
        committed = None if self.group is None else self.group.committed
        self.offset_fetcher = OffsetFetcher(config, client, subscription, signal, committed)
        self.poller = RecordPoller(
            client,
            subscription,
            signal,
            self.buffer,
            self.collector,
            self.fetcher,
            self.group,
            self.offset_fetcher,
            leader_timeout_s=config.default_api_timeout_ms / 1000,
        )
        self.offsets = OffsetCalls(
            config,
            client,
            subscription,
            waiting_calls,
            self.group,
            OffsetLister(config, client, signal),
            self.poller,
        )

    @property
    def is_in_listener(self) -> bool:
        """Whether the caller is a rebalance listener, or a task that one has created."""
        return self.group is not None and self.group.is_calling_listener

    # Starting…

    async def start(self) -> None:
        """Connect, learn of the subscribed topics, and with a group wait for an assignment.

        Raises: as `AIOKafkaConsumer.start`. Cancelled: the caller calls `give_up`, as after an
        error.
        """
        client, group = self.client, self.group
        self.subscription.is_absent = self._is_absent
        client.metadata.add_listener(self.follow)
        self._set_topics_of_interest()
        await client.start()
        client.loop.add_fork_listener(self.collector.decoded.forget)
        client.owner.add_failure_callback(self._look_again)
        bound_s = self._config.default_api_timeout_ms / 1000
        if group is None:
            await self._wait_for_topics(bound_s)
        else:
            await self._look_for_topics(min(bound_s, PATIENCE_S))
        self._is_started = True
        self.follow(client.metadata.snapshot)
        if group is not None:
            await group.choose_protocol(bound_s)
            group.start()
            if self.subscription.is_subscribed:
                await group.wait_for_assignment(max(bound_s, group.join_timeout_s))
        await self._wait_for_ends(min(bound_s, PATIENCE_S))

    async def _wait_for_topics(self, bound_s: float) -> None:
        clock = self.client.clock
        until_s = clock.monotonic() + bound_s
        for topic in sorted(self.subscription.topics):
            left_s = until_s - clock.monotonic()
            await self.client.metadata.wait_for_topic(topic, max(left_s, 0.0))

    async def _look_for_topics(self, bound_s: float) -> None:
        """Wait for topics that are being created, so that the first assignment has them. The group
        waits for those that do not come in time.

        Raises: the error of a topic if it never passes. Cancelled: nothing stays behind.
        """
        metadata, clock = self.client.metadata, self.client.clock
        refusal = refused_topics(self.subscription.topics, metadata.snapshot)
        if refusal is not None:
            raise refusal
        until_s = clock.monotonic() + bound_s
        for topic in sorted(self.subscription.topics):
            left_s = until_s - clock.monotonic()
            try:
                await metadata.wait_for_topic(topic, max(left_s, 0.0))
            except (UnknownTopicOrPartitionError, KafkaTimeoutError) as error:
                logger.warning(
                    "%s: start() goes on without topic %s; its partitions are assigned when it is "
                    "there: %s",
                    *(self._config.client_id, quoted(topic), reason_of(error)),
                )

    async def _wait_for_ends(self, bound_s: float) -> None:
        """Wait for the positions that depend on the moment, so that a record that is sent after the
        start lies behind them. They are looked for further if they do not come in time.

        Cancelled: they are looked for further.
        """
        clock, until_s = self.client.clock, None
        while not self._is_stopped:
            self.client.check()
            moving = self.offset_fetcher.moving()
            if not (moving or self._is_assigned_anew()):
                return
            if until_s is None:
                until_s = clock.monotonic() + bound_s
            elif clock.monotonic() >= until_s:
                if moving:
                    logger.warning(
                        "%s: start() goes on before the end of %s is known; what is written until "
                        "then is not read",
                        *(self._config.client_id, names_of(moving)),
                    )
                return
            await self._signal.wait(until_s)

    def _is_assigned_anew(self) -> bool:
        """Whether the group makes another assignment, whose positions depend on the moment."""
        group = self.group
        if group is None or not (self.subscription.is_subscribed and self.offset_fetcher.moves):
            return False
        return group.membership.awaits_assignment

    # Closing…

    def stop(self) -> None:
        """End every waiting poll, and every later one. Does not wait."""
        self._is_stopped = True
        self.offset_fetcher.stop_pursuing()
        if self.group is not None:
            self.group.stop()
        self.poller.stop()

    async def leave(
        self, bounds: StopBounds, *, processed_all: bool, operation: GroupMembershipOperation
    ) -> None:
        """Leave the group, and close the fetch sessions.

        `processed_all`: what the newest poll returned counts as processed (B7). `operation`: as
        `ConsumerGroup.close`. Raises: TimeoutError after `bounds.total_s`.
        """
        clock = self.client.clock
        began_s = clock.monotonic()
        unheard_s = 0.0
        async with deadline(clock, bounds.total_s):
            if self.group is not None:
                await self.group.close(bounds, processed_all=processed_all, operation=operation)
                unheard_s = self.group.offsets.unheard_s(began_s)
            elapsed_s = clock.monotonic() - began_s
            nodes, ends = self.fetcher.stop()
            left_s = bounds.sessions_s(elapsed_s, unheard_s)
            await close_fetches(nodes, ends, self.client, left_s)

    async def close_client(self, timeout_s: float) -> None:
        """Close the connections, and end the tasks that are left, within `timeout_s`."""
        try:
            async with deadline(self.client.clock, timeout_s):
                await self.client.close()
        except TimeoutError:
            logger.warning(
                "%s: the client did not close within %.1f s", self.client.name, timeout_s
            )

    async def give_up(self) -> None:
        """Close everything after a start that failed."""
        self.offset_fetcher.stop_pursuing()
        try:
            if self.group is not None:
                await self.group.close(divide_stop_time(0), processed_all=False)
        finally:
            await self.client.close()

    # Following the subscription, the assignment and the metadata…

    def partitions_changed(
        self, added: Collection[TopicPartition], gone: Collection[TopicPartition]
    ) -> None:
        """Follow a change of some partitions by the user, who may seek at once. The others are not
        looked at.
        """
        self.buffer.drop(gone)
        self._set_topics_of_interest()
        self.offset_fetcher.validator.follow_topics(added)
        self._look_again()
        self._pursue_soon()

    def subscription_changed(self) -> None:
        """Follow another subscription, or an assignment by the user, who may seek at once."""
        self._is_seek_near = True
        self.assignment_changed()
        self.follow(self.client.metadata.snapshot)
        self._is_seek_near = False
        self._pursue_soon()

    def _pursue_soon(self) -> None:
        """Ask for missing positions in the next turn of the loop, after the user's seeks."""
        if not self._is_started or self._is_stopped or self._pursues_soon:
            return
        if not self.subscription.has_all_fetch_positions():
            self._pursues_soon = True
            asyncio.get_running_loop().call_soon(self._pursue_positions)

    def _pursue_positions(self) -> None:
        self._pursues_soon = False
        if self._is_started and not (self._is_stopped or self._is_seek_near):
            self.offset_fetcher.pursue()

    def assignment_changed(self) -> None:
        """Drop what is buffered of other partitions, and ask for metadata of the new topics."""
        assigned = self.subscription.assignment
        self.buffer.discard(lambda tp: tp not in assigned)
        self._set_topics_of_interest()
        self._signal.notify()
        self._pursue_positions()

    def follow(self, snapshot: MetadataSnapshot) -> None:
        """Take over new metadata: topics of the subscription that came, grew or went (B1)."""
        subscription = self.subscription
        self.offset_fetcher.validator.follow_topics()
        before, self._followed = self._followed, snapshot
        if subscription.is_subscribed:
            subscription.follow_absences(_lost(before, snapshot, subscription.topics))
        topics_changed = False
        if subscription.mode is SubscriptionMode.PATTERN:
            names = present_topics(
                snapshot,
                subscription.topics,
                exclude_internal=self._config.exclude_internal_topics,
            )
            topics_changed = subscription.match_topics(names)
        if self.group is not None:
            self.group.metadata_changed(snapshot, topics_changed=topics_changed)
        elif subscription.is_subscribed:
            self._take_all_partitions(snapshot)
        # Leaders may have changed: the records decoded ahead wait for a poll that looks at them.
        self._look_again()
        self._pursue_positions()

    def _look_again(self, *_: object) -> None:
        """Let waiting polls, and the next one, look at everything again."""
        self.subscription.revision.number += 1
        self._signal.notify()

    def _take_all_partitions(self, snapshot: MetadataSnapshot) -> None:
        """Assign all partitions of the subscribed topics, for a consumer without a group."""
        subscription = self.subscription
        kept = [
            tp
            for tp in subscription.queue()
            if tp.topic in subscription.topics and not _has_gone(tp, snapshot)
        ]
        grown = [
            tp
            for topic in sorted(subscription.topics)
            for partition in snapshot.partition_ids(topic)
            if subscription.get(tp := TopicPartition(topic, partition)) is None
        ]
        if grown or len(kept) < len(subscription.assignment):
            self.collector.settle()
            subscription.assign_from_subscribed([*kept, *grown])

    def _is_absent(self, tp: TopicPartition) -> bool:
        """Say whether the metadata does not have the partition."""
        return tp.partition not in self.client.metadata.snapshot.partition_ids(tp.topic)

    def _set_topics_of_interest(self) -> None:
        """Tell the client which topics' metadata the consumer needs.

        A pattern needs the metadata of all topics. Of those, only topics that match are asked about
        again before the metadata is old.
        """
        subscription = self.subscription
        of_group = frozenset() if self.group is None else self.group.membership.topics
        named = {*subscription.topics, *of_group, *subscription.assigned_topics}
        if subscription.mode is SubscriptionMode.PATTERN:
            self.client.metadata.set_topics(
                None, lambda topic: topic in named or subscription.matches(topic)
            )
        elif subscription.mode is SubscriptionMode.SERVER_PATTERN:
            self.client.metadata.set_topics(None, lambda topic: topic in named)
        else:
            self.client.metadata.set_topics(named)

    # What the public consumer asks…

    def lags(self) -> dict[TopicPartition, int]:
        """Return how many offsets the end is ahead of each partition whose end is known."""
        is_committed = self._config.is_read_committed
        lags = {
            state.topic_partition: state.lag(read_committed=is_committed)
            for state in tuple(self.subscription.states())
        }
        return {tp: lag for tp, lag in lags.items() if lag is not None}

    async def list_topics(self, names: Collection[str] | None) -> Sequence[MetadataResponseTopic]:
        """Return what a node says of these topics, or of all.

        Raises: KafkaTimeoutError after `default_api_timeout_ms`, ConsumerStoppedError when the
        consumer is stopped meanwhile. Cancelled: nothing stays behind.
        """
        async with self._waiting_calls.one():
            return await list_topics(self.client, names, self._config.default_api_timeout_ms / 1000)


def observe(
    engine: ConsumerEngine,
    config: ConsumerConfig,
    counters: Counters,
) -> None:
    """Tell the observer of the options, if there is one, that the consumer starts."""
    counters.observe(
        config.observer,
        "consumer",
        config.client_id,
        config.group_id,
        _statistics_while_alive(weakref.ref(engine), counters),
    )


def _statistics_while_alive(
    engine: weakref.ref[ConsumerEngine], counters: Counters
) -> "Callable[[], ConsumerStatistics | None]":
    def statistics() -> "ConsumerStatistics | None":
        alive = engine()
        return None if alive is None else statistics_of(alive.subscription, counters, alive)

    return statistics


def statistics_of(
    subscription: SubscriptionState, counters: Counters, engine: ConsumerEngine | None
) -> "ConsumerStatistics":
    """Return what is queued, free, buffered and on its way, and the counts.

    `engine` None: the consumer was not started, so there is only the queue.
    """
    from aiokafka_lite.metrics.statistics import (  # noqa: PLC0415
        BufferedFetch,
        ConsumerStatistics,
    )

    buffered = [] if engine is None else list(engine.buffer)
    pending = frozenset() if engine is None else engine.fetcher.pending_fetches
    usage = (0, 0) if engine is None else engine.client.network.usage()
    return ConsumerStatistics(
        queue=subscription.queue(),
        free=() if engine is None else tuple(engine.fetcher.free_partitions()),
        buffered=tuple(
            BufferedFetch(fetch.topic_partition, fetch.next_offset, fetch.size_in_bytes)
            for fetch in buffered
        ),
        unread_bytes=sum(fetch.size_in_bytes for fetch in buffered),
        lags={} if engine is None else engine.lags(),
        leads={} if engine is None else _leads(subscription),
        since_poll_s=None if engine is None or engine.group is None else engine.group.since_poll_s,
        poll_idle_s=0.0 if engine is None else engine.poller.idle_s,
        fetching_nodes=frozenset(fetch.node_id for fetch in pending),
        network=counters.network(open_connections=usage[0], in_flight=usage[1]),
        fetches=counters.fetches,
        fetched_bytes=counters.fetched_bytes,
        returned_records=0 if engine is None else engine.collector.returned_records,
        rebalances=counters.rebalances,
        commits=counters.commits,
    )


def _leads(subscription: SubscriptionState) -> dict[TopicPartition, int]:
    return {
        state.topic_partition: lead
        for state in tuple(subscription.states())
        if (lead := state.lead) is not None
    }


def _group_kind() -> "type[ConsumerGroup]":
    """Return the class. The public names of the consumer have loaded it; readers of ranges have
    not, because they have no group.
    """
    from aiokafka_lite.consumer.group.consumer_group import ConsumerGroup  # noqa: PLC0415

    return ConsumerGroup


def _has_gone(tp: TopicPartition, snapshot: MetadataSnapshot) -> bool:
    """Say whether the topic is there without this partition: it was created anew, and smaller.

    A partition that one answer leaves out is still in the snapshot (`metadata.absences`).
    """
    partitions = snapshot.partition_ids(tp.topic)
    return bool(partitions) and tp.partition not in partitions


def _lost(
    before: MetadataSnapshot, after: MetadataSnapshot, topics: Collection[str]
) -> list[TopicPartition]:
    """Return the partitions of these topics that were there and are not described any more."""
    return [
        TopicPartition(name, partition)
        for name in topics
        if (ids := before.partition_ids(name)) != (present := after.partition_ids(name))
        for partition in ids
        if partition not in present
    ]


__all__ = ["ConsumerEngine", "observe", "statistics_of"]
