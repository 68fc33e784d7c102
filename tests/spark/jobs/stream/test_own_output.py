"""Two addresses of one cluster do not hide that a job reads what it writes."""

from dataclasses import dataclass

import pytest

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.protocol.messages.describe_cluster import DescribeClusterRequest
from aiokafka_lite.spark.jobs.stream.own_output import refuse_own_output
from aiokafka_lite.spark.jobs.stream.topic_config import StreamConfig, TopicSinkConfig
from aiokafka_lite.spark.process.worker import Worker
from aiokafka_lite.testing.broker import EmbeddedBroker


@dataclass(frozen=True, kw_only=True)
class CopyConfig(TopicSinkConfig, StreamConfig):
    """A job with both sides."""


def copy(reads: EmbeddedBroker, writes: EmbeddedBroker, topic: str = "a") -> CopyConfig:
    """A copy whose two sides have no address in common."""
    _, port = writes.bootstrap_servers.split(",")[-1].rsplit(":", 1)
    return CopyConfig(
        bootstrap_servers=reads.bootstrap_servers,
        sink_bootstrap_servers=f"localhost:{port}",
        topics=("a",),
        topic=topic,
        checkpoint="/c",
    )


def test_another_address_of_the_same_cluster_is_known_by_its_id(
    kafka_broker: EmbeddedBroker, here: Worker
) -> None:
    config = copy(kafka_broker, kafka_broker)
    assert not config.shares_brokers()
    with pytest.raises(KafkaConfigurationError, match=r"is the cluster that is read: topic='a'"):
        refuse_own_output(config, here)


def test_a_topic_of_that_name_in_another_cluster_is_another(here: Worker) -> None:
    with (
        EmbeddedBroker.threaded() as one,
        EmbeddedBroker.threaded() as two,
    ):
        refuse_own_output(copy(one, two), here)


def test_brokers_are_not_asked_where_names_differ(
    kafka_broker: EmbeddedBroker, here: Worker
) -> None:
    refuse_own_output(copy(kafka_broker, kafka_broker, topic="b"), here)
    assert kafka_broker.requests_of(DescribeClusterRequest) == []
