"""What the members of a group may be given, and what may be committed: a simple model.

The model has its own logs, which the play fills beside the broker's, and the ownerships that the
listeners tell of. Every value is unique, so that a value says which record of which topic it is.
A record is *processed* when the application that got it begins its next poll, commits, or leaves
in order. Records that an application itself has jumped over, by a seek, are *excused*.

Each rule that is broken is a sentence in `complaints`. Nothing here waits.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from aiokafka_lite.model import TopicPartition

T = TypeVar("T")


class Written(NamedTuple):
    """A record that was written, perhaps to a log that is gone."""

    tp: TopicPartition
    topic_number: int
    """How many topics of the name there were before."""
    offset: int
    epoch: int
    """Of the leader that wrote it."""
    value: bytes


@dataclass(slots=True)
class Ownership:
    """What is known of a partition in the hands of one member."""

    topic_number: int | None = None
    """Of the topic that was read last."""
    expected: int | None = None
    """The next offset; None until a record was returned."""
    went_to_end: bool = False
    """seek_to_end() may take effect at any moment."""
    has_no_epoch: bool = False
    """The position is a number the application gave: nobody can say if the log still has it."""
    cuts: list[tuple[int, int]] = field(default_factory=list)
    """Where the log was cut down to while it was owned, and the epoch that began with it."""


@dataclass(slots=True)
class MemberBooks:
    """What one consumer has, and has not processed yet."""

    pending: dict[bytes, TopicPartition] = field(default_factory=dict)
    given: dict[TopicPartition, int | None] = field(default_factory=dict)
    """What its listener has heard of, and not that it goes: the number of the topic by then."""
    owned: dict[TopicPartition, Ownership] = field(default_factory=dict)
    """What of it the application may read: its listener has returned."""


class GroupModel:
    """The logs as they should be read, and the books of all members."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.complaints: list[str] = []
        self.story: list[str] = []
        """What happened, for people who read a failure."""
        self.members: dict[str, MemberBooks] = {}
        self.logs: dict[TopicPartition, list[Written]] = {}
        self.committed: dict[TopicPartition, tuple[int, int]] = {}
        """Offset and epoch, by partition."""
        self._now = now
        self._topic_numbers: dict[str, int] = {}
        self._excused_below: dict[TopicPartition, int] = {}
        self._given: dict[tuple[TopicPartition, int], int] = {}
        """What applications have committed themselves, and the topic they meant."""
        self._by_value: dict[bytes, Written] = {}
        self._done: set[bytes] = set()
        """Values that were processed, or are excused."""
        self._read: set[tuple[TopicPartition, int, int]] = set()
        """Topic number and offset of what was processed, also in a log that was cut."""

    def tell(self, sentence: str) -> None:
        """Add to the story."""
        self.story.append(f"{self._now():9.3f} {sentence}")

    def complain(self, sentence: str) -> None:
        """A rule is broken."""
        self.tell(f"WRONG: {sentence}")
        self.complaints.append(sentence)

    # The logs…

    def topic_created(self, topic: str) -> None:
        """Another topic of that name begins."""
        self._topic_numbers[topic] = self._topic_numbers.get(topic, -1) + 1

    def topic_deleted(self, topic: str) -> None:
        """Its records and committed offsets are gone."""
        self.logs = _without(topic, self.logs)
        self.committed = _without(topic, self.committed)
        self._excused_below = _without(topic, self._excused_below)

    def write(self, tp: TopicPartition, first_offset: int, count: int, epoch: int) -> list[bytes]:
        """Return the values of as many records, which the caller appends."""
        values = []
        for offset in range(first_offset, first_offset + count):
            value = b"%s-%d number %d" % (tp.topic.encode(), tp.partition, len(self._by_value))
            written = Written(tp, self._topic_numbers[tp.topic], offset, epoch, value)
            self._by_value[value] = written
            self.logs.setdefault(tp, []).append(written)
            values.append(value)
            went_to_end = any(own.went_to_end for own in self._ownerships(tp))
            if went_to_end or offset < self._excused_below.get(tp, 0):
                self._done.add(value)
        return values

    def trimmed(self, tp: TopicPartition, start: int) -> None:
        """The log begins at this offset."""
        self.logs[tp] = [each for each in self.logs.get(tp, []) if each.offset >= start]

    def truncated(self, tp: TopicPartition, end: int, epoch: int) -> None:
        """The log ends at this offset; what follows is written in this `epoch` or later.

        A position that is a mere number cannot be compared with the new log (KIP-320): what comes
        to stand below it is excused.
        """
        self.logs[tp] = [each for each in self.logs.get(tp, []) if each.offset < end]
        for own in self._ownerships(tp):
            own.cuts.append((end, epoch))
            if own.has_no_epoch:
                self._excuse_later(tp, own.expected or 0)
        offset, committed_epoch = self.committed.get(tp, (0, 0))
        if committed_epoch < 0:
            self._excuse_later(tp, offset)

    def _excuse_later(self, tp: TopicPartition, end: int) -> None:
        self._excused_below[tp] = max(end, self._excused_below.get(tp, 0))

    def _ownerships(self, tp: TopicPartition) -> list[Ownership]:
        return [books.owned[tp] for books in self.members.values() if tp in books.owned]

    def undone(self) -> list[Written]:
        """Return the records that nobody has processed, and nobody is excused from."""
        return [each for log in self.logs.values() for each in log if each.value not in self._done]

    def uncommitted(self) -> list[Written]:
        """Return the records that would be returned to the next owner."""
        return [
            each
            for tp, log in self.logs.items()
            for each in log
            if each.offset >= self.committed.get(tp, (0, 0))[0]
        ]

    def _excuse(self, tp: TopicPartition, first: int, end: int) -> None:
        self._done |= {each.value for each in self.logs.get(tp, []) if first <= each.offset < end}

    # Members come and go…

    def joined(self, member: str) -> None:
        """A consumer is about to start."""
        self.members[member] = MemberBooks()

    def gone(self, member: str) -> None:
        """It has left, or is dead; what it has not processed stays unprocessed."""
        self.members[member] = MemberBooks()

    def assigned(self, member: str, tps: Iterable[TopicPartition], others: set[str]) -> None:
        """Its listener hears of new partitions; `others` are those the group has as members.

        A coordinator that assigns gives away a topic that was created again before the owner of the
        former one hears of it, which is with its next heartbeat.
        """
        for tp in sorted(tps):
            number = self._topic_numbers.get(tp.topic)
            for other in sorted(others - {member}):
                given = self.members[other].given
                if tp in given and given[tp] == number:
                    self.complain(f"{member} is assigned {_name(tp)}, which {other} still has")
            self.members[member].given[tp] = number

    def may_read(self, member: str, tps: Iterable[TopicPartition]) -> None:
        """Its listener has returned from that."""
        books = self.members[member]
        for tp in tps:
            books.owned[tp] = Ownership()

    def lets_go(self, member: str, tps: Iterable[TopicPartition]) -> None:
        """Its listener hears that they are taken away."""
        books = self.members[member]
        for tp in tps:
            books.given.pop(tp, None)
            books.owned.pop(tp, None)

    # What applications do…

    def processed(self, member: str) -> None:
        """All that was returned to it is processed."""
        books = self.members[member]
        for value in books.pending:
            written = self._by_value[value]
            self._done.add(value)
            self._read.add((written.tp, written.topic_number, written.offset))
        books.pending.clear()

    def sought(self, member: str, tp: TopicPartition, offset: int) -> None:
        """seek(): what lies between is excused, and what a log that was cut has below the place."""
        own = self.members[member].owned[tp]
        self._excuse(tp, min([own.expected or 0, *(end for end, _ in own.cuts)]), offset)
        is_new = own.topic_number != self._topic_numbers[tp.topic]
        self.members[member].owned[tp] = Ownership(
            None if is_new else own.topic_number, offset, has_no_epoch=True
        )

    def sought_beginning(self, member: str, tp: TopicPartition) -> None:
        """seek_to_beginning()."""
        own = self.members[member].owned[tp]
        self.members[member].owned[tp] = Ownership(own.topic_number, 0)

    def sought_end(self, member: str, tp: TopicPartition) -> None:
        """seek_to_end(): nothing that is there or comes is for certain, until it takes effect."""
        own = self.members[member].owned[tp]
        self._excuse(tp, 0, 2**62)
        self.members[member].owned[tp] = Ownership(own.topic_number, went_to_end=True)

    def returned(self, member: str, tp: TopicPartition, offset: int, value: bytes) -> None:
        """A poll has returned a record."""
        books = self.members[member]
        written, own = self._by_value.get(value), books.owned.get(tp)
        what = f"{_name(tp)}@{offset}"
        if written is None or (written.tp, written.offset) != (tp, offset):
            self.complain(f"{member} got {what} as {value!r}, which was never written there")
            return
        if own is None:
            self.complain(f"{member} got {what}, and does not own the partition")
            return
        number = own.topic_number
        if number is not None and written.topic_number < number:
            self.complain(f"{member} got {what} of a deleted topic after one of the new topic")
        elif number != written.topic_number and number is not None:
            own = books.owned[tp] = Ownership()
        self._judge_place(member, own, written)
        own.topic_number = written.topic_number
        own.expected = offset + 1
        own.went_to_end = own.has_no_epoch = False
        books.pending[value] = tp

    def _judge_place(self, member: str, own: Ownership, written: Written) -> None:
        """It is the one that follows."""
        expected = own.expected
        ends = [end for end, epoch in own.cuts if epoch <= written.epoch]
        own.cuts = [cut for cut in own.cuts if cut[1] > written.epoch]
        if expected is not None:
            expected = min([expected, *ends])
        between = [
            each
            for each in self.logs.get(written.tp, [])
            if (expected or 0) <= each.offset < written.offset
            and each.epoch <= written.epoch
            and each.topic_number == written.topic_number
        ]
        what = f"{member} got {_name(written.tp)}@{written.offset}"
        if own.has_no_epoch or own.went_to_end:
            self._done |= {each.value for each in between}
        elif expected is None:
            skipped = [each for each in between if each.value not in self._done]
            if skipped:
                self.complain(f"{what} first, and nobody has processed {_values(skipped)}")
        elif written.offset < expected:
            self.complain(f"{what} again; @{expected} follows")
        elif between:
            self.complain(f"{what} without {_values(between)}")

    # What the coordinator stores…

    def gives(self, tp: TopicPartition, offset: int, topic_number: int | None) -> None:
        """An application commits an offset that it has read to, of the topic it has read."""
        if topic_number is not None:
            self._given[tp, offset] = topic_number

    def commit(self, tp: TopicPartition, offset: int, epoch: int) -> None:
        """An offset is stored: what lies before it must be processed."""
        self.committed[tp] = offset, epoch
        self.tell(f"committed {_name(tp)}@{offset} of epoch {epoch}")
        before = [each for each in self.logs.get(tp, []) if each.offset < offset]
        unprocessed = [each for each in before if each.value not in self._done]
        if epoch < 0:
            known = self._known_by_number(tp, offset, unprocessed)
            self._done |= {each.value for each in known}
            self._excuse_later(tp, offset)
        else:
            known = [each for each in unprocessed if each.epoch > epoch]
        unprocessed = [each for each in unprocessed if each not in known]
        if unprocessed:
            self.complain(
                f"{_name(tp)}@{offset} is committed, and {_values(unprocessed)} not processed"
            )

    def _known_by_number(
        self, tp: TopicPartition, offset: int, records: list[Written]
    ) -> list[Written]:
        """Return those that an application meant when it named their number, rightly or not."""
        given = self._given.get((tp, offset))
        if given is not None and given != self._topic_numbers[tp.topic]:
            return records
        return [each for each in records if (tp, each.topic_number, each.offset) in self._read]

    def __str__(self) -> str:
        return "\n".join(self.story)


def _without(topic: str, by_partition: dict[TopicPartition, T]) -> dict[TopicPartition, T]:
    return {tp: each for tp, each in by_partition.items() if tp.topic != topic}


def _name(tp: TopicPartition) -> str:
    return f"{tp.topic}-{tp.partition}"


def _values(records: list[Written]) -> str:
    offsets = [each.offset for each in records]
    return f"@{offsets[0]} to @{offsets[-1]} ({len(offsets)} records)"
