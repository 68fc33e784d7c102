"""Owns the events that a client reports while it works. The parts of a client call the methods; an
observer overrides those it needs. It does not wait.
"""

from typing import Final

from aiokafka_lite.model import TopicPartition


class Observer:
    """Takes the events of one client. Its methods do nothing, and cost one call per event.

    A client calls them in its event loop: once per connection, response, batch, fetch, rebalance or
    commit, never once per record. They must be quick and must not raise.
    """

    __slots__ = ()

    def connected(self, node_id: int, took_s: float) -> None:
        """A connection takes requests, `took_s` seconds after it was begun. Seeds have ids below
        0.
        """

    def request_answered(self, node_id: int, api_key: int, took_s: float, size: int) -> None:
        """A response of `size` bytes came `took_s` seconds after its request was sent. Seeds have
        the id -1.
        """

    def batch_acknowledged(self, topic_partition: TopicPartition, records: int, size: int) -> None:
        """A batch of `size` bytes was written, as far as `acks` asks."""

    def records_fetched(self, node_id: int, size: int) -> None:
        """A Fetch response brought `size` bytes of record batches; 0 when there were none."""

    def rebalanced(self, generation: int, partitions: int) -> None:
        """The member has taken over its assignment in a generation of its group."""

    def committed(self, partitions: int) -> None:
        """The group's coordinator has stored the offsets of that many partitions."""


NO_OBSERVER: Final = Observer()


__all__ = ["NO_OBSERVER", "Observer"]
