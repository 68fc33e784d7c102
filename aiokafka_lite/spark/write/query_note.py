"""Notes in Kafka which query writes with a checkpoint, so that an abort finds open transactions.

Spark tells a task its query, but not the process that aborts a stream's batch. Killed tasks leave
no message. That process knows the checkpoint's folder. So tasks note the query in a group named
like it, and the abort fences what the query has left open. The note only shortens a wait. So
nothing fails without it. It waits for the brokers.
"""

import hashlib
import logging
from typing import Final

from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.kafka_error import KafkaError, reason_of
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.producer.transaction.transaction_coordinator import TransactionCoordinator
from aiokafka_lite.spark.options.sink_options import SinkOptions
from aiokafka_lite.spark.write.transactional_store import store_offset, stored_offsets

logger = logging.getLogger(__name__)

_TIMEOUT_S: Final = 5.0
_VALID_S: Final = 3600.0
"""After this time a note is stored again, because groups without members expire."""

_noted_at_s: Final[dict[tuple[str, str, str], float]] = {}
"""By brokers, group and scope: when this process, or its parent, has stored the note."""


def note_group(prefix: str, checkpoint: str) -> str:
    """Return the group that holds the note for a checkpoint."""
    folder = checkpoint.strip().rstrip("/")
    return f"{prefix}-query-of-{hashlib.sha256(folder.encode()).hexdigest()[:16]}"


async def note_query(
    coordinator: TransactionCoordinator, options: SinkOptions, scope: str, topic: str | None
) -> None:
    """Store the scope of the query, once per process and hour. Does not raise."""
    if options.checkpoint is None or topic is None:
        return
    group_id = note_group(options.transactional_id_prefix, options.checkpoint)
    now_s = SYSTEM_CLOCK.monotonic()
    known = (str(options.client["bootstrap_servers"]), group_id, scope)
    before_s = _noted_at_s.get(known)
    if before_s is not None and now_s - before_s < _VALID_S:
        return
    note = (int(SYSTEM_CLOCK.time() * 1000), scope)
    try:
        async with deadline(SYSTEM_CLOCK, _TIMEOUT_S):
            await store_offset(coordinator, group_id, TopicPartition(topic, 0), note)
    except (KafkaError, TimeoutError) as error:
        logger.info("the query of %s is not noted: %s", group_id, _reason(error))
    else:
        _noted_at_s[known] = now_s


async def noted_query(coordinator: TransactionCoordinator, options: SinkOptions) -> str | None:
    """Return the scope of the query that was noted last; None without one. Does not raise."""
    if options.checkpoint is None:
        return None
    group_id = note_group(options.transactional_id_prefix, options.checkpoint)
    try:
        async with deadline(SYSTEM_CLOCK, _TIMEOUT_S):
            found = await stored_offsets(coordinator, group_id)
    except (KafkaError, TimeoutError) as error:
        logger.info("the query of %s is not known: %s", group_id, _reason(error))
        return None
    return max(found)[1] if found else None


def _reason(error: KafkaError | TimeoutError) -> str:
    return reason_of(error) if isinstance(error, KafkaError) else f"no answer in {_TIMEOUT_S:g} s"


__all__ = ["note_group", "note_query", "noted_query"]
