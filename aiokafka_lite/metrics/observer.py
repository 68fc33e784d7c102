"""Owns the events that a client reports while it works. The parts of a client call the methods; an
observer overrides those it needs. Does not wait.
"""

from typing import TYPE_CHECKING, Final

from aiokafka_lite.model import TopicPartition

if TYPE_CHECKING:
    from aiokafka_lite.metrics.observed_client import ObservedClient


class Observer:
    """Takes the events of one client. Its methods do nothing, and cost one call per event.

    Give one to a client as its option `observer`. The client calls the methods in its event loop:
    once per connection, request, batch, poll, rebalance or commit, never once per record. They must
    be quick. An observer whose method raises is logged once and hears no more of that client.
    """

    __slots__ = ()

    is_heard: bool = True
    """Whether the events matter that cost something to find out. False: do not report them."""

    def of_client(self, client: "ObservedClient") -> "Observer":  # noqa: ARG002
        """A client starts. Return the observer of its events: this one, or one made for it."""
        return self

    def closed(self) -> None:
        """The client has closed its connections, or its start has failed. Called once."""

    # The network…

    def connected(self, node_id: int, took_s: float) -> None:
        """A connection takes requests, `took_s` seconds after it was begun. Seeds have ids below
        0.
        """

    def disconnected(self, node_id: int) -> None:
        """A connection that took requests was lost. Those that the client closes do not count."""

    def all_brokers_down(self, error: BaseException) -> None:
        """No broker can be reached any more. The newest connection to each was lost or could not be
        made, and a metadata refresh has failed with `error`. Called once per outage.
        """

    def request_answered(self, node_id: int, api_key: int, took_s: float, size: int) -> None:
        """A response of `size` bytes came `took_s` seconds after its request was sent. Seeds have
        the id -1.
        """

    def throttled(self, node_id: int, throttle_s: float) -> None:
        """A response told the client to be silent for `throttle_s` seconds (KIP-219)."""

    def failed(self, activity: str, error: BaseException) -> None:
        """Something failed: connect, request, fetch, commit or join. It may be tried again."""

    # A producer…

    def batch_sent(self, topic_partition: TopicPartition, records: int, queued_s: float) -> None:
        """A batch goes into a request, `queued_s` seconds after its first record came. Called for
        each attempt, and only while `is_heard`.
        """

    def batch_acknowledged(
        self,
        topic_partition: TopicPartition,
        records: int,
        size: int,
        uncompressed_size: int,
        took_s: float,
    ) -> None:
        """A batch of `size` bytes was written, as far as `acks` asks, `took_s` seconds after its
        first record came. `uncompressed_size`: its bytes before compression.
        """

    def batch_retried(
        self, topic_partition: TopicPartition, records: int, error: BaseException
    ) -> None:
        """A batch is sent again after an error."""

    def batch_failed(
        self, topic_partition: TopicPartition, records: int, error: BaseException
    ) -> None:
        """A batch was given up."""

    # A consumer…

    def records_fetched(self, node_id: int, size: int) -> None:
        """A Fetch response brought `size` bytes of record batches; 0 when there were none."""

    def records_read(
        self, topic_partition: TopicPartition, size: int, node_id: int, received_at_s: float
    ) -> None:
        """Records of `size` bytes were decoded, without compression and batch headers. They came
        in the Fetch response of that node at `received_at_s`, in monotonic seconds.
        """

    def records_returned(self, topic_partition: TopicPartition, records: int) -> None:
        """A poll returned records. Those that `getone` takes from what it has decoded ahead are
        reported together. Called only while `is_heard`.
        """

    def rebalanced(self, generation: int, partitions: int, took_s: float) -> None:
        """The member has taken over its assignment in a generation of its group, `took_s` seconds
        after it began to prepare.
        """

    def committed(self, partitions: int, took_s: float) -> None:
        """The group's coordinator has stored the offsets of that many partitions, `took_s` seconds
        after it was asked.
        """


NO_OBSERVER: Final = Observer()


__all__ = ["NO_OBSERVER", "Observer"]
