#!/usr/bin/env bash
# One would guess: a record sent with acks=all to a topic with min.insync.replicas=2 and one replica is
# refused with NOT_ENOUGH_REPLICAS, since one replica can never be two.
# What happens: it is written, without an error. The leader counts the setting as the smaller of itself
# and the number of replicas, so a topic that was made with too few replicas keeps no promise and
# says nothing. What refuses is a replica that has fallen out of sync, not one that was never there.
# Seen with Apache Kafka 4.4.0 (kafka.cluster.Partition, effectiveMinIsr) and confluent-kafka 2.16.1.
set -euo pipefail
CLIENT=confluent-kafka==2.16.1
work=$(mktemp -d)
trap 'kill "${broker:-0}" 2>/dev/null || true; wait "${broker:-}" 2>/dev/null || true; rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q "$CLIENT"
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

"$work/venv/bin/python" - "127.0.0.1:$port" "$work" <<'PYTHON'
import sys
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic

servers = {"bootstrap.servers": sys.argv[1]}
admin = AdminClient(servers)
admin.list_topics(timeout=60)
topic = NewTopic("strict", 1, 1, config={"min.insync.replicas": "2"})
admin.create_topics([topic])["strict"].result(60)
resource = ConfigResource("TOPIC", "strict")
setting = admin.describe_configs([resource])[resource].result(60)["min.insync.replicas"].value
told = []
producer = Producer({**servers, "acks": "all", "message.timeout.ms": 20_000})
producer.produce("strict", b"v", on_delivery=lambda error, message: told.append((error, message)))
producer.flush(30)
(error, message), = told
print(f"min.insync.replicas={setting}, replicas: 1, acks=all: error {error}, offset {message.offset()}")
assert setting == "2" and error is None and message.offset() == 0
PYTHON
