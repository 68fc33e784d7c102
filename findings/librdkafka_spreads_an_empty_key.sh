#!/usr/bin/env bash
# One would guess: records with one and the same key stay in one partition, in their order, whatever the
# key is; only records without a key are spread.
# What happens: with the partitioner consistent_random an empty key counts as no key, and its records are
# spread. With murmur2_random, which imitates Java, and with fnv1a_random it is a key like any other. So
# "random" in these three names is not about the same records.
# Seen with confluent-kafka 2.16.1 (librdkafka 2.16.0, CONFIGURATION.md, partitioner) and its mock cluster.
set -euo pipefail
PACKAGES="confluent-kafka==2.16.1"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q $PACKAGES

"$work/venv/bin/python" - <<'PYTHON'
import time
from confluent_kafka import Producer


def partitions_of(partitioner, key):
    producer = Producer({
        "test.mock.num.brokers": 1,
        "log_level": 3,
        "partitioner": partitioner,
        "linger.ms": 0,
    })
    told = []
    for _ in range(100):
        producer.produce(
            "t", b"v", key=key, on_delivery=lambda error, message: told.append(message.partition())
        )
        producer.poll(0)
        time.sleep(0.005)  # records that come close together are spread together
    assert producer.flush(30) == 0 and len(told) == 100
    return len(set(told))


seen = {}
for partitioner in ("consistent_random", "murmur2_random", "fnv1a_random"):
    seen[partitioner] = [partitions_of(partitioner, key) > 1 for key in (b"k", b"", None)]
    print(f"{partitioner}: spread over partitions: key b'k' {seen[partitioner][0]},", end=" ")
    print(f"key b'' {seen[partitioner][1]}, no key {seen[partitioner][2]}")
assert seen == {
    "consistent_random": [False, True, True],
    "murmur2_random": [False, False, True],
    "fnv1a_random": [False, False, True],
}
PYTHON
