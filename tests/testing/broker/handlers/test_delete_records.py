"""DeleteRecords: the start of a log moves up to an offset that the log has."""

import pytest

from aiokafka_lite.errors import (
    NotLeaderForPartitionError,
    OffsetOutOfRangeError,
    PolicyViolationError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from aiokafka_lite.testing.broker.handlers import delete_records
from tests.testing.broker.bench import Bench, batch


def ask(
    bench: Bench, offset: int, *, name: str = "t", version: int = 2, node_id: int = 1
) -> tuple[int, int]:
    """Return (low_watermark, error_code)."""
    partition = DeleteRecordsPartition(partition_index=0, offset=offset)
    request = DeleteRecordsRequest(topics=[DeleteRecordsTopic(name=name, partitions=[partition])])
    response = bench.ask(delete_records.HANDLER, request, version, node_id=node_id)
    result = response.topics[0].partitions[0]
    return result.low_watermark, result.error_code


@pytest.mark.parametrize("version", range(3))
def test_every_version_moves_the_start(version: int) -> None:
    bench = Bench()
    (partition,) = bench.topic().partitions
    partition.append(batch(b"a", b"b", b"c"))
    changes: list[int] = []
    partition.watch(lambda: changes.append(partition.log.log_start_offset))
    assert ask(bench, 2, version=version) == (2, 0)
    assert changes == [2]
    assert ask(bench, 1, version=version) == (2, 0)
    assert ask(bench, -1, version=version) == (3, 0)


def test_what_cannot_be_done_is_told_and_nothing_changes() -> None:
    bench = Bench(2)
    (partition,) = bench.topic().partitions
    partition.append(batch(b"a"))
    bench.topic("compacted", cleanup_policy="compact")
    bench.topic("both", cleanup_policy="compact,delete")
    assert ask(bench, 2) == (-1, OffsetOutOfRangeError.errno)
    assert ask(bench, -2) == (-1, OffsetOutOfRangeError.errno)
    assert ask(bench, 0, name="x") == (-1, UnknownTopicOrPartitionError.errno)
    assert ask(bench, 0, node_id=2) == (-1, NotLeaderForPartitionError.errno)
    assert ask(bench, 0, name="compacted") == (-1, PolicyViolationError.errno)
    assert ask(bench, 0, name="both", node_id=1)[1] == 0
    assert partition.log.log_start_offset == 0
