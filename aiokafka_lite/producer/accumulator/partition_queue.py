"""Owns the queues of batches: one for each partition, grouped by the leaders of the partitions; and
how much may be on its way to each of these nodes. Does not wait.
"""

from bisect import bisect_left, bisect_right
from collections import deque
from operator import attrgetter

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.producer.accumulator import fast_append
from aiokafka_lite.producer.batch.producer_batch import ProducerBatch

_LEAST_BYTES = 16_384
"""At least so many bytes may be on their way to a node, also with a smaller max_batch_size. Of
fewer bytes one cannot tell the speed of the link from its latency."""
_FIRST_BATCHES = 4
"""At least so many usual batches may be on their way to a node that has not answered yet. 64 KB
take 1.1 s at 60 KB/s."""
_FIRST_SPEED = 70_000
"""Bytes a second by which such a node may get more, if request_timeout_ms is long: 525 KB by
default. So it costs a fast node next to nothing to be new."""
_FIRST_LEAP = 16
"""An answer allows at most so many times the bytes that were on their way. So a link that takes
only its first bytes fast is found out, and a fast node soon gets all that is ever sent."""
_LATER_LEAP = 2
"""The same for a node that did not answer in time once."""
_LINK_SHARE = 4
"""What is on its way to a node needs at most this part of request_timeout_ms. The link may become
so many times slower before a request is late."""
_BATCHES_ON_THEIR_WAY = 2
"""A batch has at most this part of what may be on its way: one leaves while another is answered."""
_NO_LIMIT = 2**62
"""More than any number of bytes."""


class NodePace:
    """How many bytes may be on their way to one node, by the time that earlier requests took.

    It limits how large a batch for the node may grow, too. `batch_sizes` has the other rules of
    growth. Without this one, requests on a slow link wait for each other until the last is late.
    Their connection is closed then, and all are sent again: nothing arrives at all.
    """

    __slots__ = (
        "_enough_bytes",
        "_first_bytes",
        "_is_free",
        "_largest_bytes",
        "_leap",
        "_most_factor",
        "_share_s",
        "_steps",
        "bytes_on_their_way",
        "most_batch_bytes",
        "most_bytes",
    )

    def __init__(self, steps: tuple[int, ...], request_timeout_s: float, enough_bytes: int) -> None:
        """`steps`: the sizes of batches. `enough_bytes`: no more than these are ever sent."""
        self._steps = steps
        self._largest_bytes = steps[-1]
        self._share_s = request_timeout_s / _LINK_SHARE
        self._enough_bytes = enough_bytes
        self._first_bytes = max(
            _FIRST_BATCHES * max(steps[0], _LEAST_BYTES), int(_FIRST_SPEED * self._share_s)
        )
        self._leap = _FIRST_LEAP
        self._most_factor = 1.0
        self._is_free = False
        self.bytes_on_their_way = 0
        """Those of the batches in requests without an outcome."""
        self.most_bytes = self._first_bytes
        """How many may be on their way. A larger batch goes alone."""
        self.most_batch_bytes = steps[0]
        """The size up to which a batch grows."""

    def was_answered(self, bytes_on_their_way: int, taken_s: float) -> None:
        """Learn from a response. So many bytes were on their way when its request was sent, those
        of the request included. The limit only rises, since slow answers may be the broker's.
        """
        if self._most_factor > 1.0:
            self._most_factor = _NO_LIMIT
        if self._is_free:
            return
        most = max(self._leap * bytes_on_their_way, self._first_bytes)
        shown = max(bytes_on_their_way, _LEAST_BYTES) * self._share_s
        if taken_s * most > shown:
            most = int(shown / taken_s)
        if most > self.most_bytes:
            self.most_bytes = _NO_LIMIT if most >= self._enough_bytes else most
        most //= _BATCHES_ON_THEIR_WAY
        if most > self.most_batch_bytes and self.most_batch_bytes < self._largest_bytes:
            self.most_batch_bytes = self._steps[bisect_right(self._steps, most) - 1]
        self._is_free = (
            self.most_batch_bytes == self._largest_bytes and self.most_bytes >= self._enough_bytes
        )

    def was_late(self) -> None:
        """Learn that a request was not answered in time."""
        self.most_bytes = self._first_bytes = max(self._steps[0], _LEAST_BYTES)
        self.most_batch_bytes = self._steps[0]
        self._is_free = False
        self._leap = _LATER_LEAP
        self._most_factor = 2.0 if self._most_factor == _NO_LIMIT else 2.0 * self._most_factor

    def time_factor(self, request_bytes: int) -> float:
        """Return how many times request_timeout_ms a request may take.

        More than once only on a link that made a request late, for one that is larger than all that
        may be on its way: a batch that grew while the link was faster, or a large record. It may be
        written, so it cannot be split, and would be late again and again. It gets twice the time
        after each late request, and as much as its size stands for once an answer came.
        """
        return max(min(request_bytes / self.most_bytes, self._most_factor), 1.0)


class PartitionQueue(fast_append.OpenBatchSlot):
    """The batches of one partition that wait to be sent, oldest first."""

    __slots__ = (
        "batches",
        "filled_bytes",
        "is_muted",
        "leader_epoch",
        "leader_id",
        "pace",
        "turn",
    )

    open_batch: ProducerBatch | None

    def __init__(self, topic_partition: TopicPartition) -> None:
        super().__init__(topic_partition)
        self.batches: deque[ProducerBatch] = deque()
        self.leader_id: int | None = None
        self.leader_epoch = -1
        self.pace: NodePace | None = None
        """That of its leader."""
        self.filled_bytes = 0
        """The size of its last sealed batch before compression."""
        self.turn = 0
        """The number of the partition among those of its leader; drains go by it."""
        self.is_muted = False
        """One of its batches is in flight and the next has to wait for its outcome (2d-12)."""

    def close_open_batch(self) -> None:
        """Let the last batch take no more records."""
        batch, self.open_batch = self.open_batch, None  # a send in the middle finds none
        if batch is not None:
            batch.close()


class NodeQueues:
    """The queues of the partitions that one node leads."""

    __slots__ = ("filled", "next_turn", "pace", "turns")

    def __init__(self, pace: NodePace) -> None:
        self.pace = pace
        self.turns = 0
        """How many queues there are."""
        self.filled: dict[PartitionQueue, None] = {}
        """The queues with batches. A drain sorts these and looks at no others. So five thousand
        partitions of which two are active cost as much as two.
        """
        self.next_turn = 0
        """The turn at which the next drain begins."""

    def in_turn(self) -> list[PartitionQueue]:
        """Return the queues with batches by their turn, beginning with the next one."""
        if len(self.filled) == 1:
            return list(self.filled)
        queues = sorted(self.filled, key=_turn_of)
        if not self.next_turn:  # the last drain took from all
            return queues
        first = bisect_left(queues, self.next_turn, key=_turn_of)
        return queues[first:] + queues[:first]


_turn_of = attrgetter("turn")

__all__ = ["NodePace", "NodeQueues", "PartitionQueue"]
