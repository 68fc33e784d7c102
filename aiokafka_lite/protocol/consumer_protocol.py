"""The subscriptions and assignments that members of a group exchange through the coordinator.

The coordinator passes these bytes on unread, so members of every client, Java's included, must
agree on them. The assignors decide which member gets which partition. Does not wait. Source:
ConsumerProtocolSubscription and ConsumerProtocolAssignment; KIP-429, KIP-792, KIP-881.
"""

import struct
from collections.abc import Iterable
from dataclasses import field
from typing import ClassVar, Final, Self

from aiokafka_lite.codec.reader import Reader
from aiokafka_lite.codec.writer import Writer
from aiokafka_lite.errors import ProtocolDecodeError
from aiokafka_lite.light_dataclass import dataclass
from aiokafka_lite.light_named_tuple import NamedTuple
from aiokafka_lite.model import TopicPartition

HIGHEST_VERSION: Final = 3
"""The newest version written here.

v1 added owned partitions (KIP-429), v2 their generation (KIP-792), v3 the rack (KIP-881). A newer
version only adds fields at the end, so it is read as this one.
"""

_new_tuple = tuple.__new__

PartitionsByTopic = list[tuple[str, list[int]]]


@dataclass(slots=True)
class ConsumerProtocolMemberMetadata:
    """One member's subscription, as the group's leader sees it.

    `version` decides which fields go over the wire. The fields behind `user_data` keep their
    defaults if the sender's version lacks them.
    """

    version: int
    subscription: list[str]
    """The topics to which the member subscribes."""
    user_data: bytes | None
    """Data from the member's assignor for the leader's assignor."""
    owned_partitions: PartitionsByTopic = field(default_factory=list)
    """The partitions the member still owns, from v1 (KIP-429)."""
    generation_id: int = -1
    """The generation that assigned them, or -1; from v2 (KIP-792)."""
    rack_id: str | None = None
    """The member's rack, from v3 (KIP-881). An empty one counts as None."""
    group_instance_id: str | None = None
    """A static member's name. It is not part of these bytes: JoinGroup brings it to the leader."""

    def encode(self) -> bytes:
        """Return the bytes in `version`, or in v3 if that is older.

        Topics and owned partitions are sorted, like in Java's client. So equal subscriptions have
        equal bytes, and the coordinator sees no change between them.

        Raises: ValueError if the version is negative, or a value does not fit its field.
        """
        version = _version_to_write(self.version)
        writer = Writer()
        writer.int16(version)
        writer.array_count(len(self.subscription))
        for topic in sorted(self.subscription):
            writer.string(topic)
        writer.nullable_bytes(self.user_data)
        if version >= 1:
            owned = sorted(_grouped(self.owned_partitions).items())
            _write_partitions(writer, {topic: sorted(indexes) for topic, indexes in owned})
        if version >= 2:
            writer.int32(self.generation_id)
        if version >= 3:
            writer.nullable_string(self.rack_id or None)
        return bytes(writer.buffer)

    @classmethod
    def decode(cls, data: bytes | bytearray | memoryview) -> Self:
        """Return the subscription in `data`; everything is copied.

        A version above 3 is read as 3, and what follows its fields is ignored. Some clients name a
        version but leave out its last fields. Those fields keep their defaults.

        Raises: ProtocolDecodeError for bytes that are not a subscription.
        """
        return cls._decode(bytes(data), _KnownTopics())

    @classmethod
    def decode_all(cls, group: Iterable[bytes]) -> list[Self]:
        """Return the subscriptions of a group's members, each as `decode` would.

        Equal names are one string. Members with the same topics share the list of them where a
        group has few such lists, so nobody may change a `subscription`.

        Raises: ProtocolDecodeError for bytes that are not a subscription.
        """
        known = _KnownTopics()
        return [cls._decode(data, known) for data in group]

    @classmethod
    def _decode(cls, data: bytes, known: "_KnownTopics") -> Self:
        reader = Reader(data)
        version = _version_to_read(reader)
        metadata = cls(version, known.read_subscription(data, reader), reader.nullable_bytes())
        if version >= 1 and reader.remaining:
            metadata.owned_partitions = known.read_partitions(data, reader)
        if version >= 2 and reader.remaining:
            metadata.generation_id = reader.int32()
        if version >= 3 and reader.remaining:
            metadata.rack_id = reader.nullable_string() or None
        return metadata

    @property
    def topics(self) -> list[str]:
        """The `subscription`, under the name that newer clients have for it."""
        return self.subscription

    def owned(self) -> list[TopicPartition]:
        """Return the owned partitions, one entry each, in the order of `owned_partitions`."""
        return _flat(self.owned_partitions)


@dataclass(slots=True)
class ConsumerProtocolMemberAssignment:
    """One member's share of the group's partitions, as the leader wrote it."""

    class Assignment(NamedTuple):
        """The member's partitions of one topic."""

        topic: str
        partitions: list[int]

    version: int
    assignment: PartitionsByTopic
    """The partitions by topic. Decoded entries are `Assignment`s; plain tuples work as well."""
    user_data: bytes | None
    """Data from the leader's assignor for the member's assignor."""

    def encode(self) -> bytes:
        """Return the bytes in `version`, or in v3 if that is older.

        All versions have the same fields.

        The order of topics and partitions is kept; each topic is written once.

        Raises: ValueError if the version is negative, or a value does not fit its field.
        """
        writer = Writer()
        writer.int16(_version_to_write(self.version))
        _write_partitions(writer, _grouped(self.assignment))
        writer.nullable_bytes(self.user_data)
        return bytes(writer.buffer)

    @classmethod
    def decode(cls, data: bytes | bytearray | memoryview) -> Self:
        """Return the assignment in `data`; everything is copied.

        A version above 3 is read as 3, and what follows its fields is ignored.

        Raises: ProtocolDecodeError for bytes that are not an assignment. Empty bytes are not one
        either: the coordinator sends them to a member that its leader has left out.
        """
        data = bytes(data)
        reader = Reader(data)
        version = _version_to_read(reader)
        partitions = _KnownTopics().read_partitions(data, reader)
        return cls(version, partitions, reader.nullable_bytes())

    def partitions(self) -> list[TopicPartition]:
        """Return the partitions, one entry each, in the order of `assignment`."""
        return _flat(self.assignment)


