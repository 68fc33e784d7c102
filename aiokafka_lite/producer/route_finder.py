"""Owns `send`'s waiting for metadata: the route to a topic, and a partition that is still to come.

The routes themselves are in `topic_routes`. Each question also has a form that raises instead of
waiting.
"""

from typing import NoReturn

from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.errors import IllegalArgumentError, KafkaTimeoutError
from aiokafka_lite.producer.producer_config import ProducerConfig
from aiokafka_lite.producer.producer_life import ProducerLife
from aiokafka_lite.producer.record_accumulator import PartitionQueue
from aiokafka_lite.producer.record_fields import is_int, is_topic
from aiokafka_lite.producer.topic_routes import TopicRoute, TopicRoutes
from aiokafka_lite.topic_name import check_topic_name


class RouteFinder:
    """Finds routes and queues for one producer.

    `began_s` is when the call of the user began, monotonic, None: just now; with what came before
    it has max_block_ms.
    """

    def __init__(
        self, client: KafkaClient, config: ProducerConfig, routes: TopicRoutes, life: ProducerLife
    ) -> None:
        self._client = client
        self._clock = client.clock
        self.routes = routes
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
        UnknownTopicOrPartitionError or KafkaTimeoutError without metadata in time. Cancelled:
        nothing stays behind.
        """
        route = self._known(topic)
        while route is None:
            try:
                await self._client.wait_for_topic(topic, self.left_s(began_s))
            finally:
                self._life.check_running()  # whatever happened, that it was stopped says more
            route = self.routes.find(topic)
        return route

    def find_nowait(self, topic: str) -> TopicRoute:
        """Return the route to a topic. Raises: as `find`; its metadata is asked for by then."""
        route = self._known(topic)
        if route is None:
            self._client.add_topic(topic)
            raise KafkaTimeoutError(
                f"there is no metadata of topic {topic!r} yet, and send_nowait() does not wait for "
                f"it; await partitions_for({topic!r}) once, or try again later"
            )
        return route

    def _known(self, topic: str) -> TopicRoute | None:
        self._life.check_running()
        if not is_topic(topic):
            raise IllegalArgumentError(f"topic={topic!r} is no topic's name; give a str")
        check_topic_name(topic)
        return self.routes.find(topic)

    async def queue(
        self, route: TopicRoute, partition: int, began_s: float | None
    ) -> PartitionQueue:
        """Return the queue of a partition that the caller named, waiting for it to appear.

        Raises: IllegalArgumentError, KafkaTimeoutError. Cancelled: nothing stays behind.
        """
        if partition.__class__ is int and 0 <= partition < route.count:
            return route.queues[partition]
        _check_partition(route, partition)
        return await self._wait_for_partition(route.topic, partition, began_s)

    def queue_nowait(self, route: TopicRoute, partition: int) -> PartitionQueue:
        """Return the queue of a partition that the caller named. Raises: as `queue`."""
        if partition.__class__ is int and 0 <= partition < route.count:
            return route.queues[partition]
        _check_partition(route, partition)
        self._client.request_metadata_update()
        raise KafkaTimeoutError(
            f"topic {route.topic!r} has no partition {partition}, only {route.count} of them, and "
            f"send_nowait() does not wait for more; send to one of those"
        )

    async def _wait_for_partition(
        self, topic: str, partition: int, began_s: float | None
    ) -> PartitionQueue:
        """Return the queue of a partition that is not there: the topic may be growing."""
        attempts = 0
        count = 0
        began_s = self._clock.monotonic() if began_s is None else began_s
        try:
            async with deadline(self._clock, self.left_s(began_s)):
                while True:
                    try:
                        await self._client.refresh_metadata()
                    finally:
                        self._life.check_running()  # as above
                    route = await self.find(topic, began_s)
                    if partition < (count := route.count):
                        return route.queues[partition]
                    await self._clock.sleep(self._client.retry_backoff.delay(attempts))
                    attempts += 1
        except TimeoutError as error:
            if isinstance(error, KafkaTimeoutError):
                raise
            self._raise_no_partition(topic, partition, count)

    def _raise_no_partition(self, topic: str, partition: int, count: int) -> NoReturn:
        raise KafkaTimeoutError(
            f"partition {partition} of topic {topic!r} did not appear within "
            f"max_block_ms={self._max_block_ms}: the topic has {count} partitions; "
            f"create more or send to one of those"
        ) from None


def _check_partition(route: TopicRoute, partition: object) -> None:
    if not isinstance(partition, int) or not is_int(partition) or partition < 0:
        raise IllegalArgumentError(
            f"partition={partition!r} is no partition of {route.topic!r}; give an int from 0, "
            f"or None to have one chosen"
        )


__all__ = ["RouteFinder"]
