"""The bytes of a Produce request, and of its usual response: the twin in Python. Does not wait.

Both are those of the flexible versions, 9 and above. A topic is told by its id or its name, which
has the same bytes in request and response.
"""

from collections.abc import Mapping, Sequence
from struct import Struct

from aiokafka_lite.codec.parts import Parts
from aiokafka_lite.codec.writer import unsigned_varint_bytes
from aiokafka_lite.producer.batch.producer_batch import ProducerBatch

Written = list[tuple[ProducerBatch, int, int, int]]
"""Each batch of a request with its base offset, log append time and log start offset."""

_INDEX = Struct(">i")
_RESULT = Struct(">ihqqq3s")
"""Index, error code, base offset, log append time, log start offset; then errors of records, text
and tags."""
_NO_ERRORS = b"\x01\0\0"
_NO_TAGS = b"\0"
_NO_THROTTLE = bytes(5)
"""The end of the response: throttle time and tags."""
_CORRELATION_ID_BYTES = 4
_MOST = 126
"""So many topics or partitions have a count of one byte."""


def request_parts(
    head: bytes,
    topics: Mapping[str, bytes],
    batches: Sequence[ProducerBatch],
    wires: Sequence[memoryview],
) -> Parts:
    """Return the body of a request in parts for `writelines`. The batches are not copied.

    `head` has all before the topics. `topics`: what tells each topic, in its order. `wires`: the
    bytes of each batch.
    """
    parts: Parts = []
    lead = head + unsigned_varint_bytes(len(topics) + 1)
    for told, places in _by_topic(topics, batches):
        lead += told + unsigned_varint_bytes(len(places) + 1)
        for place in places:
            index = _INDEX.pack(batches[place].topic_partition.partition)
            wire = wires[place]
            parts += (lead + index + unsigned_varint_bytes(len(wire) + 1), wire)
            lead = _NO_TAGS
        lead += _NO_TAGS
    parts.append(lead + _NO_TAGS)
    return parts


def read_written(
    frame: memoryview, topics: Mapping[str, bytes], batches: Sequence[ProducerBatch]
) -> Written | None:
    """Return the places of the batches in their order, if the response says that all are written.

    None: it says anything else. Its own order is the broker's choice. `frame` begins with the
    correlation id.
    """
    if len(batches) > _MOST:
        return None
    at = _CORRELATION_ID_BYTES + 2
    if frame[_CORRELATION_ID_BYTES:at] != _NO_TAGS + bytes((len(topics) + 1,)):
        return None
    read: dict[int, tuple[ProducerBatch, int, int, int]] = {}
    left = dict(_by_topic(topics, batches))
    while left:
        told = next((told for told in left if frame[at : at + len(told)] == told), None)
        if told is None:
            return None
        places = left.pop(told)
        begin = at + len(told) + 1
        at = begin + len(places) * _RESULT.size + 1
        if frame[begin - 1 : begin] != bytes((len(places) + 1,)) or frame[at - 1 : at] != _NO_TAGS:
            return None
        place_of = {batches[place].topic_partition.partition: place for place in places}
        for index, error, base, time_ms, start, rest in _RESULT.iter_unpack(frame[begin : at - 1]):
            place = place_of.pop(index, None)
            if place is None or error or rest != _NO_ERRORS:
                return None
            read[place] = (batches[place], base, time_ms, start)
    return [read[place] for place in sorted(read)] if frame[at:] == _NO_THROTTLE else None


def _by_topic(
    topics: Mapping[str, bytes], batches: Sequence[ProducerBatch]
) -> list[tuple[bytes, Sequence[int]]]:
    """Return what tells each topic, and the places of its batches."""
    if len(topics) == 1:
        return [(told, range(len(batches))) for told in topics.values()]
    places: dict[str, list[int]] = {topic: [] for topic in topics}
    for place, batch in enumerate(batches):
        places[batch.topic_partition.topic].append(place)
    return list(zip(topics.values(), places.values(), strict=True))


__all__ = ["Written", "read_written", "request_parts"]
