"""The bytes of a Fetch request of one partition or none, and of the response of one partition: the
twin in Python. Does not wait.

They are those of version 15 and above: a topic is told by its id, and a consumer names no replica.
"""

import struct
from collections.abc import Sequence
from struct import Struct
from typing import Any

_HEAD = Struct(">i9sii")
"""How long to wait, the limits, session id and epoch."""
_TOPIC = Struct(">B16sBiiqiqixx")
"""One topic of one partition: id, index, leader epoch, offset, last epoch, log start, limit."""
_NO_TOPIC = b"\x01"
_ANSWER = Struct(">4sBihiB16sBihqqqBi")
_NO_TAGS = bytes(3)
"""Of partition, topic and response."""
_MOST_VARINT_BYTES = 5


class LoneAnswer:
    """A Fetch response whose only partition has records and no error. It has the fields of the
    response, and those of the partition.
    """

    __slots__ = (
        "high_watermark",
        "last_stable_offset",
        "log_start_offset",
        "partition_index",
        "records",
        "session_id",
        "topic_id_bytes",
    )

    error_code = 0
    """Of the response, and of the partition."""
    throttle_time_ms = 0
    node_endpoints: Sequence[Any] = ()
    aborted_transactions: None = None
    preferred_read_replica = -1

    def __init__(
        self,
        session_id: int,
        topic_id_bytes: bytes,
        partition_index: int,
        high_watermark: int,
        last_stable_offset: int,
        log_start_offset: int,
        records: memoryview,
    ) -> None:
        self.session_id = session_id
        self.topic_id_bytes = topic_id_bytes
        self.partition_index = partition_index
        self.high_watermark = high_watermark
        self.last_stable_offset = last_stable_offset
        self.log_start_offset = log_start_offset
        self.records = records


def request_bytes(
    max_wait_ms: int,
    limits: bytes,
    session_id: int,
    session_epoch: int,
    asked: tuple[bytes, int, int, int, int] | None,
    tail: bytes,
) -> bytes | None:
    """Return the body of a request.

    `limits`: the least and the most bytes and the isolation level. `asked`: the topic's id, the
    partition, its leader epoch, the offset and the most bytes; None: no partition. `tail`: what
    comes behind the topics. None: a number does not fit its field.
    """
    try:
        head = _HEAD.pack(max_wait_ms, limits, session_id, session_epoch)
        if asked is None:
            return head + _NO_TOPIC + tail
        topic_id, partition, epoch, offset, max_bytes = asked
        topic = _TOPIC.pack(2, topic_id, 2, partition, epoch, offset, -1, -1, max_bytes)
    except struct.error:
        return None
    return head + topic + tail


def read_lone_answer(frame: memoryview) -> LoneAnswer | None:
    """Read a response whose only partition has records, and nothing else to tell.

    None: it is another response, or is damaged. `frame` begins with the correlation id.
    """
    if len(frame) < _ANSWER.size:
        return None
    (
        _,
        tags,
        throttle_ms,
        error,
        session_id,
        topics,
        topic_id,
        partitions,
        index,
        partition_error,
        high_watermark,
        last_stable_offset,
        log_start_offset,
        aborted,
        preferred,
    ) = _ANSWER.unpack_from(frame)
    if tags or throttle_ms or error or partition_error or aborted > 1 or preferred != -1:
        return None
    if topics != 2 or partitions != 2:
        return None
    at = _ANSWER.size
    size = shift = 0
    byte = 0x80
    for byte in frame[at : at + _MOST_VARINT_BYTES]:
        at += 1
        size |= (byte & 0x7F) << shift
        if byte <= 0x7F:
            break
        shift += 7
    end = at + size - 1
    if byte > 0x7F or size < 2 or frame[end:] != _NO_TAGS:
        return None
    return LoneAnswer(
        session_id,
        topic_id,
        index,
        high_watermark,
        last_stable_offset,
        log_start_offset,
        frame[at:end],
    )


__all__ = ["LoneAnswer", "read_lone_answer", "request_bytes"]
