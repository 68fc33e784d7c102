"""A program that catches errors of brokers, as users write them; see `test_type_checkers`."""

from typing import assert_type

from aiokafka_lite.errors import (
    KafkaError,
    NotLeaderForPartitionError,
    RebalanceInProgressError,
    for_code,
)

assert_type(RebalanceInProgressError.errno, int)
assert_type(RebalanceInProgressError().retriable, bool)
assert issubclass(for_code(6), NotLeaderForPartitionError)


def is_passing(error: Exception) -> bool:
    return isinstance(error, KafkaError) and error.retriable
