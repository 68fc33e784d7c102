"""Every option of Spark's own Kafka sink, by its name and default. Source: KafkaSourceProvider."""

import pytest

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.spark.sink_options import SinkOptions


def test_a_sink_needs_brokers_and_may_name_a_topic() -> None:
    given = {"kafka.bootstrap.servers": "h:1"}
    assert SinkOptions.parse(given).topic is None
    assert SinkOptions.parse({**given, "Topic": " t ", "includeHeaders": "true"}) == SinkOptions(
        client={"bootstrap_servers": "h:1"}, topic="t"
    )
    with pytest.raises(KafkaConfigurationError, match=r"kafka\.bootstrap\.servers must be"):
        SinkOptions.parse({"topic": "t"})


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"kafka.key.serializer": "x"}, "keys are sent as the bytes they are"),
        ({"kafka.value.serializer": "x"}, "values are sent as the bytes they are"),
        ({"kafka.transactional.id": "x"}, "throw each other out"),
        ({"kafka.partitioner.class": "x"}, "it is a Java class"),
        ({"kafka.acks": "2"}, "acks=2"),
        ({"kafka.compression.type": "zip"}, "zip"),
        ({"delivery": "transactional"}, "delivery='transactional' is not there yet"),
        ({"delivery": "twice"}, "delivery='twice' is not known"),
        ({"includeHeaders": "2"}, "includeHeaders='2' is not true or false"),
    ],
)
def test_what_a_sink_cannot_do_is_refused(options: dict[str, str], said: str) -> None:
    with pytest.raises(KafkaConfigurationError, match=said):
        SinkOptions.parse({"kafka.bootstrap.servers": "h:1", **options})
