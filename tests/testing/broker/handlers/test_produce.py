"""Produce: what is taken, what is refused, and how the answer says so."""

from typing import Any
from uuid import UUID

import pytest

from aiokafka_lite.compression.compression_type import CompressionType
from aiokafka_lite.errors import (
    CorruptRecordException,
    InvalidProducerEpoch,
    InvalidRecordError,
    InvalidRequiredAcksError,
    InvalidTxnState,
    MessageSizeTooLargeError,
    NotEnoughReplicasError,
    NotLeaderForPartitionError,
    OutOfOrderSequenceNumber,
    TransactionalIdAuthorizationFailed,
    UnknownTopicIdError,
    UnknownTopicOrPartitionError,
    UnsupportedCompressionTypeError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from aiokafka_lite.record.batch_header import assign_offsets
from aiokafka_lite.record.control_record import ControlRecordType
from aiokafka_lite.testing.broker.handler import CloseConnectionError
from aiokafka_lite.testing.broker.handlers import produce
from aiokafka_lite.testing.broker.state.transactions.txn_metadata import TxnProducerId
from tests.testing.broker.bench import Bench, batch, marker


def request(
    bench: Bench, *records: bytes | None, acks: int = -1, version: int = 13, topic: str = "t"
) -> ProduceRequest:
    """One batch for each of the partitions 0, 1, …"""
    topic_id = bench.cluster.topics[topic].topic_id if version >= 13 else UUID(int=0)
    partitions = [PartitionProduceData(index=i, records=data) for i, data in enumerate(records)]
    data = TopicProduceData(name=topic, topic_id=topic_id, partition_data=partitions)
    return ProduceRequest(acks=acks, timeout_ms=1000, topic_data=[data])


def whole_answer(
    bench: Bench, *records: bytes | None, version: int = 13, node_id: int = 1, **options: Any
) -> ProduceResponse:
    asked = request(bench, *records, version=version, **options)
    return bench.ask(produce.HANDLER, asked, version, node_id)


def send(bench: Bench, *records: bytes | None, **options: Any) -> PartitionProduceResponse:
    """The answer about the last of the partitions."""
    return whole_answer(bench, *records, **options).responses[0].partition_responses[-1]


def values(bench: Bench, partition: int = 0) -> list[bytes | None]:
    log = bench.cluster.partition(TopicPartition("t", partition)).log
    return [record.value for record in log.records()]


# Taken…


@pytest.mark.parametrize("version", range(3, 14))
def test_every_version_appends_and_answers_with_the_base_offset(version: int) -> None:
    bench = Bench()
    bench.topic()
    assert send(bench, batch(b"a", b"b"), version=version).base_offset == 0
    answer = send(bench, batch(b"c"), version=version)
    assert (answer.error_code, answer.base_offset, answer.log_append_time_ms) == (0, 2, -1)
    assert answer.log_start_offset == (0 if version >= 5 else -1)
    assert values(bench) == [b"a", b"b", b"c"]


def test_topics_are_named_by_id_from_version_13_on() -> None:
    bench = Bench()
    topic = bench.topic()
    answer = whole_answer(bench, batch())
    assert (answer.responses[0].name, answer.responses[0].topic_id) == ("", topic.topic_id)
    asked = request(bench, batch())
    asked.topic_data[0].topic_id = UUID(int=1)
    response = bench.ask(produce.HANDLER, asked, 13)
    assert response.responses[0].partition_responses[0].error_code == UnknownTopicIdError.errno


def test_each_partition_succeeds_or_fails_by_itself() -> None:
    bench = Bench()
    bench.topic(partitions=2)
    answer = whole_answer(bench, batch(b"bad")[:-1] + b"x", batch(b"good"))
    codes = [p.error_code for p in answer.responses[0].partition_responses]
    assert codes == [CorruptRecordException.errno, 0]
    assert values(bench, 1) == [b"good"]


def test_log_append_time_is_the_brokers_clock_and_told() -> None:
    bench = Bench()
    bench.topic(message_timestamp_type="LogAppendTime")
    now_ms = int(bench.clock.time() * 1000)
    assert send(bench, batch(b"a")).log_append_time_ms == now_ms
    (record,) = bench.cluster.partition(TopicPartition("t", 0)).log.records()
    assert (record.timestamp, record.timestamp_type) == (now_ms, 1)


def test_acks_0_is_not_answered() -> None:
    """Produce with `acks=0` gets no answer (2d-16)."""
    bench = Bench()
    bench.topic()
    assert bench.serve(produce.HANDLER, request(bench, batch(b"a"), acks=0), 13) is None
    assert values(bench) == [b"a"]


def test_acks_0_with_an_error_closes_the_connection() -> None:
    bench = Bench()
    bench.topic()
    with pytest.raises(CloseConnectionError, match="failed with error 2"):
        bench.serve(produce.HANDLER, request(bench, batch(b"bad")[:-1] + b"x", acks=0), 13)


# Idempotence…


def test_a_repeated_batch_is_answered_with_its_old_offset() -> None:
    """A batch that is repeated succeeds with its old offset and is not appended again (KIP-98)."""
    bench = Bench()
    bench.topic()
    first = batch(b"a", b"b", producer=(7, 0, 0))
    assert send(bench, first).base_offset == 0
    assert send(bench, batch(b"c", producer=(7, 0, 2))).base_offset == 2
    again = send(bench, first)
    assert (again.error_code, again.base_offset) == (0, 0)
    assert values(bench) == [b"a", b"b", b"c"]


def test_a_repeated_batch_is_answered_with_its_old_append_time() -> None:
    bench = Bench()
    bench.topic(message_timestamp_type="LogAppendTime")
    first = batch(b"a", producer=(7, 0, 0))
    time_ms = send(bench, first).log_append_time_ms
    bench.clock._now += 60
    assert send(bench, first).log_append_time_ms == time_ms


def test_a_gap_in_the_sequences_is_refused() -> None:
    bench = Bench()
    bench.topic()
    send(bench, batch(b"a", producer=(7, 0, 0)))
    assert send(bench, batch(b"c", producer=(7, 0, 2))).error_code == OutOfOrderSequenceNumber.errno
    assert values(bench) == [b"a"]


def test_an_old_epoch_is_refused() -> None:
    bench = Bench()
    bench.topic()
    send(bench, batch(b"a", producer=(7, 1, 0)))
    assert send(bench, batch(b"b", producer=(7, 0, 1))).error_code == InvalidProducerEpoch.errno


def test_sequences_are_counted_per_partition() -> None:
    """The broker counts sequence numbers for each partition (2d-11)."""
    bench = Bench()
    bench.topic(partitions=2)
    same = batch(b"a", producer=(7, 0, 0))
    answer = whole_answer(bench, same, same)
    assert [p.error_code for p in answer.responses[0].partition_responses] == [0, 0]


# Refused…


def test_a_flipped_byte_is_a_corrupt_message() -> None:
    bench = Bench()
    bench.topic()
    data = bytearray(batch(b"a"))
    data[-1] ^= 1
    answer = send(bench, bytes(data))
    assert answer.error_code == CorruptRecordException.errno
    assert "CRC" in (answer.error_message or "")


def test_a_batch_above_the_limit_is_too_large() -> None:
    data = batch(b"a" * 500)
    bench = Bench(max_message_bytes=len(data))
    bench.topic()
    assert send(bench, data).error_code == 0
    answer = send(bench, batch(b"a" * 501))
    assert answer.error_code == MessageSizeTooLargeError.errno
    assert f"exceeds max.message.bytes of {len(data)}" in (answer.error_message or "")


def test_the_topics_own_limit_goes_first() -> None:
    bench = Bench()
    bench.topic(max_message_bytes="100")
    assert send(bench, batch(b"a" * 100)).error_code == MessageSizeTooLargeError.errno


def with_bytes(data: bytes, at: int, what: bytes) -> bytes:
    """The batch with other bytes in its header, and a CRC that fits."""
    changed = bytearray(data)
    changed[at : at + len(what)] = what
    assign_offsets(changed, 0, 0, 1)
    return bytes(changed)


def count_of_two(data: bytes) -> bytes:
    """A batch that says it ends at relative offset 1 though it has one record."""
    return with_bytes(data, 23, b"\0\0\0\1")


def control_batch() -> bytes:
    """A marker that does not belong to a transaction."""
    return with_bytes(marker(7, ControlRecordType.COMMIT), 21, b"\0\x20")


@pytest.mark.parametrize(
    "records",
    [
        None,
        b"",
        batch(b"a") + batch(b"b"),
        control_batch(),
        count_of_two(batch(b"a" * 50)),
    ],
    ids=["null", "empty", "two batches", "control batch", "wrong count"],
)
def test_what_is_not_one_data_batch_is_an_invalid_record(records: bytes | None) -> None:
    bench = Bench()
    bench.topic()
    assert send(bench, records).error_code == InvalidRecordError.errno
    assert values(bench) == []


def in_transaction(
    bench: Bench,
    epoch: int,
    sequence: int,
    *,
    version: int = 13,
    transactional_id: str | None = "tx",
    is_transactional: bool = True,
) -> int:
    """Send one record of producer 0; return the error code."""
    data = batch(b"a", producer=(0, epoch, sequence), is_transactional=is_transactional)
    asked = request(bench, data, version=version)
    asked.transactional_id = transactional_id
    (topic,) = bench.ask(produce.HANDLER, asked, version).responses
    return topic.partition_responses[0].error_code


def begun(version: int, *, adds: bool = True) -> tuple[Bench, TxnProducerId]:
    """A bench, and a producer whose transaction has the partition, as clients of V1 add it."""
    bench = Bench()
    bench.topic()
    producer = bench.transactions.init_producer_id("tx", 1000, None)
    if adds and version < ProduceRequest.transactions_v2_since:
        bench.transactions.add("tx", producer, partitions=[TopicPartition("t", 0)])
    return bench, producer


@pytest.mark.parametrize("version", [3, 10, 11, 12, 13])
def test_a_transactional_batch_waits_for_its_marker(version: int) -> None:
    """From version 12 on a transactional batch adds its partition (KIP-98, 2d'-7, KIP-890)."""
    bench, producer = begun(version)
    assert in_transaction(bench, 0, 0, version=version) == 0
    log = bench.cluster.partition(TopicPartition("t", 0)).log
    assert (log.last_stable_offset, log.high_watermark) == (0, 1)
    bench.transactions.end("tx", producer, is_commit=True, bumps_epoch=version >= 12)
    assert (log.last_stable_offset, log.high_watermark) == (2, 2)


@pytest.mark.parametrize(("version", "code"), [(10, 48), (11, 120)])
def test_what_was_not_added_before_is_refused(version: int, code: int) -> None:
    """A batch for a partition outside of the transaction is refused (KIP-890, KIP-1050)."""
    bench, _ = begun(version, adds=False)
    assert in_transaction(bench, 0, 0, version=version) == code


@pytest.mark.parametrize("version", [11, 13])
def test_who_was_fenced_learns_that_its_epoch_is_invalid(version: int) -> None:
    """Produce with an old epoch answers INVALID_PRODUCER_EPOCH (2d'-4)."""
    bench, _ = begun(version)
    assert in_transaction(bench, 1, 0, version=version) == 47


def test_a_batch_without_the_transactional_id_is_not_authorised() -> None:
    bench, _ = begun(13)
    assert in_transaction(bench, 0, 0, transactional_id=None) == (
        TransactionalIdAuthorizationFailed.errno
    )
    assert in_transaction(bench, 0, 0, transactional_id="other") == 49


def test_a_request_has_transactional_batches_of_one_producer() -> None:
    """ReplicaManager.handleProduceAppend; Apache Kafka refuses all of it."""
    bench = Bench()
    bench.topic(partitions=3)
    batches = [batch(b"a", producer=(i, 0, 0), is_transactional=True) for i in range(2)]
    for transactional_id, code in (("tx", 49), (None, 53)):
        asked = request(bench, batch(b"a"), *batches)
        asked.transactional_id = transactional_id
        (topic,) = bench.ask(produce.HANDLER, asked, 13).responses
        assert [partition.error_code for partition in topic.partition_responses] == [code] * 3


def test_a_batch_outside_the_open_transaction_of_its_producer_is_refused() -> None:
    """ProducerAppendInfo.appendDataBatch."""
    bench, _ = begun(13)
    assert in_transaction(bench, 0, 0) == 0
    assert in_transaction(bench, 0, 1, is_transactional=False) == InvalidTxnState.errno


@pytest.mark.parametrize(("version", "code"), [(11, 19), (13, 51)])
def test_while_the_last_transaction_is_being_ended_the_batch_has_to_come_again(
    version: int, code: int
) -> None:
    """Old clients are told NOT_ENOUGH_REPLICAS, which they retry."""
    bench, producer = begun(version)
    assert in_transaction(bench, 0, 0, version=version) == 0
    bench.transactions.markers.hold()
    bench.topic("other")
    going_on = bench.transactions.end("tx", producer, is_commit=True, bumps_epoch=version >= 12)
    data = batch(b"a", producer=(*going_on, 0), is_transactional=True)
    asked = request(bench, data, version=version, topic="other")
    asked.transactional_id = "tx"
    (topic,) = bench.ask(produce.HANDLER, asked, version).responses
    assert topic.partition_responses[0].error_code == code
    bench.transactions.markers.release()
    (topic,) = bench.ask(produce.HANDLER, asked, version).responses
    assert topic.partition_responses[0].error_code == (0 if version >= 12 else 120)


def test_without_a_coordinator_the_batch_has_to_come_again() -> None:
    bench, _ = begun(13)
    bench.transactions.nodes.move("tx", None)
    assert in_transaction(bench, 0, 0) == 19


def test_zstd_needs_version_7() -> None:
    """Produce before version 7 refuses zstd (2g-2, KIP-110)."""
    bench = Bench()
    bench.topic()
    data = batch(b"a" * 100, compression=CompressionType.ZSTD)
    assert send(bench, data, version=6).error_code == UnsupportedCompressionTypeError.errno
    assert send(bench, data, version=7).error_code == 0


def test_unknown_topics_and_partitions_are_refused() -> None:
    bench = Bench()
    bench.topic()
    assert send(bench, batch(), batch()).error_code == UnknownTopicOrPartitionError.errno
    answer = send(bench, batch(), topic="x", version=12)
    assert answer.error_code == UnknownTopicOrPartitionError.errno


def test_acks_must_be_all_none_or_one() -> None:
    bench = Bench()
    bench.topic()
    assert send(bench, batch(), acks=1).error_code == 0
    assert send(bench, batch(), acks=2).error_code == InvalidRequiredAcksError.errno


def test_acks_all_needs_min_insync_replicas() -> None:
    bench = Bench(2)
    bench.topic(min_insync_replicas="2")
    assert send(bench, batch()).error_code == 0
    bench.cluster.set_alive(2, is_alive=False)
    assert send(bench, batch()).error_code == NotEnoughReplicasError.errno
    assert send(bench, batch(), acks=1).error_code == 0


@pytest.mark.parametrize("version", [9, 10, 13])
def test_a_node_that_does_not_lead_says_who_does_from_version_10_on(version: int) -> None:
    """From Produce version 10 a node that does not lead names the leader (KIP-951)."""
    bench = Bench(2)
    bench.topic()
    bench.cluster.move_leader(TopicPartition("t", 0), 2)
    answer = whole_answer(bench, batch(), version=version)
    partition = answer.responses[0].partition_responses[0]
    assert partition.error_code == NotLeaderForPartitionError.errno
    hint = (partition.current_leader.leader_id, partition.current_leader.leader_epoch)
    nodes = [(node.node_id, node.port) for node in answer.node_endpoints]
    assert (hint, nodes) == (((2, 1), [(2, 9002)]) if version >= 10 else ((-1, -1), []))


def test_injected_errors_hit_all_partitions_or_one_and_nothing_is_appended() -> None:
    bench = Bench()
    bench.topic(partitions=2)
    bench.faults.fail(ProduceRequest, NotLeaderForPartitionError)
    answer = whole_answer(bench, batch(), batch())
    assert [p.error_code for p in answer.responses[0].partition_responses] == [6, 6]
    bench.faults.fail(ProduceRequest, MessageSizeTooLargeError, topic_partition=("t", 1))
    answer = whole_answer(bench, batch(), batch())
    assert [p.error_code for p in answer.responses[0].partition_responses] == [0, 10]
    assert (len(values(bench, 0)), len(values(bench, 1))) == (1, 0)
    assert send(bench, batch(), batch()).error_code == 0
