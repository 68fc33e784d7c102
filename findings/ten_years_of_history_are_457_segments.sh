#!/usr/bin/env bash
# One would guess: a copy of old data is one segment file, as it is far below segment.bytes (1 GiB) and
# was written within seconds, far below segment.ms (7 days).
# What happens: it is hundreds of them. segment.ms is measured between the timestamps of records, not
# by the broker's clock, so ten years of daily records make a segment for each 8 of them. Each segment
# is four files, and the partitions of a topic, and their replicas, multiply that.
# What helps: a long segment.ms while history is written.
# Seen with Apache Kafka 4.4.0 (LogSegment, shouldRoll and timeWaitedForRoll) and confluent-kafka 2.16.1.
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

"$work/venv/bin/python" - "127.0.0.1:$port" "$work/data" <<'PYTHON'
import pathlib
import sys
import time
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

DAY_MS = 86_400_000
servers = {"bootstrap.servers": sys.argv[1]}
admin = AdminClient(servers)
admin.list_topics(timeout=60)
topics = [NewTopic(name, 1, 1, config={"retention.ms": "-1"}) for name in ("history", "today")]
for made in admin.create_topics(topics).values():
    made.result(60)
producer = Producer({**servers, "batch.num.messages": 1, "max.in.flight": 1})
now = int(time.time() * 1000)
for days_ago in range(3650, 0, -1):
    producer.produce("history", bytes(50), timestamp=now - days_ago * DAY_MS)
    producer.produce("today", bytes(50), timestamp=now)
assert producer.flush(120) == 0
segments = {}
for topic in ("today", "history"):
    files = list((pathlib.Path(sys.argv[2]) / f"{topic}-0").iterdir())
    logs = [file for file in files if file.suffix == ".log"]
    segments[topic] = len(logs)
    size = sum(file.stat().st_size for file in logs)
    print(f"{topic}: 3650 records, {size} bytes, {len(logs)} segments, {len(files)} files")
assert segments == {"today": 1, "history": 457}
PYTHON
