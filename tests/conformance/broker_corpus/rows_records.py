"""Rows about records: Produce, Fetch, ListOffsets, DeleteRecords, OffsetForLeaderEpoch."""

import sys
import zlib
from typing import Any

import lz4.frame

from tests.conformance.broker_corpus.exchange import Case, Scene, ask, each, fresh, q, sequence
from tests.conformance.broker_corpus.steps import (
    fetch,
    offsets,
    one,
    produce,
    raw,
    record,
    topic,
    write,
)

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

HOUR_MS = 3_600_000
TWO = record(0, b"a", b"1"), record(1, b"b", b"2")


def lz4_of(data: bytes, **options: Any) -> bytes:
    return bytes(lz4.frame.compress(data, **options))


def zstd_of(data: bytes, window_log: int) -> bytes:
    options: Any = {
        zstd.CompressionParameter.window_log: window_log,
        zstd.CompressionParameter.content_size_flag: 0,
    }
    packer = zstd.ZstdCompressor(options=options)
    return bytes(packer.compress(data) + packer.flush())


BAD_BATCHES: dict[str, bytes] = {
    "no bytes": b"",
    "a few bytes": b"\0" * 20,
    "a wrong checksum": one(crc=1),
    "magic 1": one(magic=1),
    "magic 3": one(magic=3),
    "a length beyond the bytes": one(length=500),
    "a short length": one(length=10),
    "two batches": one() + one(),
    "bytes behind the batch": one() + b"xx",
    "a count of 0": raw(record(0), count=0, last_delta=0),
    "a count below": raw(*TWO, count=1, last_delta=1),
    "a count above": raw(*TWO, count=3, last_delta=1),
    "a negative count": raw(*TWO, count=-1, last_delta=1),
    "a last offset below": raw(*TWO, last_delta=0),
    "a last offset above": raw(*TWO, last_delta=5),
    "a base offset": one(base_offset=7),
    "offsets with a hole": raw(record(0), record(2), last_delta=1),
    "the same offset twice": raw(record(0), record(0)),
    "offsets from 1": raw(record(1), record(2)),
    "bytes behind the last record": raw(record(0) + b"xx", count=1),
    "bytes within a record": raw(record(0, tail=b"x")),
    "a record cut off": raw(record(0)[:-2], count=1),
    "a negative record length": raw(b"\x01", count=1),
    "a header without a key": raw(record(0, headers=[(None, b"x")])),
    "a header without a value": raw(record(0, headers=[(b"h", None)])),
    "an empty header key": raw(record(0, headers=[(b"", b"x")])),
    "more headers than there are": raw(record(0, count=2)),
    "a negative number of headers": raw(record(0, count=-1)),
    "attributes of a record": raw(record(0, attributes=1)),
    "neither key nor value": raw(record(0, None, None)),
    "codec 5": raw(record(0), attributes=5),
    "codec 7": raw(record(0), attributes=7),
    "bits without a meaning": raw(record(0), attributes=0x80),
    "a control batch": raw(record(0, b"\0\0\0\0\0\0", b"\0\0\0\1"), attributes=0x20),
    "a bit of log append time": raw(record(0), attributes=0x08),
    "a delete horizon": raw(record(0), attributes=0x40),
    "a wrong max timestamp": raw(record(0), max_time=5000),
    "a max timestamp below": raw(record(0), max_time=5),
    "no timestamps": raw(record(0), base_time=-1),
    "a timestamp before 1970": raw(record(0), base_time=-7),
    "an idempotent batch without a sequence": one(producer=(5, 0, -1)),
    "a sequence without a producer": one(producer=(-1, -1, 5)),
    "an epoch without a producer": one(producer=(-1, 3, -1)),
    "gzip": raw(*TWO, codec=1),
    "gzip that is none": raw(*TWO, codec=1, data=b"not gzip at all"),
    "gzip cut off": raw(*TWO, codec=1, data=zlib.compress(b"".join(TWO), wbits=31)[:-6]),
    "gzip and bytes behind it": raw(
        *TWO, codec=1, data=zlib.compress(b"".join(TWO), wbits=31) + b"xx"
    ),
    "two members of gzip": raw(
        *TWO, codec=1, data=b"".join(zlib.compress(each, wbits=31) for each in TWO)
    ),
    "snappy": raw(*TWO, codec=2),
    "snappy that is none": raw(*TWO, codec=2, data=b"not snappy at all"),
    "lz4": raw(*TWO, codec=3),
    "lz4 that is none": raw(*TWO, codec=3, data=b"not lz4 at all"),
    "two frames of lz4": raw(*TWO, codec=3, data=lz4_of(TWO[0]) + lz4_of(TWO[1])),
    "lz4 with linked blocks": raw(
        record(0, b"ab" * 60_000),
        codec=3,
        data=lz4_of(record(0, b"ab" * 60_000), block_linked=True),
    ),
    "lz4 with a checksum of the content": raw(
        *TWO, codec=3, data=lz4_of(b"".join(TWO), content_checksum=True, block_linked=False)
    ),
    "lz4 with a size": raw(
        *TWO, codec=3, data=lz4_of(b"".join(TWO), store_size=True, block_linked=False)
    ),
    "lz4 without a size": raw(
        *TWO, codec=3, data=lz4_of(b"".join(TWO), store_size=False, block_linked=False)
    ),
    "zstd": raw(*TWO, codec=4),
    "zstd that is none": raw(*TWO, codec=4, data=b"not zstd at all"),
    "zstd with a window of 256 MB": raw(
        record(0, b"ab" * 300_000), codec=4, data=zstd_of(record(0, b"ab" * 300_000), 28)
    ),
    "zstd with a window of 8 MB": raw(*TWO, codec=4, data=zstd_of(b"".join(TWO), 23)),
    "two frames of zstd": raw(
        *TWO, codec=4, data=b"".join(zstd.compress(each) for each in TWO)
    ),
    "gzip of a wrong count": raw(*TWO, codec=1, count=3, last_delta=2),
    "gzip and a null key of a header": raw(record(0, headers=[(None, b"x")]), codec=1),
    "gzip and bytes behind the last record": raw(record(0) + b"xx", codec=1, count=1),
}  # fmt: skip


