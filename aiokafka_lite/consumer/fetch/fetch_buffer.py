"""Owns the queue `completed_fetches`: what was fetched and not yet returned, oldest first.

It counts, per node, the raw bytes that lie unread, and the memory of the answers they lie in: a
fetch is a view of its whole answer. It decides nothing and does not wait.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator

from aiokafka_lite.consumer.fetch.completed_fetch import CompletedFetch
from aiokafka_lite.consumer.position.partition_state import PartitionState
from aiokafka_lite.consumer.revision import Revision
from aiokafka_lite.model import TopicPartition


class AnswerMemory:
    """The memory of one answer, which stays as long as a fetch that is a view of it."""

    __slots__ = ("fetches", "size_in_bytes")

    def __init__(self, size_in_bytes: int) -> None:
        self.size_in_bytes = size_in_bytes
        self.fetches: dict[CompletedFetch, None] = {}
        """What lies in it and is not used up."""

    @property
    def is_mostly_read(self) -> bool:
        """Whether less than half of it is unread."""
        return 2 * sum(fetch.size_in_bytes for fetch in self.fetches) < self.size_in_bytes


class FetchBuffer:
    """The completed fetches in the order they are served (A5, A8)."""

    def __init__(self, revision: Revision | None = None) -> None:
        self.revision = revision or Revision()
        self._completed_fetches: dict[CompletedFetch, None] = {}
        self._fetches_of: dict[TopicPartition, list[CompletedFetch]] = {}
        self._unread_bytes: Counter[int] = Counter()
        self._newest_at_s: dict[int, float] = {}
        self._memory_of: dict[CompletedFetch, AnswerMemory] = {}
        self._memories: dict[int, dict[AnswerMemory, None]] = {}
        self._held_bytes: Counter[int] = Counter()

    def __len__(self) -> int:
        return len(self._completed_fetches)

    def __iter__(self) -> Iterator[CompletedFetch]:
        """Iterate oldest first; the loop may remove what it sees, and nothing may come meanwhile.

        A poll is mostly served by the first: only who wants more pays for a copy of all the rest.
        """
        oldest = next(iter(self._completed_fetches), None)
        if oldest is None:
            return
        has_more = len(self._completed_fetches) > 1
        yield oldest
        if has_more:
            yield from [fetch for fetch in self._completed_fetches if fetch is not oldest]

    @property
    def buffered(self) -> Collection[TopicPartition]:
        """The partitions of which anything waits here; for who asks about many (A7)."""
        return self._fetches_of

    def is_buffered(self, tp: TopicPartition) -> bool:
        """Say whether anything of the partition waits here; then it is not free to fetch (A7)."""
        return tp in self._fetches_of

    def is_next(self, fetch: CompletedFetch) -> bool:
        """Say whether nothing of its partition was fetched before it and waits here."""
        return self._fetches_of[fetch.topic_partition][0] is fetch

    def end_offset(self, state: PartitionState) -> int | None:
        """Return where a fetch ahead of the position has to go on (`prefetch_max_bytes`).

        It is the end of the fetch before. So order, positions, errors and seeks need no new rule.
        The oldest fetch of a partition fits its position or is dropped. The next one fits when that
        is used up. An error ahead only delays the next fetch. If it lasts, it is raised when the
        position gets there.

        None when nothing of the partition is buffered, or what is does not fit its position, or
        cannot be read to its end.
        """
        fetches = self._fetches_of.get(state.topic_partition)
        if fetches is None or not fetches[0].fits(state):
            return None
        return fetches[-1].end_offset

    def unread_bytes(self, node_id: int) -> int:
        """Return the raw bytes from that node in fetches not yet used up (A11)."""
        return self._unread_bytes[node_id]

    def held_bytes(self, node_id: int) -> int:
        """Return the memory of the answers from that node in which anything lies unread."""
        return self._held_bytes[node_id]

    def newest_at_s(self, node_id: int) -> float:
        """Return when (monotonic) the newest fetch of that node came that was not empty."""
        return self._newest_at_s[node_id]

    def add(self, fetch: CompletedFetch, memory: AnswerMemory | None = None) -> None:
        """Append a fetch that just came in, as a part of `memory`; None: its bytes are its own."""
        self._completed_fetches[fetch] = None
        self._fetches_of.setdefault(fetch.topic_partition, []).append(fetch)
        self._unread_bytes[fetch.node_id] += fetch.size_in_bytes
        self._newest_at_s[fetch.node_id] = fetch.received_at_s
        if fetch.size_in_bytes:
            self._hold(fetch, memory or AnswerMemory(fetch.size_in_bytes))
        self.revision.note(fetch.topic_partition)

    def _hold(self, fetch: CompletedFetch, memory: AnswerMemory) -> None:
        memories = self._memories.setdefault(fetch.node_id, {})
        if memory not in memories:
            memories[memory] = None
            self._held_bytes[fetch.node_id] += memory.size_in_bytes
        memory.fetches[fetch] = None
        self._memory_of[fetch] = memory

    def _let_go(self, fetch: CompletedFetch) -> None:
        """Note that the fetch needs no memory any more."""
        memory = self._memory_of.pop(fetch, None)
        if memory is None:
            return
        del memory.fetches[fetch]
        if not memory.fetches:
            del self._memories[fetch.node_id][memory]
            self._held_bytes[fetch.node_id] -= memory.size_in_bytes

    def copy_leftovers(self, node_id: int) -> None:
        """Give what is unread in answers of a node that are mostly read memory of its own.

        What is left holds less than twice its bytes, then. Costs a copy of less than half of each
        answer, once.
        """
        for memory in [each for each in self._memories.get(node_id, ()) if each.is_mostly_read]:
            for fetch in list(memory.fetches):
                fetch.own_bytes()
                self._let_go(fetch)
                self._hold(fetch, AnswerMemory(fetch.size_in_bytes))

    def remove(self, fetch: CompletedFetch) -> None:
        """Take a fetch out and drop its bytes."""
        del self._completed_fetches[fetch]
        tp = fetch.topic_partition
        fetches = self._fetches_of[tp]
        fetches.remove(fetch)
        if not fetches:
            del self._fetches_of[tp]
        self._unread_bytes[fetch.node_id] -= fetch.size_in_bytes
        self._let_go(fetch)
        fetch.release()
        self.revision.note(tp)

    def set_aside(self, fetch: CompletedFetch, error: Exception) -> None:
        """Keep a fetch that cannot be read on for the sake of its error, without its bytes (A9).

        It no longer counts as unread, so that the other partitions of its node are read on (A11).
        What was fetched behind it is dropped: nobody gets there but by a seek.
        """
        for behind in self._fetches_of[fetch.topic_partition][1:]:
            self.remove(behind)
        self._unread_bytes[fetch.node_id] -= fetch.size_in_bytes
        self._let_go(fetch)
        fetch.fail(error)
        self.revision.note(fetch.topic_partition)

    def discard(self, unwanted: Callable[[TopicPartition], bool]) -> None:
        """Take out the fetches of the partitions `unwanted` says yes to."""
        for fetch in self:
            if unwanted(fetch.topic_partition):
                self.remove(fetch)

    def make_room(
        self, node_id: int, max_bytes: int, idle: Callable[[CompletedFetch], bool]
    ) -> list[TopicPartition]:
        """Drop the newest fetches of a node until less than `max_bytes` of its bytes lie unread.

        Only when every fetch of the node is `idle` (paused, say): otherwise the polls make room.
        Idle fetches would stop the other partitions of the node. The positions stay, and the data
        is fetched again.
        Returns the partitions of the fetches dropped.
        """
        dropped: list[TopicPartition] = []
        fetches = [fetch for fetch in self if fetch.node_id == node_id and fetch.size_in_bytes]
        if not all(map(idle, fetches)):
            return dropped
        while fetches and self._unread_bytes[node_id] >= max_bytes:
            fetch = fetches.pop()
            self.remove(fetch)
            dropped.append(fetch.topic_partition)
        return dropped


__all__ = ["AnswerMemory", "FetchBuffer"]
