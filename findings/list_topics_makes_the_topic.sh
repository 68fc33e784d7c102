#!/usr/bin/env bash
# One would guess: AdminClient.list_topics("orders") is a safe way to ask whether a topic is there, as it
# only reads. Java's describeTopics never makes one.
# What happens: the answer is that there is no such topic, and the question has made it, with the
# broker's number of partitions: librdkafka asks for metadata as a producer does, and
# allow.auto.create.topics=false is for consumers alone. So the check of a start-up script answers no once.
# What helps: list_topics() without a name, or describe_topics(), which asks without making.
# Seen with confluent-kafka 2.16.1 (librdkafka 2.16.0) and Apache Kafka 4.4.0, whose brokers have
# auto.create.topics.enable=true unless told otherwise.
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
from confluent_kafka import TopicCollection
from confluent_kafka.admin import AdminClient

admin = AdminClient({"bootstrap.servers": sys.argv[1]})
admin.list_topics(timeout=60)


def is_there(name):
    return name in admin.list_topics(timeout=60).topics


def is_described(name):
    try:
        admin.describe_topics(TopicCollection([name]))[name].result(60)
    except Exception as missing:
        return missing.args[0].name()
    return "found"


told = is_described("described")
time.sleep(2)
first = (told, is_there("described"))
print(f"describe_topics: {first[0]}; there afterwards: {first[1]}")
told = admin.list_topics("listed", timeout=60).topics["listed"].error.name()
time.sleep(2)
second = (told, is_there("listed"))
print(f"list_topics: {second[0]}; there afterwards: {second[1]}")
assert first == ("UNKNOWN_TOPIC_OR_PART", False)
assert second == ("UNKNOWN_TOPIC_OR_PART", True)
PYTHON