def _bad(name: str, data: bytes) -> Case:
    return sequence(
        f"produce {name}",
        topic(),
        ask("answer", lambda s: produce(s, data)),
        ask("what is stored", fetch, version=12),
    )


def _stored(name: str, configs: dict[str, str], build: Any, **more: Any) -> Case:
    """A setting of a topic that changes what becomes of a batch."""
    return sequence(
        f"with {' '.join(f'{k}={v}' for k, v in configs.items())}, {name}",
        topic(configs=configs),
        ask("answer", lambda s: produce(s, build(s) if callable(build) else build), **more),
        ask("what is stored", fetch, version=12),
    )


SETTINGS = (
    _stored("a null key", {"cleanup.policy": "compact"}, one(key=None)),
    _stored(
        "a null key between others",
        {"cleanup.policy": "compact"},
        raw(record(0), record(1, b"v", None), record(2)),
    ),
    _stored("a key", {"cleanup.policy": "compact"}, one()),
    _stored("an empty key", {"cleanup.policy": "compact"}, one(key=b"")),
    _stored("a null key", {"cleanup.policy": "compact,delete"}, one(key=None)),
    _stored(
        "null keys in gzip",
        {"cleanup.policy": "compact"},
        raw(record(0, b"v", None), record(1, b"v", None), codec=1),
    ),
    _stored("a time in 2 hours", {}, lambda s: one(base_time=s.now_ms + 2 * HOUR_MS)),
    _stored("a time in half an hour", {}, lambda s: one(base_time=s.now_ms + HOUR_MS // 2)),
    _stored("microseconds", {}, lambda s: one(base_time=s.now_ms * 1000)),
    _stored(
        "a second record in 2 hours",
        {},
        lambda s: raw(
            record(0),
            record(1, time=2 * HOUR_MS),
            base_time=s.now_ms,
            max_time=s.now_ms + 2 * HOUR_MS,
        ),
    ),
    _stored("an old record", {"message.timestamp.before.max.ms": "1000"}, one()),
    _stored(
        "a new record",
        {"message.timestamp.before.max.ms": "60000"},
        lambda s: one(base_time=s.now_ms - 10),
    ),
    _stored("no time", {"message.timestamp.before.max.ms": "1000"}, one(base_time=-1)),
    _stored(
        "a time to come",
        {"message.timestamp.after.max.ms": "1000"},
        lambda s: one(base_time=s.now_ms + 60_000),
    ),
    _stored(
        "an old record",
        {"message.timestamp.before.max.ms": "1000", "message.timestamp.type": "LogAppendTime"},
        one(),
    ),
    _stored("a record", {"message.timestamp.type": "LogAppendTime"}, one()),
    _stored("gzip", {"message.timestamp.type": "LogAppendTime"}, raw(*TWO, codec=1)),
    _stored("a batch", {"max.message.bytes": "100"}, one(b"x" * 200)),
    _stored(
        "a batch that gzip makes small",
        {"max.message.bytes": "150"},
        raw(record(0, b"x" * 200), codec=1),
    ),
    _stored("a batch of just that size", {"max.message.bytes": str(len(one()))}, one()),
    _stored("a batch of a byte more", {"max.message.bytes": str(len(one()) - 1)}, one()),
    _stored(
        "gzip of 1000",
        {"max.decompressed.message.bytes": "300"},
        raw(record(0, b"x" * 1000), codec=1),
    ),
    _stored(
        "zstd of 1000",
        {"max.decompressed.message.bytes": "300"},
        raw(record(0, b"x" * 1000), codec=4),
    ),
    _stored(
        "lz4 of 1000",
        {"max.decompressed.message.bytes": "300"},
        raw(record(0, b"x" * 1000), codec=3),
    ),
    _stored(
        "snappy of 1000",
        {"max.decompressed.message.bytes": "300"},
        raw(record(0, b"x" * 1000), codec=2),
    ),
    _stored("1000 as they are", {"max.decompressed.message.bytes": "300"}, one(b"x" * 1000)),
    _stored(
        "gzip of 10 times 100",
        {"max.decompressed.message.bytes": "300"},
        raw(*(record(i, b"x" * 100) for i in range(10)), codec=1),
    ),
    *(
        _stored(name, {"compression.type": codec}, data)
        for codec in ("uncompressed", "gzip", "snappy", "lz4", "zstd", "producer")
        for name, data in (("a plain batch", raw(*TWO)), ("a batch of gzip", raw(*TWO, codec=1)))
    ),
    _stored("a batch of zstd", {"compression.type": "zstd"}, raw(*TWO, codec=4)),
    _stored("a batch of lz4", {"compression.type": "lz4"}, raw(*TWO, codec=3)),
    _stored("a wrong max timestamp", {"compression.type": "gzip"}, raw(*TWO, max_time=9000)),
    _stored("a sequence", {"compression.type": "gzip"}, one(producer=(77_000, 0, 0))),
    _stored("acks=all", {"min.insync.replicas": "2"}, one()),
    _stored("an old version and acks=all", {"min.insync.replicas": "2"}, one(), version=3),
)


def _sequences() -> tuple[Case, ...]:
    def wrote(base: int, *, epoch: int = 0, count: int = 1) -> Any:
        return lambda s: produce(
            s, raw(*(record(i) for i in range(count)), producer=(88_000, epoch, base))
        )

    return (
        sequence("sequences in order", topic(), *(ask(f"{i}", wrote(i)) for i in range(3))),
        sequence("a sequence that does not begin at 0", topic(), ask("answer", wrote(5))),
        sequence("a gap", topic(), ask("first", wrote(0)), ask("gap", wrote(2))),
        sequence(
            "a batch sent again",
            topic(),
            ask("first", wrote(0, count=2)),
            ask("again", wrote(0, count=2)),
            ask("other length", wrote(0, count=1)),
        ),
        sequence(
            "an old batch sent again",
            topic(),
            *(ask(f"{i}", wrote(i)) for i in range(7)),
            ask("the fifth last", wrote(2)),
            ask("the first", wrote(0)),
        ),
        sequence(
            "an epoch",
            topic(),
            ask("first", wrote(0)),
            ask("higher", wrote(0, epoch=1)),
            ask("old", wrote(1)),
            ask("higher, not from 0", wrote(4, epoch=2)),
        ),
        sequence("a sequence that wraps", topic(), ask("first", wrote(2**31 - 1))),
    )


PRODUCE = (
    fresh("in each version: produce a batch", topic(), ask=lambda s: produce(s, one())),
    fresh("in each version: produce with acks=1", topic(), ask=lambda s: produce(s, one(), acks=1)),
    fresh("in each version: produce with acks=2", topic(), ask=lambda s: produce(s, one(), acks=2)),
    fresh(
        "in each version: produce a wrong checksum", topic(), ask=lambda s: produce(s, one(crc=1))
    ),
    fresh(
        "in each version: produce a null key",
        topic(configs={"cleanup.policy": "compact"}),
        ask=lambda s: produce(s, one(key=None)),
    ),
    fresh("in each version: produce zstd", topic(), ask=lambda s: produce(s, one(codec=4))),
    fresh(
        "produce with log append time",
        topic(configs={"message.timestamp.type": "LogAppendTime"}),
        ask=lambda s: produce(s, one()),
    ),
    each(
        "produce to a partition that is not there",
        topic(),
        ask=lambda s: produce(s, one(), index=9),
    ),
    each("produce to a topic that is not there", ask=lambda s: produce(s, one(), "nothing")),
    each(
        "produce in a transaction without its id",
        topic(),
        ask=lambda s: produce(s, one(producer=(1, 0, 0), attributes=0x10)),
    ),
    sequence(
        "acks=0",
        topic(),
        ask("answer", lambda s: produce(s, one(), acks=0)),
        ask("what is stored", fetch, version=12),
    ),
    sequence(
        "acks=0 and an error", topic(), ask("answer", lambda s: produce(s, one(crc=1), acks=0))
    ),
)

FILLED = (
    *topic(),
    write(raw(*TWO), step="1"),
    write(raw(*TWO, codec=1), step="2"),
    write(one(), step="3"),
)

FETCH = (
    each("fetch", FILLED, ask=fetch),
    each("fetch from the middle of a batch", FILLED, ask=lambda s: fetch(s, 3)),
    each("fetch from the end", FILLED, ask=lambda s: fetch(s, 5)),
    each("fetch beyond the end", FILLED, ask=lambda s: fetch(s, 6)),
    each("fetch from a negative offset", FILLED, ask=lambda s: fetch(s, -1)),
    each("fetch one byte", FILLED, ask=lambda s: fetch(s, 0, partition_max_bytes=1)),
    each("fetch one byte at most", FILLED, ask=lambda s: fetch(s, 0, max_bytes=1)),
    each("fetch read_committed", FILLED, ask=lambda s: fetch(s, 0, isolation_level=1)),
    each("fetch an old epoch", FILLED, ask=lambda s: fetch(s, 0, current_leader_epoch=5)),
    each("fetch from partition 9", FILLED, ask=lambda s: fetch(s, 0, partition=9)),
    each(
        "fetch from a topic that is not there",
        ask=lambda s: fetch(_pretended(s, "nothing"), name="nothing"),
    ),
    each(
        "fetch in a session that is not there",
        FILLED,
        ask=lambda s: fetch(s, session_id=12345, session_epoch=1),
    ),
    each(
        "fetch in a new session",
        FILLED,
        ask=lambda s: fetch(s, session_id=0, session_epoch=0),
        only=lambda s, a: _without_session(a),
    ),
    sequence(
        "a fetch session",
        FILLED,
        ask(
            "open",
            lambda s: fetch(s, session_id=0, session_epoch=0),
            only=lambda s, a: _without_session(a),
        ),
    ),
)


def _pretended(s: Scene, name: str) -> Scene:
    from uuid import UUID

    s.topic_ids.setdefault(name, UUID(int=77))
    return s


def _without_session(answer: Any) -> Any:
    answer.session_id = min(getattr(answer, "session_id", 0), 1)
    return answer


LISTED = (
    each("list offsets: end", FILLED, ask=lambda s: offsets(s, -1)),
    each("list offsets: start", FILLED, ask=lambda s: offsets(s, -2)),
    each("list offsets: largest time", FILLED, ask=lambda s: offsets(s, -3)),
    each("list offsets: local start", FILLED, ask=lambda s: offsets(s, -4)),
    each("list offsets: newest remote", FILLED, ask=lambda s: offsets(s, -5)),
    each("list offsets: first not yet remote", FILLED, ask=lambda s: offsets(s, -6)),
    each("list offsets: an unknown number", FILLED, ask=lambda s: offsets(s, -7)),
    each("list offsets: a time", FILLED, ask=lambda s: offsets(s, 500)),
    each("list offsets: a time after all", FILLED, ask=lambda s: offsets(s, 5000)),
    each("list offsets: partition 1 of 1", FILLED, ask=lambda s: offsets(s, -1, -1)),
    each("list offsets: read_committed", FILLED, ask=lambda s: offsets(s, -1, isolation=1)),
    each("list offsets of no topic", ask=lambda s: offsets(s, -1, name="nothing")),
    each("list offsets of an empty topic: largest time", topic(), ask=lambda s: offsets(s, -3)),
    each("list offsets of an empty topic: a time", topic(), ask=lambda s: offsets(s, 0)),
    each(
        "list offsets of a wrong epoch",
        FILLED,
        ask=lambda s: q(
            "ListOffsets",
            replica_id=-1,
            topics=[
                {
                    **s.topic(),
                    "partitions": [
                        {"partition_index": 0, "timestamp": -1, "current_leader_epoch": 9}
                    ],
                }
            ],
        ),
    ),
)


def _delete(s: Scene, offset: int, name: str = "t", index: int = 0) -> Any:
    partitions = [{"partition_index": index, "offset": offset}]
    return q(
        "DeleteRecords", topics=[{"name": s.named(name), "partitions": partitions}], timeout_ms=5000
    )


def _epoch(s: Scene, epoch: int, current: int = -1, name: str = "t", index: int = 0) -> Any:
    asked = {"partition": index, "current_leader_epoch": current, "leader_epoch": epoch}
    return q("OffsetForLeaderEpoch", topics=[{"topic": s.named(name), "partitions": [asked]}])


OTHERS = (
    fresh(
        "delete records",
        FILLED,
        ask=lambda s: _delete(s, 3),
        then=(
            ask("what is left", lambda s: fetch(s, 3), version=12),
            ask("start", lambda s: offsets(s, -2)),
            ask("before the start", lambda s: fetch(s, 0), version=12),
        ),
    ),
    fresh("delete all records", FILLED, ask=lambda s: _delete(s, -1)),
    fresh("delete records beyond the end", FILLED, ask=lambda s: _delete(s, 99)),
    fresh("delete records before -1", FILLED, ask=lambda s: _delete(s, -2)),
    fresh(
        "delete records of a compacted topic",
        topic(configs={"cleanup.policy": "compact"}),
        write(one()),
        ask=lambda s: _delete(s, 1),
    ),
    each("delete records of no topic", ask=lambda s: _delete(s, 0, "nothing")),
    each("delete records of partition 9", FILLED, ask=lambda s: _delete(s, 0, index=9)),
    each("end of epoch 0", FILLED, ask=lambda s: _epoch(s, 0)),
    each("end of epoch 5", FILLED, ask=lambda s: _epoch(s, 5)),
    each("end of epoch -1", FILLED, ask=lambda s: _epoch(s, -1)),
    each("end of an epoch, as seen from a wrong one", FILLED, ask=lambda s: _epoch(s, 0, 7)),
    each("end of an epoch of no topic", ask=lambda s: _epoch(s, 0, name="nothing")),
    each("end of an epoch of partition 9", FILLED, ask=lambda s: _epoch(s, 0, index=9)),
)

ROWS = (
    *(_bad(name, data) for name, data in BAD_BATCHES.items()),
    *SETTINGS,
    *_sequences(),
    *PRODUCE,
    *FETCH,
    *LISTED,
    *OTHERS,
)

__all__ = ["FILLED", "ROWS", "TWO"]