class ConsumerProtocol:
    """The protocol type of consumer groups, and its formats, under names that aiokafka also has."""

    PROTOCOL_TYPE: ClassVar = "consumer"
    METADATA: ClassVar = ConsumerProtocolMemberMetadata
    ASSIGNMENT: ClassVar = ConsumerProtocolMemberAssignment


def _version_to_write(version: int) -> int:
    if version < 0:
        raise ValueError(
            f"consumer protocol version {version} is negative; use 0 to {HIGHEST_VERSION}"
        )
    return min(version, HIGHEST_VERSION)


def _version_to_read(reader: Reader) -> int:
    version = reader.int16()
    if version < 0:
        raise ProtocolDecodeError(
            f"consumer protocol version {version} is negative; the bytes are corrupt or of "
            "another protocol"
        )
    return min(version, HIGHEST_VERSION)


def _array_count(reader: Reader, what: str, *, min_element_size: int) -> int:
    count = reader.array_count(min_element_size)
    if count < 0:
        raise ProtocolDecodeError(f"null stands at byte {reader.pos} where {what} are required")
    return count


class _KnownTopics:
    """The names, and lists of names, that were decoded so far; a group's members have the same.

    What is known is read at a tenth of the cost. All else, and all faults, are left to a `Reader`.
    """

    _MOST_LISTS = 8
    """So many lists are compared with each member's bytes."""

    def __init__(self) -> None:
        self._names: dict[bytes, str] = {}
        self._lists: list[tuple[bytes, list[str]]] = []
        """The bytes of a list, with its count; no such bytes are the beginning of others."""

    def read_subscription(self, data: bytes, reader: Reader) -> list[str]:
        """Return the list of topics at the reader's position in `data`."""
        start = reader.pos
        for written, topics in self._lists:
            if data.startswith(written, start):
                reader.pos = start + len(written)
                return topics
        count = _array_count(reader, "topics", min_element_size=2)
        topics = self._read_names(data, reader, count)
        if len(self._lists) < self._MOST_LISTS:
            self._lists.append((data[start : reader.pos], topics))
        return topics

    def read_partitions(self, data: bytes, reader: Reader) -> PartitionsByTopic:
        """Return the partitions by topic at the reader's position in `data`."""
        count = _array_count(reader, "topics", min_element_size=6)
        start = pos = reader.pos
        names = self._names
        entry = ConsumerProtocolMemberAssignment.Assignment
        found: PartitionsByTopic = []
        try:
            for _ in range(count):
                end = pos + 2 + (data[pos] << 8 | data[pos + 1])
                topic = names[data[pos + 2 : end]]
                size = int.from_bytes(data[end : end + 4], "big")
                numbers = list(struct.unpack_from(f">{size}i", data, end + 4))
                found.append(_new_tuple(entry, (topic, numbers)))
                pos = end + 4 + size * 4
        except (KeyError, IndexError, struct.error):
            reader.pos = start
            return [self._read_entry(data, reader) for _ in range(count)]
        reader.pos = pos
        return found

    def _read_names(self, data: bytes, reader: Reader, count: int) -> list[str]:
        start = pos = reader.pos
        names = self._names
        found: list[str] = []
        try:
            for _ in range(count):
                end = pos + 2 + (data[pos] << 8 | data[pos + 1])
                name = names.get(data[pos + 2 : end])
                if name is None:
                    reader.pos = pos
                    name = self._read_name(data, reader)
                found.append(name)
                pos = end
        except IndexError:
            pos = len(data) + 1
        if pos > len(data):  # a name is cut off, and what is left of it is a name, too
            reader.pos = start
            return [reader.string() for _ in range(count)]
        reader.pos = pos
        return found

    def _read_name(self, data: bytes, reader: Reader) -> str:
        start = reader.pos + 2
        name = reader.string()
        return self._names.setdefault(data[start : reader.pos], name)

    def _read_entry(self, data: bytes, reader: Reader) -> tuple[str, list[int]]:
        topic = self._read_name(data, reader)
        count = _array_count(reader, "partitions", min_element_size=4)
        numbers = [reader.int32() for _ in range(count)]
        return ConsumerProtocolMemberAssignment.Assignment(topic, numbers)


def _write_partitions(writer: Writer, by_topic: dict[str, list[int]]) -> None:
    writer.array_count(len(by_topic))
    for topic, partitions in by_topic.items():
        writer.string(topic)
        count = len(partitions)
        try:
            writer.buffer += struct.pack(f">{count + 1}i", count, *partitions)
        except struct.error:
            for partition in partitions:
                writer.int32(partition)  # says which does not fit


def _grouped(by_topic: PartitionsByTopic) -> dict[str, list[int]]:
    grouped: dict[str, list[int]] = {}
    for topic, partitions in by_topic:
        grouped.setdefault(topic, []).extend(partitions)
    return grouped


def _flat(by_topic: PartitionsByTopic) -> list[TopicPartition]:
    return [
        TopicPartition(topic, partition)
        for topic, partitions in by_topic
        for partition in partitions
    ]


__all__ = ["ConsumerProtocol", "ConsumerProtocolMemberAssignment", "ConsumerProtocolMemberMetadata"]
