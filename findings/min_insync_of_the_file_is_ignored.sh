#!/usr/bin/env bash
# One would guess: min.insync.replicas=2, written into server.properties, counts after a restart, as a
# setting of the file does that nobody has altered in the cluster.
# What happens: topics stay at 1. A cluster that was made by Kafka 4.x has eligible leader replicas on. Its
# controller then stores min.insync.replicas in the cluster as a default of all brokers, though nobody
# asked for that, and such a default goes before the file. The file's other settings do count.
# What helps: kafka-configs.sh --alter --entity-type brokers --entity-default. It cannot be deleted there.
# Seen with Apache Kafka 4.4.0 (ConfigurationControlManager, maybeGenerateElrSafetyRecords; KIP-966) and
# confluent-kafka 2.16.1.
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
start() {
    java -Xmx512m -cp "$work/jars/*" kafka.Kafka "$work/server.properties" > "$work/broker.log" 2>&1 &
    broker=$!
    for _ in $(seq 120); do
        (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break
        kill -0 "$broker"
        sleep 0.5
    done
}
look() {
    "$work/venv/bin/python" - "127.0.0.1:$port" "$@" <<'PYTHON'
import sys
from confluent_kafka.admin import AdminClient, ConfigResource, ConfigSource, NewTopic

servers, is_first, partitions = sys.argv[1], sys.argv[2] == "first", sys.argv[3]
admin = AdminClient({"bootstrap.servers": servers})
admin.list_topics(timeout=60)
if is_first:
    admin.create_topics([NewTopic("t", 1, 1)])["t"].result(60)


def told(kind, resource, name):
    of = ConfigResource(kind, resource)
    entry = admin.describe_configs([of])[of].result(60)[name]
    print(f"{kind} {resource}: {name}={entry.value}, source {ConfigSource(entry.source).name}")
    return entry.value, ConfigSource(entry.source)


assert told("BROKER", "1", "num.partitions")[0] == partitions
stored = ("1", ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG)
assert told("BROKER", "1", "min.insync.replicas") == stored
assert told("TOPIC", "t", "min.insync.replicas") == stored
PYTHON
}

start
echo "a new cluster:"
look first 1
kill "$broker"
wait "$broker" || true
printf 'min.insync.replicas=2\nnum.partitions=3\n' >> "$work/server.properties"
start
echo "after a restart with min.insync.replicas=2 and num.partitions=3 in server.properties:"
look second 3
