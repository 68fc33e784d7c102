"""Writes what a share group gives up into its topic for dead letters (KIP-1191).

A topic that cannot take them costs a line of the log and nothing else, as on a real broker. Does
not wait. Source: ShareGroupDLQManager; Apache Kafka 4.4.0, seen.
"""

import logging
from typing import Final

from aiokafka_lite.clock import Clock
from aiokafka_lite.errors import BrokerResponseError
from aiokafka_lite.model import ConsumerRecord
from aiokafka_lite.record.batch_header import parse_header
from aiokafka_lite.record.batch_reader import RecordCursor
from aiokafka_lite.testing.broker.state.cluster_features import SHARE_VERSION, WITH_DEAD_LETTERS
from aiokafka_lite.testing.broker.state.cluster_state import (
    BrokerPartition,
    ClusterState,
    TopicState,
)
from aiokafka_lite.testing.broker.state.log.log_validator import RecordsRefusedError, validate
from aiokafka_lite.testing.broker.state.log.partition_log import batch_of_one
from aiokafka_lite.testing.broker.state.settings.dynamic_broker_settings import (
    CREATE_DEAD_LETTERS,
    DEAD_LETTER_PREFIX,
)
from aiokafka_lite.testing.broker.state.settings.group_settings import (
    COPY_DEAD_LETTERS,
    DEAD_LETTERS,
    group_values,
)

logger = logging.getLogger(__name__)

ENABLED: Final = "errors.deadletterqueue.group.enable"
REJECTED: Final = "Offset rejected by client."
DELIVERED_TOO_OFTEN: Final = "Offset delivery count exceeded the threshold."


def write_dead_letter(
    cluster: ClusterState,
    clock: Clock,
    group_id: str,
    where: BrokerPartition,
    offset: int,
    delivery_count: int,
    why: str,
) -> None:
    """Write a record that `group_id` gives up, if the group has a topic for that."""
    settings = group_values(cluster.group_settings.get(group_id, {}))
    name: str = settings.get(DEAD_LETTERS, "")
    if not name or cluster.features.level(SHARE_VERSION) < WITH_DEAD_LETTERS:
        return
    prefix: str = cluster.broker_settings.of_all(DEAD_LETTER_PREFIX)
    try:
        topic = _topic(cluster, name) if name.startswith(prefix) else None
    except BrokerResponseError as error:
        logger.warning("topic %s for dead letters of group %s: %s", name, group_id, error)
        return
    if topic is None:
        logger.warning(
            "group %s has no dead letter of %s: topic %s does not exist, has another prefix than %r"
            " or has not %s=true",
            *(group_id, where.topic_partition, name, prefix),
            ENABLED,
        )
        return
    found = _record(where, offset) if settings.get(COPY_DEAD_LETTERS) else None
    source = where.topic_partition
    headers = [
        (f"__dlq.errors.{each}", text.encode())
        for each, text in (
            ("topic", source.topic),
            ("partition", str(source.partition)),
            ("offset", str(offset)),
            ("group", group_id),
            ("delivery.count", str(delivery_count)),
            ("message", why),
        )
    ]
    key, value = (None, None) if found is None else (found.key, found.value)
    now_ms = int(clock.time() * 1000)
    batch = batch_of_one(now_ms, key, value, headers)
    target = topic.partitions[source.partition % len(topic.partitions)]
    try:
        stored = validate(
            batch, parse_header(batch), target.topic_partition, topic.config, (now_ms, now_ms)
        )
    except (RecordsRefusedError, BrokerResponseError) as error:
        logger.warning("topic %s refuses a dead letter of group %s: %s", name, group_id, error)
        return
    target.append(stored, log_append_time_ms=now_ms if topic.config.log_append_time else None)


def _topic(cluster: ClusterState, name: str) -> TopicState | None:
    """Return the topic, which is created if the brokers may; None if it takes no dead letters."""
    topic = cluster.topics.get(name)
    if topic is None and cluster.broker_settings.of_all(CREATE_DEAD_LETTERS):
        topic = cluster.new_topic(name, settings={ENABLED: "true"})
        cluster.add_topic(topic)
    return topic if topic is not None and topic.config.takes_dead_letters else None


def _record(where: BrokerPartition, offset: int) -> ConsumerRecord[bytes, bytes] | None:
    """Return a record of the log; None if it is gone."""
    for batch in where.log.batches_from(offset, where.log.log_end_offset):
        topic, partition = where.topic_partition
        cursor = RecordCursor(
            memoryview(batch.data), topic=topic, partition=partition, fetch_offset=offset
        )
        return next((each for each in cursor.take(1) if each.offset == offset), None)
    return None


__all__ = ["DELIVERED_TOO_OFTEN", "ENABLED", "REJECTED", "write_dead_letter"]
