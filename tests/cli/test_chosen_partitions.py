"""Partitions that a topic does not have are named."""

import pytest

from aiokafka_lite.cli.chosen_partitions import check_partitions
from aiokafka_lite.errors import UnknownTopicOrPartitionError


def test_partitions_that_are_missing_are_named() -> None:
    check_partitions("orders", {0, 1}, [1, 0])
    check_partitions("orders", {0, 1}, [])
    with pytest.raises(UnknownTopicOrPartitionError, match=r"'orders' .* 0 to 1, not \[2, 9\]"):
        check_partitions("orders", {0, 1}, [9, 1, 2])
