"""Records, queues and settings for the tests of workers."""

from collections.abc import Sequence
from typing import Any

from aiokafka_lite.model import ConsumerRecord, TopicPartition
from aiokafka_lite.workers.work_queues import WorkItem, WorkQueues
from aiokafka_lite.workers.workers_config import WorkersConfig

TP = TopicPartition("t", 0)


def record_at(
    offset: int,
    key: Any = None,
    *,
    tp: TopicPartition = TP,
    value: Any = b"value",
    headers: Sequence[tuple[str, bytes | None]] = (),
) -> ConsumerRecord[Any, Any]:
    """A record with a key of one byte, if any, and a value of five."""
    size = -1 if key is None else 1
    return ConsumerRecord(
        tp.topic, tp.partition, offset, 7, 0, key, value, None, size, 5, list(headers)
    )


def settings(**changed: Any) -> WorkersConfig:
    """The settings of most tests."""
    return WorkersConfig(
        **{
            "concurrency": 4,
            "order": "key",
            "max_records": 100,
            "max_bytes": 10_000,
            "commit_interval_ms": 1000,
            "drain_timeout_ms": 2000,
            "slow_handler_ms": 1000,
            "handler_timeout_ms": 10_000,
            "retries": None,
            "retry_backoff_ms": 100,
            "retry_backoff_max_ms": 1000,
            "not_retried": (),
            "has_dead_letters": False,
            "max_poll_interval_ms": 300_000,
            **changed,
        }
    )


def queues(**changed: Any) -> WorkQueues:
    """Empty queues."""
    return WorkQueues(settings(**changed).key_of)


def filled(count: int, **changed: Any) -> WorkQueues:
    """Queues with so many records of one partition, each with its own key."""
    made = queues(**changed)
    made.add(made.partition(TP), [record_at(n, b"%d" % n) for n in range(count)])
    return made


def taken(made: WorkQueues) -> WorkItem:
    """The next record to handle; there is one."""
    item = made.take()
    assert item is not None
    return item
