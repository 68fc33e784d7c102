"""Encodes and decodes messages of a hundred partitions, by ours and aiokafka's.

Each message has the newest version of both.
"""

from collections.abc import Iterator

from aiokafka.protocol.fetch import FetchResponse_v11
from aiokafka.protocol.produce import ProduceRequest_v8

from aiokafka_lite.protocol.messages.fetch import (
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from aiokafka_lite.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from benchmarks.leaves.contest import Contender, Samples, measure

PARTITIONS = 100
RECORDS = bytes(200)
REPEATS = 20


def message_rows(rounds: int) -> Iterator[tuple[str, Samples]]:
    """Measure row by row; seconds per message."""
    yield "Fetch response, 100 partitions, decode", measure(_decoders(), rounds)
    yield "Produce request, 100 partitions, encode", measure(_encoders(), rounds)


def _decoders() -> dict[str, Contender]:
    partitions = [
        PartitionData(
            partition_index=number,
            high_watermark=1000,
            last_stable_offset=1000,
            log_start_offset=0,
            aborted_transactions=None,
            records=memoryview(RECORDS),
        )
        for number in range(PARTITIONS)
    ]
    response = FetchResponse(
        session_id=1, responses=[FetchableTopicResponse(topic="orders", partitions=partitions)]
    )
    data = b"".join(response.encode(11))

    def ours() -> int:
        for _ in range(REPEATS):
            FetchResponse.decode(memoryview(data), 11)
        return REPEATS

    def aiokafka() -> int:
        for _ in range(REPEATS):
            FetchResponse_v11.decode(data)
        return REPEATS

    return {"aiokafka-lite": ours, "aiokafka": aiokafka}


def _encoders() -> dict[str, Contender]:
    def ours() -> int:
        for _ in range(REPEATS):
            partitions = [
                PartitionProduceData(index=number, records=memoryview(RECORDS))
                for number in range(PARTITIONS)
            ]
            ProduceRequest(
                acks=-1,
                timeout_ms=30_000,
                topic_data=[TopicProduceData(name="orders", partition_data=partitions)],
            ).encode(8)
        return REPEATS

    def aiokafka() -> int:
        for _ in range(REPEATS):
            partitions = [(number, RECORDS) for number in range(PARTITIONS)]
            ProduceRequest_v8(
                transactional_id=None,
                required_acks=-1,
                timeout=30_000,
                topics=[("orders", partitions)],
            ).encode()
        return REPEATS

    return {"aiokafka-lite": ours, "aiokafka": aiokafka}
