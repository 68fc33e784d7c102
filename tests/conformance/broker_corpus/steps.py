"""Steps and batches that many rows of the corpus have in common."""

from collections.abc import Callable, Mapping, Sequence
from struct import pack
from typing import Any

from aiokafka_lite.codec.crc32c import crc32c
from aiokafka_lite.compression.compression_type import CompressionType
from aiokafka_lite.compression.compressor import compress
from aiokafka_lite.record.varint import encode_varint
from tests.conformance.broker_corpus.exchange import Scene, Step, do, q

BIG = 1 << 20


def has_leaders(answer: Any) -> bool:
    """Return whether each partition of an answer of ListOffsets has a leader that serves."""
    return not any(p.error_code for topic in answer.topics for p in topic.partitions)


def topic(
    name: str = "t", partitions: int = 1, configs: Mapping[str, str] | None = None
) -> tuple[Step, ...]:
    """Return the steps that make a topic, and wait until it can be used."""

    def create(s: Scene) -> Any:
        given = [{"name": key, "value": value} for key, value in (configs or {}).items()]
        made = {"name": s.named(name), "num_partitions": partitions, "replication_factor": 1}
        return q("CreateTopics", topics=[{**made, "configs": given}], timeout_ms=9000)

    def know(s: Scene, answer: Any) -> None:
        s.topic_ids[name] = answer.topics[0].topic_id

    def ends(s: Scene) -> Any:
        know(s, s.answers[f"create {name}"])
        asked = [{"partition_index": i, "timestamp": -1} for i in range(partitions)]
        return q("ListOffsets", replica_id=-1, topics=[{**s.topic(name), "partitions": asked}])

    return (
        do(f"create {name}", create, version=7),
        do(f"leaders of {name}", ends, version=7, until=has_leaders),
    )


def record(
    delta: int,
    value: bytes | None = b"v",
    key: bytes | None = b"k",
    *,
    time: int = 0,
    headers: Sequence[tuple[bytes | None, bytes | None]] = (),
    count: int | None = None,
    tail: bytes = b"",
    attributes: int = 0,
) -> bytes:
    """Return one record in bytes; `count` headers are claimed, and `tail` follows them."""
    body = bytes([attributes]) + encode_varint(time) + encode_varint(delta)
    for part in (key, value):
        body += encode_varint(-1) if part is None else encode_varint(len(part)) + part
    body += encode_varint(len(headers) if count is None else count)
    for part in (part for pair in headers for part in pair):
        body += encode_varint(-1) if part is None else encode_varint(len(part)) + part
    return encode_varint(len(body) + len(tail)) + body + tail


def raw(
    *records: bytes,
    codec: int = 0,
    data: bytes | None = None,
    count: int | None = None,
    last_delta: int | None = None,
    attributes: int = 0,
    base_offset: int = 0,
    base_time: int = 1000,
    max_time: int | None = None,
    producer: tuple[int, int, int] = (-1, -1, -1),
    magic: int = 2,
    crc: int | None = None,
    length: int | None = None,
) -> bytes:
    """Return a batch whose header may say anything; `data` stands for the compressed records."""
    body = b"".join(records)
    if data is not None:
        body = data
    elif codec:
        body = bytes(compress(CompressionType(codec), body))
    number = len(records) if count is None else count
    delta = number - 1 if last_delta is None else last_delta
    highest = base_time if max_time is None else max_time
    tail = (
        pack(">hiqqqhii", attributes | codec, delta, base_time, highest, *producer, number) + body
    )
    checksum = crc32c(tail) if crc is None else crc
    size = len(tail) + 9 if length is None else length
    return pack(">qiibI", base_offset, size, -1, magic, checksum) + tail


def one(value: bytes = b"v", key: bytes | None = b"k", **more: Any) -> bytes:
    """Return a batch of one record."""
    return raw(record(0, value, key), **more)


def produce(
    s: Scene,
    data: bytes | None,
    name: str = "t",
    *,
    index: int = 0,
    acks: int = -1,
    transactional_id: str | None = None,
) -> Any:
    """Return a request that writes one batch."""
    return q(
        "Produce",
        transactional_id=transactional_id,
        acks=acks,
        timeout_ms=5000,
        topic_data=[
            {
                **s.topic(name, ids_since=13),
                "partition_data": [{"index": index, "records": data}],
            }
        ],
    )


def write(
    data: bytes | Callable[[Scene], bytes], name: str = "t", *, step: str = "write", **more: Any
) -> Step:
    """Return the step that writes a batch."""

    def build(s: Scene) -> Any:
        return produce(s, data(s) if callable(data) else data, name, **more)

    return do(step, build, version=9)


def fetch(s: Scene, offset: int = 0, name: str = "t", **more: Any) -> Any:
    """Return a request that reads one partition."""
    named = {"topic_id": s.topic_ids[name]} if s.version >= 13 else {"topic": s.named(name)}
    partition = {"partition": 0, "fetch_offset": offset, "partition_max_bytes": BIG}
    partition |= {k: more.pop(k) for k in ("current_leader_epoch", "partition") if k in more}
    partition |= {k: more.pop(k) for k in ("partition_max_bytes",) if k in more}
    return q(
        "Fetch",
        **{"replica_id": -1, "max_wait_ms": 200, "min_bytes": 1, "max_bytes": BIG, **more},
        topics=[{**named, "partitions": [partition]}],
    )


def offsets(s: Scene, *timestamps: int, name: str = "t", isolation: int = 0) -> Any:
    """Return a request that looks up offsets of partition 0 and further ones."""
    asked = [{"partition_index": i, "timestamp": t} for i, t in enumerate(timestamps)]
    return q(
        "ListOffsets",
        replica_id=-1,
        isolation_level=isolation,
        topics=[{**s.topic(name), "partitions": asked}],
    )


__all__ = ["BIG", "fetch", "offsets", "one", "produce", "raw", "record", "topic", "write"]
