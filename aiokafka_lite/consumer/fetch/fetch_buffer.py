"""Owns the queue `completed_fetches`: what was fetched and not yet returned, oldest first.

A fetch is a view of a whole response, and keeps the memory of that response. So the buffer counts
two things for each node: the unread raw bytes, and the memory of the responses that hold them. It
decides nothing. Does not wait.

A seek in the middle of a change, by a finalizer or a handler of signals, removes fetches. So a
fetch is counted before it is listed, and what is listed is changed without a call in between.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator

from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.consumer.fetch.completed_fetch import CompletedFetch
from aiokafka_lite.consumer.position.partition_state import PartitionState
from aiokafka_lite.consumer.revision import Revision
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.record.cursor.record_deserializer import MadeInVain, TurnBudget


class AnswerMemory:
    """The memory of one response. It is kept as long as any fetch that is a view of it."""

    __slots__ = ("fetches", "size_in_bytes")

    def __init__(self, size_in_bytes: int) -> None:
        self.size_in_bytes = size_in_bytes
        self.fetches: dict[CompletedFetch, None] = {}
        """The fetches with unread bytes in this memory."""

    @property
    def is_mostly_read(self) -> bool:
        """True if less than half of it is unread."""
        return 2 * sum(fetch.size_in_bytes for fetch in list(self.fetches)) < self.size_in_bytes


class FetchBuffer:
    """The completed fetches, in the order in which polls take from them (A5, A8)."""

    def __init__(self, revision: Revision | None = None, clock: Clock = SYSTEM_CLOCK) -> None:
        self.revision = revision or Revision()
        self.budget = TurnBudget(clock)
        """The time that deserializers of all fetches have in one poll."""
        self.in_vain: defaultdict[TopicPartition, MadeInVain] = defaultdict(MadeInVain)
        """What deserializers have made ahead that a seek dropped, by partition."""
        self._places = 0
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
        """Iterate oldest first. The loop may remove the fetch it is at; it must not add any.

        Most polls need only the first fetch. A poll that needs more pays for a copy of the others.
        """
        oldest = None
        for oldest in self._completed_fetches:  # noqa: B007  nothing else runs before the first
            break
        if oldest is None:
            return
        has_more = len(self._completed_fetches) > 1
        yield oldest
        if has_more:
            yield from [fetch for fetch in list(self._completed_fetches) if fetch is not oldest]

    def of(self, partitions: Collection[TopicPartition]) -> Iterator[CompletedFetch]:
        """Iterate over the fetches of `partitions`, all if there are none, as over the buffer.

        It costs what is named or what is buffered, whichever is less.
        """
        if not partitions:
            return iter(self)
        if len(partitions) < len(self._fetches_of):
            found = [fetch for tp in partitions for fetch in list(self._fetches_of.get(tp, ()))]
            found.sort(key=_place)
        else:
            found = [
                fetch
                for fetch in list(self._completed_fetches)
                if fetch.topic_partition in partitions
            ]
        return iter(found)

    @property
    def buffered(self) -> Collection[TopicPartition]:
        """The partitions with a fetch in the buffer (A7)."""
        return self._fetches_of

    def is_buffered(self, tp: TopicPartition) -> bool:
        """Say whether the buffer has a fetch of the partition, which then is not fetched (A7)."""
        return tp in self._fetches_of

    def is_next(self, fetch: CompletedFetch) -> bool:
        """Say whether this is the oldest buffered fetch of its partition."""
        fetches = self._fetches_of.get(fetch.topic_partition)
        return fetches is not None and fetches != [] and fetches[0] is fetch

    def end_offset(self, state: PartitionState) -> int | None:
        """Return the offset at which to fetch ahead of the position (`prefetch_max_bytes`).

        It is the end of the newest buffered fetch. So order, positions, errors and seeks need no
        new rule. The oldest fetch of a partition fits its position, or it is dropped. The next one
        fits once the oldest is used up. An error in a fetch ahead only delays the next fetch. If
        the error lasts, a poll raises it when the position gets there.

        None if nothing of the partition is buffered, if its oldest fetch does not fit the position,
        or if the end of its newest fetch is not known.
        """
        fetches = self._fetches_of.get(state.topic_partition)
        if not fetches:
            return None
        oldest, newest = fetches[0], fetches[-1]
        return newest.end_offset if oldest.fits(state) else None

    def unread_bytes(self, node_id: int) -> int:
        """Return the raw bytes from that node in fetches that are not used up (A11)."""
        return self._unread_bytes[node_id]

    def held_bytes(self, node_id: int) -> int:
        """Return the bytes of memory of the responses from that node that have unread parts."""
        return self._held_bytes[node_id]

    def newest_at_s(self, node_id: int) -> float:
        """Return when the newest fetch from that node was received, in monotonic seconds."""
        return self._newest_at_s[node_id]

    def add(self, fetch: CompletedFetch, memory: AnswerMemory | None = None) -> None:
        """Append a new fetch, which is a view of `memory`; None: it owns its bytes."""
        tp, alone = fetch.topic_partition, [fetch]
        self._places += 1
        fetch.place = self._places
        self._newest_at_s[fetch.node_id] = fetch.received_at_s
        self._unread_bytes[fetch.node_id] += fetch.size_in_bytes
        if fetch.size_in_bytes:
            self._hold(fetch, memory or AnswerMemory(fetch.size_in_bytes))
        if tp in self._fetches_of:
            self._fetches_of[tp] += alone
        else:
            self._fetches_of[tp] = alone
        self._completed_fetches[fetch] = None
        self.revision.note(tp)

    def _hold(self, fetch: CompletedFetch, memory: AnswerMemory) -> None:
        memories = self._memories.setdefault(fetch.node_id, {})
        if memory not in memories:
            memories[memory] = None
            self._held_bytes[fetch.node_id] += memory.size_in_bytes
        memory.fetches[fetch] = None
        self._memory_of[fetch] = memory

    def _let_go(self, fetch: CompletedFetch) -> None:
        """Note that the fetch needs no memory of its response any more."""
        memory = self._memory_of.pop(fetch, None)
        if memory is None:
            return
        del memory.fetches[fetch]
        if not memory.fetches:
            del self._memories[fetch.node_id][memory]
            self._held_bytes[fetch.node_id] -= memory.size_in_bytes

    def copy_leftovers(self, node_id: int) -> None:
        """Copy unread bytes out of a node's responses that are mostly read, to free their memory.

        Afterwards the unread bytes of a node hold less than twice their size in memory. Each
        response is copied at most once, and less than half of it.
        """
        held = list(self._memories.get(node_id, ()))
        for memory in [each for each in held if each.is_mostly_read]:
            for fetch in list(memory.fetches):
                fetch.own_bytes()
                self._let_go(fetch)
                self._hold(fetch, AnswerMemory(fetch.size_in_bytes))
                if fetch not in self._completed_fetches:  # it was removed meanwhile
                    self._let_go(fetch)

    def remove(self, fetch: CompletedFetch) -> None:
        """Remove a fetch and drop its bytes. Nothing happens to one that was removed before: a
        finalizer or a deserializer may seek in the middle of a poll.
        """
        if fetch not in self._completed_fetches:
            return
        del self._completed_fetches[fetch]
        tp = fetch.topic_partition
        self._unread_bytes[fetch.node_id] -= fetch.size_in_bytes
        fetches = self._fetches_of[tp]
        fetches.remove(fetch)
        if not fetches:
            self._fetches_of.pop(tp, None)
        self._let_go(fetch)
        fetch.release()
        self.revision.note(tp)

    def set_aside(self, fetch: CompletedFetch, error: Exception) -> None:
        """Keep the error of a fetch that cannot be decoded any further, and drop its bytes (A9).

        They no longer count as unread, so the other partitions of the node are fetched on (A11).
        Later fetches of the partition are dropped, because only a seek leads behind the bad record.
        """
        for behind in self._fetches_of.get(fetch.topic_partition, [])[1:]:
            self.remove(behind)
        if fetch not in self._completed_fetches:
            return
        self._unread_bytes[fetch.node_id] -= fetch.size_in_bytes
        fetch.size_in_bytes = 0
        self._let_go(fetch)
        fetch.fail(error)
        self.revision.note(fetch.topic_partition)

    def discard(self, unwanted: Callable[[TopicPartition], bool]) -> None:
        """Remove the fetches of the partitions for which `unwanted` returns True."""
        for fetch in self:
            if unwanted(fetch.topic_partition):
                self.remove(fetch)

    def drop(self, partitions: Iterable[TopicPartition]) -> None:
        """Remove the fetches of these partitions."""
        for tp in partitions:
            for fetch in list(self._fetches_of.get(tp, ())):
                self.remove(fetch)

    def make_room(
        self, node_id: int, max_bytes: int, idle: Callable[[CompletedFetch], bool]
    ) -> list[TopicPartition]:
        """Drop the newest fetches of a node until fewer than `max_bytes` of its bytes are unread.

        It drops some only if every fetch of the node is `idle`, for example paused. No poll would
        take from them, and they would stop the fetching of the node's other partitions. The
        positions stay, so the data is fetched again later. Returns the partitions of the dropped
        fetches.
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


def _place(fetch: CompletedFetch) -> int:
    return fetch.place


__all__ = ["AnswerMemory", "FetchBuffer"]
