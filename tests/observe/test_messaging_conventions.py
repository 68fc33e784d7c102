"""The names, units and attributes agree with the package of the semantic conventions."""

import pytest
from opentelemetry.semconv._incubating.attributes import messaging_attributes
from opentelemetry.semconv._incubating.metrics import messaging_metrics

from aiokafka_lite.observe import messaging_conventions as ours
from aiokafka_lite.observe import standard_set
from aiokafka_lite.observe.standard_set import STANDARD_SET

ATTRIBUTES = {
    value
    for name, value in vars(messaging_attributes).items()
    if name.startswith("MESSAGING_") and isinstance(value, str)
}
METRICS = {
    value
    for name, value in vars(messaging_metrics).items()
    if name.startswith("MESSAGING_") and isinstance(value, str)
}


def test_every_name_of_messaging_is_one_of_the_conventions() -> None:
    names = {ours.exported_name(metric) for metric in STANDARD_SET} | {ours.PROCESS_DURATION}
    assert {name for name in names if name.startswith("messaging.")} == {
        "messaging.client.sent.messages",
        "messaging.client.consumed.messages",
        "messaging.client.operation.duration",
        "messaging.process.duration",
    }
    assert {name for name in names if name.startswith("messaging.")} <= METRICS
    for metric in STANDARD_SET:
        labels = ["x"] * len(metric.labels)
        used = ours.metric_attributes(metric, labels, "c").keys()
        assert {name for name in used if name.startswith("messaging.")} <= ATTRIBUTES
    assert ours.record_attributes("t", b"k", None).keys() <= ATTRIBUTES


def test_other_metrics_have_names_of_their_own() -> None:
    assert ours.exported_name(standard_set.LAG) == "kafka.consumer.lag"
    assert ours.exported_name(standard_set.BATCH_BYTES) == "kafka.producer.batch_bytes"
    assert ours.exported_name(standard_set.REQUEST) == "kafka.client.request"
    assert ours.exported_unit(standard_set.LAG) == "{record}"
    assert ours.exported_unit(standard_set.SENT_RECORDS) == "{message}"
    assert ours.exported_text(standard_set.DELIVERY) == ours.OPERATION_TEXT
    assert ours.exported_buckets(standard_set.REQUEST) == standard_set.REQUEST.buckets
    shared = [ours.exported_name(metric) for metric in STANDARD_SET]
    assert {name for name in shared if shared.count(name) > 1} == {ours.OPERATION_DURATION}


def test_an_empty_label_has_no_attribute() -> None:
    found = ours.metric_attributes(standard_set.LAG, ["", "t", "0"], "c")
    assert found == {
        "messaging.system": "kafka",
        "messaging.client.id": "c",
        "messaging.destination.name": "t",
        "messaging.destination.partition.id": "0",
    }


@pytest.mark.parametrize(
    ("key", "told"), [(b"k", "k"), ("k", "k"), (5, "5"), (b"\xff", None), (None, None), (1.5, None)]
)
def test_a_key_is_told_if_it_is_text_or_a_whole_number(key: object, told: str | None) -> None:
    found = ours.record_attributes("t", key, b"v")
    assert found.get("messaging.kafka.message.key") == told
    assert "messaging.kafka.message.tombstone" not in found
