"""Owns the waiting of `send` for metadata: for the route to a topic, and for a partition that is
still to come.

`topic_routes` has the routes, `send_order` the order of the calls that wait. Each method that waits
has a counterpart that raises instead.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NoReturn

from aiokafka_lite.checks.quoted import kind_of, quoted
from aiokafka_lite.checks.topic_name import check_topic_name
from aiokafka_lite.checks.value_checks import is_int, whole
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.errors import IllegalArgumentError, KafkaTimeoutError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.producer.accumulator.partition_queue import PartitionQueue
from aiokafka_lite.producer.append.send_order import SendOrder
from aiokafka_lite.producer.batch.record_fields import is_topic
from aiokafka_lite.producer.partition.topic_routes import TopicRoute, TopicRoutes
from aiokafka_lite.producer.producer_config import ProducerConfig
from aiokafka_lite.producer.producer_life import ProducerLife

_MAX_PARTITION = 2**31 - 1
"""The highest number of a partition: no request can name a higher one."""


class RouteFinder:
    """Finds routes and queues for one producer.

    `began_s` is when the user's call began, monotonic; None: now. The call may wait max_block_ms
    in all.
    """

    def __init__(
        self, client: KafkaClient, config: ProducerConfig, routes: TopicRoutes, life: ProducerLife
    ) -> None:
        self._client = client
        self._clock = client.clock
        self.routes = routes
        self.order = SendOrder(routes, client.clock)
        self._life = life
        self._max_block_ms = config.max_block_ms

    def left_s(self, began_s: float | None) -> float:
        """Return what is left of max_block_ms for a call that began then."""
        if began_s is None:
            return self._max_block_ms / 1000
        return max(0.0, self._max_block_ms / 1000 - (self._clock.monotonic() - began_s))

    async def find(self, topic: str, began_s: float) -> TopicRoute:
        """Return the route to a topic, waiting for its metadata.

        Raises: as `check_running`; IllegalArgumentError or InvalidTopicError for the name;
        AuthenticationFailedError if a node does not accept the client;
        UnknownTopicOrPartitionError or KafkaTimeoutError without metadata in time. Cancelled:
        nothing stays behind.
        """
        route = self._known(topic)
        if route is not None and not self.order.lacks_metadata(topic):
            return route
        with self.order.waiting_for_metadata(topic) as wait:
            while True:
                if route is None:
                    try:
                        await self._client.metadata.wait_for_topic(topic, self.left_s(began_s))
                    finally:
                        self._life.check_running()  # stop() explains any other error
                await wait.turn()
                route = self._known(topic)
                if route is not None:
                    return route

    @asynccontextmanager
    async def turn(self, topic: str, began_s: float) -> AsyncIterator[TopicRoute]:
        """Enter with the route to a topic, once the calls that waited before are through. Later
        calls for the topic wait for the end of the body.

        Raises: as `find`. Cancelled: nothing stays behind.
        """
        self._known(topic)
        with self.order.waiting_for_metadata(topic) as wait:
            await wait.turn()
            route = self._known(topic)
            while route is None:
                try:
                    await self._client.metadata.wait_for_topic(topic, self.left_s(began_s))
                finally:
                    self._life.check_running()
                route = self._known(topic)
            yield route

    def find_nowait(self, topic: str) -> TopicRoute:
        """Return the route to a topic. Raises: as `find`; without metadata it is asked for."""
        route = self._known(topic)
        if route is None:
            self._client.metadata.add_topic(topic)
            raise KafkaTimeoutError(
                f"there is no metadata of topic {quoted(topic)} yet, and send_nowait() does not "
                f"wait for it; await partitions_for({quoted(topic)}) once, or try again later"
            )
        return route

    def _known(self, topic: str) -> TopicRoute | None:
        self._life.check_running()
        if not is_topic(topic):
            raise IllegalArgumentError(f"topic={kind_of(topic)} is no topic's name; give a str")
        check_topic_name(topic)
        return self.routes.find(topic)

    def known_queue(self, route: TopicRoute, partition: int) -> PartitionQueue | None:
        """Return the queue of the given partition; None: the topic does not have it yet.

        Raises: IllegalArgumentError for what cannot be the number of a partition.
        """
        if partition.__class__ is int and 0 <= partition < route.count:
            return route.queue(partition)
        index = whole(partition)
        _check_partition(route, index)
        return route.queue(index) if index < route.count else None

    @asynccontextmanager
    async def queue_to_come(
        self, topic: str, partition: int, began_s: float | None
    ) -> AsyncIterator[PartitionQueue]:
        """Enter with the queue of a partition that the topic does not have yet. It waits until the
        topic has it, and until the calls that waited before are through.

        Raises: KafkaTimeoutError. Cancelled: nothing stays behind.
        """
        partition = whole(partition)
        began_s = self._clock.monotonic() if began_s is None else began_s
        left_s = self.left_s(began_s)
        count = 0
        try:
            async with self.order.turn(TopicPartition(topic, partition), left_s):
                attempts = 0
                wait = self._client.waits.of(
                    f"partition {partition} of topic {quoted(topic)} (Metadata)",
                    "create more partitions, or send to one that the topic has",
                    lambda: f"the topic has {count} partitions",
                )
                with wait:
                    async with deadline(self._clock, self.left_s(began_s)):
                        while True:
                            route = await self.find(topic, began_s)
                            if partition < (count := route.count):
                                break
                            if attempts:
                                delay_s = self._client.retry_backoff.delay(attempts - 1)
                                await self._clock.sleep(delay_s)
                            try:
                                await self._client.metadata.refresh()
                            finally:
                                self._life.check_running()  # a stopped producer is to be raised
                            attempts += 1
                yield route.queue(partition)
        except TimeoutError as error:
            if isinstance(error, KafkaTimeoutError):  # of `find`, or of the body
                raise
            self._raise_no_partition(topic, partition, count)

    def raise_no_partition_yet(self, route: TopicRoute, partition: int | None) -> NoReturn:
        """Raise KafkaTimeoutError for a partition that the topic does not have. A refresh of the
        metadata is asked for.
        """
        self._client.metadata.request_update()
        raise KafkaTimeoutError(
            f"topic {quoted(route.topic)} has no partition {partition}, only {route.count} of "
            "them, and send_nowait() does not wait for more; send to one of those"
        )

    def _raise_no_partition(self, topic: str, partition: int, count: int) -> NoReturn:
        raise KafkaTimeoutError(
            f"partition {partition} of topic {quoted(topic)} did not appear within "
            f"max_block_ms={self._max_block_ms}: the topic has {count} partitions; "
            f"create more or send to one of those"
        ) from None


def _check_partition(route: TopicRoute, partition: object) -> None:
    if not is_int(partition) or not 0 <= partition <= _MAX_PARTITION:
        is_number = isinstance(partition, (int, float))  # a text may be of a record
        shown = quoted(partition) if is_number else kind_of(partition)
        raise IllegalArgumentError(
            f"partition={shown} is no partition of {quoted(route.topic)}; give an int "
            f"from 0 to {_MAX_PARTITION}, or None to have one chosen"
        )


__all__ = ["RouteFinder"]
