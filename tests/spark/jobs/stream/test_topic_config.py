"""The keys of jobs around topics, and the options of source and sink they mean."""

from dataclasses import dataclass

import pytest

from aiokafka_lite.spark.jobs.job_config import JobConfigError
from aiokafka_lite.spark.jobs.stream.topic_config import StreamConfig, TopicsConfig, TopicSinkConfig


@dataclass(frozen=True, kw_only=True)
class CopyConfig(TopicSinkConfig, StreamConfig):
    """A job with all of them."""


GIVEN = {"bootstrap_servers": "h:1", "topics": ("a", "b"), "checkpoint": "/c"}


def test_keys_are_options_of_source_and_sink() -> None:
    made = CopyConfig(
        **GIVEN,  # type: ignore[arg-type]
        topic="out",
        max_offsets_per_trigger=10,
        source={"kafka.isolation.level": "read_committed"},
        sink={"kafka.compression.type": "lz4"},
    )
    assert made.source_options() == {
        "kafka.bootstrap.servers": "h:1",
        "subscribe": "a,b",
        "startingOffsets": "earliest",
        "maxOffsetsPerTrigger": "10",
        "topicIds": "true",
        "kafka.isolation.level": "read_committed",
    }
    assert made.sink_options() == {
        "kafka.bootstrap.servers": "h:1",
        "topic": "out",
        "delivery": "at-least-once",
        "kafka.compression.type": "lz4",
    }
    other = CopyConfig(**GIVEN, sink_bootstrap_servers="o:2")  # type: ignore[arg-type]
    assert other.sink_options()["kafka.bootstrap.servers"] == "o:2"


def test_the_checkpoint_of_a_job_has_the_ids_of_topics_unless_its_source_says_otherwise() -> None:
    made = CopyConfig(**GIVEN, source={"topicids": "false"})  # type: ignore[arg-type]
    assert "topicIds" not in made.source_options()
    assert made.source_options()["topicids"] == "false"


def test_the_table_kafka_is_of_both_sides_and_each_may_override_it() -> None:
    made = CopyConfig(
        **GIVEN,  # type: ignore[arg-type]
        kafka={"client.id": "both", "request.timeout.ms": "1000"},
        sink={"kafka.Client.Id": "sink"},
    )
    assert made.source_options()["kafka.client.id"] == "both"
    sink = made.sink_options()
    assert (sink["kafka.Client.Id"], sink["kafka.request.timeout.ms"]) == ("sink", "1000")
    assert "kafka.client.id" not in sink
    assert "both" not in repr(made)


def test_topics_may_be_named_by_a_pattern() -> None:
    made = TopicsConfig(bootstrap_servers="h:1", topic_pattern="a.*")
    assert made.source_options()["subscribePattern"] == "a.*"
    assert "subscribe" not in made.source_options()


def test_a_trigger_is_available_now_or_a_time() -> None:
    assert CopyConfig(**GIVEN).trigger_arguments() == {"availableNow": True}  # type: ignore[arg-type]
    made = CopyConfig(**GIVEN, trigger="1m")  # type: ignore[arg-type]
    assert made.trigger_arguments() == {"processingTime": "60000 milliseconds"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"topics": ()}, "one of topics and topic_pattern must be set"),
        ({"topic_pattern": "x"}, "only one"),
        ({"bootstrap_servers": ""}, "bootstrap_servers must be set"),
        ({"checkpoint": ""}, "checkpoint must be set"),
        ({"trigger": "soon"}, "trigger='soon' is neither available-now nor a time"),
        ({"starting_offsets": "now"}, r"startingOffsets.*now"),
        ({"max_offsets_per_trigger": 0}, "maxOffsetsPerTrigger=0 must be at least 1"),
        ({"metrics_port": 65_536}, "metrics_port=65536 is not a port from 0 to 65535"),
        ({"source": {"Subscribe": "x"}}, r"source\.Subscribe has a key of its own: set topics"),
        ({"source": {"maxOffsetsPerTrigger": "1"}}, "set max_offsets_per_trigger instead"),
        ({"source": {"kafka.enable.auto.commit": "true"}}, "Spark keeps the offsets"),
        (
            {"kafka": {"bootstrap.servers": "x"}},
            r"kafka\.bootstrap\.servers has a key of its own: set bootstrap_servers",
        ),
        ({"sink": {"topic": "x"}}, r"sink\.topic has a key of its own: set topic"),
        ({"sink": {"kafka.acks": "few"}}, "acks"),
        ({"topic": ""}, "topic='' is not a topic"),
        ({"delivery": "exactly"}, "delivery='exactly' is not one of 'at-least-once'"),
    ],
)
def test_what_source_and_sink_would_refuse_is_refused_before(
    given: dict[str, object], said: str
) -> None:
    with pytest.raises(JobConfigError, match=said):
        CopyConfig(**{**GIVEN, **given})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "given",
    [
        {"topic": "b"},
        {"topics": (), "topic_pattern": "or.*", "topic": "orders"},
        {"topics": (), "source": {"assign": {"o": [0]}}, "topic": "o"},
        {"topics": (), "source": {"Assign": '{"o":[0]}'}, "topic": "o"},
        {"bootstrap_servers": "h:1,i:1", "sink_bootstrap_servers": " I:1,j:1", "topic": "a"},
    ],
)
def test_no_job_reads_what_it_writes(given: dict[str, object]) -> None:
    with pytest.raises(JobConfigError, match=r"topic='\w+' is one of those read") as raised:
        CopyConfig(**{**GIVEN, **given})  # type: ignore[arg-type]
    assert len(raised.value.faults) == 1
    other = CopyConfig(**{**GIVEN, **given, "sink_bootstrap_servers": "other:1"})  # type: ignore[arg-type]
    assert other.sink_options()["topic"] == given["topic"]


def test_options_beside_assign_are_checked_as_well() -> None:
    with pytest.raises(JobConfigError, match="minPartitions='x' is not a whole number"):
        TopicsConfig(bootstrap_servers="h:1", source={"assign": '{"o":[0]}', "minPartitions": "x"})
