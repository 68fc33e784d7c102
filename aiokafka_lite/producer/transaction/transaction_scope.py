"""Owns what belongs to the open transaction: its partitions and groups, and whether its coordinator
knows of it. Does not wait.

`SequenceNumbers` asks it before a batch is sent. `TransactionManager` fills and empties it.
"""

from collections.abc import Iterable

from aiokafka_lite.model import TopicPartition


class TransactionScope:
    """The partitions and groups of one producer's open transaction; empty between transactions."""

    def __init__(self) -> None:
        self.is_v2 = False
        """The transaction follows the second protocol (KIP-890): the requests that write to
        partitions and groups also add them to the transaction.
        """
        self.has_begun = False
        """The coordinator knows of the transaction, or may know of it: it needs an EndTxn. In the
        first protocol the coordinator refuses to end what has not begun.
        """
        self.may_not_have_begun = False
        """No request to add something was confirmed, so the coordinator may refuse the EndTxn."""
        self.groups: set[str] = set()
        """The groups that the coordinator has confirmed."""
        self.partitions: dict[TopicPartition, bool] = {}
        """The partitions written to; True once the coordinator knows of them."""

    def add(self, topic_partition: TopicPartition) -> bool:
        """Note that the transaction writes to a partition; return whether the coordinator still has
        to be told of it.
        """
        self.partitions[topic_partition] = self.is_v2
        return not self.is_v2

    def unconfirmed(self) -> list[TopicPartition]:
        """Return the partitions that the coordinator does not know of yet."""
        return [each for each, is_known in self.partitions.copy().items() if not is_known]

    def confirm(self, topic_partitions: Iterable[TopicPartition]) -> None:
        """Note that the coordinator knows of these partitions, and so of the transaction."""
        self.has_begun = True
        self.partitions.update(dict.fromkeys(topic_partitions, True))

    def doubt(self) -> None:
        """Note that a request was refused in the end, while an earlier attempt may have added
        something to the transaction.
        """
        self.may_not_have_begun = self.may_not_have_begun or not self.has_begun
        self.has_begun = True

    def may_send(self, topic_partition: TopicPartition) -> bool:
        """Return whether batches of a partition may be sent: the coordinator knows of it (2d'-2).

        That holds in a failed transaction, too: batches with sequence numbers are sent to their
        end.
        """
        return self.partitions.get(topic_partition, False)

    def batch_is_sent(self) -> None:
        """Note that a batch is being sent. In the second protocol that begins the transaction."""
        self.has_begun = self.has_begun or self.is_v2

    def clear(self) -> None:
        """Forget the transaction: it has ended, or another process ends it."""
        self.partitions.clear()
        self.groups.clear()
        self.has_begun = self.may_not_have_begun = False


__all__ = ["TransactionScope"]
