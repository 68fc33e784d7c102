"""What ends a hanging transaction."""

import pytest

from aiokafka_lite.admin import AbortTransactionSpec, HangingTransaction, ProducerState
from aiokafka_lite.model import TopicPartition

T0 = TopicPartition("t", 0)


@pytest.mark.parametrize(("coordinator_epoch", "expected"), [(None, 0), (0, 0), (5, 5)])
def test_an_abort_has_the_epochs_that_the_partition_knows(
    coordinator_epoch: int | None, expected: int
) -> None:
    found = HangingTransaction(T0, ProducerState(7, 3, 0, 1, coordinator_epoch, 4), None)
    assert found.to_abort == AbortTransactionSpec(T0, 7, 3, expected)
