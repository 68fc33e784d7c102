#!/usr/bin/env bash
# One would guess: a group that reads a topic all the time gets every record of it, also after the topic
# was given more partitions. auto.offset.reset=latest is about the start of the group.
# What happens: records that reach a new partition before the group knows of it are skipped for good.
# The group has no offset for the partition, so latest counts again, and means the moment at which
# the group finds it: up to topic.metadata.refresh.interval.ms after the first writers do.
# What helps: earliest, which a new group pays for once; or stop the writers while partitions are added.
# Seen with Apache Kafka 4.4.0 and confluent-kafka 2.16.1 (librdkafka 2.16.0). KIP-842 describes it for
# Java's client.
set -euo pipefail
PACKAGES="confluent-kafka==2.16.1"
work=$(mktemp -d)
trap 'kill "${broker:-0}" 2>/dev/null || true; wait "${broker:-}" 2>/dev/null || true; rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q $PACKAGES
cat > "$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>a</groupId><artifactId>a</artifactId><version>1</version><dependencies><dependency>
<groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>4.4.0</version>
</dependency></dependencies></project>
POM
mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/jars"
read -r port controller < <(python3 -c 'import socket
s = [socket.create_server(("127.0.0.1", 0)) for _ in "ab"]
print(*(each.getsockname()[1] for each in s))')
cat > "$work/server.properties" <<PROPERTIES
process.roles=broker,controller
node.id=1
listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$controller
controller.listener.names=CONTROLLER
controller.quorum.bootstrap.servers=127.0.0.1:$controller
log.dirs=$work/data
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
PROPERTIES
java -cp "$work/jars/*" kafka.tools.StorageTool format --standalone \
    -t MkU3OEVBNTcwNTJENDM2Qg -c "$work/server.properties" > "$work/format.log" 2>&1
java -Xmx512m -cp "$work/jars/*" kafka.Kafka "$work/server.properties" > "$work/broker.log" 2>&1 &
broker=$!
for _ in $(seq 120); do
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break
    kill -0 "$broker"
    sleep 0.5
done

"$work/venv/bin/python" - "127.0.0.1:$port" <<'PYTHON'
import sys
import time
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic

servers = {"bootstrap.servers": sys.argv[1]}
admin = AdminClient(servers)
admin.list_topics(timeout=60)
admin.create_topics([NewTopic("t", 1, 1)])["t"].result(60)
consumer = Consumer({
    **servers,
    "group.id": "g",
    "auto.offset.reset": "latest",
    "topic.metadata.refresh.interval.ms": 5_000,
    "log_level": 3,
})
consumer.subscribe(["t"])
seen = []


def poll_until(is_done):
    end = time.monotonic() + 60
    while not is_done():
        assert time.monotonic() < end
        message = consumer.poll(0.1)
        if message is not None and message.error() is None:
            seen.append((message.partition(), message.offset(), message.value()))
            print("seen:", *seen[-1])


def write(value, partition):
    producer = Producer(servers)  # a new one knows the partitions of the moment
    producer.produce("t", value, partition=partition)
    assert producer.flush(60) == 0
    print("written:", partition, value)


def has_position(partition):
    return [p for p in consumer.position(consumer.assignment()) if p.partition == partition]


poll_until(lambda: has_position(0))
settled = time.monotonic() + 3
poll_until(lambda: time.monotonic() > settled)
write(b"before", 0)
poll_until(lambda: len(seen) == 1)
admin.create_partitions([NewPartitions("t", 2)])["t"].result(60)
write(b"first of the new partition", 1)
poll_until(lambda: has_position(1))
settled = time.monotonic() + 3
poll_until(lambda: time.monotonic() > settled)
write(b"second of the new partition", 1)
poll_until(lambda: len(seen) == 2)
consumer.close()
assert seen == [(0, 0, b"before"), (1, 1, b"second of the new partition")]
PYTHON
