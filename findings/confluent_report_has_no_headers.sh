#!/usr/bin/env bash
# One would guess: the message in a delivery report is the message that was produced, so a callback may
# look into its headers, for example for a trace or an id of its own.
# What happens: topic, partition, offset, timestamp, key and value are there, and headers() is None, as if
# none had been sent. A consumer sees them.
# What helps: bind what the callback needs to the callback.
# Seen with confluent-kafka 2.16.1 (Message_new0 copies no headers; issue 574 of confluent-kafka-python)
# and the mock cluster of its librdkafka.
set -euo pipefail
PACKAGES="confluent-kafka==2.16.1"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q $PACKAGES

"$work/venv/bin/python" - <<'PYTHON'
from confluent_kafka import Consumer, Producer, TopicPartition

told = []
producer = Producer({"test.mock.num.brokers": 1, "log_level": 3})
producer.produce(
    "t",
    b"value",
    key=b"key",
    headers=[("trace", b"1")],
    partition=0,
    on_delivery=lambda error, message: told.append((error, message)),
)
assert producer.flush(30) == 0
((error, report),) = told
(broker,) = producer.list_topics(timeout=30).brokers.values()
consumer = Consumer({"bootstrap.servers": f"{broker.host}:{broker.port}", "group.id": "g"})
consumer.assign([TopicPartition("t", 0, 0)])
message = consumer.poll(30)
consumer.close()
for name, of in (("report", report), ("consumer", message)):
    print(f"{name}: key {of.key()}, value {of.value()}, headers {of.headers()}")
assert error is None and report.key() == message.key() == b"key"
assert report.headers() is None and message.headers() == [("trace", b"1")]
PYTHON
