"""ListOffsets: the ends of a log, and offsets by time."""

from typing import Any

import pytest

from aiokafka_lite.errors import (
    FencedLeaderEpochError,
    InvalidRequestError,
    NotLeaderForPartitionError,
    UnknownTopicOrPartitionError,
    UnsupportedVersionError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from aiokafka_lite.testing.broker.handlers import list_offsets
from tests.testing.broker.bench import Bench, batch

TP = TopicPartition("t", 0)


def ask(
    bench: Bench,
    timestamp: int,
    *,
    version: int = 11,
    epoch: int = -1,
    copies: int = 1,
    **fields: Any,
) -> ListOffsetsPartitionResponse:
    wanted = ListOffsetsPartition(
        partition_index=fields.pop("partition", 0), timestamp=timestamp, current_leader_epoch=epoch
    )
    topic = ListOffsetsTopic(name=fields.pop("topic", "t"), partitions=[wanted] * copies)
    request = ListOffsetsRequest(replica_id=-1, topics=[topic], **fields)
    return bench.ask(list_offsets.HANDLER, request, version).topics[0].partitions[0]


def filled() -> Bench:
    """Offsets 1 to 3 with the timestamps 300, 200, 400; offset 0 (100) was deleted."""
    bench = Bench(2)
    partition = bench.topic().partitions[0]
    partition.append(batch(b"a", b"b", timestamps=(100, 300)))
    partition.append(batch(b"c", b"d", timestamps=(200, 400)))
    partition.log.delete_records(1)
    return bench


@pytest.mark.parametrize(
    ("timestamp", "expected"),
    [
        (-1, (4, -1)),
        (-2, (1, -1)),
        (-3, (3, 400)),
        (-4, (1, -1)),
        (-5, (-1, -1)),
        (-6, (-1, -1)),
        (0, (1, 300)),
        (301, (3, 400)),
        (401, (-1, -1)),
    ],
    ids=["latest", "earliest", "max", "local", "tiered", "pending", "all", "time", "too late"],
)
def test_offset_and_timestamp_of(timestamp: int, expected: tuple[int, int]) -> None:
    answer = ask(filled(), timestamp)
    assert (answer.offset, answer.timestamp, answer.error_code) == (*expected, 0)
    assert answer.leader_epoch == (-1 if answer.offset < 0 else 0)


@pytest.mark.parametrize("version", range(1, 12))
def test_every_version_is_answered(version: int) -> None:
    answer = ask(filled(), -1, version=version)
    assert (answer.offset, answer.leader_epoch) == (4, 0 if version >= 4 else -1)


@pytest.mark.parametrize(("timestamp", "first"), [(-3, 7), (-4, 8), (-5, 9), (-6, 11)])
def test_special_timestamps_need_their_version(timestamp: int, first: int) -> None:
    code = ask(filled(), timestamp, version=first - 1).error_code
    assert code == UnsupportedVersionError.errno
    assert ask(filled(), timestamp, version=first).error_code == 0
    assert ask(filled(), -7).error_code == UnsupportedVersionError.errno


def test_the_end_is_the_last_stable_offset_for_read_committed() -> None:
    """With `read_committed` the end is the last stable offset (2c-6)."""
    bench = filled()
    data = batch(b"x", producer=(7, 0, 0), is_transactional=True, timestamps=(900,))
    bench.cluster.partition(TP).append(data)
    assert ask(bench, -1).offset == 5
    assert ask(bench, -1, isolation_level=1).offset == 4
    assert ask(bench, 800).offset == 4
    assert ask(bench, 800, isolation_level=1).offset == -1


@pytest.mark.parametrize("timestamp", [list_offsets.MAX_TIMESTAMP, 1000])
def test_what_is_open_has_no_time_for_read_committed(timestamp: int) -> None:
    bench = Bench()
    (partition,) = bench.topic().partitions
    partition.append(batch(b"a", producer=(7, 0, 0), is_transactional=True))
    assert ask(bench, timestamp, isolation_level=0).offset == 0
    assert ask(bench, timestamp, isolation_level=1).offset == -1


def test_the_newest_leader_epoch_is_told() -> None:
    bench = filled()
    bench.cluster.move_leader(TP, 2)
    bench.cluster.move_leader(TP, 1)
    assert ask(bench, -1).leader_epoch == 2
    assert ask(bench, -2).leader_epoch == 0
    assert ask(bench, -1, epoch=1).error_code == FencedLeaderEpochError.errno


def test_errors_are_per_partition() -> None:
    bench = filled()
    unknown = UnknownTopicOrPartitionError.errno
    assert ask(bench, -1, partition=1).error_code == unknown
    assert ask(bench, -1, topic="x").error_code == unknown
    assert ask(bench, -1, copies=2).error_code == InvalidRequestError.errno
    bench.cluster.move_leader(TP, 2)
    answer = ask(bench, -1)
    assert answer.error_code == NotLeaderForPartitionError.errno
    assert (answer.offset, answer.timestamp) == (-1, -1)


def test_an_injected_error_is_answered() -> None:
    bench = filled()
    bench.faults.fail(ListOffsetsRequest, NotLeaderForPartitionError, topic_partition=TP)
    assert ask(bench, -1).error_code == NotLeaderForPartitionError.errno
    assert ask(bench, -1).error_code == 0
