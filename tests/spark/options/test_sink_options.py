"""Every option of Spark's own Kafka sink, by its name and default. Source: KafkaSourceProvider."""

import pytest

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.spark.options.sink_options import SinkOptions

BULK = {"max_batch_size": 131_072}
TRANSACTIONAL = {"delivery": "transactional"}


def test_a_sink_needs_brokers_and_may_name_a_topic() -> None:
    given = {"kafka.bootstrap.servers": "h:1"}
    assert SinkOptions.parse(given).topic is None
    assert SinkOptions.parse({**given, "Topic": " t ", "includeHeaders": "true"}) == SinkOptions(
        client={"bootstrap_servers": "h:1", **BULK}, topic="t"
    )
    with pytest.raises(KafkaConfigurationError, match=r"kafka\.bootstrap\.servers must be"):
        SinkOptions.parse({"topic": "t"})
    sizes = {"kafka.batch.size": "16384", "kafka.send.buffer.bytes": "131072"}
    assert SinkOptions.parse({**given, **sizes}).client == {
        "bootstrap_servers": "h:1",
        "max_batch_size": 16_384,
        "send_buffer_bytes": 131_072,
    }


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"kafka.key.serializer": "x"}, "keys are sent as the bytes they are"),
        ({"kafka.value.serializer": "x"}, "values are sent as the bytes they are"),
        ({"kafka.transactional.id": "x"}, "fence each other"),
        ({"kafka.partitioner.class": "x"}, "it is a Java class"),
        ({"kafka.acks": "2"}, "acks=2"),
        ({"kafka.compression.type": "zip"}, "zip"),
        ({"delivery": "twice"}, "'twice' is not known; it is 'at-least-once' or 'transactional'"),
        ({"transactionalIdPrefix": "p"}, "transactionalIdPrefix has no effect without delivery"),
        ({"transactionTimeoutMs": "1"}, "transactionTimeoutMs has no effect without delivery"),
        ({"txnAppId": "a", "txnVersion": "1"}, "txnAppId has no effect without delivery"),
        ({**TRANSACTIONAL, "txnAppId": "a"}, "txnAppId needs txnVersion"),
        ({**TRANSACTIONAL, "txnVersion": "1"}, "txnVersion needs txnAppId"),
        (
            {**TRANSACTIONAL, "txnAppId": "a", "txnVersion": "-1"},
            "txnVersion=-1 must be at least 0",
        ),
        ({**TRANSACTIONAL, "txnAppId": "", "txnVersion": "1"}, "txnAppId has 0 characters"),
        ({**TRANSACTIONAL, "transactionTimeoutMs": "0"}, "=0 must be at least 1"),
        ({**TRANSACTIONAL, "transactionalIdPrefix": " "}, "has 0 characters, and may have 1 to"),
        ({**TRANSACTIONAL, "transactionalIdPrefix": "p" * 201}, "has 201 characters"),
        ({**TRANSACTIONAL, "kafka.transaction.timeout.ms": "1"}, "is transactionTimeoutMs here"),
        (
            {**TRANSACTIONAL, "kafka.acks": "1"},
            "delivery=transactional needs kafka.acks='all' and retries; kafka.acks=1",
        ),
        ({"includeHeaders": "2"}, "includeHeaders='2' is not true or false"),
    ],
)
def test_what_a_sink_cannot_do_is_refused(options: dict[str, str], said: str) -> None:
    with pytest.raises(KafkaConfigurationError, match=said):
        SinkOptions.parse({"kafka.bootstrap.servers": "h:1", **options})


def test_transactions_have_a_prefix_by_topic_and_two_minutes() -> None:
    given = {"kafka.bootstrap.servers": "h:1", **TRANSACTIONAL}
    found = SinkOptions.parse(given)
    assert found.is_transactional
    assert (found.transactional_id_prefix, found.transaction_timeout_ms) == ("kafka-lite", 120_000)
    assert SinkOptions.parse({**given, "topic": "t"}).transactional_id_prefix == "kafka-lite-t"
    chosen = {"transactionalIdPrefix": "mine", "transactionTimeoutMs": "5000", "topic": "t"}
    assert SinkOptions.parse({**given, **chosen}).transactional_client == {
        "bootstrap_servers": "h:1",
        **BULK,
        "transactional_id": "mine",
        "transaction_timeout_ms": 5000,
    }
    assert not SinkOptions.parse({**given, "delivery": "at-least-once"}).is_transactional
