"""Reads a log of the embedded broker as a consumer with read_committed does."""

from typing import Any

from aiokafka_lite.model import ConsumerRecord
from aiokafka_lite.record.batch_reader import RecordCursor
from aiokafka_lite.testing.broker.state.log.partition_log import PartitionLog


def committed_records(log: PartitionLog) -> list[ConsumerRecord[Any, Any]]:
    """Return the records of committed transactions below the last stable offset."""
    stable = log.last_stable_offset
    cursor = RecordCursor(
        memoryview(b"".join(each.data for each in log.batches() if each.base_offset < stable)),
        topic="",
        partition=0,
        fetch_offset=0,
        read_committed=True,
        aborted_transactions=log.transactions.aborted_between(0, stable),
    )
    found: list[ConsumerRecord[Any, Any]] = []
    while not cursor.exhausted:
        found += cursor.take(1000)
    return found


__all__ = ["committed_records"]
